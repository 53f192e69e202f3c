"""Prints what the suites of `make test-versions` found, as a table.

    python tools/versions_table.py RESULTS

RESULTS has a JSON object a line: python, column, log and result, which is what
tests/versions/run_suites.py prints, or null if it did not end.
Closes with `N passed, N failed, N skipped`; the exit status is 1 if a test
failed or there are none.
"""

import json
import pathlib
import sys
from typing import Any

_COUNTS = ("passed", "failed", "skipped")
_HEADER = ("Python", "versions", "JAX", "TensorFlow", "NumPy", *_COUNTS)
_LOG_END = 6000  # characters of a log with failures
# A suite that did not end counts as one failed test.
_CRASHED: dict[str, Any] = {"versions": {}, "failed": 1, "skips": []}


def main(argv: list[str]) -> int:
  """Prints the table; returns the exit status."""
  rows = [_HEADER]
  reasons: set[str] = set()
  totals = dict.fromkeys(_COUNTS, 0)
  for line in pathlib.Path(argv[1]).read_text(encoding="utf-8").splitlines():
    entry = json.loads(line)
    result = dict.fromkeys(_COUNTS, 0) | (entry["result"] or _CRASHED)
    versions = {"python": entry["python"]} | result["versions"]
    versions.setdefault("tensorflow-cpu", versions.get("tensorflow", "-"))
    names = ("jax", "tensorflow-cpu", "numpy")
    shown = [versions.get(name, "-") for name in names]
    counts = [str(result[name]) for name in _COUNTS]
    rows.append((versions["python"], entry["column"], *shown, *counts))
    reasons.update(result["skips"])
    for name in _COUNTS:
      totals[name] += result[name]
    if result["failed"]:
      path = pathlib.Path(entry["log"])
      log = path.read_text(encoding="utf-8") if path.is_file() else ""
      print(f"== {entry['log']}\n{log[-_LOG_END:]}")
  for reason in sorted(reasons):
    print(f"skipped: {reason}")
  for row in rows:
    print("".join(cell.ljust(12) for cell in row).rstrip())
  print(", ".join(f"{totals[name]} {name}" for name in _COUNTS))
  return int(totals["failed"] > 0 or totals["passed"] == 0)


if __name__ == "__main__":
  sys.exit(main(sys.argv))
