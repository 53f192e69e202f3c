"""Sharing of compiled programs among the processes of tests."""

import os
import pathlib
import sys
from unittest import mock

from absl.testing import absltest

from tools import test_main


class CompiledProgramsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.shared = pathlib.Path(self.create_tempdir().full_path)
    (self.shared / "a-cache").write_text("a")
    self.enter_context(mock.patch.dict(os.environ))
    self.enter_context(mock.patch.dict(sys.modules, {"jax": mock.Mock()}))

  def _own(self) -> pathlib.Path:
    return pathlib.Path(os.environ["JAX_COMPILATION_CACHE_DIR"])

  def _assert_left(self, **texts: str) -> None:
    found = {path.name: path.read_text() for path in self.shared.iterdir()}
    self.assertEqual(found, {f"{x}-cache": texts[x] for x in texts})

  def test_reads_shared_files_and_adds_new_ones(self):
    with test_main.CompiledPrograms(self.shared) as plugin:
      plugin.pytest_runtest_setup()
      self.assertEqual((self._own() / "a-cache").read_text(), "a")
      (self._own() / "b-cache").write_text("b")
      self.assertFalse((self.shared / "b-cache").exists())
    self._assert_left(a="a", b="b")

  def test_two_processes_at_once(self):
    with test_main.CompiledPrograms(self.shared):
      first = self._own()
      with test_main.CompiledPrograms(self.shared):
        (first / "b-cache").write_text("first")
        (self._own() / "b-cache").write_text("second")
      (first / "c-cache").write_text("c")
    self._assert_left(a="a", b="second", c="c")

  def test_shared_files_may_vanish(self):
    with test_main.CompiledPrograms(self.shared) as plugin:
      plugin.pytest_runtest_setup()
      (self.shared / "a-cache").unlink()
      self.assertEqual((self._own() / "a-cache").read_text(), "a")
    self._assert_left(a="a")


if __name__ == "__main__":
  absltest.main()
