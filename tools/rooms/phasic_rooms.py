"""Checks that the rooms of phasic import only what lies below them.

A room is a folder of sources. `phasic/rooms.bzl` lists the rooms, lowest first,
and which of the others each may import.
"""

from collections.abc import Iterator
import pathlib

from tools.rooms import modules
from tools.rooms import tables

RULES = "phasic/rooms.bzl"
# A room has no folders, but for the native side of the seam.
_SUBFOLDERS = {"internal/native": "internal", "internal/tape": "internal"}
# What is in no room, and which rooms may import it.
_OUTSIDE = {
  "_native": ("internal",),
  "include": ("internal", "binding"),
}
# Of the repository, all folders of which hold at most MAX_SOURCES.
_FOLDERS = ("phasic", "substrates", "tests", "tools")


class Rooms:
  """The table of rooms, and where each module is.

  Attributes:
    entries: by room, its line and the rooms that it lists.
    packages: the packages that have rooms.
  """

  def __init__(self, text: str):
    source = tables.Source(text, RULES)
    self.entries = source.lists("ROOMS")
    self.packages = list(source.names("PACKAGES"))

  def of(self, module: str) -> str:
    """Returns a module's room; of a package's own modules, the package."""
    parts = module.split(".")
    if len(parts) > 2 and parts[1] in self.packages:
      room = "/".join(parts[1:3])
      return room if room in self.entries else parts[1]
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


def read(root: pathlib.Path) -> tuple[Rooms, modules.Project]:
  """Reads the table of rooms, and finds the modules.

  Raises:
    ValueError: something is not of the form that it must have; the message
      names the file and the line.
  """
  rooms = Rooms((root / RULES).read_text(encoding="utf-8"))
  return rooms, modules.Project(root, [*rooms.packages, "binding"])


def _order_errors(rooms: Rooms) -> Iterator[str]:
  """Checks that a room lists only rooms above it in the table."""
  below: set[str] = set()
  for room, entry in rooms.entries.items():
    for name, line in entry.names.items():
      for member in rooms.members(name):
        if member not in rooms.entries:
          yield (
            f"{RULES}:{line}: {room} may import {member}, which is not a room:"
            " drop it, or add that room"
          )
        elif member not in below:
          yield (
            f"{RULES}:{line}: {room} may import {member}, which is not below"
            " it; that allows a circle between rooms: drop it, or move"
            f" {member} before {room}"
          )
    below.add(room)


def _place_errors(rooms: Rooms, project: modules.Project) -> Iterator[str]:
  """Checks that every file is in a room, and that every room has files."""
  empty = dict.fromkeys(rooms.entries)
  for module, file in project.files.items():
    parts = pathlib.PurePosixPath(file).parent.parts
    if parts[0] != "phasic" or module == "phasic":
      continue
    folder = "/".join(parts[1:])
    room = _SUBFOLDERS.get(folder, folder)
    if room in rooms.entries:
      empty.pop(room, None)
    elif module not in project.public and room not in _OUTSIDE:
      yield (
        f"{file}:1: the file is outside of all rooms: move it into one, or add"
        f" {folder or 'a folder for it'} to {RULES}"
      )
  for room in empty:
    line = rooms.entries[room].line
    yield f"{RULES}:{line}: {room} has no sources: remove it"


def _need_error(rooms: Rooms, room: str, need: modules.Need) -> str | None:
  """Returns what is wrong with something that a room needs."""
  module, other = need.module, rooms.of(need.module)
  allowed = rooms.entries[room].names
  if not module.startswith("phasic."):
    return f"{room} imports {module}: name the modules of phasic that it needs"
  if other in _OUTSIDE:
    if room in _OUTSIDE[other]:
      return None
    return (
      f"{room} imports {module}, which only {' and '.join(_OUTSIDE[other])} may:"
      " call a function of theirs"
    )
  if other != room and other not in allowed:
    order = list(rooms.entries)
    members = rooms.members(other)
    if any(name not in order for name in members):
      return f"{room} imports {module}, which is in no room: move it into one"
    if other in rooms.packages:
      return (
        f"{room} imports all of {module}: import the modules that it needs, or"
        f" list {other} in {RULES} if it lies below"
      )
    if order.index(other) > order.index(room):
      return (
        f"{room} imports {module}, of {other}, which lies above it in {RULES}:"
        " move one of them, or pass a function"
      )
    return (
      f"{room} imports {module}, of {other}, which {room} does not list in"
      f" {RULES}: add it there, or do without"
    )
  package = need.package and need.package.removeprefix("phasic.")
  if package and not any(
    f"{name}/".startswith(f"{package}/") for name in (room, *allowed)
  ):
    return (
      f"{room} names {module} through {package}, of which it lists no room:"
      f" import {module}"
    )
  return None


def _import_errors(rooms: Rooms, project: modules.Project) -> Iterator[str]:
  """Checks each import of phasic against the table."""
  used: dict[str, set[str]] = {room: set() for room in rooms.entries}
  for module, file in project.files.items():
    room = rooms.of(module)
    if not module.startswith("phasic.") or room not in rooms.entries:
      continue
    for need in project.needs(file):
      used[room].add(rooms.of(need.module))
      error = _need_error(rooms, room, need)
      if error is not None:
        yield f"{file}:{need.line}: {error}"
  for room, entry in rooms.entries.items():
    for name, line in entry.names.items():
      known = name in rooms.entries or name in rooms.packages
      if known and name not in used[room]:
        yield f"{RULES}:{line}: {room} does not import {name}: drop it"


def _package_errors(rooms: Rooms, project: modules.Project) -> Iterator[str]:
  """Checks what the public packages, and phasic itself, import."""
  for need in project.needs(project.files["phasic"]):
    yield (
      f"{project.files['phasic']}:{need.line}: phasic imports {need.module}:"
      " drop it, as every room imports phasic"
    )
  for package in rooms.packages:
    if f"phasic.{package}" not in project.files:
      yield f"{RULES}:1: {package} has no __init__.py: add it, or drop {package}"
  for module in project.public:
    package, file = module.split(".")[1], project.files[module]
    if package not in rooms.packages:
      continue
    for need in project.needs(file):
      other = rooms.of(need.module)
      if other not in ("internal", package) and not other.startswith(
        f"{package}/"
      ):
        yield (
          f"{file}:{need.line}: {package} imports {need.module}: a public"
          " package has names only of its own rooms and of internal; move it"
          " into a room"
        )


def _name_errors(project: modules.Project) -> Iterator[str]:
  """Checks that no public name is that of another module or folder.

  An import of the module or folder sets the package's attribute of that name,
  so what the public name means would depend on what was imported before.
  """
  for package, names in project.public.items():
    for name, public in names.items():
      inner = f"{package}.{name}"
      if project.exists(inner) and public.origin != inner:
        yield (
          f"{project.files[package]}:{public.line}: the public name {name} of"
          f" {package} is also that of {inner.replace('.', '/')}, an import of"
          " which would replace it: rename one of them"
        )


def _size_errors(root: pathlib.Path) -> Iterator[str]:
  """Checks that no folder has more sources than a reader can take in."""
  sources: dict[str, list[str]] = {}
  for folder in _FOLDERS:
    for path in (root / folder).rglob("*.py"):
      if path.name != "__init__.py":
        name = path.parent.relative_to(root).as_posix()
        sources.setdefault(name, []).append(path.name)
  for name, files in sorted(sources.items()):
    if len(files) > tables.MAX_SOURCES:
      yield (
        f"{name}/{max(files)}:1: {name} has {len(files)} sources: a folder"
        f" holds at most {tables.MAX_SOURCES}; split it"
      )


def check(root: pathlib.Path) -> list[str]:
  """Checks the files below `phasic` against `phasic/rooms.bzl`.

  Args:
    root: of the repository.

  Returns:
    The errors, each as `file:line: message`.
  """
  try:
    rooms, project = read(root)
    return [
      *_order_errors(rooms),
      *_place_errors(rooms, project),
      *_import_errors(rooms, project),
      *_package_errors(rooms, project),
      *_name_errors(project),
      *_size_errors(root),
    ]
  except ValueError as error:
    return [str(error)]
