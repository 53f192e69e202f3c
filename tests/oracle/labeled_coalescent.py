"""Coalescents of labeled samples, explored lineage by lineage.

Independent of the library's models, which count lineages that are alike: here
each lineage is the pair of sets of samples that it is an ancestor of at two
loci. A coalescent of one locus has second sets that are empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import itertools
from typing import Any

import numpy as np

Lineage = tuple[frozenset[int], frozenset[int]]
State = frozenset[Lineage]
Step = Callable[[State], Iterator[tuple[State, Any]]]
_NONE: frozenset[int] = frozenset()


def one_locus(n: int) -> State:
  """Returns n samples that have the first locus only."""
  return frozenset((frozenset([i]), _NONE) for i in range(n))


def two_loci(n: int) -> State:
  """Returns n samples that have both loci."""
  return frozenset((frozenset([i]), frozenset([i])) for i in range(n))


def multiple_mergers(rate: Callable[[int, int], Any]) -> Step:
  """Returns the steps in which each set of k of b merges at rate(b, k)."""

  def steps(state: State) -> Iterator[tuple[State, Any]]:
    for k in range(2, len(state) + 1):
      for chosen in itertools.combinations(state, k):
        yield _merged(state, chosen), rate(len(state), k)

  return steps


def recombination(rate: float) -> Step:
  """Returns the steps of pairs that merge and of lineages that recombine."""

  def steps(state: State) -> Iterator[tuple[State, Any]]:
    for chosen in itertools.combinations(state, 2):
      yield _merged(state, chosen), 1.0
    for first, second in state:
      if first and second:
        parts = {(first, _NONE), (_NONE, second)}
        yield (state - {(first, second)}) | parts, rate

  return steps


def _merged(state: State, chosen: tuple[Lineage, ...]) -> State:
  first, second = (frozenset().union(*sets) for sets in zip(*chosen))
  return (state - set(chosen)) | {(first, second)}


def lineages_at(state: State, locus: int) -> list[frozenset[int]]:
  """Returns the sets of samples at a locus, one for each of its lineages."""
  return [lineage[locus] for lineage in state if lineage[locus]]


def reached(initial: State, steps: Step) -> tuple[list[State], list[Any]]:
  """Returns the states that are not absorbed, and edges (i, j or None, rate).

  Absorption is when each locus has one lineage at most.
  """
  states, edges = [initial], []
  numbers = {initial: 0}
  for i, state in enumerate(states):
    for found, rate in steps(state):
      if all(len(lineages_at(found, locus)) <= 1 for locus in (0, 1)):
        edges.append((i, None, rate))
        continue
      if found not in numbers:
        numbers[found] = len(states)
        states.append(found)
      edges.append((i, numbers[found], rate))
  return states, edges


def moments(
  states: list[State], edges: list[Any], rewards: Callable[[State], Any]
) -> tuple[np.ndarray, np.ndarray]:
  """Computes means (R,) and covariances (R, R) of rewards, given by state.

  Rates may be complex, for derivatives by complex steps.
  """
  matrix = np.zeros((len(states), len(states)), complex)
  for i, j, rate in edges:
    matrix[i, i] += rate
    if j is not None:
      matrix[i, j] -= rate
  table = np.asarray([rewards(state) for state in states], float)
  means = np.linalg.solve(matrix, table)
  # E[Y_a Y_b] is the mean total of r_a m_b + r_b m_a, with the means m from
  # each state.
  products = table[:, :, None] * means[:, None, :]
  products = products + np.swapaxes(products, 1, 2)
  flat = np.reshape(products, (len(states), -1))
  found = np.reshape(np.linalg.solve(matrix, flat)[0], products.shape[1:])
  return means[0], found - np.outer(means[0], means[0])
