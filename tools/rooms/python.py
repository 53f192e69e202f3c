"""Checks that the rooms of phasic import only what lies below them.

A room is a folder of sources. `phasic/rooms.bzl` lists the rooms, lowest first,
and which of the others each may import; `tests/shared.bzl` lists which rooms
the tests that are written once need. Prints each error as `file:line: message`
and exits with 1 if there is one.

Usage: python.py [ROOT]
"""

from collections.abc import Iterator
import pathlib
import sys

from tools.rooms import modules
from tools.rooms import tables

RULES = "phasic/rooms.bzl"
TESTS = "tests/shared.bzl"
# Folders of which some sources are in no room's table.
FOLDERS = ("phasic", "substrates", "tests", "tools")
MAX_SOURCES = 24


class Rooms:
  """The table of rooms, and where each module is.

  Attributes:
    entries: by room, its line and the rooms that it lists.
    packages: the packages that have rooms.
  """

  def __init__(self, source: str):
    found = tables.Source(source, RULES)
    self.entries = found.lists("ROOMS")
    self.packages = list(found.names("PACKAGES"))

  def of(self, module: str) -> str:
    """Returns a module's room; of a public package, its name."""
    parts = module.split(".")
    if len(parts) > 2 and parts[1] in self.packages:
      return "/".join(parts[1:3])
    return parts[1] if len(parts) > 1 else module

  def members(self, name: str) -> list[str]:
    """Returns the rooms that a name of a room, or of a package, stands for."""
    if name in self.packages:
      return [room for room in self.entries if room.startswith(f"{name}/")]
    if name == "phasic":
      return list(self.entries)
    return [name]

  def closure(self, names: list[str]) -> set[str]:
    """Returns the rooms of these names, and all below them."""
    found: set[str] = set()
    pending = [room for name in names for room in self.members(name)]
    while pending:
      room = pending.pop()
      if room in found or room not in self.entries:
        continue
      found.add(room)
      for name in self.entries[room].names:
        pending += self.members(name)
    return found


def order_errors(rooms: Rooms) -> Iterator[str]:
  """Checks that a room lists only rooms above it in the table."""
  below: set[str] = set()
  for room, entry in rooms.entries.items():
    for name, line in entry.names.items():
      for member in rooms.members(name):
        if member not in below:
          yield (
            f"{RULES}:{line}: {room} may import {member}, which is not below"
            " it: that allows a circle between rooms"
          )
    below.add(room)


def import_errors(rooms: Rooms, project: modules.Project) -> Iterator[str]:
  """Checks each import of phasic against the table."""
  used: dict[str, set[str]] = {room: set() for room in rooms.entries}
  for module, file in project.files.items():
    if not module.startswith("phasic.") or module in project.public:
      continue  # A public package only re-exports.
    room = rooms.of(module)
    if room not in rooms.entries:
      if room not in ("_native", "include"):
        yield f"{file}:1: the file is outside of all rooms of {RULES}"
      continue
    allowed = rooms.entries[room].names
    for need in project.needs(file):
      other = rooms.of(need.module)
      if other in (room, "_native", "include", "phasic") or other == "tests":
        continue
      used[room].add(other)
      if other not in allowed:
        yield (
          f"{file}:{need.line}: {room} imports {need.module}, of {other}, which"
          f" is not below it in {RULES}: move one of them, or pass a function"
        )
  for room, entry in rooms.entries.items():
    for name, line in entry.names.items():
      if name not in used[room]:
        yield f"{RULES}:{line}: {room} does not import {name}: drop it"


def _needed(
  rooms: Rooms, project: modules.Project, files: list[str]
) -> tuple[set[str], set[str]]:
  """Returns the names of rooms, and the helpers, that test files import."""
  found: set[str] = set()
  helpers: set[str] = set()
  for file in files:
    for need in project.needs(file):
      parts = need.module.split(".")
      if parts[0] == "phasic":
        found.add(rooms.of(need.module))
      elif parts[:2] == ["tests", "helpers"]:
        helpers.add(parts[2])
  return found - {"include", "_native"}, helpers


def test_errors(
  rooms: Rooms, project: modules.Project, source: str
) -> Iterator[str]:
  """Checks what the tests that are written once say that they need."""
  found = tables.Source(source, TESTS)
  for table, folder in (("HELPERS", "helpers"), ("TESTS", "shared")):
    for name, entry in found.calls(table).items():
      at = f"{TESTS}:{entry.line}: {name}"
      listed = entry.lists
      paths = [f"tests/helpers/{name}.py"]
      if folder == "shared":
        paths = [f"tests/shared/{file}.py" for file in listed["files"]]
      needed, helpers = _needed(rooms, project, paths)
      own = list(listed.get("rooms", {}))
      reached = rooms.closure(own)
      for other in sorted(needed):
        if not set(rooms.members(other)) <= reached:
          yield f"{at} imports {other}: add it to rooms"
      for other in own:
        rest = rooms.closure([x for x in own if x != other])
        members = set(rooms.members(other.removesuffix("/package")))
        if members <= rest:
          yield f"{at} has {other} by another of its rooms: drop it"
        elif other not in needed and other != "phasic":
          yield f"{at} does not import {other}: drop it from rooms"
      for helper in sorted(helpers ^ set(listed.get("helpers", {}))):
        verb = "imports" if helper in helpers else "does not import"
        yield f"{at} {verb} the helper {helper}"


def size_errors(root: pathlib.Path) -> Iterator[str]:
  """Checks that no folder has more sources than a reader can take in."""
  counts: dict[str, int] = {}
  for folder in FOLDERS:
    for path in (root / folder).rglob("*.py"):
      if path.name != "__init__.py":
        name = path.parent.relative_to(root).as_posix()
        counts[name] = counts.get(name, 0) + 1
  for name, count in sorted(counts.items()):
    if count > MAX_SOURCES:
      yield f"{name}:1: {count} sources: a room has at most {MAX_SOURCES}"


def main(argv: list[str]) -> int:
  """Prints the errors; returns the exit status."""
  root = pathlib.Path(argv[1] if len(argv) > 1 else ".")
  rooms = Rooms((root / RULES).read_text(encoding="utf-8"))
  project = modules.Project(root, [*rooms.packages, "binding"])
  errors = [
    *order_errors(rooms),
    *import_errors(rooms, project),
    *test_errors(rooms, project, (root / TESTS).read_text(encoding="utf-8")),
    *size_errors(root),
  ]
  for error in errors:
    print(error)
  return int(bool(errors))


if __name__ == "__main__":
  sys.exit(main(sys.argv))
