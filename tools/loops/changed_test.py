"""Which files changed, in repositories made for it."""

import os
import pathlib
import subprocess
from unittest import mock

from absl.testing import absltest

from tools.loops import changed


class ChangedTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
      settings |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@b"}
    self.enter_context(mock.patch.dict(os.environ, settings))
    os.environ.pop("BASE", None)
    self._git("init", "-q")
    self._commit("kept.py", "deleted.py", "edited name.py")

  def _git(self, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=self.root, check=True)

  def _write(self, *names: str) -> None:
    for name in names:
      with (self.root / name).open("a") as file:
        file.write(f"{name}\n")

  def _commit(self, *names: str) -> None:
    self._write(*names)
    self._git("add", "-A")
    self._git("commit", "-q", "-m", "a")

  def _assert_found(self, base: str, *files: str) -> None:
    found = changed.find(self.root)
    self.assertStartsWith(found[0], base)
    self.assertEqual(found[1], list(files))

  def test_without_a_remote_the_last_commit_counts(self):
    self._write("new.py")
    self._assert_found("HEAD", "new.py")
    self._commit()
    self._assert_found("HEAD~1", "new.py")

  def test_commits_index_tree_and_untracked_files_count(self):
    self._git("update-ref", "refs/remotes/origin/main", "HEAD")
    self._commit("committed.py")
    self._write("staged.py", "edited name.py")
    self._git("add", "staged.py")
    (self.root / "deleted.py").unlink()
    self._write("untracked.py")
    files = ["committed.py", "deleted.py", "edited name.py", "staged.py"]
    self._assert_found("origin/main (", *files, "untracked.py")

  def test_commits_of_the_main_branch_do_not_count(self):
    self._git("checkout", "-q", "-b", "other")
    self._commit("theirs.py")
    self._git("update-ref", "refs/remotes/origin/main", "HEAD")
    self._git("checkout", "-q", "-")
    self._commit("ours.py")
    self._assert_found("origin/main (", "ours.py")

  def test_the_base_can_be_given(self):
    self._commit("one.py")
    self._commit("two.py")
    with mock.patch.dict(os.environ, {"BASE": "HEAD~2"}):
      self._assert_found("HEAD~2", "one.py", "two.py")
    with mock.patch.dict(os.environ, {"BASE": "nothing"}):
      self.assertRaises(subprocess.CalledProcessError, changed.find, self.root)


if __name__ == "__main__":
  absltest.main()
