"""Segment sums: sums of entries with equal indices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp


def segment_sum(x: Any, indices: Any, size: int) -> Any:
  """Computes, for each i < size, the sum of the entries with index i."""
  x = jnp.asarray(x)
  zeros = jnp.zeros((*x.shape[:-1], size), x.dtype)
  return zeros.at[..., jnp.asarray(indices)].add(x)
