"""Compensated summation, and binary exponents of numbers."""

from __future__ import annotations

import numpy as np

from phasic.internal import array_ops
from phasic.internal import static
from phasic.internal.arrays import Array


def compensated_sum(x: Array) -> Array:
  """Computes the sum over the last axis, as if in twice the precision.

  Neighbors are added in pairs, level by level, and the rounding errors of the
  additions (Knuth's two-sum) are added up too. Derivatives are those of a plain
  sum.

  Args:
    x: an array (..., p), p known statically and at least 1.
  """
  size = static.shape(x)[-1]
  low = np.zeros_like(x)
  while size > 1:
    half = size // 2
    a, b = x[..., :half], x[..., half : 2 * half]
    total = a + b
    back = total - a
    error = (a - (total - back)) + (b - back)
    error = error + low[..., :half] + low[..., half : 2 * half]
    if size % 2:
      total = np.concatenate([total, x[..., -1:]], axis=-1)
      error = np.concatenate([error, low[..., -1:]], axis=-1)
    x, low, size = total, error, size - half
  return x[..., 0] + low[..., 0]


def exponent(x: Array, lowest: float) -> Array:
  """Returns the binary exponent of x > 0, at least `lowest`; else `lowest`."""
  found = np.maximum(array_ops.binary_exponent(x), lowest)
  return np.where(x > 0, found, lowest)
