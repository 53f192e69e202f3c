"""Simulation-based calibration of NUTS on a model with two parameters."""

import os
import sys

from absl.testing import absltest
import jax
import numpy as np
from scipy import stats

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import bayes  # noqa: F401  (double precision)
from bayes import calibration

_NUM_CASES = 120
_NUM_BINS = 8


def p_values(ranks):
  """Of chi-square tests that ranks (n, 2) are uniform, (2,)."""
  bins = ranks * _NUM_BINS // (calibration.NUM_DRAWS + 1)
  counts = [np.bincount(b, minlength=_NUM_BINS) for b in np.asarray(bins).T]
  return np.array([stats.chisquare(c).pvalue for c in counts])


class CalibrationTest(absltest.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    key, cls.key = jax.random.split(jax.random.key(2018))
    cls.cases = jax.vmap(calibration.simulate)(
      jax.random.split(key, _NUM_CASES)
    )
    cls.ranks = staticmethod(jax.jit(jax.vmap(calibration.ranks)))

  def test_ranks_are_uniform(self):
    keys = jax.random.split(self.key, _NUM_CASES)
    found = p_values(self.ranks(keys, self.cases))
    self.assertGreater(found.min(), 0.01, msg=found)

  def test_a_wrong_likelihood_is_noticed(self):
    keys = jax.random.split(self.key, _NUM_CASES)
    # Times that were cut off are taken for events.
    wrong = self.cases._replace(censored=np.zeros_like(self.cases.censored))
    found = p_values(self.ranks(keys, wrong))
    self.assertLess(found.min(), 1e-4, msg=found)


if __name__ == "__main__":
  absltest.main()
