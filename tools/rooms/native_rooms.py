"""Which rooms of native code include which: the table `native/rooms.bzl`.

A room is a folder of sources. It includes only rooms below it; its tests may
include everything.
"""

import collections
from collections.abc import Iterator
import pathlib
import re

from tools.rooms import order

_INCLUDE = re.compile(r'\s*#\s*include\s+"native/([^"]+)"')


class Rooms:
  """What the files below `native` include.

  Attributes:
    includes: of each room, the others, lowest first.
    tests: of each test, by its path without `.cc`, the other rooms that it
      includes, lowest first.
    errors: what is wrong, each as `file:line: message`.
  """

  def __init__(self, root: pathlib.Path):
    self._names = order.read(root, "native")
    self._counts = collections.Counter[str]()
    included: dict[str, set[str]] = {room: set() for room in self._names}
    tested: dict[str, set[str]] = {}
    helping: dict[str, set[str]] = collections.defaultdict(set)
    self.errors: list[str] = []
    for path in sorted((root / "native").rglob("*")):
      if path.suffix not in (".h", ".cc"):
        continue
      file = path.relative_to(root / "native")
      room = file.parent.as_posix()
      if room not in self._names:
        self.errors.append(
          f"native/{file}:1: the file is outside of all rooms: move it into"
          f" one, or give {room} a row in the map of {order.PAGE}"
        )
      elif file.name.endswith("_test.cc"):
        tested[file.with_suffix("").as_posix()] = self._rooms_of(path)
      elif file.name.startswith("test_"):
        helping[room] |= self._rooms_of(path)
      else:
        self._counts[room] += 1
        for line, header, other in _includes(path):
          if error := self._error(room, header, other):
            self.errors.append(f"native/{file}:{line}: {error}")
          else:
            included[room].add(other)
    self.errors += self._count_errors()
    self.includes = {
      room: self._sorted(others - {room}) for room, others in included.items()
    }
    self.tests = {
      test: self._sorted((others | helping[room]) - {room})
      for test, others in tested.items()
      for room in [test.rpartition("/")[0]]
    }

  def _rooms_of(self, path: pathlib.Path) -> set[str]:
    return {other for _, _, other in _includes(path)}.intersection(self._names)

  def _sorted(self, rooms: set[str]) -> list[str]:
    return sorted(rooms, key=self._names.index)

  def _error(self, room: str, header: str, other: str) -> str | None:
    """Returns what is wrong with an include."""
    if other not in self._names:
      return f"native/{header} is outside of all rooms: move it into one"
    if self._names.index(other) > self._names.index(room):
      return (
        f"native/{header} is in {other}, whose row in the map of {order.PAGE}"
        f" comes after that of {room}: move one of them"
      )
    return None

  def _count_errors(self) -> Iterator[str]:
    for room in self._names:
      count = self._counts[room]
      if not count:
        yield f"{order.PAGE}:1: native/{room} has no sources: remove its row"
      if count > order.MAX_SOURCES:
        yield (
          f"native/{room}:1: the room has {count} sources: a room holds at most"
          f" {order.MAX_SOURCES}: split it"
        )


def _includes(path: pathlib.Path) -> Iterator[tuple[int, str, str]]:
  """Yields the line of each native include, the header and its room."""
  text = path.read_text(encoding="utf-8")
  for line, content in enumerate(text.splitlines(), start=1):
    if match := _INCLUDE.match(content):
      yield line, match[1], match[1].rpartition("/")[0]
