"""Reads tables of strings from Starlark files, as lint and Bazel share them."""

import ast
import dataclasses


@dataclasses.dataclass(frozen=True)
class Entry:
  """A key of a table with its list, and the lines where they are written."""

  line: int
  names: dict[str, int]


@dataclasses.dataclass(frozen=True)
class Call:
  """A key of a table with its `dict(...)`, of which the lists are read."""

  line: int
  lists: dict[str, list[str]]


def _text(node: ast.expr, file: str) -> str:
  if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
    raise ValueError(f"{file}:{node.lineno}: this must be a string")
  return node.value


def _names(node: ast.expr, file: str) -> dict[str, int]:
  if not isinstance(node, ast.List):
    raise ValueError(f"{file}:{node.lineno}: this must be a list")
  return {_text(element, file): element.lineno for element in node.elts}


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
      raise ValueError(f"{file}:{value.lineno}: this must be a key")
    name = _text(key, file)
    if any(name == other for other, _, _ in found):
      raise ValueError(f"{file}:{key.lineno}: {name} is listed twice")
    found.append((name, key.lineno, value))
  return found


def read(source: str, file: str) -> dict[str, dict[str, Entry]]:
  """Reads tables whose values are lists of strings.

  Args:
    source: the text of a Starlark file that only assigns tables.
    file: its path, for messages.

  Returns:
    The tables by name, in their order; a list that is no table's value has the
    key "".

  Raises:
    ValueError: the text is not of that form; the message names the line.
  """
  tables: dict[str, dict[str, Entry]] = {}
  for name, node in _assignments(source, file).items():
    if isinstance(node, ast.List):
      tables[name] = {"": Entry(node.lineno, _names(node, file))}
    else:
      tables[name] = {
        key: Entry(line, _names(value, file))
        for key, line, value in _items(node, file)
      }
  return tables


def read_calls(source: str, file: str) -> dict[str, dict[str, Call]]:
  """Reads tables whose values are `dict(...)`, of which it keeps the lists.

  Args:
    source: as `read` has it.
    file: its path, for messages.

  Raises:
    ValueError: as `read`.
  """
  tables: dict[str, dict[str, Call]] = {}
  for name, node in _assignments(source, file).items():
    tables[name] = {}
    for key, line, value in _items(node, file):
      if not isinstance(value, ast.Call):
        raise ValueError(f"{file}:{line}: {key} must be a dict(...)")
      tables[name][key] = Call(
        line,
        {
          str(keyword.arg): list(_names(keyword.value, file))
          for keyword in value.keywords
          if isinstance(keyword.value, ast.List)
        },
      )
  return tables
