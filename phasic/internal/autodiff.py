"""Forward-mode and reverse-mode differentiation of array functions.

Code that uses differentiable functions of NumPy has derivatives of any order.
Other code that takes an array raises, as the derivative would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from phasic.internal.tape import modes
from phasic.internal.tape import trees

_T = TypeVar("_T")


def flatten(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
  """Returns the leaves of a pytree, and a function that rebuilds it."""
  return trees.flatten(tree)


def leaves_like(tree: object, like: object) -> list[Any]:
  """Returns the subtree of `tree` at each leaf of the pytree `like`.

  Raises:
    TypeError: the structures differ.
    ValueError: the structures differ.
  """
  return trees.leaves_like(tree, like)


def reverse(
  f: Callable[..., Sequence[Any]], arrays: Sequence[modes.Array]
) -> tuple[tuple[Any, ...], Callable[[Sequence[modes.Array]], Sequence[Any]]]:
  """Returns the results of `f`, a tuple, and the pullback of `f` (vjp)."""
  return modes.reverse(f, arrays)


def forward(
  f: Callable[..., Sequence[Any]],
  arrays: Sequence[modes.Array],
  tangents: Sequence[modes.Array],
) -> tuple[Sequence[Any], Sequence[Any]]:
  """Returns the results of `f`, a tuple, and their tangents (jvp)."""
  return modes.forward(f, arrays, tangents)


def stop_gradient(x: _T) -> _T:
  """Returns `x` as a constant for differentiation."""
  return modes.constant(x)
