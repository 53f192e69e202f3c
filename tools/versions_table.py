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

_HEADER = (
  *("Python", "versions", "JAX", "TensorFlow", "NumPy"),
  *("passed", "failed", "skipped"),
)
_LOG_END = 6000  # characters of a log with failures
# A suite that did not end counts as one failed test.
_CRASHED: dict[str, Any] = {
  "versions": {},
  "passed": 0,
  "failed": 1,
  "skipped": 0,
  "skips": [],
}


def row(entry: dict[str, Any]) -> list[str]:
  """Returns the cells of one environment."""
  result = entry["result"] or _CRASHED
  versions = result["versions"]
  return [
    versions.get("python", entry["python"]),
    entry["column"],
    versions.get("jax", "-"),
    versions.get("tensorflow-cpu", "-"),
    versions.get("numpy", "-"),
    *(str(result[name]) for name in ("passed", "failed", "skipped")),
  ]


def table(rows: list[list[str]]) -> str:
  """Returns rows as a table in Markdown, with columns of equal width."""
  rows = [list(_HEADER), *rows]
  widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
  lines = [
    "| " + " | ".join(cell.ljust(n) for cell, n in zip(row, widths)) + " |"
    for row in rows
  ]
  lines.insert(1, "| " + " | ".join("-" * n for n in widths) + " |")
  return "\n".join(lines)


def main(argv: list[str]) -> int:
  """Prints the table; returns the exit status."""
  text = pathlib.Path(argv[1]).read_text(encoding="utf-8")
  entries = [json.loads(line) for line in text.splitlines()]
  results = [entry["result"] or _CRASHED for entry in entries]
  for entry, result in zip(entries, results):
    if result["failed"]:
      path = pathlib.Path(entry["log"])
      log = path.read_text(encoding="utf-8") if path.is_file() else ""
      print(f"== {entry['log']}\n{log[-_LOG_END:]}")
  for reason in sorted(
    {text for result in results for text in result["skips"]}
  ):
    print(f"skipped: {reason}")
  print(table([row(entry) for entry in entries]))
  passed, failed, skipped = (
    sum(result[name] for result in results)
    for name in ("passed", "failed", "skipped")
  )
  print(f"{passed} passed, {failed} failed, {skipped} skipped")
  return int(failed > 0 or passed == 0)


if __name__ == "__main__":
  sys.exit(main(sys.argv))
