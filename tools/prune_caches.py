"""Deletes the oldest files of the caches that all clones share.

    python tools/prune_caches.py FOLDER

FOLDER is what tools/cache_dir.sh computes. Neither Bazel 4.2.3 nor JAX bounds
its own folder there. The age of a file is the time since it was last written or
read: Bazel does not touch a file that it finds, so the time of reading counts,
which file systems record at least once a day unless mounted with "noatime".
Returns at once when another process prunes.
"""

import argparse
import collections
from collections.abc import Iterable
import contextlib
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


def prune(
  folder: pathlib.Path, max_bytes: int, max_seconds: float = float("inf")
) -> None:
  """Deletes files that are too old, then the oldest until the rest fits.

  Args:
    folder: with the folders in it.
    max_bytes: how much space the rest may take.
    max_seconds: how long ago each of the rest may have been used.
  """
  # By inode: several hard links hold one content.
  stats: dict[int, os.stat_result] = {}
  paths: dict[int, list[pathlib.Path]] = collections.defaultdict(list)
  for name, _, files in os.walk(folder):
    for path in (pathlib.Path(name, file) for file in files):
      # Another clone may empty the caches meanwhile.
      with contextlib.suppress(FileNotFoundError):
        stat = path.lstat()
        stats[stat.st_ino] = stat
        paths[stat.st_ino].append(path)
  used = {i: max(stat.st_atime, stat.st_mtime) for i, stat in stats.items()}
  sizes = {i: -(-x.st_size // _BLOCK) * _BLOCK for i, x in stats.items()}
  total = sum(sizes.values())
  for i in sorted(used, key=lambda i: used[i]):
    if total <= max_bytes and time.time() - used[i] <= max_seconds:
      break
    for path in paths[i]:
      path.unlink(missing_ok=True)
    total -= sizes[i]


def prune_folders(stamps: Iterable[pathlib.Path], max_seconds: float) -> None:
  """Deletes folders, or those of stamps, which were not touched for so long."""
  for stamp in stamps:
    with contextlib.suppress(FileNotFoundError):
      if time.time() - stamp.stat().st_mtime > max_seconds:
        folder = stamp if stamp.is_dir() else stamp.parent
        shutil.rmtree(folder, ignore_errors=True)


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
    # Left behind by tests that were killed (tools/test_main.py).
    prune_folders(folder.glob("jax/run-*"), _DAY)
    prune(folder / "jax", _JAX_BYTES, _UNUSED_SECONDS)
    prune(folder / "tidy", _TIDY_BYTES, _UNUSED_SECONDS)
    # Outputs of pages, by state of phasic (tools/docs.sh).
    prune_folders(folder.glob("site/*/lock"), _UNUSED_SECONDS)
    prune(folder / "bazel", _BAZEL_BYTES)
  return 0


if __name__ == "__main__":
  sys.exit(main())
