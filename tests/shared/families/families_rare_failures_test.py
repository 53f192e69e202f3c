"""Numbers of trials with tiny probabilities of failure."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

COUNT = 200
# One less the probability of success, in units of the precision.
PARTS = (1, 64, 3000)


def _log_prob(prob, failures):
  """Computes log P(N = k) of failures, in many digits."""
  with mpmath.workdps(200):
    q = mpmath.mpf(float(prob))
    ways = mpmath.binomial(failures + COUNT - 1, failures)
    mass = ways * q**COUNT * (1 - q) ** failures
    return float(mpmath.log(mass))


def _log_survival(prob, failures):
  """Computes log P(N > k) of failures."""
  with mpmath.workdps(200):
    q = mpmath.mpf(float(prob))
    few = sum(
      mpmath.binomial(k + COUNT - 1, k) * q**COUNT * (1 - q) ** k
      for k in range(failures + 1)
    )
    return float(mpmath.log(1 - few))


class RareFailuresTest(test_case.TestCase):
  """Tests accuracy for tiny probabilities of failure."""

  @parameterized.product(dtype=("float32", "float64"), parts=PARTS)
  def test_trials(self, dtype, parts):
    eps = onp.finfo(dtype).eps
    prob = onp.asarray(1.0 - parts * eps, dtype)
    dist = pd.NegativeBinomialTrials(COUNT, prob)
    failures = onp.asarray([0, 1, 2, 5])
    counts = onp.asarray(COUNT + failures, dtype)
    rtol = 64 * eps
    expected = [_log_prob(prob, k) for k in failures]
    self.assert_close(dist.log_prob(counts), expected, rtol, eps)
    expected = [_log_survival(prob, k) for k in failures]
    self.assert_close(dist.log_survival_function(counts), expected, rtol)
    variance = COUNT * (parts * eps) / float(prob) ** 2
    self.assert_close(dist.variance(), variance, rtol)
    self.assert_close(dist.stddev(), variance**0.5, rtol)
    # Of failures before the last success.
    rest = pd.NegativeBinomialFailures(COUNT, prob)
    found = rest.log_prob(onp.asarray(failures, dtype))
    expected = [_log_prob(prob, k) for k in failures]
    self.assert_close(found, expected, rtol, eps)
    self.assert_close(rest.mean(), COUNT * parts * eps / float(prob), rtol)
    self.assert_close(rest.variance(), variance, rtol)

  @parameterized.parameters("float32", "float64")
  def test_mixtures(self, dtype):
    eps = onp.finfo(dtype).eps
    probs = onp.asarray([0.5, 0.25, 0.125, 0.125], dtype)
    failing = onp.asarray([1.0, 2.0, 0.0, 4.0]) * eps
    dist = pd.GeometricMixture(probs, onp.asarray(1.0 - failing, dtype))
    for k in (1, 2, 4):
      mass = onp.sum(probs * failing ** (k - 1) * (1.0 - failing))
      count = onp.asarray(k, dtype)
      self.assert_close(dist.log_prob(count), onp.log(mass), 8 * eps)
    second = onp.sum(probs * failing)
    self.assert_close(dist.variance(), second, 64 * eps)
    left = pd.ResidualLife(dist, onp.asarray(1.0, dtype))
    share = onp.sum(probs * failing**2) / second
    log_left = left.log_survival_function(onp.asarray(1.0, dtype))
    self.assert_close(log_left, onp.log(share), 64 * eps)

  def test_dense_form(self):
    eps = 2.0**-52
    dist = pd.NegativeBinomialTrials(COUNT, 1.0 - eps).as_phase_type()
    counts = onp.asarray([COUNT, COUNT + 1.0])
    expected = [_log_prob(1.0 - eps, k) for k in (0, 1)]
    self.assert_close(dist.log_prob(counts), expected, 1e-13)
    self.assert_close(dist.variance(), COUNT * eps, 1e-13)

  def test_quantiles_and_no_failures(self):
    eps = 2.0**-52
    dist = pd.NegativeBinomialTrials(COUNT, [1.0 - eps, 1.0])
    level = _log_survival(1.0 - eps, 0)
    for shift, expected in ((-1e-6, COUNT + 1), (1e-6, COUNT)):
      found = dist.quantile_log_survival(level + shift)
      self.assert_close(found, [expected, COUNT])
    self.assert_close(dist.variance()[1], 0.0)
    self.assert_close(dist.log_prob(COUNT)[1], 0.0)

  def test_derivatives(self):
    eps = 2.0**-52
    prob = onp.asarray(1.0 - 3 * eps)

    def log_prob(prob):
      return pd.NegativeBinomialTrials(COUNT, prob).log_prob(COUNT + 1.0)

    _, slope = gradients.value_and_gradient(log_prob, prob)
    self.assert_close(slope, COUNT / prob - 1 / (3 * eps), 1e-12)

    def variance(prob):
      return pd.NegativeBinomialTrials(COUNT, prob).variance()

    _, slope = gradients.value_and_gradient(variance, prob)
    expected = -COUNT / prob**2 - 2 * COUNT * 3 * eps / prob**3
    self.assert_close(slope, expected, 1e-12)


if __name__ == "__main__":
  absltest.main()
