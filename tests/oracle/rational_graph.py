"""Graphs in rational arithmetic: moments, sojourn times, causes.

Independent of the library: it reads a graph's arrays, and solves dense systems
in rational numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import flint
import numpy as np

Number = flint.fmpq


def exact(x: Any) -> Number:
  """Converts a number to a rational number."""
  if isinstance(x, Number):
    return x
  return flint.fmpq(*float(x).as_integer_ratio())


class RationalGraph(NamedTuple):
  """A graph at a vector of parameters.

  Attributes:
    off: weights between phases, a p x p matrix with a zero diagonal.
    absorbed: weights to each cause, p x causes.
    initial: the starts, p numbers.
    atom: the mass at zero.
  """

  off: flint.fmpq_mat
  absorbed: flint.fmpq_mat
  initial: list[Number]
  atom: Number

  @property
  def num_phases(self) -> int:
    return self.off.nrows()

  def system(self) -> flint.fmpq_mat:
    """Returns -S, the matrix whose inverse has the expected times."""
    p = self.num_phases
    ones = flint.fmpq_mat(p, 1, [1] * p)
    causes = self.absorbed.ncols()
    totals = self.off * ones
    totals += self.absorbed * flint.fmpq_mat(causes, 1, [1] * causes)
    result = -self.off
    for i in range(p):
      result[i, i] += totals[i, 0]
    return result

  def times(self) -> flint.fmpq_mat:
    """Computes U = (-S)^-1, expected times in j from i."""
    return self.system().inv()

  def sojourns(self) -> list[Number]:
    """Computes alpha U."""
    row = flint.fmpq_mat(1, self.num_phases, self.initial) * self.times()
    return row.entries()

  def moment(self, order: int, rewards: Sequence[float] | None = None):
    """Computes E[Y^order] of a continuous graph, k! alpha (U D(r))^k 1."""
    p = self.num_phases
    r = [exact(x) for x in (rewards if rewards is not None else [1.0] * p)]
    x = flint.fmpq_mat(p, 1, [1] * p)
    for k in range(1, order + 1):
      weighted = [k * a * b for a, b in zip(r, x.entries())]
      x = self.system().solve(flint.fmpq_mat(p, 1, weighted))
    return sum((a * b for a, b in zip(self.initial, x.entries())), Number(0))

  def variance(self, rewards: Sequence[float] | None = None):
    """Computes E[Y^2] - E[Y]^2."""
    return self.moment(2, rewards) - self.moment(1, rewards) ** 2

  def cause_probs(self) -> list[Number]:
    """Computes the probability of absorption by each cause."""
    row = flint.fmpq_mat(1, self.num_phases, self.initial)
    return (row * self.times() * self.absorbed).entries()

  def prob_of_count(self, n: int) -> Number:
    """Computes P(N = n) of a discrete graph that leaves its phase at each step.

    Mass that a row lacks is a self-loop.
    """
    if n == 0:
      return self.atom
    p = self.num_phases
    stays = -self.system()
    for i in range(p):
      stays[i, i] += 1
    row = flint.fmpq_mat(1, p, self.initial)
    for _ in range(n - 1):
      row = row * stays
    return sum((row * self.absorbed).entries(), Number(0))


def read(graph: Any, params: Sequence[float] = ()) -> RationalGraph:
  """Reads a graph at parameters, with exact values of the floats."""
  sources, targets = np.asarray(graph.sources), np.asarray(graph.targets)
  theta = [exact(x) for x in params]

  def weights(constants: Any, coefficients: Any) -> list[Number]:
    rows = zip(np.asarray(constants), np.asarray(coefficients))
    return [
      exact(c) + sum((exact(a) * b for a, b in zip(row, theta)), Number(0))
      for c, row in rows
    ]

  p = graph.num_phases
  off = flint.fmpq_mat(p, p)
  absorbed = flint.fmpq_mat(p, len(graph.causes))
  values = weights(graph.constants, graph.coefficients)
  for i, j, w in zip(sources.tolist(), targets.tolist(), values):
    if j < p:
      off[i, j] += w
    else:
      absorbed[i, j - p] += w
  initial = weights(graph.initial_constants, graph.initial_coefficients)
  return RationalGraph(off, absorbed, initial[:p], initial[p])


def close(actual: float, truth: Number, rtol: float = 1e-12) -> bool:
  """Returns whether a float is within a relative tolerance of a rational."""
  return bool(abs(exact(actual) - truth) <= exact(rtol) * abs(truth))
