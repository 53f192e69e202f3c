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
    self.enter_context(mock.patch.dict(os.environ))
    self.enter_context(mock.patch.dict(sys.modules, {"jax": mock.Mock()}))

  def _own(self) -> pathlib.Path:
    return pathlib.Path(os.environ["JAX_COMPILATION_CACHE_DIR"])

  def _left(self) -> list[str]:
    return sorted(os.listdir(self.shared))

  def test_reads_shared_files_and_adds_new_ones(self):
    (self.shared / "a-cache").write_text("a")
    with test_main.CompiledPrograms(self.shared) as plugin:
      plugin.pytest_runtest_setup()
      self.assertEqual((self._own() / "a-cache").read_text(), "a")
      (self._own() / "b-cache").write_text("b")
      self.assertFalse((self.shared / "b-cache").exists())
    self.assertEqual(self._left(), ["a-cache", "b-cache"])
    self.assertEqual((self.shared / "b-cache").read_text(), "b")

  def test_two_processes_at_once(self):
    with test_main.CompiledPrograms(self.shared):
      first = self._own()
      with test_main.CompiledPrograms(self.shared):
        second = self._own()
        (first / "a-cache").write_text("first")
        (second / "a-cache").write_text("second")
      (first / "b-cache").write_text("b")
    self.assertEqual(self._left(), ["a-cache", "b-cache"])
    self.assertEqual((self.shared / "a-cache").read_text(), "second")

  def test_shared_files_may_vanish(self):
    (self.shared / "a-cache").write_text("a")
    with test_main.CompiledPrograms(self.shared) as plugin:
      plugin.pytest_runtest_setup()
      (self.shared / "a-cache").unlink()
      self.assertEqual((self._own() / "a-cache").read_text(), "a")
    self.assertEqual(self._left(), ["a-cache"])

  def test_without_jax_nothing_is_linked(self):
    (self.shared / "a-cache").write_text("a")
    del sys.modules["jax"]
    with test_main.CompiledPrograms(self.shared) as plugin:
      plugin.pytest_runtest_setup()
      self.assertEqual(os.listdir(self._own()), [])
    self.assertEqual(self._left(), ["a-cache"])


if __name__ == "__main__":
  absltest.main()
