"""Covering sets, and the covering set of the conformance suite."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized
import pytest

from phasic import distributions as pd
from tests.helpers import conformance
from tests.helpers import pairwise

MODE = "numpy"
# Names that are not families, and the joint distribution of several totals, which
# has other methods: see `multivariate_phase_type_accuracy_test`.
_OTHERS = {
  *("Distribution", "ParameterProperties", "ReparameterizationType", "Support"),
  *("TransformedPhaseType", "MultivariateEpochs", "MultivariatePhaseType"),
  *("GraphMultivariatePhaseType", "PiecewiseConstantLimit"),
}


class PairwiseTest(parameterized.TestCase):
  """Tests covering sets, and records their sizes for the summary."""

  _record = staticmethod(print)

  @pytest.fixture(autouse=True)
  def _recorded(self, record_property):
    self._record = record_property

  @parameterized.parameters(
    ([2, 2],), ([3, 2, 2],), ([5, 4, 3],), ([4, 4, 4, 2],)
  )
  def test_all_pairs(self, sizes):
    factors = [tuple(range(n)) for n in sizes]
    rows = pairwise.covering(factors)
    for (i, xs), (j, ys) in itertools.combinations(enumerate(factors), 2):
      seen = {(row[i], row[j]) for row in rows}
      self.assertEqual(seen, set(itertools.product(xs, ys)))
    self.assertLen(set(rows), len(rows))
    self.assertLess(len(rows), 1.5 * sorted(sizes)[-1] * sorted(sizes)[-2] + 1)
    self.assertEqual(rows, pairwise.covering(factors))

  def test_conformance_suite(self):
    chosen, whole = conformance.chosen_rows(), conformance.all_rows()
    substrate = pd.__name__.split(".")[-2]
    self._record(
      "note",
      f"conformance in {substrate}: {len(chosen)} of {len(whole)} rows, "
      f"{len(conformance.covering_rows())} of them a covering set",
    )
    whole = [row for row in whole if row[1] not in conformance.DERIVATIVES]
    pairs = set().union(*(pairwise.pairs(row) for row in whole))
    found = set().union(*(pairwise.pairs(row) for row in chosen))
    # By default groups meet all modes there, and in JAX families one of those
    # that trace them.
    is_part = False
    if MODE != "numpy":
      is_part = not conformance.FULL
    if is_part:
      pairs = {pair for pair in pairs if [x for x, _ in pair] == [1, 2]}
    self.assertEqual(pairs - found, set())
    if MODE == "jax":
      traced = {row[0] for row in chosen if row[2] != conformance.EAGER}
      self.assertEqual(traced, set(conformance.CASES))

  def test_every_distribution_is_in(self):
    tried = {case.family for case in conformance.CASES.values()}
    public = {
      name for name in pd.__all__ if isinstance(getattr(pd, name), type)
    }
    self.assertEqual(public - _OTHERS - tried, set())


if __name__ == "__main__":
  absltest.main()
