"""Steps of several chains with one law, told apart by their phases alone.

What m chains do in a step is what m - 1 of them do and then one more: the
probabilities are sums of products, level by level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import segments
from phasic.internal.arrays import Array
from phasic.math.closures import chain_parts
from phasic.math.closures import multisets
from phasic.math.closures.chain_parts import ChainParts
from phasic.math.closures.chain_parts import picked
from phasic.math.numeric.array_utils import joined


class _Steps(NamedTuple):
  """What m chains of p phases may do in a step.

  Attributes:
    before: host integers (t,), numbers of multisets of m out of p phases.
    after: host integers (t,), numbers of multisets of m out of p + 1, the last
      of them absorption.
    probs: (..., t).
  """

  before: onp.ndarray
  after: onp.ndarray
  probs: Array


def steps(
  parts: ChainParts, states: Mapping[int, onp.ndarray], first: Mapping[int, int]
) -> chain_parts.Made:
  """Returns edges, exits and probabilities of staying for an order statistic.

  Args:
    parts: those of each chain.
    states: by the number of chains that run, its multisets, the largest first.
    first: by the same, the phase that its first multiset is; by the number at
      which the time ends, how many phases there are.
  """
  p, phases = parts.num_phases, max(first.values())
  none = onp.zeros(1, dtype=onp.int64)
  one = np.zeros((1,), dtype=parts.initial.dtype) + 1.0
  level = _Steps(none, none, one)
  before, after, probs = [], [], []
  for m in range(1, max(states) + 1):
    level = _one_more(parts, m, level)
    if m in states:
      before.append(level.before + first[m])
      after.append(_phases(p, m, first, phases)[level.after])
      probs.append(level.probs)
  sources, targets = onp.concatenate(before), onp.concatenate(after)
  pool = joined(*probs)
  (inner,) = onp.nonzero((targets < phases) & (sources != targets))
  (out,) = onp.nonzero(targets == phases)
  (same,) = onp.nonzero(sources == targets)
  ends, places = onp.unique(sources[out], return_inverse=True)
  exits = segments.segment_sum(picked(pool, out), places, len(ends))
  stay = segments.segment_sum(picked(pool, same), sources[same], phases)
  return sources[inner], targets[inner], picked(pool, inner), ends, exits, stay


def _phases(
  p: int, m: int, first: Mapping[int, int], phases: int
) -> onp.ndarray:
  """Returns the phase that each multiset of m out of p + 1 is."""
  after = multisets.all_of(p + 1, m)
  left = m - after[:, p]
  found = onp.full(len(after), phases)
  for size, start in first.items():
    (here,) = onp.nonzero(left == size)
    if start < phases:
      found[here] = multisets.numbers(after[here, :p]) + start
  return found


def _one_more(parts: ChainParts, m: int, level: _Steps) -> _Steps:
  """Returns the steps of m chains, of those of one less."""
  p = parts.num_phases
  counts: onp.ndarray = multisets.all_of(p, m)
  # Of each multiset the chain in the last phase is the one more.
  phase = p - 1 - onp.argmax(counts[:, ::-1] > 0, axis=-1)
  counts[onp.arange(len(counts)), phase] -= 1
  rest = multisets.numbers(counts)
  transitions, offsets, targets, pool = _transitions(parts)
  order = onp.argsort(level.before, kind="stable")
  before = onp.searchsorted(
    level.before[order], onp.arange(multisets.count(p, m - 1) + 1)
  )
  rows = (before[rest + 1] - before[rest]) * (
    offsets[phase + 1] - offsets[phase]
  )
  total = int(onp.sum(rows))
  chain_parts.check_size("a step of the order statistic", 0, total)
  # Every old step of the rest, with every move of the one more.
  state = onp.repeat(onp.arange(len(rows)), rows)
  place = onp.arange(total) - onp.repeat(onp.cumsum(rows) - rows, rows)
  width = (offsets[phase + 1] - offsets[phase])[state]
  old = order[before[rest[state]] + place // width]
  transition = transitions[offsets[phase[state]] + place % width]
  after = _with_one_more(p, m)[level.after[old], targets[transition]]
  keys = state * multisets.count(p + 1, m) + after
  _, chosen, places = onp.unique(keys, return_index=True, return_inverse=True)
  terms = picked(level.probs, old) * picked(pool, transition)
  probs = segments.segment_sum(terms, places, len(chosen))
  return _Steps(state[chosen], after[chosen], probs)


def _with_one_more(p: int, m: int) -> onp.ndarray:
  """Returns the numbers of multisets of m - 1 out of p + 1 with one more."""
  smaller: onp.ndarray = multisets.all_of(p + 1, m - 1)
  found = onp.zeros((len(smaller), p + 1), dtype=onp.int64)
  for i in range(p + 1):
    smaller[:, i] += 1
    found[:, i] = multisets.numbers(smaller)
    smaller[:, i] -= 1
  return found


def _transitions(
  parts: ChainParts,
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray, Array]:
  """Returns what one chain may do: moves, offsets, targets, probabilities.

  Those from phase i are moves[offsets[i]:offsets[i + 1]], which are places in
  the two others.
  """
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
