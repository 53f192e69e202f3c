"""Dtypes of arguments before they are arrays of the backend."""

from __future__ import annotations

from typing import Any

import numpy as onp

from phasic.internal.tape import modes


def of(x: Any, name: str) -> Any:
  """Returns the dtype that `x` has or would have.

  It is None for a list with arrays in it that have to have a common one, which
  the backend does not look after.

  Args:
    x: an array, a number or nested lists.
    name: the argument's name.

  Raises:
    TypeError: `x` is no array.
    ValueError: `x` is ragged.
  """
  del name
  if type(x) is onp.ndarray:
    return x.dtype
  if isinstance(x, modes.MAY_HOLD_TRACED) and modes.holds_traced(x):
    return modes.joined(x).dtype
  return onp.asarray(x).dtype


def is_weak(x: Any) -> bool:
  """Returns whether `x` has no dtype of its own: a Python number or a list."""
  return not hasattr(x, "dtype")
