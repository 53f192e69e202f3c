"""Floating numbers as a power of two and digits.

Derivatives take what is returned as constants. Exponents are read from and
written to the bits, where an integer k that is added to 2^m, m the number of
digits after the point, is the last bits: conversions are slow on CPUs.
"""

from __future__ import annotations

from typing import Any

import jax
from jax import lax
import jax.numpy as jnp


def exponent(x: Any) -> Any:
  """Returns n, held as a float, with |x| near 2^n: floor(log2(|x|)) or one off.

  It is undefined where x is not finite, and at most the least exponent of
  normal numbers where x is zero or subnormal.

  Args:
    x: an array of floats.
  """
  x = jnp.abs(lax.stop_gradient(jnp.asarray(x)))
  digits, bias, offset = _layout(x.dtype)
  bits = lax.shift_right_logical(_bits(x), _bits_like(digits, x))
  held = lax.bitcast_convert_type(bits | _bits(offset), x.dtype)
  return held - (offset + bias)


def power_of_two(n: Any) -> Any:
  """Returns 2^n; 0 or inf where that is no normal number.

  Args:
    n: an array of integers held as floats.
  """
  n = lax.stop_gradient(jnp.asarray(n))
  digits, bias, offset = _layout(n.dtype)
  n = jnp.clip(n, -bias, bias + 1)
  bits = lax.shift_left(_bits(n + (offset + bias)), _bits_like(digits, n))
  return lax.bitcast_convert_type(bits, n.dtype)


def _layout(dtype: jnp.dtype) -> tuple[int, float, Any]:
  """Returns digits after the point m, the exponents' bias, and 2^m."""
  info = jnp.finfo(dtype)
  return info.nmant, float(1 - info.minexp), jnp.asarray(2.0**info.nmant, dtype)


def _bits(x: jax.Array) -> jax.Array:
  return lax.bitcast_convert_type(x, f"int{jnp.finfo(x.dtype).bits}")


def _bits_like(count: int, x: jax.Array) -> jax.Array:
  return jnp.full_like(_bits(x), count)
