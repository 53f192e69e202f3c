"""Conversions of arrays and numbers to host values."""

from __future__ import annotations

import operator
from typing import SupportsIndex

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike


def known(name: str, x: ArrayLike, rule: str) -> onp.ndarray:
  """Copies an array to the host; raises TypeError if it is traced.

  Args:
    name: what the message calls it.
    x: the array.
    rule: what the message says of it.

  Raises:
    TypeError: it is traced.
  """
  values = static.concrete(x)
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
  try:
    if not isinstance(x, str):
      return float(x)  # type: ignore[arg-type]
  except OverflowError:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be below 1.8e308"
    ) from None
  except (TypeError, ValueError):
    pass
  raise TypeError(f"{name} is {raw_arguments.shown(x)}: it must be a number")


def whole_number(
  name: str, x: SupportsIndex, least: int, most: int | None = None
) -> int:
  """Converts an argument to an int within limits.

  Args:
    name: what messages call the argument.
    x: the argument.
    least: the smallest number allowed.
    most: the largest number allowed, or None.

  Raises:
    TypeError: the argument is not a whole number.
    ValueError: the argument is out of range.
  """
  try:
    found = operator.index(x)
  except TypeError:
    raise TypeError(
      f"{name} is {raw_arguments.shown(x)}: it must be a whole number"
    ) from None
  if found < least:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be >= {least}"
    )
  if most is not None and found > most:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be <= {most}"
    )
  return found
