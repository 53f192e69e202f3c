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
    self.enter_context(
      mock.patch.dict(
        os.environ,
        {
          "GIT_CONFIG_GLOBAL": os.devnull,
          "GIT_CONFIG_NOSYSTEM": "1",
          **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "a"),
          **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@b"),
        },
      )
    )
    os.environ.pop("BASE", None)
    self._git("init", "-q")
    self._write("kept.py", "deleted.py", "edited name.py")
    self._commit()

  def _git(self, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=self.root, check=True)

  def _write(self, *names: str) -> None:
    for name in names:
      with (self.root / name).open("a") as file:
        file.write(f"{name}\n")

  def _commit(self) -> None:
    self._git("add", "-A")
    self._git("commit", "-q", "-m", "a")

  def test_a_first_commit_is_compared_with_itself(self):
    self._write("new.py")
    self.assertEqual(
      changed.find(self.root), changed.Changes("HEAD", ["new.py"])
    )

  def test_without_a_remote_the_last_commit_counts(self):
    self._write("edited name.py")
    self._commit()
    self.assertEqual(
      changed.find(self.root), changed.Changes("HEAD~1", ["edited name.py"])
    )

  def test_commits_index_tree_and_untracked_files_count(self):
    self._git("update-ref", "refs/remotes/origin/main", "HEAD")
    self._write("committed.py")
    self._commit()
    self._write("staged.py", "edited name.py")
    self._git("add", "staged.py")
    (self.root / "deleted.py").unlink()
    self._write("untracked.py")
    changes = changed.find(self.root)
    self.assertStartsWith(changes.base, "origin/main (")
    self.assertEqual(
      changes.files,
      [
        "committed.py",
        "deleted.py",
        "edited name.py",
        "staged.py",
        "untracked.py",
      ],
    )

  def test_commits_of_the_main_branch_do_not_count(self):
    self._git("checkout", "-q", "-b", "other")
    self._write("theirs.py")
    self._commit()
    self._git("update-ref", "refs/remotes/origin/main", "HEAD")
    self._git("checkout", "-q", "-")
    self._write("ours.py")
    self.assertEqual(changed.find(self.root).files, ["ours.py"])

  def test_the_base_can_be_given(self):
    self._write("one.py")
    self._commit()
    self._write("two.py")
    self._commit()
    with mock.patch.dict(os.environ, {"BASE": "HEAD~2"}):
      self.assertEqual(
        changed.find(self.root), changed.Changes("HEAD~2", ["one.py", "two.py"])
      )
    with (
      mock.patch.dict(os.environ, {"BASE": "nothing"}),
      self.assertRaises(subprocess.CalledProcessError),
    ):
      changed.find(self.root)


if __name__ == "__main__":
  absltest.main()
