"""Forward and reverse mode of functions of arrays, by JAX's autodiff."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp


def flatten(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
  """Returns the leaves of a structure, and what puts such leaves together."""
  leaves, structure = jax.tree.flatten(tree)
  return leaves, lambda leaves: jax.tree.unflatten(structure, leaves)


def leaves_like(tree: Any, like: Any) -> list[Any]:
  """Returns what a structure has in the places of another one's leaves.

  Raises:
    TypeError: the structures differ.
    ValueError: the same.
  """
  structure: Any = jax.tree.structure(like)
  return structure.flatten_up_to(tree)


def reverse(
  f: Callable[..., Any], arrays: Sequence[Any]
) -> tuple[tuple[Any, ...], Callable[[Sequence[Any]], Sequence[Any]]]:
  """Returns the arrays that `f` gives, a tuple, and their pullback."""
  values, pull = jax.vjp(f, *arrays)

  def pullback(cotangents: Sequence[Any]) -> Sequence[Any]:
    return pull(tuple(map(_tangent_of, values, cotangents)))

  return values, pullback


def forward(
  f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
  """Returns the arrays that `f` gives, a tuple, and their tangents."""
  values, moved = jax.jvp(f, tuple(arrays), tuple(tangents))
  return values, [
    jnp.zeros_like(x) if t.dtype == jax.dtypes.float0 else t
    for x, t in zip(values, moved, strict=True)
  ]


def stop_gradient(x: Any) -> Any:
  """Returns `x`, taken as a constant by every derivative."""
  return jax.lax.stop_gradient(x)


def _tangent_of(value: Any, x: Any) -> Any:
  """A cotangent as JAX has it: of integers it has a dtype of its own."""
  if jnp.issubdtype(jnp.result_type(value), jnp.inexact):
    return x
  return onp.zeros(jnp.shape(value), jax.dtypes.float0)
