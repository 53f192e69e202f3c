"""Numbers of failures with probabilities that underflow."""

import math

from absl.testing import absltest
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from tests.helpers import test_case

COUNT = 40
PROBS = (1e-8, 2e-8)


class FailuresTest(test_case.TestCase):
  """Tests statistics of failures, by the number of trials."""

  def test_entropy(self):
    dist = pd.NegativeBinomialFailures(COUNT, PROBS[0])
    self.assertLess(PROBS[0] ** COUNT, 1e-319)
    # The terms are smooth, so quadrature skips some.
    counts = onp.arange(0.0, 3e10, 1e6)
    logs = COUNT * math.log(PROBS[0]) + counts * math.log1p(-PROBS[0])
    for j in range(1, COUNT):
      logs = logs + onp.log1p(counts / j)
    expected = -1e6 * onp.sum(onp.exp(logs) * logs)
    self.assert_close(dist.entropy(), expected, 1e-9)
    self.assert_close(dist.cross_entropy(dist), expected, 1e-9)

  def test_divergences(self):
    first, second = (pd.NegativeBinomialFailures(COUNT, q) for q in PROBS)
    mean = COUNT * (1 - PROBS[0]) / PROBS[0]
    expected = COUNT * math.log(PROBS[0] / PROBS[1])
    expected += mean * (math.log1p(-PROBS[0]) - math.log1p(-PROBS[1]))
    self.assert_close(first.kl_divergence(second), expected, 1e-9)
    # Divergences from other distributions are infinite, as one underflows.
    few = pd.NegativeBinomialFailures(2, 0.5)
    self.assert_close(few.kl_divergence(second), math.nan)
    self.assert_close(few.cross_entropy(second), math.nan)
    other = pd.NegativeBinomialFailures(3, 0.25)
    k = onp.arange(200.0)
    p, q = stats.nbinom(2, 0.5).logpmf(k), stats.nbinom(3, 0.25).logpmf(k)
    expected = onp.sum(onp.exp(p) * (p - q))
    self.assert_close(few.kl_divergence(other), expected, 1e-9)

  @test_case.of_bad_values
  def test_diagnose(self):
    self.require_kernel()
    dist = pd.NegativeBinomialFailures(COUNT, PROBS[0])
    self.assertEqual(dist.diagnose([0.0, 5.0]).tolist(), ["ok"] * 2)
    self.assertIn("NaN", str(dist.diagnose(math.nan, "cdf")))
    bad = pd.NegativeBinomialFailures(2, -0.5)
    self.assertNotEqual(str(bad.diagnose(1.0)), "ok")


if __name__ == "__main__":
  absltest.main()
