"""Bounds of truncated distributions."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

_METHODS = (
  "log_prob",
  "prob",
  "log_cdf",
  "cdf",
  "log_survival_function",
  "survival_function",
)


class BoundsTest(test_case.TestCase):
  """Tests valid bounds and supports."""

  @parameterized.parameters(
    (-1.0, 2.0),
    (3.0, 2.0),
    (2.0, 2.0),
    (math.nan, 2.0),
    (0.0, math.nan),
    (math.inf,) * 2,
  )
  @test_case.of_bad_values
  def test_rules(self, low, high):
    base = pd.Erlang(2, 1.0)
    dist = pd.TruncatedPhaseType(base, low, high)
    for method in _METHODS:
      found = self.host(getattr(dist, method)([0.5, 2.5, 9.0]))
      self.assertTrue(onp.all(onp.isnan(found)), method)
    self.assert_close(dist.quantile(0.5), math.nan)
    self.assert_close(dist.sample(seed=1), math.nan)
    name = "high" if low >= 0 and low < math.inf else "low"
    with self.assertRaisesRegex(ValueError, f"^{name} = .*: it must be a num"):
      pd.TruncatedPhaseType(base, low, high, validate_args=True)

  def test_atom_alone(self):
    base = pd.ZeroInflated(pd.Erlang(2, 1.5), 0.25)
    dist = pd.TruncatedPhaseType(base, 0.0, 0.0, validate_args=True)
    self.assert_close(dist.log_cdf(0.0), 0.0)
    self.assert_close(dist.quantile([0.1, 1.0]), onp.zeros(2))
    self.assert_close(dist.sample(2, seed=1), onp.zeros(2))
    self.assert_close(dist.mean(), 0.0)

  def test_bounds_near_zero(self):
    # They cut off nothing that can be seen.
    times = onp.asarray([0.5, 1.0, 2.0])
    whole = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 0.0, 3.0)
    for low in (1e-300, 1e-310, 5e-324):
      dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), low, 3.0)
      for method in ("log_prob", "log_survival_function", "log_cdf"):
        expected = self.host(getattr(whole, method)(times))
        self.assert_close(getattr(dist, method)(times), expected, 1e-13)
      self.assert_close(dist.mean(), whole.mean(), 1e-12)

  @test_case.of_bad_values
  def test_whole_numbers(self):
    base = pd.NegativeBinomialTrials(2, 0.5)
    for low, high, name in ((2.5, 4.0, "low"), (2.0, 4.5, "high")):
      dist = pd.TruncatedPhaseType(base, low, high)
      self.assert_close(dist.cdf([3.0, 9.0]), onp.full(2, math.nan))
      with self.assertRaisesRegex(ValueError, f"^{name} = .*: it must be an i"):
        pd.TruncatedPhaseType(base, low, high, validate_args=True)

  def test_no_samples(self):
    base = pd.Hyperexponential([0.5, 0.5], onp.asarray([[1.0, 2.0]] * 3))
    for x in (base, pd.NegativeBinomialTrials(2, onp.full(3, 0.5))):
      dist = pd.TruncatedPhaseType(x, 2.0, 4.0)
      self.assertEqual(onp.shape(self.host(dist.sample(0, seed=1))), (0, 3))
      found = self.host(dist.sample((2, 0), seed=1))
      self.assertEqual(onp.shape(found), (2, 0, 3))

  def test_no_upper_bound(self):
    base = pd.ZeroInflated(pd.Erlang(2, 1.5), 0.25)
    values = onp.asarray([0.0, 0.5, 1.0, 4.0])
    for low in (0.0, 1.0):
      open_ = pd.TruncatedPhaseType(base, low)
      given = pd.TruncatedPhaseType(base, low, math.inf, validate_args=True)
      for method in _METHODS:
        found = getattr(open_, method)(values)
        self.assert_close(getattr(given, method)(values[2:]), found[2:], 1e-14)
      self.assert_close(given.quantile(0.7), open_.quantile(0.7), 1e-14)
      self.assert_close(given.quantile(1.0), math.inf)
      self.assert_close(given.sample(3, seed=1), open_.sample(3, seed=1), 1e-13)
      for method in ("mean", "variance", "stddev"):
        found = getattr(open_, method)()
        self.assert_close(getattr(given, method)(), found, 1e-14)
    both = pd.TruncatedPhaseType(base, 0.5, [2.0, math.inf])
    expected = stats.gamma(2, scale=1 / 1.5).cdf([0.5, 1.0, 2.0])
    found = (expected[1] - expected[0]) / (
      onp.asarray([expected[2], 1]) - expected[0]
    )
    self.assert_close(both.cdf(1.0), found, 1e-12)

  def test_support(self):
    dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 1.0, [2.0, math.inf])
    values = onp.asarray([[0.5], [1.0], [2.0], [3.0], [math.inf]])
    expected = [[False] * 2, [True] * 2, [True] * 2, [False, True], [False] * 2]
    self.assertEqual(
      self.host(dist.support.contains(values)).tolist(), expected
    )
    trials = pd.NegativeBinomialTrials(2, 0.5)
    counts = pd.TruncatedPhaseType(trials, 3, 5).support
    found = self.host(counts.contains([2.0, 3.0, 3.5, 5.0, 6.0]))
    self.assertEqual(found.tolist(), [False, True, False, True, False])
    checked = pd.TruncatedPhaseType(
      pd.Erlang(2, 1.0), 1.0, 2.0, validate_args=True
    )
    with self.assertRaisesRegex(ValueError, r"value = 2.5: .*low, high"):
      checked.log_prob(2.5)

  def test_event_space(self):
    dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 1.0, [3.0, math.inf])
    bijector = dist.experimental_default_event_space_bijector()
    x = onp.asarray([[-2.0], [0.0], [1.5]])
    y = self.host(bijector.forward(x))
    expected = onp.concatenate(
      [1.0 + 2.0 / (1.0 + onp.exp(-x)), 1.0 + onp.exp(x)], axis=-1
    )
    self.assert_close(y, expected, 1e-14)
    self.assert_close(bijector.inverse(y), x + onp.zeros(2), 1e-13, 1e-13)
    slope = 2.0 / ((1.0 + onp.exp(-x)) * (1.0 + onp.exp(x)))
    expected = onp.concatenate([onp.log(slope), x], axis=-1)
    self.assert_close(bijector.forward_log_det_jacobian(x), expected, 1e-13)
    self.assert_close(bijector.inverse_log_det_jacobian(y), -expected, 1e-12)

  def test_derivatives(self):
    rate = onp.asarray(1.5)

    def value(rate):
      dist = pd.TruncatedPhaseType(pd.Erlang(1, rate), 1.0, math.inf)
      return dist.log_prob(2.0) + dist.mean() + dist.quantile(0.5)

    _, slope = gradients.value_and_gradient(value, rate)
    expected = 1 / rate - 1.0 - (1.0 + math.log(2.0)) / rate**2
    self.assert_close(slope, expected, 1e-10)

  @test_case.of_bad_values
  def test_bounds_so_late_that_logarithms_lose_digits(self):
    # Given X > t the density of Erlang's law of two stages is
    # (t + x) / (t + 1) exp(-x) at t + x.
    for low in (1e3, 1e6, 1e8, 1e9, 1e12, 1e15):
      known = low < 2.8e8
      for high in (math.inf, low + 64.0):
        dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), low, high)
        rest = low + 1.0 - (low + 65.0) * math.exp(-64.0)
        left = (low + 3.0) * math.exp(-2.0)
        if high < math.inf:
          left -= (low + 65.0) * math.exp(-64.0)
        else:
          rest = low + 1.0
        for method, exact in (
          ("log_prob", math.log((low + 2.0) / rest) - 2.0),
          ("log_survival_function", math.log(left / rest)),
          ("cdf", 1.0 - left / rest),
        ):
          found = getattr(dist, method)(low + 2.0)
          expected = exact if known else math.nan
          self.assert_close(found, expected, 1e-5)
          why = "ok" if known else "low, high: so little mass"
          self.assertStartsWith(str(dist.diagnose(low + 2.0, method)), why)
      # The mean is not a difference, and has all its digits.
      self.assert_close(dist.mean(), low + 1.0 + 1.0 / (low + 1.0), 1e-12)

  def test_bounds_so_late_that_nothing_is_beyond(self):
    for base in (
      pd.Hypoexponential([2.0, 1.0]),
      pd.DiscretePhaseType([1.0, 0.0], [[0.5, 0.25], [0.0, 0.5]]),
    ):
      whole = pd.TruncatedPhaseType(base, 1.0)
      for high in (1e13, 1e17, 1e300):
        dist = pd.TruncatedPhaseType(base, 1.0, high)
        for method, argument in (
          ("log_prob", [2.0, 3.0]),
          ("cdf", [2.0, 3.0]),
          ("log_survival_function", [2.0, 50.0]),
          ("hazard_function", [2.0, 50.0]),
          ("quantile", [0.25, 0.75]),
        ):
          expected = getattr(whole, method)(argument)
          self.assert_close(getattr(dist, method)(argument), expected)
        for method in ("mean", "variance", "entropy"):
          expected = getattr(whole, method)()
          self.assert_close(getattr(dist, method)(), expected, 1e-9)
        self.assert_close(dist.prob(2e300), 0.0)
    # Given X > 1, an exponential time is one more.
    dist = pd.TruncatedPhaseType(pd.Erlang(1, 2.0), 1.0, 1e300)
    self.assert_close(dist.mean(), 1.5)
    self.assert_close(dist.log_prob(2.0), onp.log(2.0) - 2.0)

  def test_quantiles_of_little_mass_between_much(self):
    # P(low < X <= high) is small beside P(X <= low) and beside P(X > high).
    probs = onp.asarray([1e-9, 0.1, 0.5, 0.9])
    # Most are caught in the second phase.
    caught = pd.PhaseType(
      [0.25, 0.75], onp.zeros((2, 2)), exit_rates=[50.0, 0.0]
    )
    dist = pd.TruncatedPhaseType(caught, 1.25, 2.5)
    share = -onp.expm1(-50.0 * 1.25)
    expected = 1.25 - onp.log1p(-probs * share) / 50.0
    self.assert_close(dist.quantile(probs), expected, 1e-14)
    self.assert_close(dist.cdf(expected[1:]), probs[1:], 1e-11)
    # A rate so small that the density grows like x^4.
    late = pd.ZeroInflated(pd.Erlang(5, 1e-20), 0.25)
    dist = pd.TruncatedPhaseType(late, 0.5, 4.0)
    expected = (0.5**5 + probs * (4.0**5 - 0.5**5)) ** 0.2
    self.assert_close(dist.quantile(probs), expected, 1e-12)
    logs = onp.log1p(-probs)
    self.assert_close(dist.quantile_log_survival(logs), expected, 1e-12)
    # All is in the far tail.
    dist = pd.TruncatedPhaseType(pd.Erlang(1, 3.0), 300.0, 301.0)
    expected = 300.0 - onp.log1p(probs * onp.expm1(-3.0)) / 3.0
    self.assert_close(dist.quantile(probs), expected, 1e-14)
    # In steps: of the first 4000, those of 5 and 6.
    steps = pd.TruncatedPhaseType(pd.GeometricMixture([1.0], [1e-20]), 5, 6)
    self.assert_close(steps.quantile([0.25, 0.75]), [5.0, 6.0])


if __name__ == "__main__":
  absltest.main()
