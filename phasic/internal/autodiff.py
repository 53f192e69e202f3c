"""Forward and reverse mode of functions of arrays, by `tape`.

Whatever is written in functions of NumPy that have a derivative there has one
here, of any order. An array that would leave them is an error: its derivative
would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from phasic.internal.tape import modes
from phasic.internal.tape import trees


def flatten(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
  """Returns the leaves of a structure, and what puts such leaves together."""
  return trees.flatten(tree)


def leaves_like(tree: Any, like: Any) -> list[Any]:
  """Returns what a structure has in the places of another one's leaves.

  Raises:
    TypeError: the structures differ.
    ValueError: the same.
  """
  return trees.leaves_like(tree, like)


def reverse(
  f: Callable[..., Any], arrays: Sequence[Any]
) -> tuple[tuple[Any, ...], Callable[[Sequence[Any]], Sequence[Any]]]:
  """Returns the arrays that `f` gives, a tuple, and their pullback."""
  return modes.reverse(f, arrays)


def forward(
  f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
  """Returns the arrays that `f` gives, a tuple, and their tangents."""
  return modes.forward(f, arrays, tangents)


def stop_gradient(x: Any) -> Any:
  """Returns `x`, taken as a constant by every derivative."""
  return modes.constant(x)
