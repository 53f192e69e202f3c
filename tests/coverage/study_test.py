"""A part of the study of coverage, with bounds that chance hardly breaks.

If intervals cover with a probability of 95 %, 14 or fewer of 20 do so in one of
3,000 cases, and 5 or fewer of the 9 of the bootstrap in one of 1,600.
"""

import dataclasses
import json
import pathlib
import tempfile

from absl.testing import absltest
from absl.testing import parameterized
import jax
import numpy as np
from scipy import integrate

from tests.coverage import study as study_lib

jax.config.update("jax_enable_x64", True)

_WEIBULL, _EXPONENTIAL = study_lib.LIKELIHOOD, study_lib.BOOTSTRAP


def _covered(study, rows, method):
  """Returns how many intervals cover, by quantity."""
  return {
    name: sum(
      low <= truth <= high
      for low, high in (row["ends"][method][name] for row in rows)
    )
    for name, truth in study_lib.truths(study).items()
  }


class StudyTest(parameterized.TestCase):
  def test_intervals_by_the_likelihood_cover(self):
    rows = [study_lib.run(_WEIBULL, i) for i in range(20)]
    self.assertEqual([row.get("failure") for row in rows], [None] * 20)
    for method in ("wald", "profile"):
      for name, count in _covered(_WEIBULL, rows, method).items():
        self.assertGreaterEqual(count, 15, (method, name))

  def test_intervals_by_the_bootstrap_cover(self):
    rows = [study_lib.run(_EXPONENTIAL, i, num_resamples=50) for i in range(3)]
    self.assertEqual([row.get("failure") for row in rows], [None] * 3)
    self.assertEqual([row["failed_resamples"] for row in rows], [0] * 3)
    counts = _covered(_EXPONENTIAL, rows, "bootstrap")
    self.assertGreaterEqual(sum(counts.values()), 6, counts)

  @parameterized.parameters(*study_lib.STUDIES)
  def test_data_have_the_stated_law(self, study):
    data = [study_lib.data_set(study, i) for i in range(200)]
    censored = np.mean([~events for _, _, events in data])
    self.assertAlmostEqual(censored, 0.35, delta=0.01)
    # The integrated hazard at the end of each life is the number of its events,
    # in the mean.
    for table, times, events in data[:20]:
      predictor = 0.5 * table["treated"] - 0.3 * table["x"]
      hazard = np.sum((times * np.exp(-predictor)) ** study.shape)
      self.assertLess(abs(hazard - np.sum(events)), 4.0 * np.sqrt(hazard))

  def test_the_median_is_one(self):
    for study in study_lib.STUDIES:
      median = study_lib.truths(study)["median"]
      density = lambda t, k=study.shape: (
        k * t ** (k - 1.0) * np.exp(-0.5 * k - (t * np.exp(-0.5)) ** k)
      )
      self.assertAlmostEqual(integrate.quad(density, 0.0, median)[0], 0.5)

  def test_a_data_set_depends_on_its_number_alone(self):
    again = dataclasses.replace(_WEIBULL, num_data_sets=2)
    for first, second in zip(
      study_lib.data_set(_WEIBULL, 7), study_lib.data_set(again, 7), strict=True
    ):
      np.testing.assert_equal(first, second)
    _, other, _ = study_lib.data_set(_WEIBULL, 8)
    self.assertFalse(np.any(other == study_lib.data_set(_WEIBULL, 7)[1]))

  def test_tables_count(self):
    ends = [[0.1, 0.6], [0.6, 0.7], [0.0, 0.4], [np.nan, 0.6]]
    intervals = [{"wald": {"time[treated]": x}} for x in ends] + [{}]
    rows = [{"i": i, "ends": x} for i, x in enumerate(intervals)]
    folder = self.enter_context(tempfile.TemporaryDirectory())
    path = pathlib.Path(folder) / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, reversed(rows))))
    lines = study_lib.table_of(_WEIBULL, study_lib.rows_in(path))
    self.assertEqual(
      lines[2],
      "| wald | `time[treated]` | 0.5000 | 5 | 1 | 20.0% | 1 | 1 | 2 |",
    )


if __name__ == "__main__":
  absltest.main()
