"""Masses of intervals, and their derivatives, against ball arithmetic."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import derivative_checks
from tests.accuracy import kernel_calls
from tests.accuracy import sweeps
from tests.oracle import interval_oracle
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_NARROW = 1.0 + 1e-12
_MODELS = {
  "erlang": models.erlang(),
  "hyperexponential": models.hyperexponential(),
  "cyclic": models.cyclic(),
  "two_modes": models.two_modes(),
  "kingman": models.kingman(),
}
# From the left tail (log mass of Erlang-10 up to 1e-30 is -706) to the right
# one, to -700; narrow and wide; from zero.
_INTERVALS = {
  "erlang": (
    (0.0, 1e-30),
    (0.0, 1e-10),
    (1e-10, 3e-10),
    (1e-10, 1e-10 * _NARROW),
    (1e-3, 1e-3 + 1e-9),
    (1e-3, 1.0),
    (0.5, 0.75),
    (0.0, 9.0),
    (9.0, 9.0 * _NARROW),
    (9.0, 9.5),
    (9.0, 12.0),
    (9.0, 1e3),
    (100.0, 101.0),
    (740.0, 740.0 * _NARROW),
    (740.0, 741.0),
    (740.0, 800.0),
    (1e3, 1e5),
  ),
  "hyperexponential": (
    (0.0, 1e-10),
    (1e-20, 1.0),
    (1.0, _NARROW),
    (30.0, 35.0),
    (20.0, 60.0),
    (300.0, 300.0 * _NARROW),
    (5000.0, 5001.0),
  ),
  "cyclic": (
    (0.0, 1e-300),
    (1e-20, 2e-20),
    (0.5, 0.5 * _NARROW),
    (0.5, 3.0),
    (1000.0, 1000.5),
    (1000.0, 2e4),
  ),
  "two_modes": (
    (1e-3, 2.0),
    (4.0, 5.0),
    (4.0, 4.0 * _NARROW),
    (8.0, 60.0),
    (1000.0, 2000.0),
  ),
  "kingman": (
    (0.0, 1e-20),
    (1e-3, 2e-3),
    (0.5, 1.5),
    (1.5, 1.5 * _NARROW),
    (1.5, 500.0),
    (600.0, 600.25),
  ),
}
_CASES = tuple(
  (name, lower, upper)
  for name in _INTERVALS
  for lower, upper in _INTERVALS[name]
)
_DERIVATIVE_CASES = (
  ("erlang", 1e-20, 2e-20),
  ("erlang", 0.5, 0.75),
  ("erlang", 9.0, 9.0 * _NARROW),
  ("erlang", 9.0, 40.0),
  ("erlang", 700.0, 701.0),
  ("cyclic", 1e-20, 1e-3),
  ("cyclic", 0.5, 0.5 + 1e-9),
  ("cyclic", 0.5, 3.0),
  ("cyclic", 900.0, 905.0),
  ("hyperexponential", 30.0, 35.0),
  ("two_modes", 4.0, 5.0),
  ("two_modes", 8.0, 60.0),
)


def _inputs(operands, lower, upper):
  return kernel_calls.inputs(operands._replace(time=onp.array([lower, upper])))


def _kinds():
  return onp.array([6, 7], onp.int32)


def _forward(inputs, order):
  return kernel_calls.module().forward(0, order, inputs, None, _kinds())


def _flat(move, upper):
  """The kernel's tangents of a direction."""
  return _inputs(move, move.time, upper)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class IntervalTest(parameterized.TestCase):
  @parameterized.parameters(*_CASES)
  def test_log_mass(self, name, lower, upper):
    operands = _MODELS[name]._replace(time=lower)
    value, nothing = _forward(_inputs(operands, lower, upper), 0)
    truth, _ = interval_oracle.log_mass(operands, upper)
    bound = cases.log_tolerance(float(truth.mid()))
    self.assertLessEqual(oracle.error(value, truth), bound, (value, truth))
    self.assertEqual(nothing, 0.0)

  def test_random_intervals(self):
    rng = onp.random.default_rng(5)
    for name in ("erlang", "hyperexponential", "cyclic", "two_modes"):
      for _ in range(40):
        lower = 10.0 ** rng.uniform(-12, 2.7)
        upper = lower * (1.0 + 10.0 ** rng.uniform(-14, 3))
        operands = _MODELS[name]._replace(time=lower)
        value = _forward(_inputs(operands, lower, upper), 0)[0]
        truth, _ = interval_oracle.log_mass(operands, upper)
        bound = cases.log_tolerance(float(truth.mid()))
        self.assertLessEqual(
          oracle.error(value, truth), bound, (name, lower, upper)
        )

  @parameterized.parameters(
    (1e5, 1e5 + 0.5), (1e5, 1e5 * _NARROW), (1e5, 1.5e5), (0.5, 1e5)
  )
  def test_a_hundred_thousand_steps(self, lower, upper):
    # Where ball arithmetic would need too many digits.
    with mpmath.workdps(60):
      ends = mpmath.mpf(lower), mpmath.mpf(upper)
      mixed = models.hyperexponential()
      tails = [
        sum(
          mpmath.mpf(p) * mpmath.exp(-mpmath.mpf(r) * t)
          for p, r in zip(mixed.initial_probs, mixed.exit_rates)
        )
        for t in ends
      ]
      truths = [("hyperexponential", mpmath.log(tails[0] - tails[1]))]
      tails = [
        mpmath.exp(-t) * sum(t**k / mpmath.factorial(k) for k in range(10))
        for t in ends
      ]
      truths.append(("erlang", mpmath.log(tails[0] - tails[1])))
      for name, truth in truths:
        inputs = _inputs(_MODELS[name], lower, upper)
        value = _forward(inputs, 0)[0]
        bound = cases.log_tolerance(float(truth))
        self.assertLessEqual(abs(mpmath.mpf(float(value)) - truth), bound, name)

  @parameterized.parameters((0.0, 1e-3), (1e-3, 2e-3), (1.0, 3.0))
  def test_states_far_below_the_range_of_doubles(self, lower, upper):
    rates = onp.append(onp.full(12, 1e-30), 1.0)
    operands = models.hypoexponential(rates)._replace(time=lower)
    value = _forward(_inputs(operands, lower, upper), 0)[0]
    truth, _ = interval_oracle.log_mass(operands, upper)
    bound = cases.log_tolerance(float(truth.mid()))
    self.assertLessEqual(oracle.error(value, truth), bound, (value, truth))
    self._check_gradient(operands, upper, 1)

  @parameterized.product(
    size=(4, 20),
    exit_rate=(1e-100, 1e-200, 1e-260),
    rate=(1e-145, 10.0**-152.5, 1e-160, 1e-170),
  )
  def test_tangents_far_below_the_mass(self, size, exit_rate, rate):
    # The mass is exit_rate times the length, and grows with the initial
    # probability of the other way by half of rate^2 (upper^2 - lower^2).
    operands, move = models.two_ways(size, exit_rate, rate)
    lower, upper = 0.5, 2.0
    inputs = _inputs(operands, lower, upper) + _flat(move, 0.0)
    expected = rate * (rate / exit_rate) * (lower + upper) / 2
    onp.testing.assert_allclose(_forward(inputs, 1)[0], expected, 1e-12)

  @parameterized.parameters(
    *sweeps.product(
      5, case=_DERIVATIVE_CASES, options=tuple(cases.OPTIONS), order=(1, 2)
    )
  )
  def test_gradient(self, case, options, order):
    name, lower, upper = case
    operands = models.with_options(_MODELS[name], *cases.OPTIONS[options])
    operands = operands._replace(time=lower)
    self._check_gradient(operands, upper, order)

  def _check_gradient(self, operands, upper, order):
    lower = operands.time
    rng = onp.random.default_rng(7)
    moves = [models.direction(operands, rng, 0.0) for _ in range(order - 1)]
    pairs = tuple((v, upper * rng.standard_normal()) for v in moves)
    inputs = _inputs(operands, lower, upper)
    for move, end in pairs:
      inputs += _flat(move, end)
    bars = kernel_calls.module().adjoint(
      0, order, [*inputs, onp.ones(2)], kinds=_kinds()
    )
    truth, scales = interval_oracle.gradient(operands, upper, pairs)
    overflow = any(c > 1e290 for part in scales for c in part)
    tolerance = 1e-12 if order == 1 else 1e-9
    for field, bar in zip(oracle.Gradient._fields, bars, strict=True):
      missed = derivative_checks.shortfall(
        onp.ravel(bar),
        getattr(truth, field),
        getattr(scales, field),
        tolerance,
        overflow,
      )
      self.assertEmpty(missed, field)

  @parameterized.parameters(
    *sweeps.product(2, case=_DERIVATIVE_CASES, order=(1, 2, 3))
  )
  def test_directions(self, case, order):
    name, lower, upper = case
    operands = _MODELS[name]._replace(time=lower)
    rng = onp.random.default_rng(11)
    for _ in range(3):
      pairs, inputs = [], _inputs(operands, lower, upper)
      for _ in range(order):
        move = models.direction(operands, rng, 0.0)
        pairs.append((move, upper * rng.standard_normal()))
        inputs += _flat(*pairs[-1])
      actual = _forward(inputs, order)
      truth, scale = interval_oracle.log_mass(operands, upper, tuple(pairs))
      tolerance = 1e-12 if order == 1 else 1e-9
      missed = derivative_checks.shortfall(
        actual[:1], [truth], [scale], tolerance
      )
      self.assertEmpty(missed)
      self.assertEqual(actual[1], 0.0)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class EndsOfIntervalsTest(absltest.TestCase):
  """Values that need no oracle."""

  def _value(self, lower, upper):
    operands = models.with_options(_MODELS["cyclic"], True, 0.25)
    return _forward(_inputs(operands, lower, upper), 0)[0]

  def test_equal_ends(self):
    for end in (0.0, 1e-20, 3.0):
      self.assertEqual(self._value(end, end), -onp.inf)

  def test_the_atom_is_not_in_an_interval_from_zero(self):
    operands = models.with_options(_MODELS["cyclic"], True, 0.25)
    truth, _ = interval_oracle.log_mass(operands._replace(time=0.0), 1e4)
    self.assertLess(oracle.error(onp.log(0.75), truth), 1e-15)
    self.assertLess(oracle.error(self._value(0.0, 1e4), truth), 1e-12)

  def test_what_is_no_interval_has_a_status(self):
    operands = _MODELS["cyclic"]
    for lower, upper in ((2.0, 1.0), (-1.0, 1.0), (1.0, onp.inf)):
      inputs = _inputs(operands, lower, upper)
      self.assertTrue(onp.isnan(_forward(inputs, 0)[0]))
      code = kernel_calls.module().status(0, inputs, None, _kinds())[0]
      message = kernel_calls.module().status_message(int(code))
      self.assertIn("0 <= lower <= upper < inf", message)

  def test_kinds_must_be_known_and_intervals_closed(self):
    inputs = _inputs(_MODELS["cyclic"], 1.0, 2.0)
    for kinds, word in (
      ([1, 7], "must be 0, 2, 4, 6 or 7"),
      ([-3, 7], "must be 0, 2, 4, 6 or 7"),
      ([6, 0], "must be followed by 7"),
      ([7, 6], "must be followed by 7"),
    ):
      kinds = onp.array(kinds, onp.int32)
      values = kernel_calls.module().forward(0, 0, inputs, None, kinds)
      codes = kernel_calls.module().status(0, inputs, None, kinds)
      (place,) = onp.flatnonzero(onp.isnan(values))
      message = kernel_calls.module().status_message(int(codes[place]))
      self.assertIn(word, message)


if __name__ == "__main__":
  absltest.main()
