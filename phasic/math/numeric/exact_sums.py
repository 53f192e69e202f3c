"""Sums with more digits and a larger range than floats have.

Sums of many terms are compensated. Sums of products that may be out of range are
scaled numbers: a pair (s, n) means s 2^n; n is an integer held as a float, and a
constant for derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import math
import operator

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.numeric import array_utils


def compensated_sum(x: Array) -> Array:
  """Computes the sum over the last axis, as if in twice the precision.

  Neighbors are added in pairs, level by level, and the rounding errors of the
  additions (Knuth's two-sum) are added up too. Derivatives are as for a plain
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
  clipped = np.maximum(array_ops.binary_exponent(x), lowest)
  return np.where(x > 0, clipped, lowest)


def dot(*factors: Array) -> tuple[Array, Array]:
  """Computes the sum of products over the last axis, as s and n of s 2^n.

  A factor of zero makes its product zero, even if another one is infinite. An
  infinite factor in a product without zeros makes the sum infinite, and is a
  constant for derivatives.

  Args:
    *factors: arrays that broadcast with each other.
  """
  if _are_moderate(factors):
    total = np.sum(functools.reduce(operator.mul, factors), axis=-1)
    return total, np.zeros_like(total)
  (product, exponent), *remaining = (_scaled(x) for x in factors)
  for scaled, power in remaining:
    product, exponent = product * scaled, exponent + power
  some = autodiff.stop_gradient(product) != 0
  highest = np.max(np.where(some, exponent, -math.inf), axis=-1)
  highest = np.where(np.isfinite(highest), highest, 0.0)
  terms = times_power(product, exponent - highest[..., None])
  return np.sum(terms, axis=-1), highest


def _are_moderate(factors: Sequence[Array]) -> bool:
  """Returns whether products of entries are known to be far within the range."""
  most = 2.0 ** (0.75 * _most() / len(factors))
  for x in factors:
    known = static.concrete(x)
    if known is None:
      return False
    size: onp.ndarray = onp.abs(known)
    fits: onp.ndarray = (size <= most) & ((size >= 1.0 / most) | (size == 0.0))
    if not fits.all():
      return False
  return True


def _scaled(x: Array) -> tuple[Array, Array]:
  """Splits each entry into s and n of s 2^n; for infinite entries s is +-1."""
  size = np.abs(autodiff.stop_gradient(x))
  endless = size == math.inf
  x = np.where(endless, np.where(x > 0, 1.0, -1.0), x)
  usable = (size > 0) & np.logical_not(endless)
  power = array_ops.binary_exponent(np.where(usable, size, 1.0))
  power = np.minimum(power, _most())  # Keeps 2^-power in range.
  exponent = np.where(endless, 3.0 * _most(), power)
  return x * array_ops.power_of_two(-power), exponent


def times_power(x: Array, n: Array) -> Array:
  """Computes x 2^n, accurate wherever it can be represented."""
  most = _most()
  if array_utils.are_true(np.abs(n) <= most):
    return x * array_ops.power_of_two(n)
  for _ in range(3):
    step = np.minimum(np.maximum(n, -most), most)
    x = x * array_ops.power_of_two(step)
    n = n - step
  return x


def root(x: Array, n: Array) -> Array:
  """Computes the square root of the scaled number (x, n)."""
  half = np.floor(0.5 * n)
  return times_power(np.sqrt(times_power(x, n - 2 * half)), half)


def _most() -> float:
  """Returns the largest n for which 2^n and 2^-n are both in range."""
  return _most_of(static.wide_float())


@functools.cache
def _most_of(dtype: str) -> float:
  info = onp.finfo(dtype)
  return float(min(info.maxexp - 1, -info.minexp))
