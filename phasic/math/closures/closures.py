"""Chains of sums, extremes and mixtures of independent times.

In continuous time one chain jumps at a time, in discrete time all chains step
together. Masses at zero are sums of products, without subtraction.

Reference: M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981,
  sec. 2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import itertools
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal.arrays import Array
from phasic.math.closures import chain_parts
from phasic.math.closures.chain_parts import ChainParts
from phasic.math.closures.chain_parts import all_pairs
from phasic.math.closures.chain_parts import picked
from phasic.math.numeric.array_utils import joined


class _Transitions(NamedTuple):
  """Transitions of one chain, including those from a phase to itself.

  Attributes:
    sources: host integers (m,).
    targets: host integers (m,), phases.
    weights: (..., m).
  """

  sources: onp.ndarray
  targets: onp.ndarray
  weights: Array


def convolution(parts: Sequence[ChainParts]) -> ChainParts:
  """Builds the chain of the sum of independent absorption times."""
  if any(x.atom is not None for x in parts):
    return functools.reduce(_sum_of_two, parts)
  phases = sum(x.num_phases for x in parts)
  edges = sum(len(x.sources) for x in parts) + len(parts[-1].ends)
  pairs = [(len(a.ends), b.num_phases) for a, b in itertools.pairwise(parts)]
  chain_parts.check_size(
    "the sum", phases, edges + sum(m * n for m, n in pairs)
  )
  # The phases of each chain come after the phases of the chain before it.
  before = onp.cumsum([0, *(x.num_phases for x in parts)])
  sources = [x.sources + n for x, n in zip(parts, before)]
  targets = [x.targets + n for x, n in zip(parts, before)]
  weights = [x.weights for x in parts]
  for i, (a, b) in enumerate(itertools.pairwise(parts)):
    leave, enter = all_pairs(*pairs[i])
    sources.append(a.ends[leave] + before[i])
    targets.append(enter + before[i + 1])
    weights.append(picked(a.exits, leave) * picked(b.initial, enter))
  none = _or_zero(parts[0])[..., None]
  stays = [x.stay for x in parts if x.stay is not None]
  return ChainParts(
    phases,
    joined(parts[0].initial, *(x.initial * none for x in parts[1:])),
    None,
    onp.concatenate(sources),
    onp.concatenate(targets),
    joined(*weights),
    parts[-1].ends + before[-2],
    parts[-1].exits,
    joined(*stays) if stays else None,
  )


def _sum_of_two(a: ChainParts, b: ChainParts) -> ChainParts:
  """Builds the chain of X + Y, for independent absorption times X and Y."""
  p = a.num_phases
  phases = p + b.num_phases
  starts = len(a.ends) * b.num_phases
  edges = len(a.sources) + len(b.sources) + starts
  chain_parts.check_size("the sum", phases, edges + len(a.ends) + len(b.ends))
  leave, enter = all_pairs(len(a.ends), b.num_phases)
  ends, exits = b.ends + p, b.exits
  if b.atom is not None:
    ends = onp.concatenate([a.ends, ends])
    exits = joined(a.exits * b.atom[..., None], exits)
  return ChainParts(
    phases,
    joined(a.initial, b.initial * _or_zero(a)[..., None]),
    None if a.atom is None or b.atom is None else a.atom * b.atom,
    onp.concatenate([a.sources, b.sources + p, a.ends[leave]]),
    onp.concatenate([a.targets, b.targets + p, enter + p]),
    joined(
      a.weights, b.weights, picked(a.exits, leave) * picked(b.initial, enter)
    ),
    ends,
    exits,
    None if a.stay is None or b.stay is None else joined(a.stay, b.stay),
  )


def mixture(probs: Array, parts: Sequence[ChainParts]) -> ChainParts:
  """Builds the mixture of chains with given probabilities (..., n)."""
  phases = sum(x.num_phases for x in parts)
  edges = sum(len(x.sources) + len(x.ends) for x in parts)
  chain_parts.check_size("the mixture", phases, edges)
  before = onp.cumsum([0, *(x.num_phases for x in parts)])
  initial = [probs[..., i, None] * x.initial for i, x in enumerate(parts)]
  atoms = [
    probs[..., i] * x.atom for i, x in enumerate(parts) if x.atom is not None
  ]

  def shifted(name: str) -> onp.ndarray:
    arrays = [getattr(x, name) for x in parts]
    return onp.concatenate(
      [x + n for x, n in zip(arrays, before[:-1], strict=True)]
    )

  stays = [x.stay for x in parts if x.stay is not None]
  return ChainParts(
    phases,
    joined(*initial),
    sum(atoms[1:], atoms[0]) if atoms else None,
    shifted("sources"),
    shifted("targets"),
    joined(*(x.weights for x in parts)),
    shifted("ends"),
    joined(*(x.exits for x in parts)),
    joined(*stays) if stays else None,
  )


def minimum(a: ChainParts, b: ChainParts) -> ChainParts:
  """Builds the chain of min(X, Y), for independent absorption times X, Y."""
  phases = a.num_phases * b.num_phases
  chain_parts.check_size("the minimum", phases, _count_both(a, b) + phases)
  transitions, stay = _both(a, b)
  first, second = all_pairs(a.num_phases, b.num_phases)
  out = onp.isin(first, a.ends) | onp.isin(second, b.ends)
  first_out = picked(chain_parts.full_exits(a), first[out])
  second_out = picked(chain_parts.full_exits(b), second[out])
  if a.stay is not None:
    second_out = picked(_lasting(a), first[out]) * second_out
  return ChainParts(
    phases,
    picked(a.initial, first) * picked(b.initial, second),
    _atom_of_minimum(a, b),
    transitions.sources,
    transitions.targets,
    transitions.weights,
    onp.flatnonzero(out),
    first_out + second_out,
    stay,
  )


def maximum(a: ChainParts, b: ChainParts) -> ChainParts:
  """Builds the chain of max(X, Y), for independent absorption times X, Y.

  The phases are pairs, then phases of the first chain alone, then of the second
  chain alone.
  """
  p, q = a.num_phases, b.num_phases
  phases = p * q + p + q
  left, right = _transitions(a), _transitions(b)
  over = len(a.ends) * len(right.sources) + len(b.ends) * len(left.sources)
  alone = len(a.sources) + len(a.ends) + len(b.sources) + len(b.ends)
  count = _count_both(a, b) + over + alone + len(a.ends) * len(b.ends)
  chain_parts.check_size("the maximum", phases, count)
  transitions, stay = _both(a, b)
  first_alone, second_alone = p * q, p * q + p
  end, edge = all_pairs(len(a.ends), len(right.sources))
  stays, other_end = all_pairs(len(left.sources), len(b.ends))
  i, j = all_pairs(p, q)
  both, other_edge = all_pairs(len(a.ends), len(b.ends))
  ends = [a.ends + first_alone, b.ends + second_alone]
  exits = [a.exits, b.exits]
  if stay is not None:
    ends.append(a.ends[both] * q + b.ends[other_edge])
    exits.append(picked(a.exits, both) * picked(b.exits, other_edge))
    stay = joined(*(x for x in (stay, a.stay, b.stay) if x is not None))
  return ChainParts(
    phases,
    joined(
      picked(a.initial, i) * picked(b.initial, j),
      a.initial * _or_zero(b)[..., None],
      b.initial * _or_zero(a)[..., None],
    ),
    None if a.atom is None or b.atom is None else a.atom * b.atom,
    onp.concatenate(
      [
        transitions.sources,
        a.ends[end] * q + right.sources[edge],
        left.sources[stays] * q + b.ends[other_end],
        a.sources + first_alone,
        b.sources + second_alone,
      ]
    ),
    onp.concatenate(
      [
        transitions.targets,
        right.targets[edge] + second_alone,
        left.targets[stays] + first_alone,
        a.targets + first_alone,
        b.targets + second_alone,
      ]
    ),
    joined(
      transitions.weights,
      picked(a.exits, end) * picked(right.weights, edge),
      picked(left.weights, stays) * picked(b.exits, other_end),
      a.weights,
      b.weights,
    ),
    onp.concatenate(ends),
    joined(*exits),
    stay,
  )


def _or_zero(parts: ChainParts) -> Array:
  """Returns the mass at zero, (...), with zeros for None."""
  return parts.initial[..., 0] * 0.0 if parts.atom is None else parts.atom


def _atom_of_minimum(a: ChainParts, b: ChainParts) -> Array | None:
  """Computes P(min(X, Y) = 0) by sums and products of probabilities."""
  if b.atom is None:
    return None if a.atom is None else a.atom * chain_parts.mass(b)
  if a.atom is None:
    return chain_parts.mass(a) * b.atom
  alone = a.atom * chain_parts.mass(b) + chain_parts.mass(a) * b.atom
  return a.atom * b.atom + alone


def _transitions(parts: ChainParts) -> _Transitions:
  """Returns the transitions of a chain while the other one jumps or ends.

  In continuous time the chain stays in its phase. In discrete time it makes a
  step without absorption.
  """
  phases = onp.arange(parts.num_phases)
  if parts.stay is None:
    ones = np.zeros((parts.num_phases,), dtype=parts.initial.dtype) + 1.0
    return _Transitions(phases, phases, ones)
  return _Transitions(
    onp.concatenate([parts.sources, phases]),
    onp.concatenate([parts.targets, phases]),
    joined(parts.weights, parts.stay),
  )


def _lasting(parts: ChainParts) -> Array:
  """Computes each phase's probability of no absorption in a step, (..., p)."""
  transitions = _transitions(parts)
  return array_ops.segment_sum(
    transitions.weights, transitions.sources, parts.num_phases
  )


def _count_both(a: ChainParts, b: ChainParts) -> int:
  """Returns the number of transitions of the joint chain of `_both`."""
  if a.stay is None:
    return len(a.sources) * b.num_phases + a.num_phases * len(b.sources)
  pairs = a.num_phases * b.num_phases
  transitions = len(a.sources) + a.num_phases, len(b.sources) + b.num_phases
  return transitions[0] * transitions[1] - pairs


def _both(a: ChainParts, b: ChainParts) -> tuple[_Transitions, Array | None]:
  """Builds the transitions of two chains while neither is absorbed.

  Also returns the probabilities of staying in each pair of phases.
  """
  q = b.num_phases
  if a.stay is None:
    edge, j = all_pairs(len(a.sources), q)
    i, other_edge = all_pairs(a.num_phases, len(b.sources))
    transitions = _Transitions(
      onp.concatenate([a.sources[edge] * q + j, i * q + b.sources[other_edge]]),
      onp.concatenate([a.targets[edge] * q + j, i * q + b.targets[other_edge]]),
      joined(picked(a.weights, edge), picked(b.weights, other_edge)),
    )
    return transitions, None
  left, right = _transitions(a), _transitions(b)
  i, j = all_pairs(len(left.sources), len(right.sources))
  both_stay = (i >= len(a.sources)) & (j >= len(b.sources))
  stay = picked(left.weights, i[both_stay])
  stay = stay * picked(right.weights, j[both_stay])
  i, j = i[onp.logical_not(both_stay)], j[onp.logical_not(both_stay)]
  transitions = _Transitions(
    left.sources[i] * q + right.sources[j],
    left.targets[i] * q + right.targets[j],
    picked(left.weights, i) * picked(right.weights, j),
  )
  return transitions, stay
