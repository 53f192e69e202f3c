"""Chains of order statistics of independent, identically distributed times.

Running times differ only in their phases, so states are multisets of phases.
Levels of states have the same number of running times: from n down to n - k +
1, the level that the k-th smallest time ends.

Reference: D. Assaf, B. Levikson, Closure of phase type distributions under
  operations arising in reliability theory, Ann. Probab. 10, 1982.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.closures import chain_parts
from phasic.math.closures import order_steps
from phasic.math.closures.chain_parts import ChainParts
from phasic.math.closures.chain_parts import picked
from phasic.math.numeric.array_utils import joined
from phasic.math.numeric.array_utils import powers


def check_size(p: int, n: int, k: int) -> int:
  """Returns the number of phases of the chain of the k-th smallest of n times.

  Raises:
    ValueError: there are too many.
  """
  # In each state at least n - k + 1 of the n times still run. So the states are
  # the multisets of at most n phases, without those of at most n - k phases.
  phases = math.comb(n + p, p) - math.comb(n - k + p, p)
  chain_parts.check_size("the order statistic", phases, 0)
  return phases


def order_statistic(parts: ChainParts, n: int, k: int) -> ChainParts:
  """Builds the chain of the k-th smallest of n independent times.

  Args:
    parts: the chain of each of the times.
    n: the number of times.
    k: the rank, counted from 1.
  """
  p = parts.num_phases
  phases = check_size(p, n, k)
  if parts.stay is None:
    edges = phases * (len(parts.sources) + len(parts.ends))
    chain_parts.check_size("the order statistic", phases, edges)
  levels = range(n, n - k, -1)
  states = {m: order_steps.multisets(p, m) for m in levels}
  sizes = [len(states[m]) for m in levels]
  # With n - k times still running, the k-th smallest has ended.
  first = dict(zip(range(n, n - k - 1, -1), _sums(sizes), strict=True))
  start = _start(parts, n, states)
  atom = parts.atom
  if atom is not None:
    atom = _early_ends(chain_parts.mass(parts), atom, n, k)
  if parts.stay is not None:
    made = order_steps.steps(parts, states, first)
  else:
    made = _rates(parts, states, first)
  return ChainParts(phases, start, atom, *made)


def _start(
  parts: ChainParts, n: int, states: Mapping[int, onp.ndarray]
) -> Array:
  """Computes the initial masses of all multisets."""
  p = parts.num_phases
  table = powers(parts.initial, n)
  table = np.reshape(table, (*static.shape(table)[:-2], p * (n + 1)))
  zeros = None if parts.atom is None else powers(parts.atom, n)
  found = []
  for m, counts in states.items():
    if m < n and zeros is None:
      found.append(np.zeros((len(counts),), dtype=table.dtype))
      continue
    masses = structures.cast(_coefficients(n, counts), table.dtype)
    for i in range(p):
      masses = masses * picked(table, i * (n + 1) + counts[:, i])
    if zeros is not None:
      masses = masses * zeros[..., n - m, None]
    found.append(masses)
  return joined(*found)


def _coefficients(n: int, counts: onp.ndarray) -> onp.ndarray:
  """Computes the multinomial coefficients of multisets, as host floats."""
  most = float(onp.finfo(static.wide_float()).max)
  found = []
  for row in counts:
    ways, rest = 1, n
    for c in row[row > 0]:
      ways, rest = ways * math.comb(rest, int(c)), rest - int(c)
    if ways > most:
      raise ValueError(
        f"the order statistic has n = {n}: n must be smaller, as a multinomial "
        "coefficient overflows"
      )
    found.append(float(ways))
  return onp.asarray(found)


def _early_ends(mass: Array, atom: Array, n: int, k: int) -> Array:
  """Computes the mass at zero: P(at least k of n times are zero), (...)."""
  positive = powers(mass, n)
  zeros = powers(atom, n)
  ways = [math.comb(n, m) for m in range(n - k + 1)]
  terms = [
    float(c) * (positive[..., m] * zeros[..., n - m])
    for m, c in enumerate(ways)
  ]
  return sum(terms[1:], terms[0])


def _rates(
  parts: ChainParts, states: Mapping[int, onp.ndarray], first: Mapping[int, int]
) -> chain_parts.Made:
  """Builds edges and exits in continuous time: one chain jumps at a time."""
  last = min(states)
  sources, targets, times, which = [], [], [], []
  pool = joined(parts.weights, parts.exits)
  transitions = list(zip(parts.sources, parts.targets, strict=True))
  transitions += [(i, None) for i in parts.ends]
  ends, exit_times, exit_which = [], [], []
  for m, counts in states.items():
    for e, (i, j) in enumerate(transitions):
      (here,) = onp.nonzero(counts[:, i])
      if j is None and m == last:
        ends.append(here + first[m])
        exit_times.append(counts[here, i])
        exit_which.append(onp.full(len(here), e))
        continue
      after: onp.ndarray = counts[here]
      after[:, i] -= 1
      if j is not None:
        after[:, j] += 1
      level = m if j is not None else m - 1
      sources.append(here + first[m])
      targets.append(order_steps.multiset_indices(after) + first[level])
      times.append(counts[here, i])
      which.append(onp.full(len(here), e))
  weights = picked(pool, _row(which)) * _floats(times, pool)
  found, places = onp.unique(_row(ends), return_inverse=True)
  exits = picked(pool, _row(exit_which)) * _floats(exit_times, pool)
  exits = array_ops.segment_sum(exits, places, len(found))
  return _row(sources), _row(targets), weights, found, exits, None


def _sums(sizes: Sequence[int]) -> list[int]:
  """Computes cumulative sums, starting with 0, as a list of ints."""
  return [int(x) for x in onp.cumsum([0, *sizes])]


def _row(pieces: Sequence[onp.ndarray]) -> onp.ndarray:
  """Concatenates host arrays of integers; the sequence may be empty."""
  return onp.concatenate([onp.zeros(0, dtype=onp.int64), *pieces])


def _floats(pieces: Sequence[onp.ndarray], like: Array) -> Array:
  """Concatenates host arrays of integers and converts them to floats."""
  return structures.cast(onp.asarray(_row(pieces), "float64"), like.dtype)
