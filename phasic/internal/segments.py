"""Segment sums: sums of entries with equal indices."""

from __future__ import annotations

import numpy as onp

from phasic.internal.arrays import Array
from phasic.internal.tape import modes


def segment_sum(x: Array, indices: onp.ndarray, size: int) -> Array:
  """Computes, for each i < size, the sum of the entries with index i.

  Args:
    x: an array (..., m).
    indices: integers (m,) in [0, size).
    size: the number of sums.

  Returns:
    An array (..., size) of the dtype of `x`; empty sums are zero.
  """
  if modes.is_traced(x):
    indices = onp.asarray(indices)
    return modes.linear(
      lambda x: segment_sum(x, indices, size),
      lambda cotangents: onp.take(cotangents, indices, axis=-1),
      x,
    )
  x = onp.asarray(x)
  rows = onp.reshape(x, (onp.prod(x.shape[:-1], dtype=int), x.shape[-1]))
  sums = [onp.bincount(indices, row, minlength=size) for row in rows]
  shape = (*x.shape[:-1], size)
  return onp.reshape(onp.asarray(sums, dtype=x.dtype), shape)
