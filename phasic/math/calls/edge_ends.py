"""Sources and targets of edges as constants for derivatives."""

from __future__ import annotations

from collections.abc import Callable
import copy
from typing import TypeVar

import numpy as onp

from phasic.internal import autodiff
from phasic.internal.arrays import Tree
from phasic.math.model import edge_rates
from phasic.math.model.edge_rates import Edges

_T = TypeVar("_T")


def as_arrays(tree: _T) -> _T:
  """Converts sources and targets that are not arrays, e.g. lists, to arrays.

  Otherwise their integers would count as real numbers to differentiate. What
  does not hold integers is left as it is.

  Args:
    tree: nested tuples, lists and mappings, which may contain edges. Those in
      other pytrees of JAX, e.g. in a distribution, are left as they are.
  """
  return _map_edges(_with_arrays, tree, tree)


def as_given(tree: _T, argument: object) -> _T:
  """Puts an argument's static sources and targets into its gradient.

  The indices that distributions keep belong to the structure in JAX, so that
  parameters and their gradient must have the same.

  Args:
    tree: a gradient.
    argument: the argument with respect to which it is.
  """
  return _map_edges(_with_static_ends, tree, argument)


def _map_edges(
  f: Callable[[Edges, Edges], Edges], tree: Tree, like: object
) -> Tree:
  """Applies f to the edges in two trees with the structure of `like`."""
  if isinstance(like, edge_rates.EDGES):
    return f(tree, like)
  if not isinstance(like, (dict, list, tuple)):
    return tree
  places = like.items() if isinstance(like, dict) else enumerate(like)
  mapped = {place: _map_edges(f, tree[place], item) for place, item in places}
  if all(tree[place] is item for place, item in mapped.items()):
    return tree
  if isinstance(tree, dict):
    copied = copy.copy(tree)  # It may be a subclass, e.g. a defaultdict.
    copied.update(mapped)
    return copied
  if hasattr(tree, "_fields"):
    return type(tree)(*mapped.values())
  items = list if isinstance(tree, list) else tuple
  return type(tree)(items(mapped.values()))


def _with_arrays(edges: Edges, _: object) -> Edges:
  return edges._replace(
    sources=_as_array(edges.sources), targets=_as_array(edges.targets)
  )


def _with_static_ends(gradient: Edges, edges: Edges) -> Edges:
  ends = {"sources": edges.sources, "targets": edges.targets}
  static = {k: x for k, x in ends.items() if not autodiff.flatten(x)[0]}
  return gradient._replace(**static)


def _as_array(ends: _T) -> _T | onp.ndarray:
  """Converts integers that are not in an array to an array."""
  if ends is None or hasattr(ends, "dtype"):
    return ends
  try:
    array = onp.asarray(ends)
  except (NotImplementedError, TypeError, ValueError):  # Ragged, or traced.
    return ends
  return array if array.dtype.kind in "iu" else ends
