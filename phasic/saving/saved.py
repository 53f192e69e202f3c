"""The methods `to_json` and `from_json` of phasic's objects.

A class has `_saved_parts()`, what its constructor takes, by name; and the class
method `_from_saved_parts(parts)`, which checks these and makes the object. Parts
that are values of JSON already have `_SAVES_PLAIN_PARTS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from phasic.internal import raw_arguments
from phasic.saving import pickles
from phasic.saving import texts
from phasic.saving import values

FORMAT = "phasic.object"
VERSION = 1
_T = TypeVar("_T")


class Saved(pickles.Versioned):
  """An object that JSON text can hold."""

  def _saved_parts(self) -> Mapping[str, object]:
    """Returns what the object is made of, by name."""
    raise NotImplementedError

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, Any]) -> Self:
    """Makes the object again; raises TypeError or ValueError for bad parts."""
    raise NotImplementedError

  def to_json(self) -> str:
    """Returns the object as JSON text, which `from_json` reads.

    Numbers keep all their bits, arrays their dtype and shape, and every
    substrate reads the text. Variables are written by their current values.

    Raises:
      TypeError: it holds what JSON cannot, such as a Python function or an
        object of a user's class.
      ValueError: an array is traced, or a value breaks a rule.

    Example:

      >>> from phasic.distributions import Erlang
      >>> text = Erlang(2, 0.1).to_json()
      >>> print(text[:59])
      {"format": "phasic.object", "version": 1, "class": "Erlang"
    """
    return dumps(self)

  @classmethod
  def from_json(cls, text: str | bytes) -> Self:
    """Reads an object of this class from the text that `to_json` returned.

    The text is not trusted: all of it is checked, and it can name no code.

    Args:
      text: version 1 of the format.

    Raises:
      TypeError: `text` is neither a str nor bytes.
      ValueError: it is not JSON, has another version or class, or a value
        breaks a rule; the message says where.

    Example: `Distribution` reads the text of any of its classes.

      >>> from phasic.distributions import Distribution, Erlang
      >>> text = Erlang(2, 0.1).to_json()
      >>> Distribution.from_json(text).concentration
      2
      >>> Erlang.from_json(text.replace("[0.1]", "[-0.1]"))
      Traceback (most recent call last):
        ...
      ValueError: Erlang: rate = -0.1: it must be > 0 and finite
    """
    return loads(text, cls)


def dumps(x: Any) -> str:
  """Returns an object as JSON text, see `Saved.to_json`."""
  header = {"format": FORMAT, "version": VERSION}
  body = values.encode_object(x, type(x).__name__)
  return texts.write(header | body)


def loads(text: str | bytes, cls: type[_T]) -> _T:
  """Returns the object of a class that JSON text holds, see `Saved.from_json`."""

  def make(data: dict[str, object]) -> _T:
    other = "; Graph.from_json reads a graph"
    texts.check_header(data, FORMAT, VERSION, other)
    body = {k: x for k, x in data.items() if k not in ("format", "version")}
    named = values.class_of(body, "the text")
    if not issubclass(named, cls):
      raise ValueError(
        f"class is {raw_arguments.shown(named.__name__)}: {cls.__name__}.from_json "
        f"reads only {cls.__name__}; call {named.__name__}.from_json"
      )
    return values.decode_object(body, named.__name__)

  return texts.read(text, "the text", make)
