"""The folder that all clones share is the user's own, and nobody else's."""

import os
import pathlib
import subprocess

from absl.testing import absltest

_OWN_MODE = 0o700


class CacheDirTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.home = pathlib.Path(self.create_tempdir().full_path)

  def _source(self, **variables: str) -> subprocess.CompletedProcess:
    own = {"PATH": os.defpath, "HOME": str(self.home)}
    return subprocess.run(
      ["bash", "-uc", 'source tools/cache_dir.sh; echo "${PHASIC_CACHE}"'],
      env=own | variables,
      capture_output=True,
      text=True,
      check=False,
    )

  def _mode(self, path: pathlib.Path) -> int:
    return path.stat().st_mode & 0o777

  def test_is_the_users_alone(self):
    found = pathlib.Path(self._source().stdout.strip())
    self.assertEqual(found, self.home.resolve() / ".cache/phasic")
    self.assertEqual(self._mode(found), _OWN_MODE)
    self.assertTrue((found / "venv").is_dir())

  def test_one_that_others_may_write_is_closed(self):
    folder = self.home / "phasic"
    folder.mkdir()
    folder.chmod(0o777)
    result = self._source(XDG_CACHE_HOME=str(self.home))
    self.assertEqual(result.stdout.strip(), str(folder.resolve()))
    self.assertEqual(self._mode(folder), _OWN_MODE)

  def test_one_of_another_user_is_refused(self):
    programs = self.home / "programs"
    programs.mkdir()
    user = programs / "id"  # Whoever runs this test becomes another user.
    user.write_text(f"#!/bin/sh\necho {os.getuid() + 1}\n")
    user.chmod(0o755)
    result = self._source(PATH=f"{programs}:{os.defpath}")
    self.assertEqual(result.returncode, 1)
    self.assertRegex(result.stderr, "belongs to another user: it must be yours")
    self.assertEmpty(result.stdout)
    # Nothing was made in it.
    self.assertEmpty([*(self.home / ".cache/phasic").iterdir()])

  def test_one_that_cannot_be_made_is_an_error(self):
    (self.home / ".cache").write_text("a file")
    self.assertEqual(self._source().returncode, 1)


if __name__ == "__main__":
  absltest.main()
