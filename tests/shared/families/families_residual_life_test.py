"""Residual life in far tails."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

# P(X > t) becomes small, subnormal, zero.
TIMES = onp.asarray([600.0, 710.0, 740.0, 1e3, 3e4])
RATES = (1.0, 1.0 + 2.0**-10)


def _shares(time):
  """Computes the state probabilities of two exponential components at a time."""
  with mpmath.workdps(50):
    left = [mpmath.exp(-mpmath.mpf(rate) * time) for rate in RATES]
    return [float(x / sum(left)) for x in left]


class ResidualLifeTest(test_case.TestCase):
  """Tests residual life if survival probabilities underflow."""

  def test_mixtures(self):
    dist = pd.ResidualLife(pd.Hyperexponential([0.5, 0.5], RATES), TIMES)
    shares = onp.asarray([_shares(float(t)) for t in TIMES])
    rates = onp.asarray(RATES)
    expected = onp.log(onp.sum(shares * rates * onp.exp(-rates), axis=-1))
    self.assert_close(dist.log_prob(1.0), expected, 1e-12)
    self.assert_close(dist.mean(), onp.sum(shares / rates, axis=-1), 1e-12)
    mean, second = (onp.sum(shares * k / rates**k, axis=-1) for k in (1, 2))
    self.assert_close(dist.variance(), second - mean**2, 1e-11)

  @test_case.of_bad_values
  def test_counts_are_whole(self):
    trials = pd.NegativeBinomialTrials(2, 0.5)
    with self.assertRaisesRegex(ValueError, r"time\[1\] = 1.5: .* integer"):
      pd.ResidualLife(trials, [1.0, 1.5], validate_args=True)
    self.assert_close(pd.ResidualLife(trials, 1.5).mean(), math.nan)

  @test_case.of_bad_values
  def test_what_is_not_known_is_told(self):
    ended = pd.DiscretePhaseType([1.0], [[0.0]])
    left = pd.ResidualLife(ended, 2.0)
    self.assertIn("time: X", str(left.diagnose(1.0)))
    bad = pd.ResidualLife(pd.Erlang(2, -1.0), 2.0)
    self.assertIn("rate", str(bad.diagnose(1.0)))
    good = pd.ResidualLife(pd.Erlang(2, 1.0), 2.0)
    self.assertEqual(str(good.diagnose(1.0)), "ok")

  @test_case.of_bad_values
  def test_what_may_never_end(self):
    # Half of the mass is caught in the second phase.
    left = pd.ResidualLife(pd.Coxian([1.0], [1.0, 0.0]), 2.0)
    first = math.exp(-4.0)
    share = first / (first + 0.5 * (1.0 - first))
    self.assert_close(left.prob(1.0), share * math.exp(-2.0), 1e-13)
    ended = 0.5 * share * -math.expm1(-2.0)
    self.assert_close(left.cdf(1.0), ended, 1e-13)
    self.assertEqual(str(left.diagnose(1.0)), "ok")

  def test_stages(self):
    dist = pd.ResidualLife(pd.Erlang(2, 1.0), TIMES)
    # The first stage goes on with probability 1 / (1 + t).
    self.assert_close(dist.mean(), 1.0 + 1.0 / (1.0 + TIMES), 1e-12)
    expected = onp.log((TIMES + 0.5) / (TIMES + 1.0)) - 0.5
    self.assert_close(dist.log_prob(0.5), expected, 1e-12)

  @parameterized.parameters(("float32", 2e-5), ("float64", 1e-11))
  def test_steps(self, dtype, rtol):
    counts = onp.asarray([50.0, 1e3, 1100.0, 5e3], dtype)
    base = pd.NegativeBinomialTrials(2, onp.asarray(0.5, dtype))
    dist = pd.ResidualLife(base, counts)
    # No success yet, or one: 1 against k.
    first = 1.0 / (1.0 + counts.astype(float))
    self.assert_close(dist.mean(), 2.0 + 2.0 * first, rtol)
    cut = pd.TruncatedPhaseType(base, counts + 1, counts + 2)
    masses = onp.stack([(1.0 - first) / 2, 0.25 * (1.0 - first) + first / 4])
    masses = masses / onp.sum(masses, axis=0)
    for k, expected in enumerate(masses, start=1):
      found = cut.prob(onp.asarray(counts + k, dtype))
      self.assert_close(found, expected, 200 * rtol)

  def test_truncated_times(self):
    dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), TIMES)
    self.assert_close(dist.mean(), TIMES + 1.0 + 1.0 / (1.0 + TIMES), 1e-14)
    variance = 1.0 + 2.0 / (1.0 + TIMES) - 1.0 / (1.0 + TIMES) ** 2
    self.assert_close(dist.variance(), variance, 1e-11)

  def test_derivatives(self):

    def mean(time):
      return pd.ResidualLife(pd.Erlang(2, 1.0), time).mean()

    time = onp.asarray(1e4)
    _, slope = gradients.value_and_gradient(mean, time)
    # It is the rest of terms that are 1e4 times larger.
    self.assert_close(slope, -1.0 / (1.0 + time) ** 2, 1e-8)


if __name__ == "__main__":
  absltest.main()
