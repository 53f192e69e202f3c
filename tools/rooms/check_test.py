"""The command that runs all checks of rooms."""

import contextlib
import io

from absl.testing import absltest

from tools.rooms import check
from tools.rooms import trees

_NATIVE = {"native/rooms.bzl": 'ROOMS = {"low": []}\nUPWARD = {}\n'}


class CheckTest(trees.TreeTestCase):
  def _run(
    self, files: dict[str, str], rules: str = trees.RULES
  ) -> tuple[int, list[str]]:
    root = self.write({**_NATIVE, **files}, rules)
    with contextlib.redirect_stdout(io.StringIO()) as output:
      status = check.main(["check.py", str(root)])
    return status, output.getvalue().splitlines()

  def test_a_tree_in_order_passes(self):
    self.assertEqual(self._run({}), (0, []))

  def test_all_checks_run(self):
    status, lines = self._run(
      {
        "native/b.h": "",
        "phasic/stray.py": "",
        "tests/helpers/cases.py": "",
      }
    )
    self.assertEqual(status, 1)
    places = [line.rsplit(":", maxsplit=2)[0].split(": ")[0] for line in lines]
    self.assertEqual(
      places, ["native/b.h:1", "phasic/stray.py:1", "tests/shared.bzl:3"]
    )

  def test_a_fault_that_two_checks_see_is_printed_once(self):
    status, lines = self._run({}, rules="")
    self.assertEqual(status, 1)
    self.assert_one(lines, "phasic/rooms.bzl:1: the table ROOMS is missing")


if __name__ == "__main__":
  absltest.main()
