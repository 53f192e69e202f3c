"""Deletes the oldest files of the caches that all clones share.

    python tools/prune_caches.py FOLDER

FOLDER is what tools/cache_dir.sh computes. Neither Bazel 4.2.3 nor JAX bounds
its own folder there. The age of a file is the time since it was last written or
read: Bazel does not touch a file that it finds, so the time of reading counts,
which file systems record at least once a day unless mounted with "noatime".
Returns at once when another process prunes.
"""

import argparse
import contextlib
import dataclasses
import fcntl
import os
import pathlib
import shutil
import sys
import time

_GB = 10**9
_DAY = 24 * 60 * 60
_BAZEL_BYTES = 10 * _GB
_JAX_BYTES = 2 * _GB
_UNUSED_SECONDS = 14 * _DAY
_TIDY_BYTES = 10**8
_BLOCK = 4096  # of a disk: many files are smaller


@dataclasses.dataclass
class _Content:
  """What one file or several hard links to it hold."""

  used: float
  size: int
  paths: list[str] = dataclasses.field(default_factory=list)


def _contents(folder: pathlib.Path) -> list[_Content]:
  """Returns what a folder holds, the least recently used first."""
  found: dict[tuple[int, int], _Content] = {}
  folders = [str(folder)]
  while folders:
    with (
      contextlib.suppress(FileNotFoundError),
      os.scandir(folders.pop()) as entries,
    ):
      for entry in entries:
        if entry.is_dir(follow_symlinks=False):
          folders.append(entry.path)
          continue
        with contextlib.suppress(FileNotFoundError):
          stat = entry.stat(follow_symlinks=False)
          content = found.setdefault(
            (stat.st_dev, stat.st_ino),
            _Content(
              used=max(stat.st_atime, stat.st_mtime),
              size=-(-stat.st_size // _BLOCK) * _BLOCK,
            ),
          )
          content.paths.append(entry.path)
  return sorted(found.values(), key=lambda content: content.used)


def prune(
  folder: pathlib.Path, max_bytes: int, max_seconds: float = float("inf")
) -> int:
  """Deletes files that are too old, then the oldest until the rest fits.

  Args:
    folder: the files of it and of folders in it are looked at.
    max_bytes: how much space the rest may take.
    max_seconds: how long ago each of the rest may have been used.

  Returns:
    How many bytes were freed.
  """
  contents = _contents(folder)
  now = time.time()
  total = sum(content.size for content in contents)
  freed = 0
  for content in contents:
    if total - freed <= max_bytes and now - content.used <= max_seconds:
      break
    for path in content.paths:
      # Another clone may empty the caches meanwhile.
      with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    freed += content.size
  return freed


def prune_runs(folder: pathlib.Path, max_seconds: float) -> None:
  """Deletes what processes left behind that were killed.

  Args:
    folder: JAX's; tools/test_main.py makes folders in it.
    max_seconds: how old a folder may be; no test runs as long.
  """
  for path in folder.glob("run-*"):
    with contextlib.suppress(FileNotFoundError):
      if time.time() - path.stat().st_mtime > max_seconds:
        shutil.rmtree(path, ignore_errors=True)


def prune_sites(folder: pathlib.Path, max_seconds: float) -> None:
  """Deletes outputs of pages that belong to an old state of phasic.

  Args:
    folder: tools/docs.sh makes a folder in it for each state, and touches its
      lock at each build.
    max_seconds: how long ago a state may have been built.
  """
  for path in folder.glob("*/lock"):
    with contextlib.suppress(FileNotFoundError):
      if time.time() - path.stat().st_mtime > max_seconds:
        shutil.rmtree(path.parent, ignore_errors=True)


def main(argv: list[str] | None = None) -> int:
  """Prunes; returns the exit status."""
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  parser.add_argument("folder", type=pathlib.Path)
  folder = parser.parse_args(argv).folder
  with (folder / "prune.lock").open("a") as lock:
    try:
      fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
      return 0
    prune_runs(folder / "jax", _DAY)
    prune(folder / "jax", _JAX_BYTES, _UNUSED_SECONDS)
    prune(folder / "tidy", _TIDY_BYTES, _UNUSED_SECONDS)
    prune_sites(folder / "site", _UNUSED_SECONDS)
    prune(folder / "bazel", _BAZEL_BYTES)
  return 0


if __name__ == "__main__":
  sys.exit(main())
