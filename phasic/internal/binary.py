"""Floating-point exponents and powers of two.

Results are constants for derivatives.
"""

from __future__ import annotations

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
  info = onp.finfo(x.dtype)
  held = x.view(f"int{info.bits}") >> info.nmant
  return held.astype(x.dtype) - (1.0 - info.minexp)


def power_of_two(n: Array) -> Array:
  """Computes 2^n, with 0 for subnormal powers and inf for overflow.

  Args:
    n: an array of integers, as floats.
  """
  if modes.is_traced(n):
    return modes.fixed(power_of_two, n)
  n = onp.asarray(n)
  info = onp.finfo(n.dtype)
  held = onp.clip(n, info.minexp - 1, info.maxexp) + (1 - info.minexp)
  held = held.astype(f"int{info.bits}")
  return (held << info.nmant).view(n.dtype)
