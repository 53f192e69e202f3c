"""Collects the edges of a graph and adds up their weights."""

from __future__ import annotations

import array

import numpy as onp

from phasic.graphs.parts import weights
from phasic.internal.arrays import Integer

# The largest number of constants and coefficients in a graph: 1 GiB.
MAX_NUMBERS = 2**27
# A graph may have so many edges for each state that its limit of states allows,
# and at least so many.
EDGES_PER_STATE = 100
_ALWAYS = 10_000_000


def max_edges(max_states: Integer) -> int:
  """Returns how many edges a graph may have, given its limit of states."""
  return max(_ALWAYS, EDGES_PER_STATE * int(max_states))


class EdgeList:
  """A list of edges with weights, to which edges are added one by one.

  Attributes:
    sources: the number of the state that each edge leaves.
    targets: the numbers of the target states, negative for absorption.
    loops: states with an edge to itself that was left out.
  """

  def __init__(self, num_params: int, max_edges: int = MAX_NUMBERS):
    self.sources = array.array("i")
    self.targets = array.array("i")
    self.loops = array.array("i")
    # Row e of the table of weights has d coefficients and then the constant.
    self._width = num_params + 1
    self._most = min(max_edges, MAX_NUMBERS // self._width)
    self._places = array.array("q")
    self._numbers = array.array("d")

  def add(self, source: int, target: int, weight: weights.Weight) -> int:
    """Appends an edge, and returns its index.

    Raises:
      ValueError: there are too many edges.
    """
    edge = len(self.sources)
    if edge == self._most:
      raise ValueError(self._explosion())
    self.sources.append(source)
    self.targets.append(target)
    self.increase(edge, weight)
    return edge

  def increase(self, edge: int, weight: weights.Weight) -> None:
    """Adds a weight to the weight of an edge."""
    row = edge * self._width
    for column, number in weight.terms:
      self._places.append(row + column)
      self._numbers.append(number)
    if weight.constant != 0.0:
      self._places.append(row + self._width - 1)
      self._numbers.append(weight.constant)

  def sums(self) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns the edges' constants (m,) and coefficients (m, d)."""
    m = len(self.sources)
    places = onp.asarray(self._places, onp.int64)
    numbers = onp.asarray(self._numbers, float)
    table = onp.bincount(places, numbers, m * self._width)
    table = onp.reshape(table, (m, self._width))
    return table[:, -1], table[:, :-1]

  def _explosion(self) -> str:
    if self._most == MAX_NUMBERS // self._width:
      return (
        f"weights have {self._width - 1} coefficients each, and there are more "
        f"than {self._most}: a graph can hold at most {MAX_NUMBERS} constants and "
        "coefficients; give fewer params, and pass weights as edge_values="
      )
    return (
      f"more than {self._most} edges were found: there must be at most "
      f"{EDGES_PER_STATE} for each of max_states; pass a larger max_states if "
      "they fit in memory"
    )
