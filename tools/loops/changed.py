"""Finds the files that differ from a base commit."""

import contextlib
import os
import pathlib
import subprocess

_MAIN = ("origin/main", "origin/master")


def _git(root: pathlib.Path, *arguments: str) -> str:
  command = ["git", *arguments]
  return subprocess.run(
    command, cwd=root, check=True, capture_output=True, text=True
  ).stdout.strip()


def _base(root: pathlib.Path) -> tuple[str, str]:
  """Returns a commit, and how a person names it."""
  if given := os.environ.get("BASE"):
    return _git(root, "rev-parse", f"{given}^{{commit}}"), given
  for main in _MAIN:
    # A shallow clone may not hold the common commit.
    with contextlib.suppress(subprocess.CalledProcessError):
      commit = _git(root, "merge-base", "HEAD", main)
      return commit, f"{main} ({commit[:10]})"
  with contextlib.suppress(subprocess.CalledProcessError):
    return _git(root, "rev-parse", "--verify", "--quiet", "HEAD~1"), "HEAD~1"
  return _git(root, "rev-parse", "HEAD"), "HEAD"


def find(root: pathlib.Path) -> tuple[str, list[str]]:
  """Compares the working tree with the base; untracked files count.

  The base is the environment's BASE, or the last commit that HEAD and the
  remote's main branch share, or without a remote the commit before HEAD.

  Args:
    root: the root of the repository.

  Returns:
    The base, as a person names it, and sorted paths, with deleted files.

  Raises:
    subprocess.CalledProcessError: git knows no such base.
  """
  commit, name = _base(root)
  # A file that moved is a deleted and a new one.
  tracked = _git(root, "diff", "--name-only", "--no-renames", "-z", commit)
  untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
  files = {*tracked.split("\0"), *untracked.split("\0")} - {""}
  return name, sorted(files)
