"""Reads tables of strings from Starlark files, as lint and Bazel share them."""

import ast
import dataclasses

# Of a room.
MAX_SOURCES = 24


@dataclasses.dataclass(frozen=True)
class Entry:
  """A key of a table with its list, and the lines where they are written."""

  line: int
  names: dict[str, int]


@dataclasses.dataclass(frozen=True)
class Call:
  """A key of a table with its `dict(...)`.

  Attributes:
    line: where it is written.
    lists: its keywords with lists.
    keys: the keys of its keywords with dictionaries.
  """

  line: int
  lists: dict[str, dict[str, int]]
  keys: dict[str, list[str]]


def _text(node: ast.expr, file: str) -> str:
  if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
    raise ValueError(f"{file}:{node.lineno}: this must be a string")
  return node.value


def _names(node: ast.expr, file: str) -> dict[str, int]:
  if not isinstance(node, ast.List):
    raise ValueError(f"{file}:{node.lineno}: this must be a list")
  names: dict[str, int] = {}
  for element in node.elts:
    name = _text(element, file)
    if name in names:
      raise ValueError(f"{file}:{element.lineno}: {name} is listed twice")
    names[name] = element.lineno
  return names


def _assignments(source: str, file: str) -> dict[str, ast.expr]:
  try:
    module = ast.parse(source, file)
  except SyntaxError as error:
    raise ValueError(f"{file}:{error.lineno}: {error.msg}") from error
  return {
    statement.targets[0].id: statement.value
    for statement in module.body
    if isinstance(statement, ast.Assign)
    and isinstance(statement.targets[0], ast.Name)
  }


def _items(node: ast.expr, file: str) -> list[tuple[str, int, ast.expr]]:
  """Returns the keys of a dictionary, their lines and their values."""
  if not isinstance(node, ast.Dict):
    raise ValueError(f"{file}:{node.lineno}: this must be a dictionary")
  found: list[tuple[str, int, ast.expr]] = []
  for key, value in zip(node.keys, node.values, strict=True):
    if key is None:
      raise ValueError(
        f"{file}:{value.lineno}: this must be a key and its value"
      )
    name = _text(key, file)
    if any(name == other for other, _, _ in found):
      raise ValueError(f"{file}:{key.lineno}: {name} is listed twice")
    found.append((name, key.lineno, value))
  return found


class Source:
  """A Starlark file that assigns tables; each method reads one by its name.

  All of them raise a ValueError, which names the file and the line, where the
  table is missing or has another form.
  """

  def __init__(self, text: str, file: str):
    """Parses the file.

    Args:
      text: what the file has.
      file: its path, for messages.

    Raises:
      ValueError: this is not Starlark.
    """
    self._file = file
    self._assigned = _assignments(text, file)

  def _named(self, name: str) -> ast.expr:
    if name not in self._assigned:
      raise ValueError(f"{self._file}:1: the table {name} is missing")
    return self._assigned[name]

  def names(self, name: str) -> dict[str, int]:
    """Returns the strings of a list, with their lines."""
    return _names(self._named(name), self._file)

  def lists(self, name: str) -> dict[str, Entry]:
    """Returns a table whose values are lists of strings."""
    return {
      key: Entry(line, _names(value, self._file))
      for key, line, value in _items(self._named(name), self._file)
    }

  def calls(self, name: str) -> dict[str, Call]:
    """Returns a table of `dict(...)`: their lists, and their dicts' keys."""
    table = {}
    for key, line, value in _items(self._named(name), self._file):
      if not isinstance(value, ast.Call):
        raise ValueError(f"{self._file}:{line}: {key} must be a dict(...)")
      table[key] = Call(
        line,
        {
          str(keyword.arg): _names(keyword.value, self._file)
          for keyword in value.keywords
          if isinstance(keyword.value, ast.List)
        },
        {
          str(keyword.arg): [
            name for name, _, _ in _items(keyword.value, self._file)
          ]
          for keyword in value.keywords
          if isinstance(keyword.value, ast.Dict)
        },
      )
    return table
