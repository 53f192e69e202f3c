"""The order of floors, which the map in CONTRIBUTING.md gives.

The map has a heading for each top folder, and a table with its rooms, lowest
first. A room is a folder with sources other than tests.
"""

import pathlib
import re

PAGE = "CONTRIBUTING.md"
# Of a room, or of any other folder of Python files.
MAX_SOURCES = 24
_TOPS = ("phasic", "substrates", "native")
_HEADING = re.compile(r"#+ (?:(phasic|substrates|native)$)?")
_ROW = re.compile(r"\| `([a-z0-9_/]+)` \| \S")
# Headers for users' own code, and the place of the wheel's binaries.
_NO_ROOMS = ("phasic/include", "phasic/_native", "substrates/meta/test")


def read(root: pathlib.Path, top: str) -> list[str]:
  """Returns the rooms below a top folder by their paths there, lowest first."""
  start = f"{top}/"
  return [
    room.removeprefix(start) for room in _rows(root) if room.startswith(start)
  ]


def check(root: pathlib.Path) -> list[str]:
  """Checks that each room has a row in the map.

  Args:
    root: of the repository.

  Returns:
    The errors, each as `file:line: message`.
  """
  rows = _rows(root)
  return [
    f"{PAGE}:1: the map has no row for {room}: add a row, after those of the rooms"
    " that it imports, that says what its lines are about"
    for room in sorted(_folders(root) - set(rows))
  ] + [
    f"{PAGE}:{line}: the map has a row for {room}, which is no folder: drop it"
    for room, line in rows.items()
    if not (root / room).is_dir()
  ]


def _rows(root: pathlib.Path) -> dict[str, int]:
  """Returns the rooms of the map, by their paths, and the lines of the rows."""
  rows = {}
  top = None
  page = (root / PAGE).read_text(encoding="utf-8")
  for number, line in enumerate(page.splitlines(), start=1):
    if heading := _HEADING.match(line):
      top = heading[1]
    elif top and (row := _ROW.match(line)):
      rows[f"{top}/{row[1]}"] = number
  return rows


def _folders(root: pathlib.Path) -> set[str]:
  return {
    room
    for top in _TOPS
    for path in (root / top).rglob("*")
    if path.suffix in (".py", ".h", ".cc") and path.name != "__init__.py"
    for room in [path.parent.relative_to(root).as_posix()]
    if room != top and not room.startswith(_NO_ROOMS)
  }
