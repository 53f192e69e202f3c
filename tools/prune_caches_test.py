"""Pruning of the shared caches."""

import fcntl
import os
import pathlib
import time
from unittest import mock

from absl.testing import absltest

from tools import prune_caches

_BLOCK = 4096
_DAY = 24 * 60 * 60


class PruneCachesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def _file(self, name: str, read: float, written: float) -> pathlib.Path:
    """Makes a file of one block that was used so many days ago."""
    path = self.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * _BLOCK)
    now = time.time()
    os.utime(path, (now - read * _DAY, now - written * _DAY))
    return path

  def _left(self) -> list[str]:
    return sorted(
      str(path.relative_to(self.folder))
      for path in self.folder.rglob("*")
      if path.is_file()
    )

  def test_deletes_the_oldest_only(self):
    self._file("cas/old", read=9, written=9)
    self._file("ac/new", read=1, written=1)
    self._file("cas/older", read=10, written=10)
    prune_caches.prune(self.folder, 3 * _BLOCK)
    self.assertLen(self._left(), 3)
    prune_caches.prune(self.folder, _BLOCK)
    self.assertEqual(self._left(), ["ac/new"])

  def test_reading_and_writing_are_uses(self):
    self._file("read", read=1, written=30)
    self._file("written", read=30, written=2)
    self._file("neither", read=3, written=3)
    prune_caches.prune(self.folder, 2 * _BLOCK)
    self.assertEqual(self._left(), ["read", "written"])

  def test_hard_links_count_once(self):
    old = self._file("old", read=2, written=2)
    self._file("new", read=1, written=1)
    os.link(old, self.folder / "link")
    prune_caches.prune(self.folder, 2 * _BLOCK)
    self.assertLen(self._left(), 3)
    prune_caches.prune(self.folder, _BLOCK)
    self.assertEqual(self._left(), ["new"])

  def test_main_prunes_each_cache(self):
    for name, days in (("jax/run-old", 2), ("jax/run-new", 0)):
      path = self._file(f"{name}/file", read=0, written=0).parent
      os.utime(path, (time.time() - days * _DAY,) * 2)
    for name in ("bazel/cas", "jax", "tidy"):
      self._file(f"{name}/old", read=15, written=15)
      self._file(f"{name}/new", read=1, written=1)
    self._file("site/old/lock", read=1, written=20)
    self._file("site/old/cells/global.db", read=1, written=1)
    self._file("site/new/lock", read=20, written=1)
    self._file("venv/key/file", read=900, written=900)
    with mock.patch.object(prune_caches, "_BAZEL_BYTES", _BLOCK):
      self.assertEqual(prune_caches.main([str(self.folder)]), 0)
    left = ["bazel/cas/new", "jax/new", "jax/run-new/file", "prune.lock"]
    left += ["site/new/lock", "tidy/new", "venv/key/file"]
    self.assertEqual(self._left(), left)

  def test_one_process_prunes_at_a_time(self):
    self._file("jax/old", read=15, written=15)
    with (self.folder / "prune.lock").open("a") as lock:
      fcntl.flock(lock, fcntl.LOCK_EX)
      self.assertEqual(prune_caches.main([str(self.folder)]), 0)
      self.assertIn("jax/old", self._left())
    self.assertEqual(prune_caches.main([str(self.folder)]), 0)
    self.assertNotIn("jax/old", self._left())


if __name__ == "__main__":
  absltest.main()
