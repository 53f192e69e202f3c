"""Native linear solves and moments of Markov chains, for JAX arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.arrays import ArrayLike
from phasic.substrates.jax.internal.maps import elimination_map
from phasic.substrates.jax.internal.maps import moments_map


def eliminate(
  fallback: Callable[..., Array | tuple[Array, Array]],
  indices: ArrayLike,
  weights: ArrayLike,
  per_phase: ArrayLike,
  per_edge: ArrayLike | None,
  transposed: bool,
  gives_edges: bool,
) -> Array | tuple[Array, Array]:
  """Solves the linear system of a chain by the native kernel."""
  op = elimination_map.Eliminate(
    fallback, transposed, per_edge is not None, gives_edges
  )
  indices, weights = jnp.asarray(indices), jnp.asarray(weights)
  slot = [jnp.asarray(x) for x in (per_phase, per_edge) if x is not None]
  # The transpose returns cotangents with all batch dimensions, so right-hand
  # sides must have all of them too.
  batch = jnp.broadcast_shapes(
    indices.shape[:-2], weights.shape[:-1], *(x.shape[:-2] for x in slot)
  )
  slot = [jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in slot]
  first, *rest = multilinear.bind(op, [indices, weights], [slot])
  return (first, rest[0]) if gives_edges else first


def moments(
  fallback: Callable[..., tuple[Array, ...]],
  operands: Sequence[ArrayLike],
  options: Mapping[str, Any],
) -> tuple[Array, ...]:
  """Computes moments of the absorption time by the native kernel."""
  op = moments_map.Moments(fallback, **options)
  indices, *arrays = map(jnp.asarray, operands)
  ones = (1,) * (arrays[-1].ndim - 1)
  indices = jnp.reshape(indices.astype("int32"), (*ones, *indices.shape))
  return tuple(multilinear.bind(op, [indices, *arrays]))


def moments_of_edges(
  weights_of: Callable[..., Array],
  initial: object,
  edges: tuple[object, ...],
  atom: object,
  options: Mapping[str, Any],
) -> tuple[Array, ...] | None:
  """Returns None: the conversion of arrays costs little compared to a call."""
  return None
