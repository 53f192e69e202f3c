"""Which linters look at a change, and how long a test took."""

from absl.testing import absltest

from tools.loops import loop


class LoopTest(absltest.TestCase):
  def test_linters_of_python(self):
    commands = loop.lint_commands(["tools/loops/loop.py"], types=True)
    self.assertEqual(
      list(commands), ["ruff format", "ruff", "rooms", "mypy"]
    )
    self.assertEqual(commands["ruff"][-1], "tools/loops/loop.py")
    self.assertNotIn(
      "mypy", loop.lint_commands(["tools/loops/loop.py"], types=False)
    )

  def test_deleted_files_are_not_named(self):
    commands = loop.lint_commands(["native/a.cc", "phasic/a.py"], types=True)
    self.assertEqual(list(commands), ["rooms", "mypy"])

  def test_other_files_have_no_linter(self):
    self.assertEmpty(loop.lint_commands(["README.md"], types=True))

  def test_seconds_of_a_report(self):
    report = (
      b'<testsuites><testsuite time="1.5"/><testsuite time="2"/></testsuites>'
    )
    self.assertEqual(loop.report_seconds(report), 3.5)


if __name__ == "__main__":
  absltest.main()
