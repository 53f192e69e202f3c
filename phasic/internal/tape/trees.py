"""Nested tuples, lists and mappings of arrays (pytrees)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

# A nested structure of arrays. Its type is `Any`, as only the caller knows its
# form.
Tree: TypeAlias = Any


def flatten(
  tree: object,
) -> tuple[list[Tree], Callable[[Sequence[object]], Tree]]:
  """Returns the arrays of a pytree, and a function that rebuilds it."""
  if tree is None:
    return [], lambda leaves: None
  if isinstance(tree, dict):
    keys = list(tree)
    parts, make = flatten([tree[key] for key in keys])
    return parts, lambda leaves: dict(zip(keys, make(leaves), strict=True))
  if not isinstance(tree, (list, tuple)):
    return [tree], lambda leaves: leaves[0]
  pairs = [flatten(item) for item in tree]

  def put_together(leaves: Sequence[object]) -> object:
    items, start = [], 0
    for arrays, make in pairs:
      items.append(make(leaves[start : start + len(arrays)]))
      start += len(arrays)
    if hasattr(tree, "_fields"):
      return type(tree)(*items)
    return type(tree)(items)

  return [x for arrays, _ in pairs for x in arrays], put_together


def leaves_like(tree: object, like: object) -> list[Tree]:
  """Returns the subtree of `tree` at each array of the pytree `like`.

  Raises:
    ValueError: the structures differ.
  """
  if isinstance(like, dict):
    if not isinstance(tree, dict) or set(tree) != set(like):
      raise ValueError("the structures differ")
    pairs = [(tree[key], like[key]) for key in like]
  elif isinstance(like, (list, tuple)):
    if not isinstance(tree, (list, tuple)) or len(tree) != len(like):
      raise ValueError("the structures differ")
    pairs = list(zip(tree, like, strict=True))
  elif like is None:
    if tree is not None:
      raise ValueError("the structures differ")
    return []
  else:
    return [tree]
  return [x for a, b in pairs for x in leaves_like(a, b)]
