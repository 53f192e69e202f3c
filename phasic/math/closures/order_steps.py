"""Multisets of phases, the states of identical chains, and their joint steps.

A multiset of m out of p phases is a row of counts that sum to m. The multisets
are numbered by the combinatorial number system.

In discrete time a step of m chains combines a step of m - 1 chains and a step
of one further chain. So probabilities are sums of products, computed for m = 1,
2, ...

Reference: D. E. Knuth, The art of computer programming, vol. 4A, 2011, sec.
  7.2.1.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal.arrays import Array
from phasic.math.closures import chain_parts
from phasic.math.closures.chain_parts import ChainParts
from phasic.math.closures.chain_parts import picked
from phasic.math.numeric.array_utils import joined

# The largest number of joint steps that are computed to build a chain.
_MOST_STEPS = 10 * chain_parts.MAX_EDGES


class _Steps(NamedTuple):
  """Joint steps of m identical chains, each of p phases.

  Attributes:
    before: host integers (t,), numbers of multisets of m out of p phases.
    after: host integers (t,), numbers of multisets of m out of p + 1; phase p
      is absorption.
    probs: (..., t).
  """

  before: onp.ndarray
  after: onp.ndarray
  probs: Array


def steps(
  parts: ChainParts, levels: Sequence[int], first: Mapping[int, int]
) -> chain_parts.Made:
  """Builds edges, exits and stay probabilities of an order statistic's chain.

  Args:
    parts: the chain of each of the times.
    levels: the numbers of running times, the largest first.
    first: the phase of the first multiset, by the number of running times; the
      number at which the order statistic ends has the number of phases.
  """
  p, phases = parts.num_phases, max(first.values())
  none = onp.zeros(1, dtype=onp.int64)
  one = np.zeros((1,), dtype=parts.initial.dtype) + 1.0
  level = _Steps(none, none, one)
  before, after, probs = [], [], []
  work, kept = 0, 0
  for m in range(1, levels[0] + 1):
    level = _one_more(parts, m, level)
    work += len(level.after)
    kept += len(level.after) if m in levels else 0
    _check_steps(work, kept)
    if m in levels:
      before.append(level.before + first[m])
      after.append(_phases(p, m, first, phases)[level.after])
      probs.append(level.probs)
  sources, targets = onp.concatenate(before), onp.concatenate(after)
  pool = joined(*probs)
  (inner,) = onp.nonzero((targets < phases) & (sources != targets))
  (out,) = onp.nonzero(targets == phases)
  (same,) = onp.nonzero(sources == targets)
  ends, places = onp.unique(sources[out], return_inverse=True)
  exits = array_ops.segment_sum(picked(pool, out), places, len(ends))
  stay = array_ops.segment_sum(picked(pool, same), sources[same], phases)
  return sources[inner], targets[inner], picked(pool, inner), ends, exits, stay


def check_size(parts: ChainParts, levels: Sequence[int]) -> None:
  """Raises ValueError if there are certainly too many joint steps.

  In a phase with transitions a time has at least two steps, so that m such
  times have at least m + 1 joint steps.

  Args:
    parts: the chain of each of the times.
    levels: the numbers of running times, the largest first.
  """
  active = len(onp.unique(onp.concatenate([parts.sources, parts.ends])))
  work, kept = 0, 0
  for m in range(1, levels[0] + 1):
    steps = num_multisets(active, m) * (m + 1) if active else 0
    work += steps
    kept += steps if m in levels else 0
    _check_steps(work, kept)


def _check_steps(work: int, kept: int) -> None:
  """Raises ValueError if there are too many joint steps.

  Args:
    work: how many there are for up to n times.
    kept: how many of these are edges of the new chain.
  """
  chain_parts.check_size("the order statistic", 0, kept, "at least ")
  if work > _MOST_STEPS:
    raise ValueError(
      f"the order statistic has at least {work} joint steps of its times: there "
      f"must be at most {_MOST_STEPS}; take fewer times"
    )


def _phases(
  p: int, m: int, first: Mapping[int, int], phases: int
) -> onp.ndarray:
  """Returns the phase of the new chain for each multiset of m states.

  The states are the p phases and absorption.
  """
  after = multisets(p + 1, m)
  running = m - after[:, p]
  # The order statistic has ended as soon as only `last` times still run.
  last = min(first)
  starts = onp.full(max(first) + 1, phases)
  starts[list(first)] = list(first.values())
  places = onp.where(running > last, multiset_indices(after[:, :p]), 0)
  return starts[onp.maximum(running, last)] + places


def _one_more(parts: ChainParts, m: int, level: _Steps) -> _Steps:
  """Computes the joint steps of m chains from the steps of m - 1 chains."""
  p = parts.num_phases
  counts: onp.ndarray = multisets(p, m)
  # Of the m chains of a multiset, take a chain in the highest phase as the
  # m-th.
  phase = p - 1 - onp.argmax(counts[:, ::-1] > 0, axis=-1)
  counts[onp.arange(len(counts)), phase] -= 1
  rest = multiset_indices(counts)
  transitions, offsets, targets, pool = _transitions(parts)
  order = onp.argsort(level.before, kind="stable")
  before = onp.searchsorted(
    level.before[order], onp.arange(num_multisets(p, m - 1) + 1)
  )
  rows = (before[rest + 1] - before[rest]) * (
    offsets[phase + 1] - offsets[phase]
  )
  total = int(onp.sum(rows))
  chain_parts.check_size("a step of the order statistic", 0, total)
  # Combine each step of the m - 1 chains with each step of the m-th chain.
  state = onp.repeat(onp.arange(len(rows)), rows)
  place = onp.arange(total) - onp.repeat(onp.cumsum(rows) - rows, rows)
  width = (offsets[phase + 1] - offsets[phase])[state]
  old = order[before[rest[state]] + place // width]
  transition = transitions[offsets[phase[state]] + place % width]
  after = _with_one_more(p, m)[level.after[old], targets[transition]]
  keys = state * num_multisets(p + 1, m) + after
  _, chosen, places = onp.unique(keys, return_index=True, return_inverse=True)
  terms = picked(level.probs, old) * picked(pool, transition)
  probs = array_ops.segment_sum(terms, places, len(chosen))
  return _Steps(state[chosen], after[chosen], probs)


def _with_one_more(p: int, m: int) -> onp.ndarray:
  """Returns the index of each multiset of size m - 1 after adding one phase.

  Row s has the indices for adding each of the p + 1 phases to multiset s.
  """
  smaller: onp.ndarray = multisets(p + 1, m - 1)
  indices = onp.zeros((len(smaller), p + 1), dtype=onp.int64)
  for i in range(p + 1):
    smaller[:, i] += 1
    indices[:, i] = multiset_indices(smaller)
    smaller[:, i] -= 1
  return indices


def _transitions(
  parts: ChainParts,
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray, Array]:
  """Lists the steps of one chain, sorted by source.

  Returns transitions, offsets, targets and probabilities.

  Steps from phase i are transitions[offsets[i]:offsets[i + 1]], which are
  indices of targets and probabilities.
  """
  assert parts.stay is not None  # The chain is in discrete time.
  p = parts.num_phases
  phases = onp.arange(p)
  sources = onp.concatenate([parts.sources, phases, parts.ends])
  targets = onp.concatenate([parts.targets, phases, parts.ends * 0 + p])
  transitions = onp.argsort(sources, kind="stable")
  offsets = onp.searchsorted(sources[transitions], onp.arange(p + 1))
  return (
    transitions,
    offsets,
    targets,
    joined(parts.weights, parts.stay, parts.exits),
  )


def num_multisets(p: int, m: int) -> int:
  """Returns the number of multisets of size m of p phases."""
  return math.comb(m + p - 1, m)


def levels(p: int, sizes: Sequence[int]) -> onp.ndarray:
  """Lists the multisets of each size, one size after the other.

  The result has shape (n, p), with a row for each multiset.
  """
  return onp.concatenate([multisets(p, m) for m in sizes])


def multisets(p: int, m: int) -> onp.ndarray:
  """Lists all multisets of m out of p phases, ordered by `multiset_indices`.

  Each row says how often each phase is in the multiset: (num_multisets(p, m), p).
  """
  count = num_multisets(p, m)
  # Let a_i be the number of entries in the phases 0, ..., i. The index of a
  # multiset is count - 1 minus the sum of (a_i + i choose i + 1) over
  # i < p - 1. Table i has this binomial coefficient for a_i = 0, ..., m.
  tables = [onp.arange(m + 1)]
  for _ in range(p - 2):
    tables.append(onp.cumsum(tables[-1]))
  rest = onp.arange(count)[::-1]
  above = onp.full(count, m)
  rows = onp.zeros((count, p), dtype=onp.int64)
  for i in range(p - 1, 0, -1):
    below = onp.searchsorted(tables[i - 1], rest, side="right") - 1
    rest = rest - tables[i - 1][below]
    rows[:, i] = above - below
    above = below
  rows[:, 0] = above
  return rows


def multiset_indices(counts: onp.ndarray) -> onp.ndarray:
  """Computes the indices of multisets in the list of `multisets`."""
  p = counts.shape[-1]
  after = onp.cumsum(counts, axis=-1)
  total = onp.zeros(counts.shape[:-1], dtype=onp.int64)
  # In a combinatorial number system, phase i contributes a sum of (i + k - 1
  # choose k) over consecutive k. The sum is the difference of two entries
  # (i + k choose k) of Pascal's triangle.
  table = onp.ones(int(onp.max(after, initial=0)) + 1, dtype=onp.int64)
  for i in range(p):
    before = after[..., i] - counts[..., i]
    total = total + table[after[..., i]] - table[before]
    table = onp.cumsum(table)
  return total
