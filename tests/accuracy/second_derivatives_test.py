"""Second and third derivatives of the kernel against ball arithmetic."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import derivative_checks
from tests.accuracy import kernel_calls
from tests.accuracy import sweeps
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_TOLERANCE = 1e-9


def _move(operands, rng, index=0):
  """A direction; at tiny times every other one moves no zeros."""
  zeros = 0.1 if operands.time > 1e-10 or index % 2 else 0.0
  return models.direction(operands, rng, zeros)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class SecondDerivativesTest(derivative_checks.TestCase):
  def _check_pairs(self, kind, operands, count, order=2):
    rng = onp.random.default_rng(13)
    for index in range(count):
      moves = tuple(_move(operands, rng, index) for _ in range(order))
      truth, scale = oracle.directional(kind, operands, moves)
      actual = kernel_calls.directional(kind, operands, moves)
      missed = derivative_checks.shortfall(actual, [truth], [scale], _TOLERANCE)
      self.assertEmpty(missed)

  def test_states_that_underflow(self):
    # States at the end are 1e-300 times those at the start, and less.
    rates = onp.append(onp.full(20, 1e-6), 1e3)
    operands = models.hypoexponential(rates)._replace(time=1e-10)
    move = _move(operands, onp.random.default_rng(31))
    self.check_gradient("log_density", operands, (move,), _TOLERANCE)

  @parameterized.parameters(
    *sweeps.product(
      5,
      model=("erlang", "cyclic", "near_equal"),
      options=tuple(cases.OPTIONS),
      point=(0, 1, 2, 3),
    )
  )
  def test_forty_directions(self, model, options, point):
    t = cases.DERIVATIVE_TIMES[model][point]
    operands = cases.operands(model, options, t)
    self._check_pairs("log_density", operands, 40)

  @parameterized.parameters(
    *sweeps.quick_and(
      [("exits_derived", 1e-20, 2)],
      [
        ("exits_given", 2.0, 8),
        ("exits_given", 30.0, 2),
        ("exits_derived", 7800.0, 2),
      ],
    )
  )
  def test_directions_of_a_long_chain(self, options, t, rows):
    # Each row of the Hessian, exact, serves five directions: 40 in eight rows.
    operands = cases.operands("birth_death", options, t)
    rng = onp.random.default_rng(13)
    for index in range(rows):
      first = _move(operands, rng, index)
      row, scales = oracle.gradient("log_density", operands, (first,))
      for _ in range(5):
        second = _move(operands, rng, index)
        actual = kernel_calls.directional(
          "log_density", operands, (first, second)
        )
        truth, scale = derivative_checks.contracted(row, scales, second)
        missed = derivative_checks.shortfall(
          actual, [truth], [scale], _TOLERANCE
        )
        self.assertEmpty(missed)

  @parameterized.parameters(
    *sweeps.quick_and(
      [
        ("erlang", "exits_given"),
        ("cyclic", "exits_derived"),
        ("near_equal", "exits_given"),
      ],
      [
        ("erlang", "exits_derived"),
        ("cyclic", "exits_given"),
        ("near_equal", "exits_derived"),
        ("birth_death", "exits_given"),
        ("birth_death", "exits_derived"),
      ],
    )
  )
  def test_all_entries_of_hessian_rows(self, model, options):
    rng = onp.random.default_rng(17)
    times = cases.DERIVATIVE_TIMES[model]
    for t in times[::3] if model == "birth_death" else times:
      operands = cases.operands(model, options, t)
      move = _move(operands, rng)
      self.check_gradient("log_density", operands, (move,), _TOLERANCE)

  @parameterized.parameters(
    *sweeps.product(
      5,
      base=("density", "survival", "cdf"),
      model=("erlang", "cyclic"),
      options=tuple(cases.OPTIONS),
    )
  )
  def test_other_kinds(self, base, model, options):
    rng = onp.random.default_rng(19)
    for t in cases.DERIVATIVE_TIMES[model]:
      operands = cases.operands(model, options, t)
      move = _move(operands, rng)
      for kind in (base, f"log_{base}"):
        self._check_pairs(kind, operands, 3)
        self.check_gradient(kind, operands, (move,), _TOLERANCE)

  @parameterized.parameters(
    *sweeps.product(2, kind=oracle.KINDS, options=tuple(cases.OPTIONS))
  )
  def test_third_order(self, kind, options):
    rng = onp.random.default_rng(23)
    for t in (0.5, 3.0, 50.0):
      operands = cases.operands("cyclic", options, t)
      self._check_pairs(kind, operands, 5, order=3)
      moves = tuple(_move(operands, rng) for _ in range(2))
      self.check_gradient(kind, operands, moves, _TOLERANCE)


if __name__ == "__main__":
  absltest.main()
