"""Tests of the demo's own functions."""

import os
import sys

from absl.testing import absltest
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from demo import coxian
from demo import story


class CoxianTest(absltest.TestCase):
  def test_canonical_keeps_the_distribution(self):
    rng = np.random.default_rng(1)
    times = np.array([0.01, 0.3, 1.0, 4.0, 9.0])
    for p in (1, 2, 3, 4):
      rates = rng.uniform(0.1, 3.0, size=2 * p - 1)
      ordered = coxian.canonical(rates)
      total = np.append(ordered[: p - 1], 0.0) + ordered[p - 1 :]
      self.assertTrue((np.diff(total) <= 1e-12).all(), msg=total)
      np.testing.assert_allclose(
        coxian.distribution(ordered).log_prob(times),
        coxian.distribution(rates).log_prob(times),
        rtol=1e-10,
      )
      np.testing.assert_allclose(coxian.canonical(ordered), ordered)


class DataTest(absltest.TestCase):
  def test_strikes(self):
    here = os.path.dirname(os.path.abspath(__file__))
    times = story.read(os.path.join(here, "data", "strikes.csv"))
    self.assertLen(times, 62)
    self.assertEqual((times.min(), times.max()), (1, 216))
    self.assertEqual(times.sum(), 2645)


if __name__ == "__main__":
  absltest.main()
