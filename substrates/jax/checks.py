"""Checks of values."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.core
import jax.numpy as jnp
import numpy as onp

_T = TypeVar("_T")


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
