"""Dtypes of arguments before conversion to arrays of the backend."""

from __future__ import annotations

import numpy as onp

from phasic.internal.tape import modes


def of(x: object, name: str) -> onp.dtype | None:
  """Returns the dtype that `x` has, or would have as an array.

  It is None for a list with arrays, if the backend does not check that they
  have a common dtype.

  Args:
    x: an array, a number or nested lists.
    name: the argument's name.

  Raises:
    TypeError: `x` is not an array.
    ValueError: `x` is ragged.
  """
  if type(x) is onp.ndarray:
    return x.dtype
  if isinstance(x, modes.MAY_HOLD_TRACED) and modes.holds_traced(x):
    return modes.joined(x).dtype
  return onp.asarray(x).dtype


def is_weak(x: object) -> bool:
  """Returns whether `x`, e.g. a number, takes the dtype of other arguments."""
  return not hasattr(x, "dtype")
