"""Circles of imports."""

from absl.testing import absltest

from tools.rooms import circles
from tools.rooms import modules
from tools.rooms import trees


class CirclesTest(trees.TreeTestCase):
  def _check(self, files: dict[str, str]) -> list[str]:
    root = self.write(files)
    return circles.check(modules.Project(root, ["math", "graphs", "binding"]))

  def test_no_circle(self):
    self.assertEmpty(self._check({}))

  def test_files(self):
    files = {
      "phasic/math/low/sums.py": "from phasic.math.low import means\n",
      "phasic/math/low/means.py": (
        "\nif TYPE_CHECKING:\n  from phasic.math.low import sums\n"
      ),
    }
    self.assert_one(
      self._check(files),
      "phasic/math/low/means.py:3: files import each other in a circle,",
      "means.py -> phasic/math/low/sums.py -> phasic/math/low/means.py:",
    )

  def test_folders(self):
    files = {
      "phasic/internal/seam.py": "from phasic.internal.native import paths\n",
      "phasic/internal/native/paths.py": "",
    }
    self.assert_one(
      self._check(files),
      "phasic/internal:1: folders import each other in a circle,",
      "phasic/internal -> phasic/internal/native -> phasic/internal:",
    )

  def test_find(self):
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": {"d"}}
    self.assertEqual(circles.find(graph), [["b", "c"], ["d", "e"]])
    self.assertEqual(circles.find({"a": {"b", "c"}, "b": {"c"}}), [])
    ring = {"a": {"b"}, "b": {"c"}, "c": {"a"}}
    self.assertEqual(circles.find(ring), [["a", "b", "c"]])


if __name__ == "__main__":
  absltest.main()
