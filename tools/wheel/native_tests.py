"""Runs a program of GoogleTest, and closes with what it found, as JSON.

    python -m tools.wheel.native_tests COMMAND...

The line is as that of tests/versions/run_suites.py.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def main(argv: list[str]) -> int:
  """Runs the command line; returns the exit status."""
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "results.json")
    result = subprocess.run(
      [*argv[1:], f"--gtest_output=json:{path}"], check=False
    )
    if not path.exists():  # it crashed
      return result.returncode or 1
    report = json.loads(path.read_text(encoding="utf-8"))
  tests = [
    test for suite in report["testsuites"] for test in suite["testsuite"]
  ]
  skips = [
    f"{test['classname']}.{test['name']}"
    for test in tests
    if test["result"] == "SKIPPED"
  ]
  failed = report["failures"]
  counts = {"failed": failed, "skipped": len(skips)}
  counts["passed"] = len(tests) - failed - len(skips)
  sys.stdout.flush()
  print(json.dumps({"versions": {}, "skips": skips, **counts}))
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main(sys.argv))
