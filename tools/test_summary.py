"""Counts the test cases of a Bazel run and prints two closing lines.

    bazel test //... --build_event_json_file=events.json
    python tools/test_summary.py events.json

The last line counts cases, the line before it says how many targets Bazel took
from its caches. Reads the test.xml files that the run's own events name. A test program that
crashed, timed out or could not be built counts as one failure; a target that
this environment cannot run (no JAX, no TensorFlow) as one skipped. Exits with
status 1 when anything failed or nothing passed.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
from typing import Any
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET

# What `aborted` says of a target that is incompatible with the environment.
_SKIPPED = "SKIPPED"


@dataclasses.dataclass
class Counts:
  """Numbers of test cases."""

  passed: int = 0
  failed: int = 0
  skipped: int = 0

  def add(self, other: "Counts") -> None:
    """Adds the other's numbers."""
    self.passed += other.passed
    self.failed += other.failed
    self.skipped += other.skipped

  def __str__(self) -> str:
    return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count_xml(text: str | bytes) -> Counts:
  """Counts the cases of one test.xml.

  Raises:
    xml.etree.ElementTree.ParseError: if it is not XML.
  """
  counts = Counts()
  for case in ET.fromstring(text).iter("testcase"):
    tags = {child.tag for child in case}
    if tags & {"failure", "error"}:
      counts.failed += 1
    elif "skipped" in tags or case.get("status") == "notrun":
      counts.skipped += 1
    else:
      counts.passed += 1
  return counts


def _reports(result: dict[str, Any]) -> list[pathlib.Path]:
  """The test.xml of one run of one test program."""
  return [
    pathlib.Path(
      urllib.request.url2pathname(urllib.parse.urlparse(output["uri"]).path)
    )
    for output in result.get("testActionOutput", [])
    if output["name"] == "test.xml"
  ]


def notes(lines: list[str]) -> list[str]:
  """What tests have to say: their recorded properties called `note`."""
  found = set()
  for line in lines:
    for path in _reports(json.loads(line).get("testResult", {})):
      try:
        whole = ET.fromstring(path.read_bytes())
      except (OSError, ET.ParseError):
        continue  # Counted as a failure.
      for each in whole.iter("property"):
        if each.get("name") == "note":
          found.add(each.get("value", ""))
  return sorted(found)


def _count_result(result: dict[str, Any]) -> Counts:
  """Counts one run of one test program; any doubt is a failure."""
  counts = Counts()
  for path in _reports(result):
    try:
      counts = count_xml(path.read_bytes())
    except (OSError, ET.ParseError):
      counts = Counts(failed=1)
  if result["status"] not in ("PASSED", "FLAKY") and not counts.failed:
    counts.failed = 1
  return counts


def _is_cached(result: dict[str, Any]) -> bool:
  """Whether Bazel took a result from its output folder or the disk cache."""
  info = result.get("executionInfo", {})
  return bool(result.get("cachedLocally") or info.get("cachedRemotely"))


def cache_use(lines: list[str]) -> tuple[int, int]:
  """Counts the test targets whose results came from the cache.

  Args:
    lines: of Bazel's build event file, one JSON object each.

  Returns:
    How many targets came from the cache, and how many ran. A target of which
    one shard ran counts as one that ran.
  """
  cached: dict[str, bool] = {}
  for line in lines:
    event = json.loads(line)
    if "testResult" in event:
      label = event["id"]["testResult"]["label"]
      own = _is_cached(event["testResult"])
      cached[label] = cached.get(label, True) and own
  count = sum(cached.values())
  return count, len(cached) - count


def is_chosen(tags: list[str], filters: str) -> bool:
  """Whether Bazel's --test_tag_filters let a target with these tags run."""
  asked = [x for x in filters.split(",") if x]
  wanted = {x for x in asked if not x.startswith("-")}
  unwanted = {x[1:] for x in asked if x.startswith("-")}
  return not unwanted & set(tags) and (not wanted or bool(wanted & set(tags)))


def summarize(
  lines: list[str], filters: str = ""
) -> tuple[Counts, dict[str, str]]:
  """Counts a run.

  Args:
    lines: of Bazel's build event file, one JSON object each.
    filters: the run's --test_tag_filters: others need not have run.

  Returns:
    The counts, and {label: what happened} of every target that failed.
  """
  runs: dict[tuple[str, int, int], dict[str, Any]] = {}
  tests: set[str] = set()
  unbuilt: dict[str, str] = {}
  skipped: set[str] = set()
  for line in lines:
    event = json.loads(line)
    identity = event["id"]
    if "testResult" in event:
      key = identity["testResult"]
      run = (key["label"], key.get("run", 1), key.get("shard", 1))
      runs[run] = event["testResult"]  # a later attempt replaces an earlier
    elif "targetConfigured" in identity and "configured" in event:
      configured = event["configured"]
      chosen = is_chosen(configured.get("tag", []), filters)
      if "testSize" in configured and chosen:
        tests.add(identity["targetConfigured"]["label"])
    elif "targetCompleted" in identity:
      label = identity["targetCompleted"]["label"]
      reason = event.get("aborted", {}).get("reason")
      if reason == _SKIPPED:
        skipped.add(label)
      elif reason or not event.get("completed", {}).get("success"):
        unbuilt[label] = reason or "not built"
  counts = Counts()
  failures: dict[str, str] = {}
  for (label, _, _), result in sorted(runs.items()):
    own = _count_result(result)
    counts.add(own)
    if own.failed:
      failures[label] = f"{result['status']}, {own}"
  ran = {label for label, _, _ in runs}
  for label, reason in sorted(unbuilt.items()):
    if label not in ran:
      counts.failed += 1
      failures[label] = reason
  counts.skipped += len(skipped & tests)
  for label in sorted(tests - ran - skipped - set(unbuilt)):
    counts.failed += 1
    failures[label] = "did not run"
  return counts, failures


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
  parser.add_argument(
    "--test_tag_filters",
    default="",
    help="as Bazel was given them; tests left out by them are not missed",
  )
  arguments = parser.parse_args(argv)
  lines: list[str] = []
  if arguments.events.exists():
    lines = arguments.events.read_text(encoding="utf-8").splitlines()
  counts, failures = summarize(lines, arguments.test_tag_filters)
  for label, reason in failures.items():
    print(f"FAILED {label}: {reason}")
  status = arguments.bazel_status
  if status and not counts.failed:
    print(f"FAILED bazel: exit status {status}")
    counts.failed = 1
  if not counts.passed and not counts.failed:
    print("FAILED: no test ran")
  for note in notes(lines):
    print(note)
  cached, ran = cache_use(lines)
  print(f"test targets: {cached} from the cache, {ran} ran")
  print(counts, flush=True)
  return int(counts.failed > 0 or counts.passed == 0)


if __name__ == "__main__":
  sys.exit(main())
