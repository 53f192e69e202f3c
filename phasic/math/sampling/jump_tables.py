"""Tables from which the jumps of a chain are drawn."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np

from phasic.internal import control_flow
from phasic.internal import elimination_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_solves
from phasic.math.model.chain import Chain
from phasic.math.model.chain import StepChain
from phasic.math.numeric import exact_sums
from phasic.math.numeric import semirings
from phasic.math.portable import elimination

_Carry = tuple[Array, Array, Array]


class JumpTables(NamedTuple):
  """Cumulative probabilities for drawing the jumps of a batch of chains.

  All chains have the same edges.

  Edges are sorted by their source; phase i has the edges first[i], ..., last[i]
  - 1. Sums of weights start at the first edge of each phase.

  Attributes:
    starts: cumulative initial masses, the atom last (models, p + 1).
    sums: cumulative weights of the edges of each phase (models, m).
    targets: targets of the edges (m,); p is absorption.
    first: the first edge of each phase (p,).
    last: one after the last edge (p,); equal to `first` without edges.
    scales: scales of the holding times, inf if a phase is never left (models,
      p).
    leads: whether absorption can be reached (models, p).
    depth: the bit length of the largest number of edges of a phase, static.
  """

  starts: Array
  sums: Array
  targets: Array
  first: Array
  last: Array
  scales: Array
  leads: Array
  depth: int


class RewardRates(NamedTuple):
  """Reward per unit of time in each phase, and phases where paths may stop.

  Attributes:
    rates: rewards per unit of time or per step; in phases that stop a path the
      total from there on, zero or inf (models, p, R).
    stops: the phases that stop a path (models, p).
  """

  rates: Array
  stops: Array


def time_reward_rates(tables: JumpTables) -> RewardRates:
  """Returns reward rates of one: the accumulated reward is the time (R = 1)."""
  stops = np.logical_not(tables.leads)
  return RewardRates(np.where(stops, math.inf, 1.0)[..., None], stops)


def stopped_reward_rates(tables: JumpTables, rewards: Array) -> RewardRates:
  """Computes reward rates, and the phases in which a path can stop.

  A path is followed until it is absorbed, or until its further total is surely
  zero or infinite.
  """
  expected = _expected(tables, rewards)
  known = (expected == 0) | (expected == math.inf)
  stops = np.logical_not(tables.leads) & np.all(known, axis=-1)
  return RewardRates(np.where(stops[..., None], expected, rewards), stops)


def _expected(tables: JumpTables, rewards: Array) -> Array:
  """Computes expected total rewards from each phase (models, p, R).

  Their scale is arbitrary: only zero and infinity are meaningful.
  """
  p = static.shape(rewards)[-2]
  m = static.shape(tables.targets)[0]
  positions = structures.cast(np.arange(m), "int32")
  sources = _first_true(
    np.zeros_like(positions),
    np.zeros_like(positions) + (p - 1),
    int(p).bit_length(),
    lambda phase: np.take(tables.last, phase, axis=0) > positions,
  )
  before = np.take(tables.sums, np.maximum(positions - 1, 0), axis=-1)
  starts = np.take(tables.first, sources, axis=0) == positions
  # Replace positive weights by one: it only matters which totals are 0 or inf.
  some = tables.sums > np.where(starts, 0.0, before)
  edges = np.stack([sources, tables.targets])
  largest = np.max(rewards, axis=-2)[..., None, :]
  return elimination_ops.eliminate(
    elimination.eliminate,
    edges[None],
    structures.cast(some, static.dtype_name(rewards)),
    rewards / np.where(largest > 0, largest, 1.0),
  )


def matrix_tables(chain: Chain | StepChain, hold_rates: Array) -> JumpTables:
  """Builds the tables of a chain with a dense matrix.

  Args:
    chain: the result of `chain.derive` or `chain.derive_steps`.
    hold_rates: the rates of the holding times (..., p).
  """
  p = static.shape(chain.initial)[-1]
  matrix = np.sum(np.zeros_like(chain.off), axis=-1)
  rows = np.zeros_like(chain.initial) + np.zeros_like(chain.exits) + matrix
  rows = rows + np.zeros_like(chain.atom)[..., None]
  weights = np.concatenate(
    [rows[..., None] + chain.off, (rows + chain.exits)[..., None]], axis=-1
  )
  leads = semirings.can_reach(chain.off > 0, (rows + chain.exits) > 0)
  columns = structures.cast(np.arange(p * (p + 1)), "int32")
  first = structures.cast(np.arange(p), "int32") * (p + 1)
  return JumpTables(
    _starts(chain.initial + rows, chain.atom),
    np.reshape(np.cumsum(weights, axis=-1), (-1, p * (p + 1))),
    columns % (p + 1),
    first,
    first + (p + 1),
    np.reshape(_scales(hold_rates + rows), (-1, p)),
    np.reshape(leads, (-1, p)),
    int(p + 1).bit_length(),
  )


def edge_tables(system: chain_solves.System, depth: int) -> JumpTables:
  """Builds the tables of a chain with edges.

  Args:
    system: the chain as a `chain_solves.System`.
    depth: as in `JumpTables`.
  """
  initial, atom, weights = system.initial, system.atom, system.weights
  p, m = static.shape(initial)[-1], static.shape(weights)[-1]
  batch = np.zeros_like(initial[..., 0]) + np.zeros_like(atom + weights[..., 0])
  sources, targets = system.indices[0], system.indices[1]
  order = np.argsort(sources)
  sources, targets = np.take(sources, order, 0), np.take(targets, order, 0)
  weights = np.take(weights, order, axis=-1) + batch[..., None]
  weights = np.where(sources == targets, 0.0, weights)
  sums = _sums_by_source(sources, weights, depth)
  bounds = _row_bounds(sources, p, m)
  first, last = bounds[:-1], bounds[1:]
  totals = np.take(sums, np.maximum(last - 1, 0), axis=-1)
  totals = np.where(last > first, totals, 0.0)
  discrete = system.stay is not None
  # A phase without edges has leaving rate zero, so it is never left.
  scales = _scales(edge_hold_rates(totals) if discrete else totals)
  scales = exact_sums.times_power(scales, -system.exponent[..., None])
  leads = chain_solves.absorption_probs(system) > 0
  return JumpTables(
    _starts(initial + batch[..., None], atom),
    np.reshape(sums, (-1, m)),
    targets,
    np.minimum(first, m - 1),
    last,
    np.reshape(scales, (-1, p)),
    np.reshape(leads | (batch[..., None] > 0), (-1, p)),
    depth,
  )


def edge_hold_rates(leaving: Array) -> Array:
  """Computes -log(1 - q) for probabilities q of leaving a phase in a step."""
  some = leaving < 1
  return np.where(some, -np.log1p(-np.where(some, leaving, 0.0)), math.inf)


def step_hold_rates(chain: StepChain) -> Array:
  """Computes -log of each phase's probability of staying for a step."""
  stays = chain.keep > 0
  kept = -np.log(np.where(stays, chain.keep, 1.0)) - np.log1p(-chain.lose)
  return np.where(stays, kept, math.inf)


def draw(
  uniform: Array, sums: Array, low: Array, high: Array, depth: int
) -> Array:
  """Draws indices by inversion of cumulative weights.

  Args:
    uniform: uniform numbers in [0, 1).
    sums: cumulative weights, a flat array.
    low: the first entry that may be drawn, for each number, int32.
    high: the last entry that may be drawn.
    depth: the bit length of the largest number of entries.
  """
  level = uniform * np.take(sums, high, axis=0)
  return _first_true(
    low, high, depth, lambda entry: np.take(sums, entry, axis=0) > level
  )


def _first_true(
  low: Array, high: Array, depth: int, holds: Callable[[Array], Array]
) -> Array:
  """Finds by bisection the first index in [low, high] that meets a condition.

  The condition is monotone: once met, it is met by all larger indices.

  If no entry satisfies it, the result is the last entry.
  """

  # A compiled loop keeps the program small: XLA would fuse an unrolled
  # bisection so that every step repeats all earlier ones.
  def halve(carry: _Carry) -> _Carry:
    count, low, high = carry
    middle = (low + high) // 2
    is_true = holds(middle)
    upper = np.where(is_true, low, np.minimum(middle + 1, high))
    return count + 1, upper, np.where(is_true, middle, high)

  def unfinished(carry: _Carry) -> Array:
    return carry[0] < depth

  init = (np.asarray(0), low, high)
  return control_flow.while_loop(unfinished, halve, init)[2]


def _starts(initial: Array, atom: Array) -> Array:
  """Computes cumulative initial masses, with the atom last (models, p + 1)."""
  last = (np.zeros_like(initial[..., 0]) + atom)[..., None]
  masses = np.concatenate([initial, last], axis=-1)
  size = static.shape(masses)[-1]
  return np.reshape(np.cumsum(masses, axis=-1), (-1, size))


def _scales(hold_rates: Array) -> Array:
  """Computes mean holding times from their rates; inf for a rate of zero."""
  still = hold_rates == 0
  return np.where(still, math.inf, 1.0 / np.where(still, 1.0, hold_rates))


def _row_bounds(sources: Array, p: int, m: int) -> Array:
  """Computes row pointers r: phase i has edges r[i], ..., r[i + 1] - 1."""
  phases = structures.cast(np.arange(p + 1), "int32")
  low = np.zeros_like(phases)
  high = low + m

  def starts(edge: Array) -> Array:
    source = np.take(sources, np.minimum(edge, m - 1), axis=0)
    return (edge >= m) | (source >= phases)

  return _first_true(low, high, int(m).bit_length() + 1, starts)


def _sums_by_source(sources: Array, weights: Array, depth: int) -> Array:
  """Computes cumulative weights of the edges within each source."""
  m = static.shape(weights)[-1]
  positions = structures.cast(np.arange(m), "int32")

  def add(carry: _Carry) -> _Carry:
    count, distance, sums = carry
    before = np.maximum(positions - distance, 0)
    same = np.take(sources, before, axis=0) == sources
    same = same & (positions >= distance)
    sums = sums + np.where(same, np.take(sums, before, axis=-1), 0.0)
    return count + 1, 2 * distance, sums

  def unfinished(carry: _Carry) -> Array:
    return carry[0] < depth

  init = (np.asarray(0), structures.cast(1, "int32"), weights)
  return control_flow.while_loop(unfinished, add, init)[2]
