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

_WHAT = "the order statistic"


def check_size(p: int, n: int, k: int) -> int:
  """Returns how many phases the k-th smallest of n times needs.

  Raises:
    ValueError: there are too many.
  """
  # A state is the multiset of the phases of the times that still run. These are
  # n - k + 1 to n times, and there are (m + p choose p) multisets of at most m
  # phases.
  phases = math.comb(n + p, p) - math.comb(n - k + p, p)
  chain_parts.check_size(_WHAT, phases, 0)
  if phases * p > chain_parts.MAX_EDGES:
    raise ValueError(
      f"{_WHAT} has {phases} phases, each with {p} counts of times: there must "
      f"be at most {chain_parts.MAX_EDGES} counts in all; take fewer "
      "times, or a distribution with fewer phases"
    )
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
  levels = range(n, n - k, -1)
  if parts.stay is None:
    # A transition is possible in each state in which at least one of the times
    # is in the source phase of the transition. Removing that time leaves a state
    # of one time fewer, so these smaller states are counted.
    active = math.comb(n + p - 1, p) - math.comb(n - k + p - 1, p)
    transitions = len(parts.sources) + len(parts.ends)
    chain_parts.check_size(_WHAT, phases, active * transitions)
  else:
    order_steps.check_size(parts, levels)
  sizes = [order_steps.num_multisets(p, m) for m in levels]
  # When only n - k times still run, the k-th smallest has ended: the last entry
  # is the index of absorption.
  first = dict(zip(range(n, n - k - 1, -1), _sums(sizes), strict=True))
  counts = order_steps.levels(p, levels)
  start = _start(parts, n, counts)
  atom = parts.atom
  if atom is not None:
    atom = _early_ends(chain_parts.mass(parts), atom, n, k)
  if parts.stay is not None:
    edges_and_exits = order_steps.steps(parts, levels, first)
  else:
    edges_and_exits = _rates(parts, counts, first)
  return ChainParts(phases, start, atom, *edges_and_exits)


def _start(parts: ChainParts, n: int, counts: onp.ndarray) -> Array:
  """Computes the initial masses of all multisets.

  Args:
    parts: the chain of each of the times.
    n: the number of times.
    counts: host integers (phases, p), the multisets.
  """
  p = parts.num_phases
  table = powers(parts.initial, n)
  table = np.reshape(table, (*static.shape(table)[:-2], p * (n + 1)))
  running = onp.sum(counts, axis=-1)
  if parts.atom is None:
    # All times run at the start.
    here = counts[running == n]
    none = np.zeros((len(counts) - len(here),), dtype=table.dtype)
    return joined(_masses(table, n, here), none)
  zeros = picked(powers(parts.atom, n), n - running)
  return _masses(table, n, counts) * zeros


def _masses(table: Array, n: int, counts: onp.ndarray) -> Array:
  """Computes multinomial probabilities, from powers of initial masses."""
  masses = structures.cast(_coefficients(n, counts), table.dtype)
  for i in range(counts.shape[-1]):
    masses = masses * picked(table, i * (n + 1) + counts[:, i])
  return masses


def _coefficients(n: int, counts: onp.ndarray) -> onp.ndarray:
  """Computes the multinomial coefficients of multisets, as host floats."""
  coefficients = []
  for row in counts:
    ways, rest = 1, n
    for c in row[row > 0]:
      ways, rest = ways * math.comb(rest, int(c)), rest - int(c)
    coefficients.append(_number(ways, n))
  return onp.asarray(coefficients)


def _number(ways: int, n: int) -> float:
  """Returns a multinomial coefficient as a float.

  Raises:
    ValueError: it overflows.
  """
  if ways > float(onp.finfo(static.wide_float()).max):
    raise ValueError(
      f"the order statistic has n = {n}: n must be smaller, as a multinomial "
      "coefficient overflows"
    )
  return float(ways)


def _early_ends(mass: Array, atom: Array, n: int, k: int) -> Array:
  """Computes the mass at zero: P(at least k of n times are zero), (...)."""
  positive = powers(mass, n)
  zeros = powers(atom, n)
  ways, numbers = 1, []
  for m in range(n - k + 1):
    numbers.append(_number(ways, n))
    ways = ways * (n - m) // (m + 1)
  terms = [
    c * (positive[..., m] * zeros[..., n - m]) for m, c in enumerate(numbers)
  ]
  return sum(terms[1:], terms[0])


def _rates(
  parts: ChainParts, counts: onp.ndarray, first: Mapping[int, int]
) -> chain_parts.Made:
  """Builds edges and exits in continuous time: one chain jumps at a time."""
  running = onp.sum(counts, axis=-1)
  last = int(running[-1])
  starts = onp.zeros(int(running[0]) + 1, dtype=onp.int64)
  starts[list(first)] = list(first.values())
  sources, targets, times, which = [], [], [], []
  pool = joined(parts.weights, parts.exits)
  transitions = list(zip(parts.sources, parts.targets, strict=True))
  transitions += [(i, None) for i in parts.ends]
  ends, exit_times, exit_which = [], [], []
  for e, (i, j) in enumerate(transitions):
    (here,) = onp.nonzero(counts[:, i])
    if j is None:
      final = here[running[here] == last]
      ends.append(final)
      exit_times.append(counts[final, i])
      exit_which.append(onp.full(len(final), e))
      here = here[running[here] > last]
    after: onp.ndarray = counts[here]
    after[:, i] -= 1
    if j is not None:
      after[:, j] += 1
    level = running[here] - (j is None)
    sources.append(here)
    targets.append(order_steps.multiset_indices(after) + starts[level])
    times.append(counts[here, i])
    which.append(onp.full(len(here), e))
  weights = picked(pool, _row(which)) * _floats(times, pool)
  exit_states, places = onp.unique(_row(ends), return_inverse=True)
  exits = picked(pool, _row(exit_which)) * _floats(exit_times, pool)
  exits = array_ops.segment_sum(exits, places, len(exit_states))
  return _row(sources), _row(targets), weights, exit_states, exits, None


def _sums(sizes: Sequence[int]) -> list[int]:
  """Computes cumulative sums, starting with 0, as a list of ints."""
  return [int(x) for x in onp.cumsum([0, *sizes])]


def _row(pieces: Sequence[onp.ndarray]) -> onp.ndarray:
  """Concatenates host arrays of integers; the sequence may be empty."""
  return onp.concatenate([onp.zeros(0, dtype=onp.int64), *pieces])


def _floats(pieces: Sequence[onp.ndarray], like: Array) -> Array:
  """Concatenates host arrays of integers and converts them to floats."""
  return structures.cast(onp.asarray(_row(pieces), "float64"), like.dtype)
