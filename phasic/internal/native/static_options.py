"""Keyword arguments as parts of cache keys; shared by all substrates.

The keys of programs must distinguish 0.0 and -0.0, 1 and True, also in tuples,
as functions can. Python's `==` does not distinguish them, and fails for NaN.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
import dataclasses
import decimal
import struct

import numpy as onp


@dataclasses.dataclass(frozen=True)
class Keyword:
  """A hashable keyword argument for cache keys.

  Attributes:
    name: its name.
    identity: equal for indistinguishable values.
    value: its value.
  """

  name: str
  identity: object
  value: Hashable = dataclasses.field(compare=False)


Options = tuple[Keyword, ...]


def freeze(options: Mapping[str, object]) -> Options:
  """Converts keyword arguments to a key, sorted by their names.

  Raises:
    TypeError: a value is not hashable.
  """
  return tuple(
    Keyword(name, _identity(value), value)
    for name, value in sorted(options.items())
  )


def thaw(options: Sequence[Keyword]) -> dict[str, Hashable]:
  """Converts a key from `freeze` back to keyword arguments."""
  return {option.name: option.value for option in options}


def _identity(value: object) -> object:
  kind = type(value)
  hash(value)
  if isinstance(value, onp.generic):
    return kind, value.dtype.str, value.tobytes()
  if isinstance(value, float):
    return kind, struct.pack("d", value)
  if isinstance(value, complex):
    return kind, struct.pack("dd", value.real, value.imag)
  if isinstance(value, decimal.Decimal):
    return kind, value.as_tuple()
  if isinstance(value, tuple):
    return kind, tuple(map(_identity, value))
  if isinstance(value, frozenset):
    return kind, frozenset(map(_identity, value))
  if dataclasses.is_dataclass(kind):
    fields = [x.name for x in dataclasses.fields(kind) if x.compare]
    return kind, value, tuple(_identity(getattr(value, x)) for x in fields)
  return kind, value
