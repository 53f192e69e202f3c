"""Arguments that are structure: numbers of phases, and which edges a chain has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Integer

# More stages are refused before arrays are allocated.
MAX_PHASES = 2**20


def static_count(name: str, value: Integer) -> int:
  """Returns a count of phases as an int.

  Args:
    name: the argument's name.
    value: an integer of Python or NumPy, > 0, at most `MAX_PHASES`.

  Raises:
    TypeError: it is something else, an array or a traced number say.
    ValueError: it is not positive, or too large.
  """
  integer = isinstance(value, (int, onp.integer))
  if not integer or isinstance(value, bool):
    raise TypeError(
      f"{name} is {type(value).__name__}: it must be a Python int, since it "
      "sets the number of phases; arrays and traced values cannot"
    )
  if not 1 <= value <= MAX_PHASES:
    raise ValueError(
      f"{name} is {int(value)}: it must be at least 1 and at most {MAX_PHASES}"
    )
  return int(value)


def static_counts(name: str, values: Sequence[Integer]) -> tuple[int, ...]:
  """Returns a list or tuple of counts, each as `static_count` has it.

  Their sum is bounded as well.
  """
  if not isinstance(values, (list, tuple)):
    raise TypeError(
      f"{name} is {type(values).__name__}: it must be a list or tuple of "
      "Python ints, since they set the number of phases"
    )
  if not values:
    raise ValueError(f"{name} is empty: it must have a count per component")
  counts = tuple(
    static_count(f"{name}[{i}]", value) for i, value in enumerate(values)
  )
  if sum(counts) > MAX_PHASES:
    raise ValueError(
      f"{name} sum to {sum(counts)}: this sum, the number of phases, must be "
      f"at most {MAX_PHASES}"
    )
  return counts


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


def static_indices(name: str, values: object, end: int) -> StaticIndices:
  """Returns indices, checked.

  Args:
    name: the argument's name.
    values: integers (m,) with m > 0, or `StaticIndices`.
    end: an upper bound, exclusive.

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
      f"{name} are traced: the edges of a chain must be concrete; close over "
      "them"
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
