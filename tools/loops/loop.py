"""Checks what changed, quickly or thoroughly: `make quick` and `make check`.

    python -m tools.loops.loop quick           # as make quick
    python -m tools.loops.loop check           # as make check
    python -m tools.loops.loop lint [FILE...]  # formatter and linters alone

What changed is what differs from the commit shared with the remote's main
branch (tools/loops/changed.py), or from BASE where the environment has it.
`quick` and `check` close with a line `N passed, N failed, N skipped`.
"""

import argparse
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

from tools.loops import changed
from tools.loops import targets

ROOT = pathlib.Path(__file__).absolute().parents[2]
BIN = ROOT / ".venv/bin"

# The seconds that all tests of `make quick` may take, one after the other. On two
# processors, with Bazel, lint and mypy, the whole stays below 90 s.
_QUICK_SECONDS = 70.0
# Of a test besides what its report says: Python and Bazel start.
_START_SECONDS = 2.0

# As in tools/format.sh.
_CLANG_FORMAT_SUFFIXES = (".h", ".cc", ".cu")
# The files that tools/rooms reads.
_ROOMS = (
  *("native/", "phasic/", "substrates/", "tests/", "tools/"),
  "CONTRIBUTING.md",
)
# Files that all targets may depend on, which no query knows.
_EVERYTHING = (
  ".bazelrc",
  "WORKSPACE",
  "setup.sh",
  "tools/environments.sh",
  "requirements/",
  "third_party/",
)
# They follow from other files (tools/rooms/check.py), whose tests run.
_COMPUTED = {
  "native/rooms.bzl",
  "phasic/rooms.bzl",
  "substrates/seam.bzl",
  "tests/needs.bzl",
}
# Where mypy looks, as in tools/typecheck.sh.
_TYPED = ("phasic/", "substrates/meta/", "tools/")


def _say(text: str) -> None:
  print(text, file=sys.stderr, flush=True)


def lint_commands(files: list[str], types: bool) -> dict[str, list[str]]:
  """Returns the linters of some files: {name: command}.

  Args:
    files: paths below the root; deleted ones matter to the rooms.
    types: whether to check types, too.
  """
  existing = [file for file in files if (ROOT / file).is_file()]
  python = [file for file in existing if file.endswith(".py")]
  native = [file for file in existing if file.endswith(_CLANG_FORMAT_SUFFIXES)]
  ruff, interpreter = str(BIN / "ruff"), str(BIN / "python")
  commands: dict[str, list[str]] = {}
  if python:
    # Files that ruff is to leave alone are left alone when named, too.
    quiet = ["--quiet", "--force-exclude", *python]
    commands["ruff format"] = [ruff, "format", "--check", *quiet]
    commands["ruff"] = [ruff, "check", *quiet]
  if native:
    clang_format = str(BIN / "clang-format")
    commands["clang-format"] = [clang_format, "--dry-run", "-Werror", *native]
  if any(file.startswith(_ROOMS) for file in files):
    commands["rooms"] = [interpreter, "-m", "tools.rooms.check"]
  typed = any(
    file.startswith(_TYPED) and file.endswith(".py") for file in files
  )
  if types and typed:
    commands["mypy"] = ["tools/typecheck.sh", "sources"]
  return commands


def lint(files: list[str], types: bool) -> list[str]:
  """Runs the linters of some files; returns the names of those that failed."""
  failed = []
  for name, command in lint_commands(files, types).items():
    start = time.monotonic()
    if subprocess.run(command, cwd=ROOT).returncode:
      failed.append(name)
      _say(f"lint: {name} FAILED")
    else:
      _say(f"lint: {name} ok, {time.monotonic() - start:.1f} s")
  return failed


def _seconds(labels: list[str]) -> dict[str, float]:
  """Returns how long tests took last time in this clone, where known."""
  found = {}
  for label in labels:
    path = label.removeprefix("//").replace(":", "/")
    try:
      report = ET.parse(ROOT / ".bazel/testlogs" / path / "test.xml")
    except (OSError, ET.ParseError):
      continue
    suites = report.iter("testsuite")
    total = sum(float(suite.get("time", 0)) for suite in suites)
    found[label] = total + _START_SECONDS
  return found


def _query(*arguments: str) -> bytes:
  """Returns what a Bazel query prints."""
  result = subprocess.run(
    ["bazel", "query", "--noshow_progress", *arguments],
    cwd=ROOT,
    capture_output=True,
  )
  if result.returncode:
    sys.exit(f"bazel query failed:\n{result.stderr.decode()}")
  return result.stdout


def _package(file: str) -> str:
  """Returns the Bazel package of a path; "" is the root's."""
  folders = pathlib.PurePosixPath(file).parents
  found = next(x for x in folders if (ROOT / x / "BUILD").exists())
  return "" if str(found) == "." else str(found)


def _loaders(files: list[str]) -> list[str]:
  """Returns the BUILD files that load files of rules, at any remove."""
  rules = [
    file
    for file in files
    if file.endswith(".bzl")
    and not file.startswith(_EVERYTHING)
    and (ROOT / file).exists()
  ]
  if not rules:
    return []
  # Only such a query knows them.
  labels = _query(
    "--universe_scope=//...",
    "--order_output=no",
    f"rbuildfiles({', '.join(rules)})",
  )
  paths = (label[2:].replace(":", "/") for label in labels.decode().split())
  return sorted(path.lstrip("/") for path in paths)


def _tests(kind: str, files: list[str]) -> list[str]:
  """Chooses tests, and says which are left to longer loops."""
  graph = targets.Graph(_query("--output=xml", "//..."))
  near: dict[str, int] = {}
  reached: set[str] = set()
  unknown: set[str] = set()
  packages: set[str] = set()
  files = [file for file in files if file not in _COMPUTED]
  for file in sorted({*files, *_loaders(files)}):
    if file.startswith(_EVERYTHING):
      starts = dict.fromkeys(graph.rules, 1)
    elif file.endswith("BUILD") or not (ROOT / file).exists():
      starts = graph.of_package(_package(file))
      packages.add(f"//{_package(file)}")
    else:
      starts = graph.of_file(file, _package(file))
    if not starts and file in files and not file.endswith(".bzl"):
      unknown.add(file)
    distances = graph.reached(starts)
    reached |= distances.keys()
    fast = {x: n for x, n in distances.items() if x not in graph.slow}
    for label, rank in targets.near(file, fast).items():
      near[label] = min(rank, near.get(label, rank))
  if unknown:
    _say(f"{kind}: in no target of Bazel: {' '.join(sorted(unknown))}")
  if packages:
    _say(
      f"{kind}: all targets may have changed of {' '.join(sorted(packages))}"
    )
  if kind == "quick":
    chosen, left = targets.within(near, _seconds(list(near)), _QUICK_SECONDS)
    later = "make check"
  else:
    fast_ones = reached - graph.slow
    left = [x for x in fast_ones - near.keys() if targets.is_whole_house(x)]
    chosen = sorted(fast_ones.difference(left))
    later = "make test"
    if slow := len(reached & graph.slow):
      _say(f"{kind}: left to make test-slow: {slow} targets")
  if left:
    _say(f"{kind}: left to {later}: {' '.join(sorted(left))}")
  return chosen


def main(argv: list[str] | None = None) -> int:
  """Runs a loop; returns the exit status."""
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  parser.add_argument("kind", choices=("quick", "check", "lint"))
  parser.add_argument("files", nargs="*", help="of lint: what to look at")
  arguments = parser.parse_args(argv)
  kind = arguments.kind
  files = arguments.files
  if not files:
    base, files = changed.find(ROOT)
    _say(f"{kind}: {len(files)} files differ from {base}")
  if kind == "lint":
    return int(bool(lint(files, types=False)))
  failed = lint(files, types=True)
  chosen = _tests(kind, files) if files else []
  if failed:
    _say(f"{kind}: failed: {', '.join(failed)}; see above")
  if not chosen:
    _say(f"{kind}: no test is near to these files")
    print("0 passed, 0 failed, 0 skipped", flush=True)
    return int(bool(failed))
  _say(f"{kind}: {len(chosen)} Bazel targets")
  options = ["--build_tests_only"]
  # Only there: another configuration analyzes all targets again.
  if kind == "quick" and any(file.startswith("native/") for file in files):
    options.append("--config=dev")
  command = ["tools/run_tests.sh", *options, *chosen]
  status = subprocess.run(command, cwd=ROOT).returncode
  return status or int(bool(failed))


if __name__ == "__main__":
  sys.exit(main())
