"""Runs test files with pytest, the way Bazel asks for it.

Usage: test_main.py FILE... Works for absltest classes and for plain functions.
Files without tests fail. Of a target in shards one shard's tests are run.
"""

import os
import pathlib
import sys

import pytest


class Shard:
  """A plugin of pytest that leaves every n-th test, from the index on."""

  def __init__(self, index: int, total: int):
    self._index, self._total = index, total

  def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
    items[:] = items[self._index :: self._total]


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
  # What JAX compiles is kept in a folder for each test: two tests at once must
  # not write one file.
  if compiled := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
    target = os.environ.get("TEST_TARGET", "").strip("/")
    target += os.environ.get("TEST_SHARD_INDEX", "")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = os.path.join(
      compiled, target.replace("/", "_").replace(":", "_")
    )
  # Libraries keep files of their own there; a sandbox's home is read-only.
  if "TEST_TMPDIR" in os.environ:
    os.environ["XDG_CACHE_HOME"] = os.environ["TEST_TMPDIR"]
  arguments = [
    *("-c", os.devnull, "--rootdir", os.getcwd()),
    *("--import-mode=importlib", "-p", "no:cacheprovider"),
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
  return int(pytest.main(arguments, plugins=_shards()))


if __name__ == "__main__":
  sys.exit(main(sys.argv))
