"""Checks that the rooms of native code include only what lies below them.

A room is a folder of sources. `native/rooms.bzl` lists the rooms, lowest first,
and which of the others each may include. Tests may include everything.
"""

from collections.abc import Iterator
import dataclasses
import pathlib
import re

from tools.rooms import tables

RULES = "native/rooms.bzl"
_INCLUDE = re.compile(r'\s*#\s*include\s+"(native/[^"]+)"')


@dataclasses.dataclass(frozen=True)
class Include:
  """A line of a file that includes a native header."""

  file: str
  line: int
  header: str


@dataclasses.dataclass(frozen=True)
class Rules:
  """The tables of `native/rooms.bzl`; rooms are paths below `native`."""

  rooms: dict[str, tables.Entry]
  upward: dict[str, tables.Entry]


def parse_rules(source: str) -> Rules:
  """Reads the tables ROOMS and UPWARD.

  Args:
    source: the text of `native/rooms.bzl`.

  Returns:
    The tables, in their order.

  Raises:
    ValueError: the text is not of that form; the message names the line.
  """
  rules = tables.Source(source, RULES)
  return Rules(rules.lists("ROOMS"), rules.lists("UPWARD"))


def _room(file: str) -> str:
  """Returns the room of a file: its folder below `native`."""
  folder = pathlib.PurePosixPath(file).parent
  return folder.relative_to("native").as_posix()


def _is_test(file: str) -> bool:
  return file.endswith("_test.cc")


def _sources(root: pathlib.Path) -> list[str]:
  native = root / "native"
  return sorted(
    path.relative_to(root).as_posix()
    for path in native.rglob("*")
    if path.suffix in (".h", ".cc")
  )


def _includes(root: pathlib.Path, file: str) -> Iterator[Include]:
  text = (root / file).read_text(encoding="utf-8")
  for number, line in enumerate(text.splitlines(), start=1):
    if match := _INCLUDE.match(line):
      yield Include(file, number, match[1])


def _order_errors(rules: Rules) -> Iterator[str]:
  """Checks that each room lists only earlier ones, so that there is no circle."""
  below: set[str] = set()
  for room, entry in rules.rooms.items():
    for name, line in entry.names.items():
      if name not in rules.rooms:
        yield f"{RULES}:{line}: {room} may include {name}, which is not a room"
      elif name not in below:
        yield (
          f"{RULES}:{line}: {room} may include {name}, which is not below it:"
          " that allows a circle between rooms"
        )
    below.add(room)


def _place_errors(rules: Rules, files: list[str]) -> Iterator[str]:
  """Checks that every file is in a room, and no room is empty or too full."""
  counts = dict.fromkeys(rules.rooms, 0)
  for file in files:
    room = _room(file)
    if room not in counts:
      yield (
        f"{file}:1: the file is outside of all rooms: move it into one, or add"
        f" native/{room} to {RULES}"
      )
    elif not _is_test(file):
      counts[room] += 1
  for room, count in counts.items():
    line = rules.rooms[room].line
    if count == 0:
      yield f"{RULES}:{line}: {room} has no sources: remove it"
    elif count > tables.MAX_SOURCES:
      yield (
        f"{RULES}:{line}: {room} has {count} sources: a room holds at most"
        f" {tables.MAX_SOURCES}: split it"
      )


def _include_error(rules: Rules, include: Include) -> str | None:
  """Returns what is wrong with an include that is not among the exceptions."""
  room, other = _room(include.file), _room(include.header)
  if room == other or room not in rules.rooms:
    return None
  if other not in rules.rooms:
    return f"{include.header} is outside of all rooms"
  if other in rules.rooms[room].names:
    return None
  order = list(rules.rooms)
  if order.index(other) > order.index(room):
    return f"{include.header} is in {other}, which lies above {room}"
  return f"{include.header} is in {other}, which {room} does not list"


def check(root: pathlib.Path) -> list[str]:
  """Checks the files below `native` against `native/rooms.bzl`.

  Args:
    root: of the repository.

  Returns:
    The errors, each as `file:line: message`.
  """
  try:
    rules = parse_rules((root / RULES).read_text(encoding="utf-8"))
  except ValueError as error:
    return [str(error)]
  files = _sources(root)
  errors = [*_order_errors(rules), *_place_errors(rules, files)]
  excepted = set()
  for file in files:
    if _is_test(file):
      continue
    for include in _includes(root, file):
      message = _include_error(rules, include)
      if message is None:
        continue
      if include.header in rules.upward.get(file, tables.Entry(0, {})).names:
        excepted.add((file, include.header))
      else:
        errors.append(f"{file}:{include.line}: {message}; see {RULES}")
  for file, entry in rules.upward.items():
    for header, line in entry.names.items():
      if (file, header) not in excepted:
        errors.append(
          f"{RULES}:{line}: {file} no longer includes {header} from above its"
          " room: remove the exception"
        )
  return errors
