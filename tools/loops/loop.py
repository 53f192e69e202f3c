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
from tools.rooms import modules
from tools.rooms import phasic_rooms
from tools.rooms import shared_tests

ROOT = pathlib.Path(__file__).absolute().parents[2]
BIN = ROOT / ".venv/bin"

# What all tests of `make quick` may take together, one after the other. Two
# processors, Bazel, lint and mypy included, this stays below 90 s.
_QUICK_SECONDS = 70.0
# Of a test besides what its report says: Python and Bazel start.
_START_SECONDS = 2.0

# As in tools/format.sh.
_CLANG_FORMAT_FOLDERS = (
  "native/",
  "benchmarks/",
  "phasic/include/",
  "tests/native_ops/",
  "examples/",
)
_CLANG_FORMAT_SUFFIXES = (".h", ".cc", ".cu")
# What tools/rooms reads.
_ROOMS = ("native/", "phasic/", "substrates/", "tests/", "tools/")
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
  native = [
    file
    for file in existing
    if file.startswith(_CLANG_FORMAT_FOLDERS)
    and file.endswith(_CLANG_FORMAT_SUFFIXES)
  ]
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


def report_seconds(text: bytes) -> float:
  """Returns how long the tests of a test.xml ran.

  Args:
    text: the report.

  Raises:
    xml.etree.ElementTree.ParseError: the report is not XML.
  """
  return sum(
    float(suite.get("time", 0))
    for suite in ET.fromstring(text).iter("testsuite")
  )


def _seconds(labels: list[str]) -> dict[str, float]:
  """Returns how long tests took last time in this clone, where known."""
  found = {}
  for label in labels:
    path = label.removeprefix("//").replace(":", "/")
    try:
      text = (ROOT / ".bazel/testlogs" / path / "test.xml").read_bytes()
      found[label] = report_seconds(text) + _START_SECONDS
    except (OSError, ET.ParseError):
      continue
  return found


def _packages() -> set[str]:
  """Returns the folders that have a BUILD file."""
  listed = subprocess.run(
    ["git", "ls-files", "-z", "-co", "--exclude-standard", "*BUILD"],
    cwd=ROOT,
    check=True,
    capture_output=True,
    text=True,
  ).stdout
  folders = (pathlib.PurePosixPath(name) for name in changed.names(listed))
  return {
    "" if str(path.parent) == "." else str(path.parent)
    for path in folders
    if path.name == "BUILD" and (ROOT / path).exists()
  }


def _numpy_tests(
  rooms: phasic_rooms.Rooms, project: modules.Project
) -> list[targets.Test]:
  """Returns the tests of tests/numpy, with the rooms that they import."""
  folder = ROOT / "tests/numpy"
  groups = targets.groups((folder / "BUILD").read_text(encoding="utf-8"))
  grouped = {name for names in groups.values() for name in names}
  for path in folder.glob("*_test.py"):
    if path.stem not in grouped:
      groups[path.stem] = [path.stem]
  tests = []
  for name, stems in sorted(groups.items()):
    files = [f"tests/numpy/{stem}.py" for stem in stems]
    files = [file for file in files if (ROOT / file).exists()]
    needs = [need.module for file in files for need in project.needs(file)]
    tests.append(
      targets.Test(
        label=f"//tests/numpy:{name}",
        files=frozenset(files),
        rooms=frozenset(
          rooms.of(module) for module in needs if module.startswith("phasic")
        ),
      )
    )
  return tests


def _query(expression: str) -> list[str]:
  """Returns the labels that Bazel finds.

  Files that are in no rule are none of Bazel's, and no error.
  """
  result = subprocess.run(
    ["bazel", "query", "--keep_going", "--noshow_progress", expression],
    cwd=ROOT,
    capture_output=True,
    text=True,
  )
  partial = 3
  if result.returncode not in (0, partial):
    raise RuntimeError(f"bazel query failed:\n{result.stderr}")
  return sorted(result.stdout.split())


def _tests(kind: str, files: list[str]) -> list[str]:
  """Chooses tests, and says which are left to longer loops."""
  existing = {file for file in files if (ROOT / file).exists()}
  packages = _packages()
  rooms, project = phasic_rooms.read(ROOT)
  tests = targets.numpy_tests(
    (ROOT / shared_tests.TESTS).read_text(encoding="utf-8")
  )
  tests += _numpy_tests(rooms, project)
  near = targets.near(files, rooms, tests, packages)
  own = targets.own_queries(files, packages, existing)
  if own:
    near |= dict.fromkeys(_query(" + ".join(own)), targets.OWN)
  if kind == "quick":
    chosen, left = targets.within(near, _seconds(list(near)), _QUICK_SECONDS)
    for later, whole_house in (("make check", False), ("make test", True)):
      labels = [x for x in left if targets.is_whole_house(x) == whole_house]
      if labels:
        _say(f"quick: left to {later}: {' '.join(sorted(labels))}")
    return chosen
  roots = targets.roots(files, packages, existing)
  if not roots:
    return []
  named = " + ".join(f"set({root})" for root in roots)
  reached = _query(f'tests(kind(".*_test rule", rdeps(//..., {named})))')
  direct = {label for label, rank in near.items() if rank == targets.OWN}
  whole = [label for label in reached if targets.is_whole_house(label)]
  left = sorted(set(whole) - direct)
  if left:
    _say(f"check: left to make test: {' '.join(left)}")
  return sorted({*(set(reached) - set(left)), *direct})


def main(argv: list[str] | None = None) -> int:
  """Runs a loop; returns the exit status."""
  parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
  parser.add_argument("kind", choices=("quick", "check", "lint"))
  parser.add_argument("files", nargs="*", help="of lint: what to look at")
  arguments = parser.parse_args(argv)
  kind = arguments.kind
  files = arguments.files
  if not files:
    changes = changed.find(ROOT)
    files = changes.files
    _say(f"{kind}: {len(files)} files differ from {changes.base}")
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
