"""Checks that the map in CONTRIBUTING.md has a row for every room.

The map has a heading for each top folder, and a table with its rooms. A room is
a folder with sources other than tests.
"""

import pathlib
import re

PAGE = "CONTRIBUTING.md"
_HEADING = re.compile(r"#+ (?:(phasic|substrates|native)$)?")
_ROW = re.compile(r"\| `([a-z0-9_/]+)` \| \S")
# Headers for users' own code, and the place of the wheel's binaries.
_NO_ROOMS = ("phasic/include", "phasic/_native", "substrates/meta/test")


def check(root: pathlib.Path) -> list[str]:
  """Returns the errors of a tree, as `file:line: message`."""
  rows = _rows((root / PAGE).read_text(encoding="utf-8"))
  return [
    f"{PAGE}:1: the map has no row for {room}: say what its lines are about"
    for room in sorted(_rooms(root) - set(rows))
  ] + [
    f"{PAGE}:{line}: the map has a row for {room}, which is no folder"
    for room, line in rows.items()
    if not (root / room).is_dir()
  ]


def _rows(page: str) -> dict[str, int]:
  """The rooms that have a row, by their paths, with the lines of the rows."""
  rows = {}
  top = None
  for number, line in enumerate(page.splitlines(), start=1):
    if heading := _HEADING.match(line):
      top = heading[1]
    elif top and (row := _ROW.match(line)):
      rows[f"{top}/{row[1]}"] = number
  return rows


def _rooms(root: pathlib.Path) -> set[str]:
  return {
    room
    for top in ("phasic", "substrates", "native")
    for path in (root / top).rglob("*")
    if path.suffix in (".py", ".h", ".cc") and path.name != "__init__.py"
    for room in [path.parent.relative_to(root).as_posix()]
    if room != top and not room.startswith(_NO_ROOMS)
  }
