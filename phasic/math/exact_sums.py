"""Sums and powers of two without rounding errors that matter."""

import numpy as np
import numpy as onp

from phasic.internal import static


def compensated_sum(x):
  """Returns the sum over the last axis, as if added in twice the precision.

  Neighbours are added in pairs, level by level, and the rounding error of
  each addition (Knuth's two-sum) is carried along. The derivative is that of
  the sum.

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
    rest, low_rest = x[..., 2 * half :], low[..., 2 * half :]
    x = np.concatenate([total, rest], axis=-1)
    low = np.concatenate([error, low_rest], axis=-1)
    size = size - half
  return x[..., 0] + low[..., 0]


def power_of_two(n):
  """Returns 2**n exactly, for integers n held as floats, |n| <= 1000."""
  powers = 2.0 ** onp.arange(-1000.0, 1001.0)
  with onp.errstate(over="ignore"):  # What float32 cannot hold is not used.
    powers = onp.asarray(powers, dtype=static.dtype_name(n))
  return np.take(
    np.asarray(powers), np.asarray(n + 1000.0, dtype="int32"), axis=0
  )


def exponent(x, lowest):
  """Returns floor(log2(x)) as a float, `lowest` where x is zero or below."""
  positive = x > 0
  logarithm = np.log(np.where(positive, x, 1.0)) / 0.6931471805599453
  return np.where(positive, np.maximum(np.floor(logarithm), lowest), lowest)
