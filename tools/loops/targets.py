"""Chooses the tests of changed files, from the tables of rooms and tests.

`quick` chooses tests by name: of a room of `phasic`, the NumPy tests that name
the room, and those that name a room right above it. `roots` names what `make
check` asks Bazel about.
"""

import ast
from collections.abc import Iterable
import dataclasses
import pathlib

from tools.rooms import phasic_rooms
from tools.rooms import shared_tests
from tools.rooms import tables

# Lower ranks run first, until the time is spent.
OWN = 0  # the changed file's own test
ROOM = 1  # names the room
ABOVE = 2  # names a room right above
BROAD = 3  # names packages, or all of phasic

# They test everything in one, so that nearly any change reaches them.
WHOLE_HOUSE = (
  "//tests/wheel",
  "//tests/documents",
  "//examples",
  "//tests:shared/contract/doctests.",
)

# How long the longest NumPy tests take where no report tells it, as in a new
# clone.
LONG = {
  "//tests:shared/conformance/conformance_tests.numpy": 300.0,
  "//tests:shared/contract/accuracy_tests.numpy": 40.0,
  "//tests:shared/contract/distribution_tests.numpy": 60.0,
  "//tests:shared/inference/inference_tests.numpy": 120.0,
}

# Of the folders whose files belong to no room. The longest prefix counts.
_FOLDERS: dict[str, tuple[str, ...]] = {
  "README.md": ("//tests/documents:all",),
  "benchmarks": ("//tests/benchmarks:all",),
  "docs": ("//tests/documents:all",),
  "phasic/_native": ("//tests:shared/kernel/value_tests.numpy",),
  "phasic/include": ("//tests/numpy:native_tests",),
  "substrates/jax": ("//tests/jax/seam:all",),
  "substrates/meta": (
    "//substrates/meta:all",
    "//tests:shared/build_rules/build_rules_test.numpy",
  ),
  "substrates/tf": ("//tests/tf/seam:all",),
  "tests/native_ops": ("//tests/numpy:native_tests",),
  "tests/oracle": ("//tests/oracle:all",),
  "tests/shared/build_rules": (
    "//tests:shared/build_rules/build_rules_test.numpy",
  ),
}
_NATIVE: dict[str, tuple[str, ...]] = {
  "native/elimination": ("//tests:shared/moments/moment_tests.numpy",),
  "native/kernel": ("//tests:shared/kernel/value_tests.numpy",),
  "native/python": ("//tests:shared/kernel/value_tests.numpy",),
  "native/tf": ("//tests/tf/kernel:all",),
  "native/xla": ("//tests/jax/kernel:all",),
}
# Their tests are found by a query, as a BUILD file may put some together.
_TEST_PACKAGES = (
  "examples",
  "tests/accuracy",
  "tests/benchmarks",
  "tests/cross",
  "tests/documents",
  "tests/jax",
  "tests/native",
  "tests/tf",
  "tests/wheel",
)
_EVERYTHING = (
  ".bazelrc",
  "WORKSPACE",
  "setup.sh",
  "tools/environments.sh",
  "third_party/",
  "requirements",
  "build_defs.bzl",
)


@dataclasses.dataclass(frozen=True)
class Test:
  """A NumPy test.

  Attributes:
    label: its label.
    files: its sources.
    rooms: the rooms or packages that it names.
    helpers: the names of its helpers, and of theirs.
    helper_rooms: those that its helpers name.
  """

  label: str
  files: frozenset[str]
  rooms: frozenset[str]
  helpers: frozenset[str] = frozenset()
  helper_rooms: frozenset[str] = frozenset()


def _all_helpers(
  names: Iterable[str], helpers: dict[str, tables.Call]
) -> frozenset[str]:
  found: set[str] = set()
  pending = list(names)
  while pending:
    name = pending.pop()
    if name not in found:
      found.add(name)
      pending += helpers[name].lists.get("helpers", [])
  return frozenset(found)


def numpy_tests(text: str) -> list[Test]:
  """Returns the NumPy tests of the tables of tests/shared.bzl.

  Args:
    text: what the file has.
  """
  source = tables.Source(text, shared_tests.TESTS)
  all_helpers = source.calls("HELPERS")
  tests = []
  for name, entry in source.calls("TESTS").items():
    if "numpy" in entry.keys.get("disabled", []):
      continue
    helpers = _all_helpers(entry.lists.get("helpers", []), all_helpers)
    tests.append(
      Test(
        label=f"//tests:shared/{name}.numpy",
        files=frozenset(
          f"tests/shared/{file}.py" for file in entry.lists["files"]
        ),
        helpers=helpers,
        rooms=frozenset(entry.lists.get("rooms", [])),
        helper_rooms=frozenset(
          room
          for helper in helpers
          for room in all_helpers[helper].lists.get("rooms", [])
        ),
      )
    )
  return tests


def groups(text: str) -> dict[str, list[str]]:
  """Returns {test: names of files} of the tests that run in one process.

  Args:
    text: of a BUILD file that calls `py_test_package`.
  """
  for node in ast.walk(ast.parse(text)):
    if isinstance(node, ast.keyword) and node.arg == "together":
      return dict(ast.literal_eval(node.value))
  return {}


def room_of(file: str, rooms: phasic_rooms.Rooms) -> str | None:
  """Returns the room of a path below phasic; a package is one, too."""
  parts = pathlib.PurePosixPath(file).parts[1:-1]
  for name in ("/".join(parts[:2]), "/".join(parts[:1])):
    if name in rooms.entries or name in rooms.packages:
      return name
  return None


def _rank(test: Test, room: str, rooms: phasic_rooms.Rooms) -> int | None:
  """Returns how near a test is to a room; None is too far."""
  if room in test.rooms:
    return ROOM
  package = room.split("/", maxsplit=1)[0]
  if room in rooms.packages:  # Its __init__: all that names one of its rooms.
    named = {name.split("/")[0] for name in test.rooms}
    return ABOVE if room in named else BROAD if "phasic" in named else None
  folders = {pathlib.PurePosixPath(file).parent.name for file in test.files}
  if room in rooms.closure(list(test.rooms)):
    # A test names only the highest of its rooms; its folder says what it tests.
    if room.split("/")[-1] in folders:
      return ROOM
    if package in folders:
      return ABOVE
  above = {
    name
    for name, entry in rooms.entries.items()
    if room in entry.names or package in entry.names
  }
  if test.rooms & above:
    return ABOVE
  if test.rooms & {package, "phasic"}:
    return BROAD
  for name in test.rooms & set(rooms.packages):
    if above & set(rooms.members(name)):
      return BROAD
  return BROAD if test.helper_rooms & {room, *above} else None


def _package(file: str, packages: set[str]) -> str:
  """Returns the Bazel package of a path; "" is the root's."""
  for folder in pathlib.PurePosixPath(file).parents:
    name = "" if str(folder) == "." else str(folder)
    if name in packages:
      return name
  return ""


def _below(file: str, prefix: str) -> bool:
  return file == prefix or file.startswith(f"{prefix}/")


def _by_folder(file: str, table: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
  found = [prefix for prefix in table if _below(file, prefix)]
  return table[max(found, key=len)] if found else ()


def _of_file(
  file: str,
  rooms: phasic_rooms.Rooms,
  tests: list[Test],
  packages: set[str],
) -> dict[str, int]:
  """Returns the tests of a file, with their ranks."""
  if file in (phasic_rooms.RULES, shared_tests.TESTS):
    return {"//tests:shared/build_rules/build_rules_test.numpy": OWN}
  package = _package(file, packages)
  if file.startswith("native/"):
    return {
      f"//{package}:all": OWN,
      **dict.fromkeys(_by_folder(file, _NATIVE), ROOM),
    }
  if file.startswith("tools/"):
    return {f"//{package}:all": OWN}
  own = {test.label: OWN for test in tests if file in test.files}
  if own:
    return own
  if _below(file, "tests/helpers"):
    name = pathlib.PurePosixPath(file).stem
    return {test.label: ABOVE for test in tests if name in test.helpers}
  by_folder = _by_folder(file, _FOLDERS)
  if by_folder:
    return dict.fromkeys(by_folder, OWN)
  room = room_of(file, rooms) if file.startswith("phasic/") else None
  if room is None:
    return {}
  ranks = {}
  for test in tests:
    rank = _rank(test, room, rooms)
    if rank is not None:
      # Of tests/numpy all imports are known, not the highest rooms alone.
      in_numpy = test.label.startswith("//tests/numpy:")
      ranks[test.label] = BROAD if in_numpy else rank
  return ranks


def near(
  files: Iterable[str],
  rooms: phasic_rooms.Rooms,
  tests: list[Test],
  packages: set[str],
) -> dict[str, int]:
  """Returns the tests near to some files, each with its lowest rank.

  Args:
    files: paths below the root.
    rooms: the table of the rooms of phasic.
    tests: the NumPy tests.
    packages: the folders of Bazel packages below the root.

  Returns:
    {label: rank}. A label can stand for all tests of a package.
  """
  found: dict[str, int] = {}
  for file in files:
    for label, rank in _of_file(file, rooms, tests, packages).items():
      found[label] = min(rank, found.get(label, rank))
  return found


def own_queries(
  files: Iterable[str], packages: set[str], existing: set[str]
) -> list[str]:
  """Returns the Bazel queries for the tests of test files outside the tables.

  Args:
    files: paths below the root.
    packages: the folders of Bazel packages below the root.
    existing: which of the files were not deleted.
  """
  found = set()
  for file in files:
    inside = any(_below(file, folder) for folder in _TEST_PACKAGES)
    if inside and file in existing and file.endswith(".py"):
      package = _package(file, packages)
      name = file[len(package) :].lstrip("/")
      found.add(f"tests(rdeps(//{package}:all, //{package}:{name}))")
  return sorted(found)


def within(
  ranks: dict[str, int], seconds: dict[str, float], budget: float
) -> tuple[list[str], list[str]]:
  """Chooses tests whose seconds fit into a budget.

  Tests of a low rank come first, of one rank the shorter ones. Those of the
  lowest rank, OWN, are chosen whatever they cost; without one, so is the first.

  Args:
    ranks: {label: rank}.
    seconds: {label: time}; an unknown one takes what `LONG` says, or the median
      of those that are known.
    budget: how many seconds all may take together.

  Returns:
    The labels chosen, and those left out.
  """
  known = sorted(seconds.values())
  default = known[len(known) // 2] if known else 0.0

  def cost(label: str) -> float:
    return seconds.get(label, LONG.get(label, default))

  chosen: list[str] = []
  left: list[str] = []
  spent = 0.0
  for label in sorted(ranks, key=lambda x: (ranks[x], cost(x), x)):
    if ranks[label] == OWN or not chosen or spent + cost(label) <= budget:
      chosen.append(label)
      spent += cost(label)
    else:
      left.append(label)
  return chosen, left


def roots(
  files: Iterable[str], packages: set[str], existing: set[str]
) -> list[str]:
  """Returns the Bazel labels and patterns whose dependents may have changed.

  Args:
    files: paths below the root.
    packages: the folders of Bazel packages below the root.
    existing: which of the files were not deleted.
  """
  found: set[str] = set()
  for file in files:
    package = _package(file, packages)
    path = pathlib.PurePosixPath(file)
    if file.startswith(_EVERYTHING):
      return ["//..."]
    if path.suffix == ".bzl":
      found.add(f"//{path.parent}/...")
    elif path.name == "BUILD" or file not in existing:
      # A glob has lost a file, or a rule has changed.
      found.add(f"//{package}:all")
    else:
      name = file[len(package) :].lstrip("/")
      found.add(f"//{package}:{name}")
  return sorted(found)


def is_whole_house(label: str) -> bool:
  """Returns whether nearly any change reaches a test."""
  return label.startswith(WHOLE_HOUSE)
