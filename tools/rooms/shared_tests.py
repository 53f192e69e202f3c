"""Checks what the tests that are written once say that they need.

`tests/shared.bzl` lists the rooms of phasic and the helpers that each of them
imports. Bazel runs a test again after a change of these alone: one that names
too little fails there, and one that names more runs too often.
"""

from collections.abc import Iterator
import dataclasses
import pathlib

from tools.rooms import modules
from tools.rooms import phasic_rooms
from tools.rooms import tables

TESTS = "tests/shared.bzl"
# In no room; what needs them has them by the rooms that it lists.
_OUTSIDE = ("_native", "include")


@dataclasses.dataclass(frozen=True)
class Imports:
  """What files import, each with the first place that does.

  Attributes:
    rooms: of phasic, or whole public packages.
    packages: the public packages through which they name things.
    helpers: of the tests.
  """

  rooms: dict[str, str]
  packages: dict[str, str]
  helpers: dict[str, str]


def _imports(
  rooms: phasic_rooms.Rooms, project: modules.Project, files: list[str]
) -> Imports:
  found = Imports({}, {}, {})
  for file in files:
    for need in project.needs(file):
      place = f"{file}:{need.line}"
      parts = need.module.split(".")
      if parts[0] == "phasic":
        if rooms.of(need.module) not in _OUTSIDE:
          found.rooms.setdefault(rooms.of(need.module), place)
        if need.package:
          package = need.package.removeprefix("phasic.")
          found.packages.setdefault(package, place)
      elif parts[:2] == ["tests", "helpers"]:
        found.helpers.setdefault(parts[2] if parts[2:] else "*", place)
  return found


def _missing_rooms(
  rooms: phasic_rooms.Rooms, found: Imports, listed: dict[str, int]
) -> Iterator[tuple[str, str]]:
  """Yields the names that `listed` lacks, and where they are imported."""
  reached = rooms.closure(list(listed))
  for name, place in sorted(found.rooms.items()):
    if not set(rooms.members(name)) <= reached:
      yield name, place
  reached |= rooms.closure(list(found.rooms))
  for package, place in sorted(found.packages.items()):
    target = f"{package}/package"
    if package in rooms.packages:
      if target not in listed and reached.isdisjoint(rooms.members(package)):
        yield target, place
    elif package not in reached:
      yield package, place


def _superfluous_rooms(
  rooms: phasic_rooms.Rooms, found: Imports, listed: dict[str, int]
) -> Iterator[tuple[str, str]]:
  """Yields the names that `listed` has in vain, and why."""
  for name in listed:
    rest = rooms.closure([other for other in listed if other != name])
    package, _, last = name.rpartition("/")
    if package in rooms.packages and last == "package":
      if not rest.isdisjoint(rooms.members(package)):
        yield name, "comes with another of its rooms"
      elif package not in found.packages:
        yield name, "is not imported"
    elif not set(rooms.members(name)) <= set(rooms.entries):
      yield name, f"is not in {phasic_rooms.RULES}"
    elif set(rooms.members(name)) <= rest:
      yield name, "comes with another of its rooms"
    # Who names all of phasic may import it by names that are made up.
    elif name not in {*found.rooms, *found.packages, "phasic"}:
      yield name, "is not imported"


def _entry_errors(
  rooms: phasic_rooms.Rooms, found: Imports, name: str, entry: tables.Call
) -> Iterator[str]:
  """Checks the lists of one test, or one helper."""
  at = f"{TESTS}:{entry.line}: {name}"
  listed = entry.lists.get("rooms", {})
  for room, place in _missing_rooms(rooms, found, listed):
    yield f"{at} imports {room} in {place}: add it to its rooms"
  for room, reason in _superfluous_rooms(rooms, found, listed):
    yield f"{TESTS}:{listed[room]}: {room} of {name} {reason}: drop it"
  helpers = entry.lists.get("helpers", {})
  for helper, place in sorted(found.helpers.items()):
    if helper == "*":
      yield f"{place}: {name} imports all helpers: import those that it needs"
    elif helper not in helpers:
      yield f"{at} imports {helper} in {place}: add it to its helpers"
  for helper, line in helpers.items():
    if helper not in found.helpers:
      yield (
        f"{TESTS}:{line}: the helper {helper} of {name} is not imported:"
        " drop it"
      )


def check(root: pathlib.Path) -> list[str]:
  """Checks the tables of `tests/shared.bzl` against the files.

  Args:
    root: of the repository.

  Returns:
    The errors, each as `file:line: message`.
  """
  errors = []
  try:
    rooms, project = phasic_rooms.read(root)
    source = tables.Source((root / TESTS).read_text(encoding="utf-8"), TESTS)
    entries = []
    for name, entry in source.calls("HELPERS").items():
      entries.append((name, entry, {f"tests/helpers/{name}.py": entry.line}))
    for name, entry in source.calls("TESTS").items():
      files = entry.lists.get("files", {})
      paths = {f"tests/shared/{x}.py": files[x] for x in files}
      entries.append((name, entry, paths))
    for name, entry, paths in entries:
      known = [path for path in paths if path in project.files.values()]
      for path, line in paths.items():
        if path not in known:
          errors.append(
            f"{TESTS}:{line}: {name} has {path}, which is not there: drop it"
          )
      found = _imports(rooms, project, known)
      errors += _entry_errors(rooms, found, name, entry)
  except ValueError as error:
    errors.append(str(error))
  return errors
