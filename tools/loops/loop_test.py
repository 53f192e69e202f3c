"""Which linters look at a change."""

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

  def test_other_files_have_no_linter(self):
    self.assertEmpty(loop.lint_commands(["README.md"], types=True))


if __name__ == "__main__":
  absltest.main()
