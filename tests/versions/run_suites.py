"""Runs suites in the environment of this interpreter.

    python run_suites.py {numpy,jax,tf}...

or modules of tests by their dotted names, such as tests.accuracy.value_accuracy_test.
The last line of what it prints is JSON: the versions, how many tests passed,
failed and were skipped, and the slow path's reason where there is one. The exit
status is 1 if one failed.
"""

import importlib
import importlib.metadata
import json
import os
import platform
import sys
import unittest

_PACKAGES = ("numpy", "jax", "tensorflow-cpu", "tensorflow")


def _versions() -> dict[str, str]:
  found = {"python": platform.python_version()}
  for name in _PACKAGES:
    try:
      found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
      continue
  return found


def main() -> None:
  os.environ.setdefault("JAX_PLATFORMS", "cpu")
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
  suite = unittest.TestSuite()
  for name in sys.argv[1:]:
    module = importlib.import_module(name if "." in name else f"{name}_suite")
    suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
  result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
  failed = len(result.failures) + len(result.errors)
  skipped = len(result.skipped)
  print(
    json.dumps(
      {
        "versions": _versions(),
        "passed": result.testsRun - failed - skipped,
        "failed": failed,
        "skipped": skipped,
        "skips": [reason for _, reason in result.skipped],
      }
    )
  )
  sys.exit(1 if failed else 0)


if __name__ == "__main__":
  main()
