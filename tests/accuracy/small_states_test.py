"""States far below the range of doubles beside others of size one."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import derivative_checks
from tests.accuracy import kernel_calls
from tests.accuracy import sweeps
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_TOLERANCE = 1e-12
_LOGS = ("log_density", "log_survival", "log_cdf")


def _thin_chain() -> oracle.Operands:
  """The last phase of 41 is reached with a weight of about 1e-360."""
  return models.hypoexponential(onp.append(onp.full(40, 1e-6), 1e3))


def _mixed_chain(stages: int) -> oracle.Operands:
  """Stages with rates from 1e-9 to 1."""
  rates = 10.0 ** onp.random.default_rng(3).uniform(-9, 0, stages)
  return models.hypoexponential(onp.append(rates[:-1], 1.0))


def _hyperexponential() -> oracle.Operands:
  """Components whose rates differ so much that only one is left in the end."""
  rates = onp.array([1.0, 2.0**-2, 2.0**-4])
  start = onp.array([0.9375, 0.0625 - 2.0**-30, 2.0**-30])
  return oracle.Operands(start, -onp.diag(rates), rates, None, 1.0)


def _thin_beside_fat() -> oracle.Operands:
  """A thin chain of forty, left slowly, beside one that is soon absorbed."""
  rates = onp.zeros((45, 45))
  rates[range(40), range(1, 41)] = 1e-9
  rates[0, 41], rates[41, 42], rates[42, 43], rates[43, 44] = 1, 2, 1.5, 1
  exits = onp.zeros(45)
  exits[[0, 40, 44]] = 0.25, 1e-3, 0.5
  subgenerator = rates - onp.diag(rates.sum(axis=1) + exits)
  return oracle.Operands(onp.eye(45)[0], subgenerator, exits, None, 1.0)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class SmallStatesTest(derivative_checks.TestCase):
  def _check_values(self, operands, kinds=_LOGS):
    for kind in kinds:
      actual = kernel_calls.directional(kind, operands)[0]
      truth, _ = oracle.directional(kind, operands)
      bound = cases.value_tolerance(kind, float(truth.mid()))
      self.assertLessEqual(oracle.error(actual, truth), bound, (kind, actual))

  def _check_gradients(self, operands, kinds=_LOGS):
    for kind in kinds:
      self.check_gradient(kind, operands, (), _TOLERANCE)
      # Only what leaves the range of doubles may be infinite.
      actual = kernel_calls.gradient(kind, operands)
      _, scales = oracle.gradient(kind, operands)
      for name in oracle.Gradient._fields:
        for x, c in zip(getattr(actual, name), getattr(scales, name)):
          self.assertTrue(onp.isfinite(x) or c > 1e280, (name, x, c))

  @parameterized.parameters(*sweeps.quick_and([1e-10, 1.0], [1e-3, 30.0]))
  def test_a_long_thin_chain(self, t):
    self._check_values(_thin_chain()._replace(time=t), oracle.KINDS)

  @parameterized.parameters(
    *sweeps.quick_and(
      [(1e-3, "log_density"), (1e-3, "log_cdf")],
      [(1e-3, "log_survival"), *((1.0, kind) for kind in _LOGS)],
    )
  )
  def test_its_gradients(self, t, kind):
    self._check_gradients(_thin_chain()._replace(time=t), [kind])

  @parameterized.parameters(
    *sweeps.quick_and([("log_density",)], [("log_survival",), ("log_cdf",)])
  )
  def test_its_gradients_at_the_smallest_time(self, kind):
    # d/d alpha_i of the last phases overflows, and so do shortcuts.
    operands = _thin_chain()._replace(time=1e-10)
    self.check_gradient(kind, operands, (), _TOLERANCE)

  def test_what_leaves_the_range_of_doubles_keeps_its_sign(self):
    # An exit from the first phases and a jump past most of the others are both
    # above 1e308 times less likely ways; the exit is the shorter one.
    operands = _thin_chain()._replace(exit_rates=None, time=1e-9)
    for kind in ("log_density", "log_cdf"):
      actual = kernel_calls.gradient(kind, operands).subgenerator
      truth, _ = oracle.gradient(kind, operands)
      exact = onp.array([float(x) for x in truth.subgenerator])
      outside = onp.isinf(exact)
      self.assertGreater(onp.sum(outside), 100)
      onp.testing.assert_array_equal(actual[outside], exact[outside])
      self.assertFalse(onp.any(onp.isnan(actual)))

  def test_parameters_whose_edges_leave_the_range_of_doubles(self):
    # The second parameter takes from one shortcut and gives to a lesser one.
    p = 41
    chain = onp.arange(p)
    indices = onp.array([[*chain, 0, 0], [*chain + 1, p - 1, p - 2]])
    constants = onp.append(onp.full(p - 1, 1e-10), [1e3, 0.0, 0.0])
    coefficients = onp.zeros((p + 2, 2))
    coefficients[:, 1][-2:] = -1.0, 1.0
    coefficients[0, 0] = 1e-10
    arrays = [onp.eye(p)[0], onp.zeros(2), onp.zeros(0), onp.zeros(1)]
    arrays += [onp.array([1e-3]), onp.ones(1)]
    edges = (indices.astype(onp.int32), constants, coefficients)
    bars = kernel_calls.module().adjoint(0, 1, arrays, edges=edges)
    self.assertEqual(bars[1][1], -onp.inf)
    # f grows with the first rate's share in all that must be passed.
    self.assertAlmostEqual(bars[1][0], 1.0, places=9)

  def test_its_directional_derivatives(self):
    rng = onp.random.default_rng(0)
    operands = _thin_chain()._replace(time=1.0)
    move = models.direction(operands, rng, zeros=0.0)
    truth, scales = oracle.gradient("log_density", operands)
    actual = kernel_calls.directional("log_density", operands, (move,))
    total, scale = derivative_checks.contracted(truth, scales, move)
    missed = derivative_checks.shortfall(actual, [total], [scale], _TOLERANCE)
    self.assertEmpty(missed)

  @parameterized.product(
    size=(4, 20),
    exit_rate=(1e-100, 1e-200, 1e-260),
    rate=(1e-145, 10.0**-152.5, 1e-160, 1e-170),
    count=(1, 2, 600),
  )
  def test_tangents_far_below_the_value(self, size, exit_rate, rate, count):
    # The density is exit_rate, and grows with the initial probability of the
    # other way by rate^2 t; the cdf is exit_rate t, and grows by half of
    # rate^2 t^2.
    operands, move = models.two_ways(size, exit_rate, rate)
    t = onp.linspace(0.5, 2.0, count)
    operands = operands._replace(time=t)
    move = move._replace(time=onp.zeros(count))
    expected = rate * (rate / exit_rate) * t
    for kind, factor in (("log_density", 1.0), ("log_cdf", 0.5)):
      actual = kernel_calls.directional(kind, operands, (move,))
      onp.testing.assert_allclose(actual, factor * expected, 1e-12)

  def test_its_second_derivatives(self):
    rng = onp.random.default_rng(1)
    operands = models.hypoexponential(onp.append(onp.full(12, 1e-30), 1.0))
    operands = operands._replace(time=1e-3)
    move = models.direction(operands, rng, zeros=0.0)
    self.check_gradient("log_density", operands, (move,), _TOLERANCE)

  @parameterized.parameters(
    *sweeps.quick_and(
      [(50, 1e-6), (40, 1e3)],
      [(100, 1e-6), (100, 1.0), (100, 1e3), (100, 1e5)],
    )
  )
  def test_stages_of_very_different_rates(self, stages, t):
    self._check_values(_mixed_chain(stages)._replace(time=t))

  @parameterized.parameters(1e-20, 1e-60, 1e-150, 1900.0, 1950.0)
  def test_both_tails_of_an_erlang_density(self, t):
    operands = models.erlang()._replace(time=t)
    self._check_values(operands)
    for kind in _LOGS:
      self.check_gradient(kind, operands, (), _TOLERANCE)

  @parameterized.parameters(100.0, 3000.0, 32000.0)
  def test_components_that_vanish_beside_the_slowest(self, t):
    operands = _hyperexponential()._replace(time=t)
    self._check_values(operands)
    self._check_gradients(operands)

  @parameterized.parameters(1e-8, 1.0, 100.0, 1000.0, 3e4)
  def test_a_thin_chain_beside_a_fat_one(self, t):
    self._check_values(_thin_beside_fat()._replace(time=t))

  @parameterized.parameters(
    *sweeps.quick_and([("log_survival",)], [("log_density",), ("log_cdf",)])
  )
  def test_gradients_of_a_thin_chain_beside_a_fat_one(self, kind):
    self._check_gradients(_thin_beside_fat()._replace(time=1000.0), [kind])

  def test_other_times_keep_their_bits(self):
    times = onp.array([1e-10, 200.0, 1e-3, 400.0])
    operands = _thin_chain()
    together = kernel_calls.directional(
      "log_density", operands._replace(time=times)
    )
    for t, x in zip(times, together):
      alone = kernel_calls.directional("log_density", operands._replace(time=t))
      self.assertEqual(alone[0], x)

  def test_a_rate_below_the_smallest_normal_number(self):
    # Two stages of rate one before or after a slow one: f(1) is r (1 - 2 / e),
    # F(1) is r (3 / e - 1), but for terms of r^2.
    rate = 1e-310
    operands = models.hypoexponential(onp.array([1.0, rate, 1.0]))
    operands = operands._replace(time=1.0)
    truth = {
      "log_density": mpmath.log(rate) + mpmath.log1p(-2 / mpmath.e),
      "log_cdf": mpmath.log(rate) + mpmath.log(3 / mpmath.e - 1),
      "survival": 1,
    }
    for kind in oracle.KINDS:
      value = kernel_calls.directional(kind, operands)[0]
      # Values below the smallest normal number may be zero.
      self.assertAlmostEqual(
        value, float(truth.get(kind, 0)), delta=1e-12 * max(1.0, abs(value))
      )
      reason = kernel_calls.status(kind, kernel_calls.inputs(operands))
      self.assertEqual(reason, ["ok"])


if __name__ == "__main__":
  absltest.main()
