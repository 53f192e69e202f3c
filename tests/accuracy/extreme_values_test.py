"""Numbers of extreme size: right results, or NaN with a reason."""

import time

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class ExtremeValuesTest(parameterized.TestCase):
  def _check_right_or_explained(self, operands, kinds=oracle.KINDS):
    arrays = kernel_calls.inputs(operands)
    for kind in kinds:
      start = time.monotonic()
      value = kernel_calls.directional(kind, operands)[0]
      self.assertLess(time.monotonic() - start, 30.0)
      message = kernel_calls.status(kind, arrays)[0]
      if onp.isnan(value):
        self.assertNotEqual(message, "ok")
        continue
      self.assertEqual(message, "ok")
      truth, _ = oracle.directional(kind, operands)
      bound = cases.value_tolerance(kind, float(truth.mid()))
      self.assertLessEqual(oracle.error(value, truth), bound, (value, truth))

  @parameterized.parameters(1e-13, 1e-9, 1e-6, 1e-3, 1.0, 100.0)
  def test_rates_of_a_million_millions(self, t):
    rates = onp.array([1e12, 3.0, 1e12])
    operands = models.hypoexponential(rates)._replace(time=t)
    kinds = ("log_density", "cdf")
    self._check_right_or_explained(operands, kinds)

  @parameterized.parameters(1e6, 1e300)
  def test_too_much_work_is_refused_at_once(self, t):
    rates = onp.array([1e12, 3.0, 1e12])
    operands = models.hypoexponential(rates)._replace(time=t)
    arrays = kernel_calls.inputs(operands)
    start = time.monotonic()
    for kind in ("log_density", "log_survival", "log_cdf"):
      value = kernel_calls.directional(kind, operands)[0]
      if onp.isnan(value):
        self.assertNotEqual(kernel_calls.status(kind, arrays), ["ok"])
      else:
        # Far out all has been absorbed.
        self.assertEqual(kind, "log_cdf")
        self.assertAlmostEqual(value, 0.0)
      kernel_calls.gradient(kind, operands)
    self.assertLess(time.monotonic() - start, 60.0)

  @parameterized.parameters(1e-300, 1e-200, 1e-30, 1e30, 1e200, 1e300)
  def test_time_in_other_units(self, unit):
    # Rates and times of any size; only their product counts.
    model = models.hypoexponential(onp.array([1.0, 2.0, 0.5]) * unit)
    self._check_right_or_explained(model._replace(time=1.5 / unit))

  @parameterized.parameters(5e-324, 1e-310, 2.3e-308)
  def test_the_smallest_numbers(self, tiny):
    cases_ = (
      cases.small_model(initial_probs=onp.array([0.5, 0.25, tiny])),
      cases.small_model(exit_rates=onp.array([tiny, 0.0, tiny])),
      cases.small_model(prob_zero=tiny),
      cases.small_model()._replace(time=tiny),
    )
    for operands in cases_:
      arrays = kernel_calls.inputs(operands)
      for kind in oracle.KINDS:
        value = kernel_calls.directional(kind, operands)[0]
        explained = kernel_calls.status(kind, arrays) != ["ok"]
        self.assertEqual(bool(onp.isnan(value)), explained)
        if explained:
          continue
        truth, _ = oracle.directional(kind, operands)
        bound = cases.value_tolerance(kind, float(truth.mid()))
        self.assertLessEqual(oracle.error(value, truth), bound, kind)

  @parameterized.parameters(1e307, 1.7e308)
  def test_the_largest_numbers(self, huge):
    exits = onp.array([huge, huge, huge])
    for operands in (
      cases.small_model(exit_rates=exits),
      cases.small_model(exit_rates=exits)._replace(time=1 / huge),
      cases.small_model(subgenerator=onp.full((3, 3), huge)),
      cases.small_model()._replace(time=huge),
    ):
      for kind in oracle.KINDS:
        value = kernel_calls.directional(kind, operands)[0]
        self.assertFalse(value > 0 and onp.isinf(value))
        kernel_calls.gradient(kind, operands)

  def test_many_times_and_phases_within_bounds(self):
    p, n = 150, 2000
    operands = models.erlang(p, 0.5)._replace(time=onp.linspace(0.1, 900, n))
    values = kernel_calls.directional("log_density", operands)
    self.assertTrue(onp.all(onp.isfinite(values)))

  def test_cdf_that_grows_by_less_than_its_last_digit_a_step(self):
    # One fast phase among slow ones, too many of them for squared powers.
    p, slow = 520, 4.7e-16
    exits = onp.full(p, slow)
    exits[0] = 1.0
    alpha = onp.full(p, 0.5 / (p - 1))
    alpha[0] = 0.5
    x = onp.array([1e5, 1e6])
    operands = oracle.Operands(
      alpha, onp.zeros((p, p)), exits, onp.float64(0.0), x
    )
    expected = onp.log(-0.5 * onp.expm1(-x) - 0.5 * onp.expm1(-slow * x))
    onp.testing.assert_allclose(
      kernel_calls.directional("log_cdf", operands), expected, 0.0, 1e-12
    )

  @parameterized.parameters(1e4, 1e5, 1e6)
  def test_cdf_of_exits_near_the_smallest_normal_number(self, x):
    unit = 2.0**-924
    rates = onp.array([[0.0, 4.7e-16], [0.85, 0.0]]) * unit
    exits = onp.array([0.0, 1.88e-307])
    operands = oracle.Operands(
      onp.array([0.625, 0.375]), rates, exits, onp.float64(0.0), x / unit
    )
    self._check_right_or_explained(operands, ("log_cdf",))


if __name__ == "__main__":
  absltest.main()
