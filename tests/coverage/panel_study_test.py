"""A part of the study of coverage of multi-state models; see `study_test`."""

from absl.testing import absltest
import numpy as np
from scipy import linalg

from tests.coverage import panel_study


class PanelStudyTest(absltest.TestCase):
  def test_intervals_cover(self):
    rows = [panel_study.run(i) for i in range(20)]
    self.assertEqual([row.get("failure") for row in rows], [None] * 20)
    truths = panel_study.truths()
    for method in panel_study.METHODS:
      for name in panel_study.quantities(method):
        ends = [row["ends"][method][name] for row in rows]
        count = sum(low <= truths[name] <= high for low, high in ends)
        # Fewer happen in one of 3,000 cases.
        self.assertGreaterEqual(count, 15, (method, name))

  def test_data_have_the_stated_law(self):
    states, times = [], []
    for i in range(10):
      table = panel_study.data_set(i)
      ids, years = np.asarray(table["id"]), np.asarray(table["year"])
      codes = np.asarray([panel_study.STATES.index(x) for x in table["state"]])
      first = np.flatnonzero(np.append(True, np.diff(ids) != 0))
      self.assertTrue(np.all(years[first] == 0.0))
      self.assertTrue(np.all(np.diff(years)[np.diff(ids) == 0] > 0.0))
      # Nobody is seen after death.
      last = np.append(first[1:], len(ids)) - 1
      self.assertTrue(np.all(np.isin(np.flatnonzero(codes == 3), last)))
      states += list(codes[first])
      treated = np.asarray(table["treated"]) == 1.0
      dead = np.zeros(len(first), bool)
      dead[ids[(codes == 3) & (years <= 3.0)]] = True
      times += list(dead[treated[first] & (codes[first] == 0)])
    shares = np.bincount(states, minlength=4) / len(states)
    np.testing.assert_allclose(shares, panel_study.STARTS, atol=0.03)
    # Deaths of the treated within three years, from the well.
    probability = linalg.expm(3.0 * panel_study.generator(1.0))[0, 3]
    error = np.sqrt(probability * (1.0 - probability) / len(times))
    self.assertLess(abs(np.mean(times) - probability), 4.0 * error)

  def test_a_data_set_depends_on_its_number_alone(self):
    first, again = panel_study.data_set(3), panel_study.data_set(3)
    self.assertEqual(first, again)
    self.assertNotEqual(first["year"], panel_study.data_set(4)["year"])


if __name__ == "__main__":
  absltest.main()
