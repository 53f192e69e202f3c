"""Which linters look at a change, and what is said of files without tests."""

import pathlib
from unittest import mock

from absl.testing import absltest

from tools.loops import loop


class LoopTest(absltest.TestCase):
  def test_linters_of_python(self):
    file = "tools/loops/loop.py"
    commands = loop.lint_commands([file], types=True)
    self.assertEqual(list(commands), ["ruff format", "ruff", "rooms", "mypy"])
    self.assertEqual(commands["ruff"][-1], file)
    self.assertNotIn("mypy", loop.lint_commands([file], types=False))

  def test_deleted_files_are_not_named(self):
    commands = loop.lint_commands(["native/a.cc", "phasic/a.py"], types=True)
    self.assertEqual(list(commands), ["rooms", "mypy"])

  def test_packages_and_files_in_no_target_are_named(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    for name in ("BUILD", "a/BUILD", "a/notes.txt"):
      (root / name).parent.mkdir(exist_ok=True)
      (root / name).touch()
    rule = b'<query><rule class="py_test" name="//a:test"/></query>'
    with (
      mock.patch.object(loop, "ROOT", root),
      mock.patch.object(loop, "_query", return_value=rule),
      mock.patch.object(loop, "_say") as say,
    ):
      found = loop._tests("check", ["a/gone.py", "a/notes.txt"])
    self.assertEqual(found, ["//a:test"])
    say.assert_any_call("check: in no target of Bazel: a/notes.txt")
    say.assert_any_call("check: all targets may have changed of //a")


if __name__ == "__main__":
  absltest.main()
