"""Shapes, dtypes and known values of arrays, also while tracing.

An argument has the dtype that its array will have.
"""

from __future__ import annotations

import functools

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal.arrays import Tree
from phasic.internal.tape import modes

Shape = tuple[int, ...]
_Traced = modes.Traced


def shape(x: Tree) -> Shape:
  """Returns the shape of `x`, a tuple with one entry per dimension."""
  return x.shape if type(x) is onp.ndarray else tuple(onp.shape(x))


def rank(x: Tree) -> int:
  """Returns the number of dimensions of `x`."""
  return x.ndim if type(x) is onp.ndarray else onp.ndim(x)


def broadcast_shapes(*shapes: Shape) -> Shape:
  """Returns the shape to which arrays of these shapes broadcast.

  Args:
    *shapes: shapes as `shape` returns them.

  Raises:
    MemoryError: an array of the resulting shape would be too large.
    ValueError: the shapes do not broadcast; the message lists them.
  """
  distinct = set(shapes) - {()}
  if len(distinct) <= 1:
    return next(iter(distinct), ())
  try:
    common = tuple(onp.broadcast_shapes(*distinct))
  except ValueError:
    listed = " and ".join(str(tuple(s)) for s in shapes)
    raise ValueError(f"shapes {listed} do not broadcast") from None
  return raw_arguments.checked_size(common, shapes)


def concrete(x: object) -> onp.ndarray | None:
  """Returns the values of `x` on the host, or None while it is traced."""
  if type(x) is onp.ndarray:
    return x
  return None if isinstance(x, _Traced) else onp.asarray(x)


def at_hand(x: object) -> onp.ndarray | None:
  """Returns the values of `x` if they are known and on this host, else None.

  The result is None if `x` is on an accelerator, in another process, or traced;
  an array that is only differentiated counts as known.
  """
  while isinstance(x, _Traced):
    x = x.value
  return x if type(x) is onp.ndarray else onp.asarray(x)


def dtype_name(x: object) -> str:
  """Returns the name of a dtype, or of an array's dtype."""
  if isinstance(x, (str, type, onp.dtype)):
    return _name(onp.dtype(x))
  if type(x) is onp.ndarray:
    return _name(x.dtype)
  return _name(x.dtype if isinstance(x, _Traced) else onp.asarray(x).dtype)


@functools.cache
def _name(dtype: onp.dtype) -> str:
  """Returns the dtype's name; cached, since NumPy formats it at each use."""
  return dtype.name


def finfo_eps(dtype: object) -> float:
  """Returns the machine epsilon of a floating dtype."""
  return _eps(dtype_name(dtype))


@functools.cache
def _eps(name: str) -> float:
  return float(onp.finfo(name).eps)


def wide_float() -> str:
  """Returns the widest available floating dtype, "float64" or "float32".

  It is "float32" only in JAX with 64-bit numbers switched off.
  """
  return "float64"


def given_dtype(x: object, name: str) -> onp.dtype | None:
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
  """Returns whether `x` takes the dtype of others, as Python numbers do."""
  return not hasattr(x, "dtype")
