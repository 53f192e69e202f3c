"""Operations on arrays that NumPy lacks, or does without looking at values."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array

# The longest sum of products that OpenBLAS computes on the calling thread.
_MOST_OF_ONE_THREAD = 10_000


def joined(*arrays: Array) -> Array:
  """Concatenates arrays (..., m) on the last axis; batch shapes broadcast."""
  shapes = [static.shape(x) for x in arrays]
  if all(len(shape) == 1 for shape in shapes):
    return np.concatenate(arrays, axis=-1)
  batch = static.broadcast_shapes(*(shape[:-1] for shape in shapes))
  full = [
    expanded(x, (*batch, shape[-1]))
    for x, shape in zip(arrays, shapes, strict=True)
  ]
  return np.concatenate(full, axis=-1)


def expanded(x: Array, shape: static.Shape) -> Array:
  """Broadcasts an array to a shape, unless it is known to have that shape."""
  x_shape = static.shape(x)
  is_known = {*map(type, x_shape), *map(type, shape)} <= {int}
  return x if is_known and x_shape == shape else np.broadcast_to(x, shape)


def powers(x: Array, last: int) -> Array:
  """Computes the powers x^0, ..., x^last along a new last axis."""
  columns = np.ones_like(x)[..., None]
  factor, count = x[..., None], 1
  while count <= last:
    columns = np.concatenate([columns, columns * factor], axis=-1)
    factor, count = factor * factor, 2 * count
  return columns[..., : last + 1]


def are_true(condition: Array) -> bool:
  """Returns whether a condition is known to be true everywhere."""
  known = static.concrete(condition)
  return known is not None and bool(known.all() if known.ndim else known)


def zero_where(condition: Array, x: Array) -> Array:
  """Returns x with zeros where a condition is true.

  Nothing is copied where the condition is known to be false everywhere.
  """
  x_shape = static.shape(x)
  is_known = all(isinstance(d, int) for d in x_shape)
  if is_known and are_true(np.logical_not(condition)):
    full = static.broadcast_shapes(x_shape, static.shape(condition))
    return x if full == x_shape else np.broadcast_to(x, full)
  return np.where(condition, 0.0, x)


def at_most(x: Array, bound: float, slack: float | None = None) -> Array:
  """Returns x, or the bound where rounding errors raised x above it.

  Derivatives are those of x.

  Args:
    x: the array.
    bound: the bound, a finite number.
    slack: by how much x may be above the bound, 1024 eps by default; larger
      values stay as they are, as no rounding errors explain them.
  """
  slack = 1024.0 * static.finfo_eps(x) if slack is None else slack
  excess = autodiff.stop_gradient(x) - bound
  if are_true(excess <= 0.0):
    return x
  is_rounding = (excess > 0.0) & (excess <= slack)
  return x - np.where(is_rounding, excess, 0.0)


def largest_or_zero(x: Array) -> Array:
  """Computes the largest of all entries and zero, a scalar; x may be empty."""
  if static.rank(x) == 0:
    return np.maximum(x, 0.0)
  flat = merged(x, len(static.shape(x)))
  return np.max(np.concatenate([np.zeros((1,), flat.dtype), flat]), axis=-1)


def merged(x: Array, count: int) -> Array:
  """Merges the last `count` dimensions of an array into one dimension."""
  shape = static.shape(x)
  kept = len(shape) - count
  # A size of -1 would be ambiguous where the array is empty.
  return np.reshape(x, (*shape[:kept], math.prod(shape[kept:])))


def has_nan(x: object) -> bool:
  """Returns whether floating numbers on this host have NaN; False if traced."""
  host = static.at_hand(x)
  if host is None:
    return False
  if host.dtype.char not in "fd":
    host = onp.asarray(host, "float64")
  # A sum of squares is the fastest test: it is NaN if and only if an entry is
  # NaN. But BLAS computes long sums on several threads. If another thread forks
  # the process, these threads end, and the call never returns.
  if onp.size(host) <= _MOST_OF_ONE_THREAD:
    total = onp.vdot(host, host)
  else:
    total = onp.min(host)
  return bool(total != total)
