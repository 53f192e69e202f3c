"""Runs test files with pytest, the way Bazel asks for it.

Usage: test_main.py FILE... Works for absltest classes and for plain functions.
Files without tests fail. Of a target in shards one shard's tests are run.
"""

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

# Of the library's warnings of bad values, and NumPy's "invalid value encountered
# in multiply" and the like.
_WARNINGS = ".*(must be|sums to|take the portable path|encountered in) "


class Shard:
  """A plugin of pytest that leaves every n-th test, from the index on."""

  def __init__(self, index: int, total: int):
    self._index, self._total = index, total

  def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
    items[:] = items[self._index :: self._total]


class CompiledPrograms:
  """A plugin of pytest that shares compiled programs of JAX among processes.

  JAX does not write a file in one step, and never replaces a truncated one. So
  a process gets a folder of its own, with hard links to all files of the shared
  folder, and its new files are linked into that one at its end.
  """

  def __init__(self, shared: pathlib.Path):
    self._shared = shared
    self._linked = False

  def __enter__(self) -> "CompiledPrograms":
    # On the same mount as the shared folder, as hard links need it.
    self._own = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self._shared))
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(self._own)
    # Caches for GPUs put the folder's path into the keys of all programs.
    os.environ["JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES"] = "none"
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    return self

  def pytest_runtest_setup(self) -> None:
    # Only a process that uses JAX pays for the links.
    if not self._linked and "jax" in sys.modules:
      self._linked = True
      _link_files(self._shared, self._own)

  def __exit__(self, *_: object) -> None:
    _link_files(self._own, self._shared)
    shutil.rmtree(self._own, ignore_errors=True)


def _link_files(source: pathlib.Path, target: pathlib.Path) -> None:
  """Links the files of one folder into another that it lacks."""
  # Other processes link and delete meanwhile, and some file systems have no
  # hard links: no test fails for want of a compiled program.
  with contextlib.suppress(OSError):
    there = set(os.listdir(target))
    for entry in os.scandir(source):
      if entry.name not in there and entry.is_file():
        with contextlib.suppress(OSError):
          os.link(entry.path, target / entry.name)


def _shards() -> list[Shard]:
  if "TEST_TOTAL_SHARDS" not in os.environ:
    return []
  # Tells Bazel that not every shard runs all.
  pathlib.Path(os.environ["TEST_SHARD_STATUS_FILE"]).touch()
  return [
    Shard(
      int(os.environ["TEST_SHARD_INDEX"]), int(os.environ["TEST_TOTAL_SHARDS"])
    )
  ]


def main(argv: list[str]) -> int:
  """Returns pytest's exit status."""
  # The directory of this file hides nothing and is no package.
  sys.path.pop(0)
  # Libraries keep files of their own there; a sandbox's home is read-only.
  if "TEST_TMPDIR" in os.environ:
    os.environ["XDG_CACHE_HOME"] = os.environ["TEST_TMPDIR"]
  arguments = [
    *("-c", os.devnull, "--rootdir", os.getcwd()),
    *("--import-mode=importlib", "-p", "no:cacheprovider"),
    # A model that breaks no rule gives no warning of the library's, and no test
    # is slow in silence.
    *("-o", f"filterwarnings=error:{_WARNINGS}:RuntimeWarning"),
    *("-q", "--tb=short", "--durations=5", "--color=no"),
    *argv[1:],
  ]
  if xml := os.environ.get("XML_OUTPUT_FILE"):
    arguments.append(f"--junitxml={xml}")
  if only := os.environ.get("TESTBRIDGE_TEST_ONLY"):
    arguments += ["-k", only]
  # absltest's temporary directories read flags that nobody parses here.
  try:
    from absl import flags
  except ImportError:
    pass
  else:
    import absl.testing.absltest  # noqa: F401  (defines those flags)

    flags.FLAGS(argv[:1])
  plugins: list[object] = [*_shards()]
  with contextlib.ExitStack() as stack:
    if shared := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
      compiled = CompiledPrograms(pathlib.Path(shared))
      plugins.append(stack.enter_context(compiled))
    return int(pytest.main(arguments, plugins=plugins))


if __name__ == "__main__":
  sys.exit(main(sys.argv))
