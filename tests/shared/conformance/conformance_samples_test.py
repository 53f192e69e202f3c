"""Conformance: distributions of samples."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import test_case

_COUNT = 400
# Of the Kolmogorov-Smirnov distance, with probability 1e-4, and for a law with
# atoms with less.
_DISTANCE = 2.23 / math.sqrt(_COUNT)


class SamplesTest(test_case.TestCase):
  """Tests samples with fixed seeds."""

  @parameterized.named_parameters(*conformance.rows("samples"))
  def test_distribution(self, family, mode):
    case = conformance.CASES[family]
    rows, _ = conformance.points(family, mode)
    rows = rows[:2] if mode == conformance.VECTORIZED else rows[:1]

    def draw(parameters):
      return case.build(**parameters).sample(_COUNT, seed=11)

    found = conformance_modes.draws(draw, mode, rows)
    self.assertEqual(found.shape, (len(rows), _COUNT))
    for x, row in zip(found, rows, strict=True):
      self._check(family, row, onp.sort(x))

  def _check(self, family, row, x):
    discrete = conformance.CASES[family].discrete
    points, counts = onp.unique(x, return_counts=True)
    below = onp.cumsum(counts) / _COUNT
    with mpmath.workdps(conformance.digits(family)):
      law = conformance.law(family, row)
      exact = onp.asarray([float(law.cdf(mpmath.mpf(t))) for t in points])
      moments = law.second is not None
      if moments:
        mean, variance = float(law.mean), float(law.variance)
    self.assertLess(onp.max(onp.abs(below - exact)), _DISTANCE)
    if not discrete:
      # Compare from below, except at a possible atom at zero.
      before = onp.where(points > 0, below - counts / _COUNT, exact)
      self.assertLess(onp.max(onp.abs(before - exact)), _DISTANCE)
    else:
      self.assert_close(points, onp.floor(points), 0.0)
    if moments:
      error = abs(onp.mean(x) - mean) / math.sqrt(variance / _COUNT)
      self.assertLess(error, 4.5)

  @parameterized.named_parameters(
    *(row for row in conformance.rows("samples") if row[2] == conformance.EAGER)
  )
  def test_seeds(self, family, mode):
    del mode
    dist = conformance.CASES[family].make()
    x = self.host(dist.sample((2, 3), seed=5))
    self.assertEqual(x.shape, (2, 3))
    again, log_prob = dist.sample_and_log_prob((2, 3), seed=5)
    self.assert_close(again, x, 0.0)
    self.assert_close(log_prob, self.host(dist.log_prob(x)), 1e-14)
    self.assertTrue(onp.any(self.host(dist.sample((2, 3), seed=6)) != x))


if __name__ == "__main__":
  absltest.main()
