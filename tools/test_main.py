"""Runs one test file with pytest, the way Bazel asks for it.

Usage: test_main.py FILE. Works for absltest classes and for plain functions.
A file without tests fails.
"""

import os
import sys

import pytest


def main(argv: list[str]) -> int:
  """Returns pytest's exit status."""
  # The directory of this file hides nothing and is no package.
  sys.path.pop(0)
  # What JAX compiles is kept in a folder for each test: two tests at once must
  # not write one file.
  if compiled := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
    target = os.environ.get("TEST_TARGET", "").strip("/")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = os.path.join(
      compiled, target.replace("/", "_").replace(":", "_")
    )
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
  return int(pytest.main(arguments))


if __name__ == "__main__":
  sys.exit(main(sys.argv))
