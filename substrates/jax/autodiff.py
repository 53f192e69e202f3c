"""Forward-mode and reverse-mode differentiation by JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp


def flatten(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
  """Returns the leaves of a pytree, and a function that rebuilds it."""
  leaves, structure = jax.tree.flatten(tree)
  return leaves, lambda leaves: jax.tree.unflatten(structure, leaves)


def leaves_like(tree: Any, like: Any) -> list[Any]:
  """Returns the subtree of `tree` at each leaf of the pytree `like`."""
  structure: Any = jax.tree.structure(like)
  return structure.flatten_up_to(tree)


def reverse(
  f: Callable[..., Any], arrays: Sequence[Any]
) -> tuple[tuple[Any, ...], Callable[[Sequence[Any]], Sequence[Any]]]:
  """Returns the results of `f`, a tuple, and the pullback of `f` (vjp)."""
  values, vjp_fn = jax.vjp(f, *arrays)

  def pullback(cotangents: Sequence[Any]) -> Sequence[Any]:
    return vjp_fn(tuple(map(_tangent_of, values, cotangents)))

  return values, pullback


def forward(
  f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
  """Returns the results of `f`, a tuple, and their tangents (jvp)."""
  values, moved = jax.jvp(f, tuple(arrays), tuple(tangents))
  return values, [
    jnp.zeros_like(x) if t.dtype == jax.dtypes.float0 else t
    for x, t in zip(values, moved, strict=True)
  ]


def stop_gradient(x: Any) -> Any:
  """Returns `x` as a constant for differentiation."""
  return jax.lax.stop_gradient(x)


def _tangent_of(value: Any, x: Any) -> Any:
  """Converts a cotangent for JAX, which requires float0 for integers."""
  if jnp.issubdtype(jnp.result_type(value), jnp.inexact):
    return x
  return onp.zeros(jnp.shape(value), jax.dtypes.float0)
