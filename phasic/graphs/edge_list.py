"""Edges in lists that grow, and their weights as tables."""

import numpy as onp

from phasic.graphs import weights


class EdgeList:
  """The edges found so far, in lists that grow."""

  sources: list[int]
  targets: list[int]
  loops: list[int]

  def __init__(self, num_params: int):
    self.sources, self.targets = [], []
    self.loops = []  # where an edge from a state to itself was left out
    self._num_params = num_params
    # Numbers to be summed, by edge and column; the last column is constants.
    self._rows: list[int] = []
    self._columns: list[int] = []
    self._numbers: list[float] = []

  def add(self, source: int, target: int, weight: weights.Weight) -> int:
    """Appends an edge and returns its number."""
    edge = len(self.sources)
    self.sources.append(source)
    self.targets.append(target)
    self.increase(edge, weight)
    return edge

  def increase(self, edge: int, weight: weights.Weight) -> None:
    """Adds to the weight of an edge."""
    for column, number in (*weight.terms, (self._num_params, weight.constant)):
      if number != 0.0:
        self._rows.append(edge)
        self._columns.append(column)
        self._numbers.append(number)

  def sums(self) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns constants (m,) and coefficients (m, d)."""
    shape = (len(self.sources), self._num_params + 1)
    rows = onp.asarray(self._rows, onp.int64)
    places = rows * shape[1] + onp.asarray(self._columns, onp.int64)
    numbers = onp.asarray(self._numbers, float)
    size = shape[0] * shape[1]
    table = onp.reshape(onp.bincount(places, numbers, size), shape)
    return table[:, -1], table[:, :-1]
