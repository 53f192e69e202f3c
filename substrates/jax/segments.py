"""Segment sums: sums of entries with equal indices."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal.arrays import Array


def segment_sum(x: Array, indices: Array | onp.ndarray, size: int) -> Array:
  """Computes, for each i < size, the sum of the entries with index i."""
  x = jnp.asarray(x)
  zeros = jnp.zeros((*x.shape[:-1], size), x.dtype)
  return zeros.at[..., jnp.asarray(indices)].add(x)
