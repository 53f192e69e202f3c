"""Nested structures of tensors, in which None is not a leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from phasic.substrates.tf.internal.arrays import Tree


def flatten(tree: object) -> list[Tree]:
  """Returns the leaves of a tree in order."""
  return [x for x in tf.nest.flatten(tree) if x is not None]


def map_leaves(f: Callable[..., object], tree: Tree, *others: object) -> Tree:
  """Applies `f` to the corresponding leaves of trees."""
  if not others:
    # `tf.nest` takes far longer for the usual trees: tensors, lists and tuples.
    if tree is None or isinstance(tree, (tf.Tensor, int)):
      return None if tree is None else f(tree)
    if type(tree) in (list, tuple):
      return type(tree)(map_leaves(f, x) for x in tree)
  return tf.nest.map_structure(
    lambda *xs: None if xs[0] is None else f(*xs), tree, *others
  )


def pack(tree: object, leaves: Sequence[object]) -> Tree:
  """Builds a tree of the same structure from other leaves."""
  left = iter(leaves)
  return map_leaves(lambda _: next(left), tree)


def skeleton(tree: object) -> object:
  """Returns the structure of a tree without its values, for comparisons."""
  return map_leaves(lambda _: 0, tree)


def same(tree: object, other: object) -> bool:
  """Returns whether two structures are equal; the order of keys is ignored."""
  try:
    tf.nest.assert_same_structure(tree, other)
  except (TypeError, ValueError):
    return False
  pairs = zip(tf.nest.flatten(tree), tf.nest.flatten(other), strict=True)
  return all((a is None) == (b is None) for a, b in pairs)


def flatten_up_to(tree: Tree, value: Tree) -> list[Tree]:
  """Returns the subtree of `value` at each leaf of `tree`.

  If `value` is None, all subtrees are None.

  Raises:
    TypeError: the value has another structure.
  """
  if value is None:
    return [None] * len(flatten(tree))
  if tree is None:
    return []
  if not tf.nest.is_nested(tree):
    return [value]
  try:
    if isinstance(tree, dict):
      pairs = [(tree[key], value[key]) for key in sorted(tree)]
      matches = len(value) == len(tree)
    else:
      pairs = list(zip(tree, value, strict=True))
      matches = True
  except (TypeError, ValueError, KeyError):
    matches, pairs = False, []
  if not matches:
    raise TypeError(f"a structure is {value}: it must match {tree}")
  return [x for sub, part in pairs for x in flatten_up_to(sub, part)]
