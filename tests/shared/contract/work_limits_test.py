"""The limit on work: how it is set, and NaN beyond it."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import config
from phasic import distributions as pd
from phasic import inference
from tests.helpers import chains
from tests.helpers import test_case


class WorkLimitsTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.require_kernel()

  def assert_warns(self, call, regex):
    """Asserts that a call returns NaN, and warns of it once."""
    found, caught = self.caught(call)
    self.assertTrue(onp.any(onp.isnan(self.host(found))))
    (warning,) = caught
    self.assertRegex(str(warning.message), regex)

  def test_work_limit(self):
    dist = pd.PhaseType(*chains.ring())
    far = 1e30
    for method in ("log_prob", "log_survival_function"):
      self.assert_warns(
        lambda method=method: getattr(dist, method)([1.0, far]),
        rf"{method}\[1\] is NaN at value = 1e\+30: .*work limit; config\.set_work",
      )
    self.assert_warns(
      lambda: dist.hazard_function(far), r"hazard_function is NaN.*work limit"
    )

  @parameterized.parameters(None, 5.0, 5)
  def test_setting_the_limit(self, seconds):
    before = config.work_limit()
    self.addCleanup(config.set_work_limit, before)
    config.set_work_limit(seconds)
    if seconds is None:
      self.assertIsNone(config.work_limit())
    else:
      self.assertAlmostEqual(config.work_limit(), seconds, places=9)

  def test_limits_that_are_none(self):
    for seconds, error in ((0, ValueError), (-1.0, ValueError)):
      with self.assertRaisesRegex(
        error, "^seconds is .*must be > 0 and finite"
      ):
        config.set_work_limit(seconds)
    for seconds in (math.nan, math.inf, 10**400, 1e300):
      with self.assertRaisesRegex(ValueError, "pass None for no limit"):
        config.set_work_limit(seconds)
    for seconds in (True, "1", b"1", [1.0]):
      with self.assertRaisesRegex(TypeError, "^seconds is .*must be a number"):
        config.set_work_limit(seconds)

  def test_small_limits(self):
    self.addCleanup(config.set_work_limit, config.work_limit())
    dist, time = pd.PhaseType(*chains.ring()), 2000.0
    expected = self.host(dist.log_survival_function(time))
    config.set_work_limit(1e-6)
    self.assert_warns(
      lambda: dist.log_survival_function(time),
      "NaN at value = 2000.*work limit",
    )
    self.assert_warns(
      lambda: dist.quantile(0.5),
      r"quantile is NaN at value = 0\.5: .*config\.set_work_limit",
    )
    config.set_work_limit(None)
    self.assert_close(dist.log_survival_function(time), expected, 0.0)

  def test_all_times_of_a_model(self):
    self.addCleanup(config.set_work_limit, config.work_limit())
    dist = pd.PhaseType(*chains.ring(64))
    times = onp.linspace(1e5, 1e6, 3000)
    # Times on their own, some of them, and all together: some 4e4 multiply-adds
    # each.
    config.set_work_limit(0.05)
    few = self.host(dist.log_survival_function(times[:100]))
    self.assert_warns(
      lambda: dist.log_survival_function(times), r"\[0\] is NaN.*work limit"
    )
    config.set_work_limit(0.2)
    found = self.host(dist.log_survival_function(times))
    self.assert_close(found[:100], few, 0.0)
    self.assertTrue(onp.all(onp.isfinite(found)))

  def test_all_intervals_of_steps(self):
    self.addCleanup(config.set_work_limit, config.work_limit())
    # A ring whose steps are cheaper than squares of its matrix.
    steps = onp.diag(onp.full(300, 0.5)) + 0.4999 * onp.roll(onp.eye(300), 1, 1)
    dist = pd.DiscretePhaseType(onp.eye(300)[0], steps)
    lower = onp.arange(1.0, 20_001.0)
    data = inference.Observations(lower, onp.full(20_000, 40_000.0))
    few = inference.Observations(lower[:10], onp.full(10, 40_000.0))
    config.set_work_limit(0.5)
    self.assertTrue(onp.isfinite(self.host(few.log_likelihood(dist))))
    self.assert_warns(lambda: data.log_likelihood(dist), "work limit")


if __name__ == "__main__":
  absltest.main()
