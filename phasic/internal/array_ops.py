"""Array functions that NumPy lacks, and that each backend computes in its way.

Binary exponents and powers of two, which are constants for derivatives; sums of
entries with equal indices; checks of values, also under tracing.
"""

from __future__ import annotations

import functools
from typing import TypeVar

import numpy as onp

from phasic.internal.arrays import Array
from phasic.internal.tape import modes

_T = TypeVar("_T")


def binary_exponent(x: Array) -> Array:
  """Returns floor(log2(|x|)) as a float, possibly off by one.

  It is undefined if x is not finite, and at most the least exponent of normal
  numbers if x is zero or subnormal.

  Args:
    x: an array of floats.
  """
  if modes.is_traced(x):
    return modes.fixed(binary_exponent, x)
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
  # For few numbers, NumPy's `clip` takes several times as long as `minimum` and
  # `maximum`.
  clipped = onp.minimum(onp.maximum(n, least - 1.0), most) + (1.0 - least)
  return (onp.asarray(clipped).astype(bits) << digits).view(n.dtype)


@functools.cache
def _layout(dtype: onp.dtype) -> tuple[onp.dtype, int, float, float]:
  """Returns the integer dtype of the same size, and three facts on its bits.

  The facts are the number of mantissa bits, the least exponent of normal
  numbers, and the exponent of infinity.
  """
  info = onp.finfo(dtype)
  bits = onp.dtype(f"int{info.bits}")
  return bits, info.nmant, float(info.minexp), float(info.maxexp)


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


def check(
  condition: onp.typing.ArrayLike, message: str, x: _T, what: object = None
) -> _T:
  """Returns `x` after checking that a condition is true everywhere.

  Args:
    condition: a boolean array; under tracing its shape must broadcast to that
      of `x`.
    message: names the argument and the rule.
    x: the array that depends on the condition.
    what: the values that the condition tests. A message that is formatted
      while tracing cannot contain them. They broadcast with the condition.

  Raises:
    ValueError: the condition fails. Under tracing JAX cannot raise, and sets
      the entries of `x` to NaN; TensorFlow raises InvalidArgumentError when the
      function runs.
  """
  if not onp.all(modes.constant(condition)):
    raise ValueError(message)
  return x
