"""Sums of products that may be out of the floating-point range.

A scaled number is a pair (s, n) and means s 2^n; n is an integer held as a
float, and a constant for derivatives.
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
  (product, exponent), *others = (_scaled(x) for x in factors)
  for scaled, own in others:
    product, exponent = product * scaled, exponent + own
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
  own = array_ops.binary_exponent(np.where(usable, size, 1.0))
  own = np.minimum(own, _most())  # Keeps 2^-own in range.
  exponent = np.where(endless, 3.0 * _most(), own)
  return x * array_ops.power_of_two(-own), exponent


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
