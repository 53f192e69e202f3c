"""Covariances of branch lengths against the closed form of Fu.

Y. X. Fu, Statistical properties of segregating sites, Theor. Popul. Biol. 48,
1995. Its mutations come at rate theta / 2 to a lineage, in units of time in
which a pair merges at rate 1, as here: the covariance of the numbers of sites is
theta^2 sigma_ij besides the Poisson variance, and that of the branch lengths is
4 sigma_ij.
"""

import fractions

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from tests.helpers import test_case

models = graphs.models
Fraction = fractions.Fraction
_SIZES = range(4, 11)


def _harmonic(n: int) -> Fraction:
  """Returns a_n, the sum of 1 / k for k below n."""
  return sum((Fraction(1, k) for k in range(1, n)), Fraction(0))


def _beta(n: int, i: int) -> Fraction:
  rest = n - i
  factor = Fraction(2 * n, (rest + 1) * rest)
  return factor * (_harmonic(n + 1) - _harmonic(i)) - Fraction(2, rest)


def _sigma(n: int, i: int, j: int) -> Fraction:
  """Returns sigma_ij of Fu."""
  i, j = max(i, j), min(i, j)
  share = (_harmonic(n) - _harmonic(i)) / (n - i)
  if i == j:
    if 2 * i < n:
      return _beta(n, i + 1)
    first = 2 * share if 2 * i == n else _beta(n, i)
    return first - Fraction(1, i * i)
  if i + j < n:
    return (_beta(n, i + 1) - _beta(n, i)) / 2
  if i + j == n:
    other = (_harmonic(n) - _harmonic(j)) / (n - j)
    pair = (_beta(n, i) + _beta(n, j + 1)) / 2
    return share + other - pair - Fraction(1, i * j)
  return (_beta(n, j) - _beta(n, j + 1)) / 2 - Fraction(1, i * j)


def _exact(n: int) -> tuple[list[Fraction], list[list[Fraction]]]:
  """Returns the means and the covariance of the branch lengths."""
  entries = range(1, n)
  means = [Fraction(2, i) for i in entries]
  return means, [[4 * _sigma(n, i, j) for j in entries] for i in entries]


def _folded(n: int) -> tuple[list[Fraction], list[list[Fraction]]]:
  """Returns the same of the sums of the entries i and n - i."""
  means, covariance = _exact(n)
  # The middle entry of an even n is its own partner.
  parts = [sorted({i, n - i}) for i in range(1, n // 2 + 1)]
  sums = [sum(means[i - 1] for i in part) for part in parts]
  return sums, [
    [sum(covariance[i - 1][j - 1] for i in a for j in b) for b in parts]
    for a in parts
  ]


class CovarianceTest(test_case.TestCase):
  """Tests the Kingman spectrum, of one epoch and of two that are alike."""

  def _check(self, dist, exact):
    means, covariance = (onp.asarray(x, dtype=float) for x in exact)
    self.assert_close(dist.mean(), means, 1e-12)
    found = self.host(dist.covariance())
    self.assertEqual(found.shape, covariance.shape)
    # A covariance is a second moment less the product of means.
    scale = onp.abs(covariance) + onp.outer(means, means)
    self.assertLessEqual(onp.max(onp.abs(found - covariance) / scale), 1e-12)

  def _check_rewards(self, n, fold, exact):
    blocks = models.block_counting(n)
    branches = onp.asarray(blocks.states, dtype=float)[:, : n - 1]
    rewards = self.host(fold(branches))
    one = pd.MultivariatePhaseType.from_graph(blocks, [1.0], rewards)
    self._check(one, exact)
    history = pd.Epochs(blocks, [[1.0], [1.0]], [0.7])
    self._check(pd.MultivariateEpochs(history, rewards), exact)

  @parameterized.parameters(*_SIZES)
  def test_each_number_of_carriers(self, n):
    self._check_rewards(n, lambda branches: branches, _exact(n))

  @parameterized.parameters(*_SIZES)
  def test_folded(self, n):
    self._check_rewards(n, models.folded_spectrum, _folded(n))

  def test_closed_form(self):
    # Two of three lineages merge first, so that L_1 = 3 T_3 + T_2 and L_2 = T_2.
    _, covariance = _exact(3)
    self.assertEqual(covariance, [[2, 1], [1, 1]])


if __name__ == "__main__":
  absltest.main()
