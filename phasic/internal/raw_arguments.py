"""Arguments before they are arrays; the same in every substrate."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as onp

# What arrays of any backend have at most: all functions can work with these.
MAX_DIMENSIONS = 20
# What arrays hold that are of no use, by the kind of their dtype.
_NO_NUMBERS = {
  "M": "dates",
  "O": "Python objects",
  "S": "bytes",
  "T": "text",
  "U": "text",
  "V": "records",
  "m": "durations",
}
_NUMBERS = frozenset((bool, complex, float, int))
_SHORT = reprlib.Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 8
_SHORT.maxstring = _SHORT.maxother = 80


def shown(x: Any) -> str:
  """Returns the repr of an argument, shortened, for messages."""
  try:
    return _SHORT.repr(x).replace("\n", " ")
  except ValueError:  # Python does not print integers of over 4300 digits.
    return "an integer of thousands of digits"


def host_array(x: Any, name: str) -> onp.ndarray:
  """Returns an array, a number or nested lists as an array of the host.

  Raises:
    TypeError: `x` is masked.
    ValueError: `x` is ragged or has too many dimensions.
  """
  check_nesting(x, name)
  try:
    return onp.asarray(x)
  except ValueError:
    raise ragged(name) from None


def ragged(name: str) -> ValueError:
  """Returns the error of an argument whose rows differ in length."""
  return ValueError(f"{name} is ragged: it must be a rectangular array")


def check_nesting(x: Any, name: str, depth: int = 0) -> None:
  """Raises an error unless `x` is an array or lists that can be one.

  Args:
    x: an array, a number or nested lists.
    name: the argument's name.
    depth: how many lists `x` is in.

  Raises:
    TypeError: it is None, or there is a masked array, whose mask would be lost.
    ValueError: there are too many dimensions.
  """
  if x is None and depth == 0:
    raise TypeError(f"{name} is None: it must be an array")
  if isinstance(x, onp.ma.MaskedArray):
    raise TypeError(
      f"{name} is a masked array: masks are not used; pass the entries that "
      "count, x.compressed(), or x.filled(value)"
    )
  # A list has a dimension of its own; one of plain numbers is done with it.
  is_list = isinstance(x, (list, tuple))
  rank = 1 if is_list else getattr(x, "ndim", 0)
  if depth + (rank if isinstance(rank, int) else 0) > MAX_DIMENSIONS:
    raise ValueError(
      f"{name} has more than {MAX_DIMENSIONS} dimensions: it must have at most "
      f"{MAX_DIMENSIONS}"
    )
  if is_list and not _NUMBERS.issuperset(map(type, x)):
    for item in x:
      check_nesting(item, name, depth + 1)


def refuse_objects(dtype: onp.dtype, name: str) -> None:
  """Raises TypeError for what holds no numbers, in plain words."""
  # NumPy takes other packages' dtypes, bfloat16 say, for records.
  if dtype.kind in _NO_NUMBERS and dtype.isbuiltin != 2:
    raise TypeError(
      f"{name} holds {_NO_NUMBERS[dtype.kind]}: it must hold numbers"
    )
