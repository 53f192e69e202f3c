"""Counts that are structure: they set the number of phases."""

from typing import Any

import numpy as onp

# More stages are refused before anything is made of them.
MAX_PHASES = 2**20


def static_count(name: str, value: Any) -> int:
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


def static_counts(name: str, values: Any) -> tuple[int, ...]:
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
