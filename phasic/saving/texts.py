"""Writes JSON text, reads text that is not trusted, and checks its objects."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NoReturn, TypeVar

from phasic.internal import raw_arguments

_T = TypeVar("_T")


def read(
  text: str | bytes, what: str, make: Callable[[dict[str, object]], _T]
) -> _T:
  """Makes something of the object that JSON text holds.

  Args:
    text: the text.
    what: its name in messages, such as "the graph's JSON".
    make: takes the members of the object.

  Raises:
    TypeError: `text` is neither a str nor bytes.
    ValueError: it is not JSON, a name is there twice, a number is not finite,
      it is not an object, or is nested too deeply; or as `make`.
  """
  import json  # Here, because the import is slow.

  if not isinstance(text, (str, bytes)):
    raise TypeError(f"text is {type(text).__name__}: it must be a str or bytes")

  def refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is in {what}: numbers must be finite")

  try:
    data = json.loads(text, object_pairs_hook=_members, parse_constant=refuse)
    if not isinstance(data, dict):
      raise ValueError(f"{what} is {kind_of(data)}: it must be an object")
    return make(data)
  except (json.JSONDecodeError, UnicodeDecodeError) as error:
    raise ValueError(f"the text is not JSON: {error}") from None
  except RecursionError:
    raise ValueError(f"{what} is nested too deeply") from None


def write(data: dict[str, object]) -> str:
  """Returns an object as JSON text, which `read` reads."""
  import json  # Here, because the import is slow.

  return json.dumps(data, allow_nan=False)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
  members: dict[str, object] = {}
  for key, value in pairs:
    if key in members:
      raise ValueError(
        f"the object has the key {raw_arguments.shown(key)} more than once"
      )
    members[key] = value
  return members


def check_header(
  data: dict[str, object], form: str, version: int, other: str = ""
) -> None:
  """Raises ValueError unless an object has a format and version to be read.

  Args:
    data: the object.
    form: what its key "format" must have.
    version: the version that is read here.
    other: what reads another format, for the message.
  """
  if data.get("format") != form:
    raise ValueError(
      f"format is {raw_arguments.shown(data.get('format'))}: it must be "
      f"{form!r}{other}"
    )
  given = data.get("version")
  if type(given) is not int or given != version:
    is_later = type(given) is int and given > version
    advice = "; a later phasic wrote the text: read it with that" * is_later
    raise ValueError(
      f"version is {raw_arguments.shown(given)}: it must be {version}{advice}"
    )


def check_keys(data: Collection[str], keys: Collection[str], what: str) -> None:
  """Raises ValueError unless an object has exactly the given keys."""
  missing = [key for key in keys if key not in data]
  unknown = [key for key in data if key not in keys]
  if missing or unknown:
    raise ValueError(
      f"{what} lacks the keys {missing} and has the unknown keys "
      f"{raw_arguments.shown(unknown)}"
    )


def kind_of(x: object) -> str:
  """Returns JSON's name for the type of a value."""
  names: dict[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    type(None): "null",
  }
  return names.get(type(x), "a number")


def check_list(x: object, name: str, size: int | None = None) -> list[object]:
  """Returns a value that must be an array of JSON, of the given size."""
  if not isinstance(x, list):
    raise ValueError(f"{name} is {kind_of(x)}: it must be an array")
  if size is not None and len(x) != size:
    raise ValueError(f"{name} has {len(x)} entries: it must have {size}")
  return x


def check_strings(x: object, name: str, size: int | None = None) -> list[str]:
  """Returns a value that must be an array of strings."""
  items = check_list(x, name, size)
  for i, item in enumerate(items):
    if not isinstance(item, str):
      raise ValueError(f"{name}[{i}] is {kind_of(item)}: it must be a string")
  return [item for item in items if isinstance(item, str)]
