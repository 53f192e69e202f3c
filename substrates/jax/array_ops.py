"""Array functions that NumPy lacks, as this backend computes them.

Exponents and powers of two are constants for derivatives. Exponents are read
from and written to the bits. Integers are converted by adding 2^m, with m the
number of digits after the point, as conversions are slow on CPUs.
"""

from __future__ import annotations

from typing import Any, TypeVar

import jax
from jax import lax
import jax.core
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal.arrays import Array

_T = TypeVar("_T")


def binary_exponent(x: Array) -> Array:
  """Returns floor(log2(|x|)) as a float, possibly off by one."""
  x = jnp.abs(lax.stop_gradient(jnp.asarray(x)))
  digits, bias, offset = _layout(x.dtype)
  bits = lax.shift_right_logical(_bits(x), _bits_like(digits, x))
  held = lax.bitcast_convert_type(bits | _bits(offset), x.dtype)
  return held - (offset + bias)


def power_of_two(n: Array) -> Array:
  """Computes 2^n, with 0 for subnormal powers and inf for overflow."""
  n = lax.stop_gradient(jnp.asarray(n))
  digits, bias, offset = _layout(n.dtype)
  n = jnp.clip(n, -bias, bias + 1)
  bits = lax.shift_left(_bits(n + (offset + bias)), _bits_like(digits, n))
  return lax.bitcast_convert_type(bits, n.dtype)


def _layout(dtype: jnp.dtype) -> tuple[int, float, Array]:
  """Returns a dtype's number m of mantissa bits, its exponent bias, and 2^m."""
  info = jnp.finfo(dtype)
  return info.nmant, float(1 - info.minexp), jnp.asarray(2.0**info.nmant, dtype)


def _bits(x: Array) -> Array:
  return lax.bitcast_convert_type(x, f"int{jnp.finfo(x.dtype).bits}")


def _bits_like(count: int, x: Array) -> Array:
  return jnp.full_like(_bits(x), count)


def segment_sum(x: Array, indices: Array | onp.ndarray, size: int) -> Array:
  """Computes, for each i < size, the sum of the entries with index i."""
  x = jnp.asarray(x)
  zeros = jnp.zeros((*x.shape[:-1], size), x.dtype)
  return zeros.at[..., jnp.asarray(indices)].add(x)


def check(
  condition: jax.typing.ArrayLike, message: str, x: _T, what: object = None
) -> _T:
  """Returns `x` after checking that a condition is true everywhere."""
  if isinstance(condition, jax.core.Tracer):
    # Multiplying by NaN, unlike selecting NaN, makes the derivatives NaN too.
    array: Any = x  # Only conditions on arrays are traced.
    return array * jnp.where(condition, 1.0, jnp.nan).astype(array.dtype)
  if not onp.all(condition):
    raise ValueError(message)
  return x
