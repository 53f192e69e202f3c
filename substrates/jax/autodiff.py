"""Forward-mode and reverse-mode differentiation by JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal.arrays import Array, Tree, TreeDef

_T = TypeVar("_T")
_Results = TypeVar("_Results", bound=Sequence[Array])


def flatten(
  tree: object,
) -> tuple[list[Tree], Callable[[Sequence[object]], Tree]]:
  """Returns the leaves of a pytree, and a function that rebuilds it."""
  leaves, structure = jax.tree.flatten(tree)
  return leaves, lambda leaves: jax.tree.unflatten(structure, leaves)


def leaves_like(tree: object, like: object) -> list[Tree]:
  """Returns the subtree of `tree` at each leaf of the pytree `like`."""
  structure: TreeDef = jax.tree.structure(like)
  return structure.flatten_up_to(tree)


def reverse(
  f: Callable[..., Sequence[Array]], arrays: Sequence[Array]
) -> tuple[Sequence[Array], Callable[[Sequence[Array]], Sequence[Array]]]:
  """Returns the tuple of results of `f`, and the pullback of `f` (vjp)."""
  values, vjp_fn = jax.vjp(f, *arrays)

  def pullback(cotangents: Sequence[Array]) -> Sequence[Array]:
    return vjp_fn(tuple(map(_tangent_of, values, cotangents)))

  return values, pullback


def forward(
  f: Callable[..., _Results],
  arrays: Sequence[Array],
  tangents: Sequence[Array],
) -> tuple[_Results, Sequence[Array]]:
  """Returns the results of `f`, a tuple, and their tangents (jvp)."""
  values, moved = jax.jvp(f, tuple(arrays), tuple(tangents))
  return values, [
    jnp.zeros_like(x) if t.dtype == jax.dtypes.float0 else t
    for x, t in zip(values, moved, strict=True)
  ]


def stop_gradient(x: _T) -> _T:
  """Returns `x` as a constant for differentiation."""
  return jax.lax.stop_gradient(x)


def _tangent_of(value: Array, x: Array) -> Array | onp.ndarray:
  """Converts a cotangent for JAX, which requires float0 for integers."""
  if jnp.issubdtype(jnp.result_type(value), jnp.inexact):
    return x
  return onp.zeros(jnp.shape(value), jax.dtypes.float0)
