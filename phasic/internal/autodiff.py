"""Forward-mode and reverse-mode differentiation of array functions.

Code that uses differentiable functions of NumPy has derivatives of any order.
Other code that takes an array raises, as the derivative would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from phasic.internal.arrays import Array, Tree
from phasic.internal.tape import modes
from phasic.internal.tape import trees

_T = TypeVar("_T")


def flatten(
  tree: object,
) -> tuple[list[Tree], Callable[[Sequence[object]], Tree]]:
  """Returns the leaves of a pytree, and a function that rebuilds it."""
  return trees.flatten(tree)


def leaves_like(tree: object, like: object) -> list[Tree]:
  """Returns the subtree of `tree` at each leaf of the pytree `like`.

  Raises:
    TypeError: the structures differ.
    ValueError: the structures differ.
  """
  return trees.leaves_like(tree, like)


def reverse(
  f: Callable[..., Sequence[Array]], arrays: Sequence[Array]
) -> tuple[tuple[Array, ...], Callable[[Sequence[Array]], Sequence[Array]]]:
  """Returns the tuple of results of `f`, and the pullback of `f` (vjp)."""
  return modes.reverse(f, arrays)


def forward(
  f: Callable[..., Sequence[Array]],
  arrays: Sequence[Array],
  tangents: Sequence[Array],
) -> tuple[Sequence[Array], Sequence[Array]]:
  """Returns the results of `f`, a tuple, and their tangents (jvp)."""
  return modes.forward(f, arrays, tangents)


def stop_gradient(x: _T) -> _T:
  """Returns `x` as a constant for differentiation."""
  return modes.constant(x)
