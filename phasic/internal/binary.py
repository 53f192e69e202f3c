"""Floating-point exponents and powers of two.

Results are constants for derivatives.
"""

from __future__ import annotations

import functools

import numpy as onp

from phasic.internal.arrays import Array
from phasic.internal.tape import modes


def exponent(x: Array) -> Array:
  """Returns floor(log2(|x|)) as a float, possibly off by one.

  It is undefined if x is not finite, and at most the least exponent of normal
  numbers if x is zero or subnormal.

  Args:
    x: an array of floats.
  """
  if modes.is_traced(x):
    return modes.fixed(exponent, x)
  x = onp.asarray(onp.abs(x))
  bits, digits, least, _ = _layout(x.dtype)
  return (x.view(bits) >> digits).astype(x.dtype) - (1.0 - least)


def power_of_two(n: Array) -> Array:
  """Computes 2^n, with 0 for subnormal powers and inf for overflow.

  Args:
    n: an array of integers, as floats.
  """
  if modes.is_traced(n):
    return modes.fixed(power_of_two, n)
  n = onp.asarray(n)
  bits, digits, least, most = _layout(n.dtype)
  # NumPy's `clip` takes several times as long for few numbers.
  held = onp.minimum(onp.maximum(n, least - 1.0), most) + (1.0 - least)
  return (onp.asarray(held).astype(bits) << digits).view(n.dtype)


@functools.cache
def _layout(dtype: onp.dtype) -> tuple[onp.dtype, int, float, float]:
  """Returns the integers of a dtype's size, and facts about its bits.

  These are the number of mantissa bits, the least exponent of normal numbers,
  and the exponent of infinity.
  """
  info = onp.finfo(dtype)
  bits = onp.dtype(f"int{info.bits}")
  return bits, info.nmant, float(info.minexp), float(info.maxexp)
