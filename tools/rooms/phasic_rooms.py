"""Which rooms of phasic import which: the table `phasic/rooms.bzl`.

A room is a folder of sources. It imports only rooms below it.
"""

from collections.abc import Iterable, Iterator
import pathlib

from substrates.meta import tables
from tools.rooms import modules
from tools.rooms import order
from tools.rooms import wings

# A room has no folders, except for these parts of the seam.
_SUBFOLDERS = {"internal/native": "internal", "internal/tape": "internal"}
# Folders that are not rooms, and which rooms may import them.
_OUTSIDE = {
  "_native": ("internal",),
  "include": ("internal", "binding"),
}
# Folders of the repository that hold at most MAX_SOURCES, with all below them.
_FOLDERS = ("phasic", "substrates", "tests", "tools")


class Rooms:
  """The rooms, and what each of them imports.

  Attributes:
    project: the modules.
    names: of the rooms, lowest first.
    packages: the public packages that have rooms.
    wings: the wings that the map has.
    imports: of each room, the others and the whole packages that it imports,
      lowest first.
    errors: what is wrong, each as `file:line: message`.
  """

  def __init__(self, root: pathlib.Path):
    """Reads the map and the modules.

    Args:
      root: of the repository.

    Raises:
      ValueError: a file cannot be read as a module; the message names it.
    """
    rows = [x for x in order.read(root, "phasic") if x not in _SUBFOLDERS]
    self.packages = list(
      dict.fromkeys(name.split("/")[0] for name in rows if "/" in name)
    )
    self.names = [name for name in rows if name not in self.packages]
    tops = dict.fromkeys(name.split("/")[0] for name in rows)
    self.wings = [name for name in tops if name in tables.WINGS]
    self.project = modules.Project(root, [x for x in tops if x != "internal"])
    self.imports: dict[str, list[str]] = {room: [] for room in self.names}
    self.errors = [
      *self._place_errors(),
      *self._read_imports(),
      *self._package_errors(),
      *self._name_errors(),
      *_size_errors(root),
    ]

  def of(self, module: str) -> str:
    """Returns a module's room; of a package's own modules, the package."""
    parts = module.split(".")
    if len(parts) > 2 and parts[1] in self.packages:
      room = "/".join(parts[1:3])
      return room if room in self.names else parts[1]
    return parts[1] if len(parts) > 1 else module

  def members(self, name: str) -> list[str]:
    """Returns the rooms that a name of a room, or of a package, stands for."""
    if name in self.packages:
      return [room for room in self.names if room.startswith(f"{name}/")]
    if name == "phasic":
      return self.names
    return [name]

  def closure(self, names: list[str]) -> set[str]:
    """Returns the rooms of these names, and all that they import."""
    found: set[str] = set()
    pending = [room for name in names for room in self.members(name)]
    while pending:
      room = pending.pop()
      if room not in found and room in self.imports:
        found.add(room)
        for name in self.imports[room]:
          pending += self.members(name)
    return found

  def sorted(self, names: Iterable[str]) -> list[str]:
    """Returns names of rooms and packages, the lowest and narrowest first."""
    return sorted(
      names, key=lambda x: (self._position(x), len(self.members(x)))
    )

  def _position(self, name: str) -> int:
    """Returns how many rooms lie below a room, or below the top of a package."""
    return max(self.names.index(room) for room in self.members(name))

  def _place_errors(self) -> Iterator[str]:
    """Checks that every file is in a room, and that every room has files."""
    empty = dict.fromkeys(self.names)
    for module, file in self.project.files.items():
      parts = pathlib.PurePosixPath(file).parent.parts
      if parts[0] != "phasic" or module == "phasic":
        continue
      folder = "/".join(parts[1:])
      room = _SUBFOLDERS.get(folder, folder)
      if room in self.names:
        empty.pop(room, None)
      elif module not in self.project.public and room not in _OUTSIDE:
        yield (
          f"{file}:1: the file is outside of all rooms: move it into one, or"
          f" give {folder or 'a folder for it'} a row in the map of"
          f" {order.PAGE}"
        )
    for room in empty:
      yield f"{order.PAGE}:1: {room} has no sources: remove its row"

  def _read_imports(self) -> Iterator[str]:
    """Reads the imports of all rooms, and yields those that are errors."""
    needs: dict[str, list[tuple[str, modules.Need]]] = {}
    for module, file in self.project.files.items():
      room = self.of(module)
      if module.startswith("phasic.") and room in self.names:
        needs.setdefault(room, []).extend(
          (file, need) for need in self.project.needs(file)
        )
    for room, found in needs.items():
      allowed = []
      for file, need in found:
        if error := self._need_error(room, need):
          yield f"{file}:{need.line}: {error}"
        else:
          allowed.append((file, need))
      used = {self.of(need.module) for _, need in allowed}
      self.imports[room] = self.sorted(used.difference(_OUTSIDE, [room]))
      for file, need in allowed:
        if error := self._way_error(room, need):
          yield f"{file}:{need.line}: {error}"

  def _need_error(self, room: str, need: modules.Need) -> str | None:
    """Returns what is wrong with something that a room needs."""
    module, other = need.module, self.of(need.module)
    if not module.startswith("phasic."):
      return f"{room} imports {module}: name the modules of phasic it needs"
    if other in _OUTSIDE:
      if room in _OUTSIDE[other]:
        return None
      return (
        f"{room} imports {module}, which only {' and '.join(_OUTSIDE[other])}"
        " may: call a function of theirs"
      )
    if any(name not in self.names for name in self.members(other)):
      return f"{room} imports {module}, which is in no room: move it into one"
    if other == room or self._position(other) < self._position(room):
      return wings.error(room, need)
    if other in self.packages:
      return (
        f"{room} imports all of {module}, of which a row comes after that of"
        f" {room} in the map of {order.PAGE}: import the modules that it needs"
      )
    return (
      f"{room} imports {module}, of {other}, whose row in the map of"
      f" {order.PAGE} comes after that of {room}: move one of them, or pass a"
      " function"
    )

  def _way_error(self, room: str, need: modules.Need) -> str | None:
    """Returns what is wrong with the package through which a name is had."""
    package = need.package and need.package.removeprefix("phasic.")
    if package and not any(
      f"{name}/".startswith(f"{package}/")
      for name in (room, *self.imports[room])
    ):
      return (
        f"{room} names {need.module} through {package}, of which it imports no"
        f" room: import {need.module}"
      )
    return None

  def _package_errors(self) -> Iterator[str]:
    """Checks what the public packages, and phasic itself, import."""
    project = self.project
    for need in project.needs(project.files["phasic"]):
      yield (
        f"{project.files['phasic']}:{need.line}: phasic imports {need.module}:"
        " drop it, as every room imports phasic"
      )
    for package in self.packages:
      if f"phasic.{package}" not in project.files:
        yield f"phasic/{package}:1: the package has no __init__.py: add it"
    for module in project.public:
      package, file = module.split(".")[1], project.files[module]
      if package not in self.packages:
        continue
      for need in project.needs(file):
        other = self.of(need.module)
        if other not in ("internal", package) and not other.startswith(
          f"{package}/"
        ):
          yield (
            f"{file}:{need.line}: {package} imports {need.module}: a public"
            " package has names only of its own rooms and of internal; move it"
            " into a room"
          )

  def _name_errors(self) -> Iterator[str]:
    """Checks that no public name is that of another module or folder.

    An import of the module or folder sets the package's attribute of that name,
    so what the public name means would depend on what was imported before.
    """
    project = self.project
    for package, names in project.public.items():
      for name, public in names.items():
        inner = f"{package}.{name}"
        if project.exists(inner) and public.origin != inner:
          yield (
            f"{project.files[package]}:{public.line}: the public name {name} of"
            f" {package} is also that of {inner.replace('.', '/')}, an import"
            " of which would replace it: rename one of them"
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
    if len(files) > order.MAX_SOURCES:
      yield (
        f"{name}/{max(files)}:1: {name} has {len(files)} sources: a folder"
        f" holds at most {order.MAX_SOURCES}; split it"
      )
