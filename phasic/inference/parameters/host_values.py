"""Conversions of arrays and numbers to host values."""

from __future__ import annotations

from typing import SupportsIndex

import numpy as onp

from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal.arrays import ArrayLike

# The largest value of a whole number, unless the caller sets another limit.
_MOST = 2**31 - 1


def known(name: str, x: ArrayLike, rule: str) -> onp.ndarray:
  """Copies an array to the host; raises TypeError if it is traced.

  Args:
    name: what the message calls it.
    x: the array.
    rule: what the message says of it.

  Raises:
    TypeError: it is traced.
  """
  values = dtypes.concrete(x, name)
  if values is None:
    raise TypeError(f"{name} is traced: {rule}")
  return values


def host_values(
  name: str, x: ArrayLike, rule: str = "a fit needs its values"
) -> onp.ndarray:
  """Converts an array to float64 on the host; raises if it is traced."""
  return onp.asarray(known(name, x, rule), onp.float64)


def number(name: str, x: object) -> float:
  """Converts an argument to a float.

  Raises:
    TypeError: the argument is not a number.
    ValueError: the argument is an integer beyond the range of floats.
  """
  kind = getattr(getattr(x, "dtype", None), "kind", "f")
  is_real = not isinstance(x, (str, bytes, bytearray, bool, complex))
  try:
    # `float` would also read a string, and drop an imaginary part of NumPy:
    # both are refused here.
    if is_real and kind not in "bcOSU":
      return float(x)  # type: ignore[arg-type]
  except OverflowError:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be below 1.8e308"
    ) from None
  except (TypeError, ValueError):
    pass
  raise TypeError(f"{name} is {raw_arguments.shown(x)}: it must be a number")


def whole_number(
  name: str, x: SupportsIndex, least: int, most: int = _MOST
) -> int:
  """Converts an argument to an int within limits.

  Args:
    name: what messages call the argument.
    x: the argument.
    least: the smallest number allowed.
    most: the largest number allowed.

  Raises:
    TypeError: the argument is not a whole number.
    ValueError: the argument is out of range.
  """
  number = raw_arguments.integer(name, x, "a whole number")
  if number < least:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be >= {least}"
    )
  if number > most:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be <= {most}"
    )
  return number
