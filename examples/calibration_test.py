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

# Four bins of 240 ranks also notice data that are counted twice (p = 6e-4), and
# a rate of migration that is taken twice (p = 7e-10).
_NUM_CASES = 240
_NUM_BINS = 4
# Cases that are run by one program.
_AT_ONCE = 40


def p_values(ranks):
  """Of chi-square tests that ranks (n, 2) are uniform, (2,)."""
  bins = ranks * _NUM_BINS // (calibration.NUM_DRAWS + 1)
  counts = [np.bincount(b, minlength=_NUM_BINS) for b in np.asarray(bins).T]
  return np.array([stats.chisquare(c).pvalue for c in counts])


class CalibrationTest(absltest.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    key, other = jax.random.split(jax.random.key(2018))
    keys = jax.random.split(key, _NUM_CASES)
    cls.cases = jax.vmap(calibration.simulate)(keys)
    cls.keys = jax.random.split(other, _NUM_CASES)

  def ranks(self, cases, first):
    part = slice(first, first + _AT_ONCE)
    rows = jax.tree.map(lambda x: x[part], cases)
    return calibration.ranks(self.keys[part], rows)

  def test_ranks_are_uniform(self):
    parts = range(0, _NUM_CASES, _AT_ONCE)
    found = p_values(np.concatenate([self.ranks(self.cases, i) for i in parts]))
    self.assertGreater(found.min(), 0.01, msg=found)

  def test_a_wrong_likelihood_is_noticed(self):
    # Times that were cut off are taken for events.
    none = np.zeros_like(self.cases.censored)
    found = p_values(self.ranks(self.cases._replace(censored=none), 0))
    self.assertLess(found.min(), 1e-9, msg=found)


if __name__ == "__main__":
  absltest.main()
