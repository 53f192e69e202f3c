"""Finds the files that differ from a base commit."""

import dataclasses
import os
import pathlib
import subprocess

_MAIN = ("origin/main", "origin/master")


@dataclasses.dataclass(frozen=True)
class Changes:
  """What changed.

  Attributes:
    base: the commit, as a person names it.
    files: paths below the root, sorted, with files that were deleted.
  """

  base: str
  files: list[str]


def _git(root: pathlib.Path, *arguments: str) -> str:
  return subprocess.run(
    ["git", *arguments], cwd=root, check=True, capture_output=True, text=True
  ).stdout


def _succeeds(root: pathlib.Path, *arguments: str) -> bool:
  command = ["git", *arguments]
  return not subprocess.run(command, cwd=root, capture_output=True).returncode


def _base(root: pathlib.Path) -> tuple[str, str]:
  """Returns a commit, and how a person names it."""
  given = os.environ.get("BASE")
  if given:
    return _git(root, "rev-parse", f"{given}^{{commit}}").strip(), given
  for main in _MAIN:
    # A shallow clone may not hold the common commit.
    if _succeeds(root, "merge-base", "HEAD", main):
      commit = _git(root, "merge-base", "HEAD", main).strip()
      return commit, f"{main} ({commit[:10]})"
  parent = _succeeds(root, "rev-parse", "--verify", "--quiet", "HEAD~1")
  name = "HEAD~1" if parent else "HEAD"
  return _git(root, "rev-parse", name).strip(), name


def names(output: str) -> list[str]:
  """Returns the paths that a git command with `-z` printed."""
  return [name for name in output.split("\0") if name]


def find(root: pathlib.Path) -> Changes:
  """Compares the working tree with the base; untracked files count.

  The base is the environment's BASE, or the last commit that HEAD and the
  remote's main branch share, or without a remote the commit before HEAD.

  Args:
    root: the root of the repository.

  Raises:
    subprocess.CalledProcessError: git knows no such base.
  """
  commit, name = _base(root)
  # A file that moved is a deleted and a new one.
  tracked = _git(root, "diff", "--name-only", "--no-renames", "-z", commit)
  untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
  return Changes(name, sorted({*names(tracked), *names(untracked)}))
