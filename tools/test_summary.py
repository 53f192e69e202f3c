"""Counts the test cases of a Bazel run and prints two closing lines.

    bazel test //... --build_event_json_file=events.json
    python tools/test_summary.py events.json

The last line counts cases, which Bazel does not; the line before it says how many
targets Bazel took from its caches. Reads the test.xml files that the run's own
events name. A test program that crashed, timed out or could not be built counts
as one failure; a target that this environment cannot run (no JAX, no TensorFlow)
as one skipped. That a target has no result at all, Bazel's exit status tells
alone. Exits with status 1 when anything failed or nothing passed.
"""

import argparse
import collections
import json
import pathlib
import sys
from typing import Any
import urllib.parse
import xml.etree.ElementTree as ET

# The reason in `aborted` for a target that the environment does not fit.
_SKIPPED = "SKIPPED"

Counts = collections.Counter[str]


def _text(counts: Counts) -> str:
  names = ("passed", "failed", "skipped")
  return ", ".join(f"{counts[name]} {name}" for name in names)


def _count(result: dict[str, Any], notes: set[str]) -> Counts:
  """Counts the cases of one run of one test program; any doubt is a failure.

  Args:
    result: its event.
    notes: gets what tests say: their recorded properties called `note`.
  """
  counts: Counts = collections.Counter()
  for output in result.get("testActionOutput", []):
    if output["name"] != "test.xml":
      continue
    path = urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
    try:
      report = ET.parse(path)
    except (OSError, ET.ParseError):
      counts["failed"] += 1
      continue
    for case in report.iter("testcase"):
      tags = {child.tag for child in case}
      if tags & {"failure", "error"}:
        counts["failed"] += 1
      elif "skipped" in tags or case.get("status") == "notrun":
        counts["skipped"] += 1
      else:
        counts["passed"] += 1
    for each in report.iter("property"):
      if each.get("name") == "note":
        notes.add(each.get("value", ""))
  if result["status"] not in ("PASSED", "FLAKY") and not counts["failed"]:
    counts["failed"] = 1
  return counts


def _is_cached(result: dict[str, Any]) -> bool:
  """Whether Bazel took a result from its output folder or the disk cache."""
  info = result.get("executionInfo", {})
  return bool(result.get("cachedLocally") or info.get("cachedRemotely"))


def summarize(events: list[dict[str, Any]]) -> tuple[Counts, list[str]]:
  """Counts a run; returns the counts, and the lines to print before them."""
  runs: dict[tuple[str, int, int], dict[str, Any]] = {}
  tests: set[str] = set()
  unbuilt: dict[str, str] = {}
  for event in events:
    identity = event["id"]
    if "testResult" in event:
      key = identity["testResult"]
      run = (key["label"], key.get("run", 1), key.get("shard", 1))
      runs[run] = event["testResult"]  # a later attempt replaces an earlier
    elif "testSize" in event.get("configured", {}):
      tests.add(identity["targetConfigured"]["label"])
    elif "targetCompleted" in identity:
      reason = event.get("aborted", {}).get("reason", "not built")
      if not event.get("completed", {}).get("success"):
        unbuilt[identity["targetCompleted"]["label"]] = reason
  counts: Counts = collections.Counter()
  lines: list[str] = []
  notes: set[str] = set()
  cached: dict[str, bool] = {}
  for (label, _, _), result in sorted(runs.items(), key=lambda x: x[0]):
    own = _count(result, notes)
    counts += own
    # Of a target in shards all have to come from the cache.
    cached[label] = cached.get(label, True) and _is_cached(result)
    if own["failed"]:
      lines.append(f"FAILED {label}: {result['status']}, {_text(own)}")
  for label, reason in sorted(unbuilt.items()):
    if reason == _SKIPPED:
      counts["skipped"] += label in tests
    elif label not in cached:
      counts["failed"] += 1
      lines.append(f"FAILED {label}: {reason}")
  hits = sum(cached.values())
  lines += sorted(notes)
  lines.append(f"test targets: {hits} from the cache, {len(cached) - hits} ran")
  return counts, lines


def main(argv: list[str] | None = None) -> int:
  """Prints the summary; returns the exit status."""
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  parser.add_argument("events", type=pathlib.Path)
  parser.add_argument(
    "--bazel_status",
    type=int,
    default=0,
    help="Bazel's exit status; a failure that the events do not show counts",
  )
  arguments = parser.parse_args(argv)
  text = ""
  if arguments.events.exists():
    text = arguments.events.read_text(encoding="utf-8")
  counts, lines = summarize([json.loads(x) for x in text.splitlines()])
  if arguments.bazel_status and not counts["failed"]:
    print(f"FAILED bazel: exit status {arguments.bazel_status}")
    counts["failed"] = 1
  if not counts["passed"] and not counts["failed"]:
    print("FAILED: no test ran")
  print("\n".join([*lines, _text(counts)]), flush=True)
  return int(counts["failed"] > 0 or counts["passed"] == 0)


if __name__ == "__main__":
  sys.exit(main())
