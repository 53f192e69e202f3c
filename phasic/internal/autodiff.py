"""Forward-mode and reverse-mode differentiation of array functions.

Code that uses differentiable functions of NumPy has derivatives of any order.
Other code that takes an array raises, as the derivative would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from phasic.internal.tape import modes
from phasic.internal.tape import trees


def flatten(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
  """Returns the leaves of a pytree, and a function that rebuilds it."""
  return trees.flatten(tree)


def leaves_like(tree: Any, like: Any) -> list[Any]:
  """Returns the subtree of `tree` at each leaf of the pytree `like`.

  Raises:
    TypeError: the structures differ.
    ValueError: the structures differ.
  """
  return trees.leaves_like(tree, like)


def reverse(
  f: Callable[..., Any], arrays: Sequence[Any]
) -> tuple[tuple[Any, ...], Callable[[Sequence[Any]], Sequence[Any]]]:
  """Returns the results of `f`, a tuple, and the pullback of `f` (vjp)."""
  return modes.reverse(f, arrays)


def forward(
  f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
  """Returns the results of `f`, a tuple, and their tangents (jvp)."""
  return modes.forward(f, arrays, tangents)


def stop_gradient(x: Any) -> Any:
  """Returns `x` as a constant for differentiation."""
  return modes.constant(x)
