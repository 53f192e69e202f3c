"""Checks of values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import static


def check(condition: Any, message: str, x: Any, what: Any = None) -> Any:
  """Returns `x` if the condition is true everywhere.

  Args:
    condition: a boolean array; under tracing its shape must broadcast to that
      of `x`.
    message: names the argument and the rule.
    x: the array that depends on the condition.
    what: the values that the condition is about. A message that is formatted
      while tracing cannot contain them. They broadcast with the condition.

  Raises:
    ValueError: the condition fails. Under tracing JAX cannot raise, and sets
      the entries of `x` to NaN; TensorFlow raises InvalidArgumentError when the
      function runs.
  """
  del what
  if isinstance(condition, jax.core.Tracer):
    # A factor, unlike a choice, makes the derivatives NaN too.
    return x * jnp.where(condition, 1.0, jnp.nan).astype(x.dtype)
  if not onp.all(condition):
    raise ValueError(message)
  return x


def check_not_empty(x: Any, name: str) -> Any:
  """Returns the array `x` if it has entries.

  Raises:
    ValueError: it has none. If TensorFlow knows the shape only when the
      function runs, InvalidArgumentError is raised then.
  """
  shape = static.shape(x)
  # Symbolic sizes of an export cannot be compared with zero.
  if any(isinstance(d, int) and d == 0 for d in shape):
    raise ValueError(f"{name} has shape {shape}: it must not be empty")
  return x
