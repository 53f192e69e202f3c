"""What the keys of actions name beside their inputs."""

import pathlib

from absl.testing import absltest

from tools import toolchain


class ToolchainTest(absltest.TestCase):
  def test_lines_are_the_same_again(self):
    lines = toolchain.lines()
    self.assertEqual(lines, toolchain.lines())
    for name in ("gcc", "linker", "glibc", "GoogleTest", "/usr/include/eigen3"):
      self.assertLen([x for x in lines if x.startswith(f"{name}: ")], 1)

  def test_version(self):
    self.assertEqual(toolchain.version("no-such-compiler", "--version"), "none")
    self.assertEqual(toolchain.version("echo", "12.2\nmore"), "12.2")

  def test_digest_names_paths_and_contents(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    digests = [toolchain.digest([folder])]
    for name, text in (("Core", "1"), ("Core", "2"), ("Dense", "2")):
      (folder / name).write_text(text)
      digests.append(toolchain.digest([folder]))
    self.assertLen(set(digests), 4)
    self.assertEqual(toolchain.digest([folder]), digests[-1])
    self.assertEqual(toolchain.digest([folder / "none"]), digests[0])


if __name__ == "__main__":
  absltest.main()
