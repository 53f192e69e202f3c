"""Indices that are structure: they tell which edges a chain has."""

from typing import Any

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static


class StaticIndices:
  """Integers on the host, compared by value.

  Distributions that share them share a compilation.

  Attributes:
    values: int32 (m,), read-only.
  """

  def __init__(self, values: onp.ndarray):
    own: onp.ndarray = onp.array(values, dtype=onp.int32)
    own.flags.writeable = False
    self.values = own
    self._hash = hash(own.tobytes())

  def __eq__(self, other: object) -> bool:
    if self is other:
      return True
    if not isinstance(other, StaticIndices) or self._hash != other._hash:
      return False
    return onp.array_equal(self.values, other.values)

  def __hash__(self) -> int:
    return self._hash

  def __repr__(self) -> str:
    return f"StaticIndices({len(self.values)} integers)"


def static_indices(name: str, values: Any, end: int) -> StaticIndices:
  """Returns indices, checked.

  Args:
    name: the argument's name.
    values: integers (m,) with m > 0, or `StaticIndices`.
    end: what they are all below.

  Raises:
    TypeError: they are traced, or no integers.
    ValueError: they have another shape, or one is out of range.
  """
  given = values.values if isinstance(values, StaticIndices) else values
  raw_arguments.check_nesting(given, name)
  try:
    known = static.concrete(given)
  except ValueError:
    raise raw_arguments.ragged(name) from None
  if known is None:
    raise TypeError(
      f"{name} are traced: they tell which edges the chain has, which must be "
      "known on the host"
    )
  if known.dtype.kind not in "iu":
    raise TypeError(f"{name} have dtype {known.dtype}: they must be integers")
  if known.ndim != 1 or known.size == 0:
    raise ValueError(
      f"{name} have shape {known.shape}: they must be (m,) with m > 0"
    )
  (wrong,) = onp.nonzero((known < 0) | (known >= end))
  if len(wrong) > 0:
    e = int(wrong[0])
    raise ValueError(f"{name}[{e}] = {int(known[e])}: it must be in [0, {end})")
  return values if isinstance(values, StaticIndices) else StaticIndices(known)
