"""Counts that are structure: they set the number of phases."""

from typing import Any

import numpy as onp


def static_count(name: str, value: Any) -> int:
  """Returns a count of phases as an int.

  Args:
    name: the argument's name.
    value: an integer of Python or NumPy, > 0.

  Raises:
    TypeError: it is something else, an array or a traced number say.
    ValueError: it is not positive.
  """
  integer = isinstance(value, (int, onp.integer))
  if not integer or isinstance(value, bool):
    raise TypeError(
      f"{name} is {type(value).__name__}: it must be a Python int, since it "
      "sets the number of phases; arrays and traced values cannot"
    )
  if value < 1:
    raise ValueError(f"{name} is {int(value)}: it must be at least 1")
  return int(value)


def static_counts(name: str, values: Any) -> tuple[int, ...]:
  """Returns a list or tuple of counts, each as `static_count` has it."""
  if not isinstance(values, (list, tuple)):
    raise TypeError(
      f"{name} is {type(values).__name__}: it must be a list or tuple of "
      "Python ints, since they set the number of phases"
    )
  if not values:
    raise ValueError(f"{name} is empty: it must have a count per component")
  return tuple(
    static_count(f"{name}[{i}]", value) for i, value in enumerate(values)
  )
