"""Sums of entries that belong together."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp


def segment_sum(x: Any, indices: Any, size: int) -> Any:
  """Returns, for each i, the sum of the entries whose index is i.

  Args:
    x: an array (..., m).
    indices: integers (m,) in [0, size).
    size: the number of sums.

  Returns:
    An array (..., size) of the dtype of `x`; sums of nothing are zero.
  """
  x = jnp.asarray(x)
  zeros = jnp.zeros((*x.shape[:-1], size), x.dtype)
  return zeros.at[..., jnp.asarray(indices)].add(x)
