"""The command that runs all checks of rooms, and writes their tables."""

import contextlib
import io
import pathlib
import runpy

from absl.testing import absltest

from tools.rooms import check
from tools.rooms import trees

_TABLES = (
  "native/rooms.bzl",
  "phasic/rooms.bzl",
  "substrates/seam.bzl",
  "tests/needs.bzl",
  "tests/README.md",
)


class CheckTest(trees.TreeTestCase):
  def _run(self, root: pathlib.Path, *options: str) -> tuple[int, list[str]]:
    with contextlib.redirect_stdout(io.StringIO()) as output:
      status = check.main(["check.py", *options, str(root)])
    return status, output.getvalue().splitlines()

  def test_tables_are_written_once(self):
    root = self.write({})
    status, lines = self._run(root)
    self.assertEqual(status, 1)
    self.assertEqual([line.partition(":")[0] for line in lines], [*_TABLES])
    self.assertEqual(self._run(root, "--write"), (0, []))
    self.assertEqual(self._run(root), (0, []))
    native = runpy.run_path(str(root / "native/rooms.bzl"))
    self.assertEqual(native["ROOMS"], {"low": [], "high": ["low"]})
    rooms = runpy.run_path(str(root / "phasic/rooms.bzl"))
    self.assertEqual(rooms["PACKAGES"], ["math", "graphs"])
    self.assertEqual(rooms["WINGS"], ["covariates"])
    self.assertEqual(
      rooms["ROOMS"],
      {
        "internal": [],
        "math/low": ["internal"],
        "math/high": ["internal", "math/low"],
        "graphs/models": ["math/high"],
        "graphs/last": [],
        "binding": ["internal"],
        "covariates": ["internal", "math/high"],
      },
    )
    seam = runpy.run_path(str(root / "substrates/seam.bzl"))
    self.assertEqual(seam["SEAM"], ["seam"])
    self.assertEqual(seam["SHARED"], ["__init__", "native/calls"])
    self.assertEqual(seam["EXTRAS"], {"jax": [], "numpy": [], "tf": ["ops"]})
    needs = runpy.run_path(str(root / "tests/needs.bzl"))
    self.assertEqual(
      needs["TESTS"],
      {"folder/group": {"helpers": ["cases"], "rooms": ["math/high"]}},
    )

  def test_a_table_that_somebody_edited_is_an_error(self):
    root = self.write({})
    self._run(root, "--write")
    path = root / "phasic/rooms.bzl"
    path.write_text(path.read_text() + "\n")
    status, lines = self._run(root)
    self.assertEqual(status, 1)
    self.assert_one(lines, "phasic/rooms.bzl:1: ", "make format")

  def test_the_page_of_tests_names_one_for_each_module(self):
    root = self.write({})
    self._run(root, "--write")
    page = (root / "tests/README.md").read_text()
    for module in ("sums", "means", "seam", "calls"):
      self.assertRegex(page, rf"`{module}.py` \| `tests/shared/folder/first")

  def test_nothing_is_written_over_errors(self):
    root = self.write({"native/stray.h": "", "phasic/stray.py": ""})
    status, lines = self._run(root, "--write")
    self.assertEqual(status, 1)
    self.assertEqual(
      [line.partition(":")[0] for line in lines],
      ["native/stray.h", "phasic/stray.py"],
    )
    self.assertFalse((root / "phasic/rooms.bzl").exists())


if __name__ == "__main__":
  absltest.main()
