"""Samples of absorption times, of paths and of rewards through epochs."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from phasic.distributions.epochs import epoch_stages
from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, SanitizedSeed
from phasic.math.model import operands
from phasic.math.sampling import jump_chain
from phasic.math.sampling import jump_tables
from phasic.math.sampling import jumps
from phasic.math.sampling import sample_paths

_TIMES_ADVICE = (
  "samples of Epochs have no derivative (they are not reparameterized): "
  "differentiate quantile(u) at uniform random numbers u, or apply stop_gradient "
  "to the sample"
)
_PATHS_ADVICE = (
  "paths through epochs have no derivative: apply stop_gradient to their times"
)
_TOTALS_ADVICE = (
  "samples of rewards through epochs have no derivative (they are not "
  "reparameterized): apply stop_gradient to the sample"
)

# The state of the loop over jumps: the number of jumps, the seed, the phases,
# the time left in the epoch, and the rewards gathered so far.
_Carry = tuple[Array, SanitizedSeed, Array, Array, Array]


class EpochPaths(NamedTuple):
  """Paths of a chain through epochs.

  Attributes:
    phases: the first phase, and the phase after each jump and each boundary,
      int32 (..., k + 1), a phase of the epoch's graph; the number of its phases
      after absorption, -1 for an invalid model.
    times: the times of entry, (..., k + 1), 0 first; after absorption its time;
      NaN for an invalid model.
    epochs: the epoch of each, int32 (..., k + 1).
  """

  phases: Array
  times: Array
  epochs: Array


class _Events(NamedTuple):
  """Jumps of one epoch, or of several, in any order; each (rows, count).

  Attributes:
    times: inf where there is no event.
    phases: the phases that are entered.
    epochs: of each event.
  """

  times: Array
  phases: Array
  epochs: Array


def sample_times(
  n: int,
  seed: SanitizedSeed,
  stages: Sequence[epoch_stages.Stage],
  batch: static.Shape,
  dtype: str,
) -> Array:
  """Draws absorption times, an array of shape (n, *batch).

  Each stage has its own absorption time, independent of the others given the
  initial distribution. The first one that falls in its epoch is the sample.
  """
  seeds = random.split_seed(seed, len(stages))
  result: Array | None = None
  for one, stage in list(zip(seeds, stages))[::-1]:
    p = static.shape(stage.initial)[-1]
    atom: Array | None = structures.cast(
      stage.prob_zero, static.dtype_name(stage.initial)
    )
    initial, edges, _, atom = operands.constants(
      (stage.initial, stage.edges, None, atom)
    )
    initial = np.broadcast_to(initial, (*batch, p))
    times = jump_chain.sample(n, one, initial, edges, prob_zero=atom)
    drawn = stage.start + times
    if result is not None and stage.length is not None:
      drawn = np.where(times < stage.length, drawn, result)
    result = drawn
  result = structures.cast(result, dtype)
  return _without_derivatives(result, stages, _TIMES_ADVICE)


def sample(
  n: int,
  num_jumps: int,
  seed: SanitizedSeed,
  history: epoch_stages.History,
  batch: static.Shape,
) -> EpochPaths:
  """Draws exact samples of paths, as arrays of shape (n, *batch, k + 1).

  In each epoch its chain is followed for k jumps, from the phase at its start.
  Jumps beyond its end are dropped, as chains have no memory.

  Args:
    n: the number of samples for each distribution of the batch.
    num_jumps: k, the number of jumps and boundaries that are followed.
    seed: a seed as `random.sanitize_seed` returns it.
    history: the epochs' chains.
    batch: the batch shape.
  """
  seeds = random.split_seed(seed, len(history.chains) + 1)
  tables, bad = _tables_of(history.chains[0], batch)
  models, p = static.shape(tables.scales)
  uniform = random.uniform(seeds[-1], (n, models), static.wide_float())
  phases = jumps.first_phases(uniform, tables)
  events: list[_Events] = []
  for k, chain in enumerate(history.chains):
    if k > 0:
      tables, wrong = _tables_of(chain, batch)
      bad = bad | wrong
      p = static.shape(tables.scales)[-1]
    start = np.zeros_like(uniform) + _per_model(history.start(k), batch, models)
    entered, times = sample_paths.follow(
      num_jumps, False, seeds[k], tables, phases, start
    )
    # An absorbed path has no more events in its epoch, and none in later
    # epochs.
    before = entered[..., :-1]
    first = np.zeros_like(entered[..., :1]) == 0
    if k > 0:
      first = first & (phases < p)[..., None]
    happens = np.concatenate([first, before < p], axis=-1)
    length = history.length(k)
    if length is not None:
      end = _per_model(history.boundaries[..., k], batch, models)
      bad = bad | np.isnan(_per_model(length, batch, models))
      inside = times < end[..., None]
      happens = happens & inside
      phases = _mapped(history, k, _last(entered, inside), p)
    times = np.where(happens, times, math.inf)
    events.append(_Events(times, entered, np.zeros_like(entered) + k))
  joined = _Events(*(np.concatenate(x, axis=-1) for x in zip(*events)))
  sizes = [static.shape(chain.initial)[-1] for chain in history.chains]
  return _arranged(joined, num_jumps + 1, sizes, bad, (n, *batch), history)


def _per_model(
  x: Array | float, batch: static.Shape, models: int | Array
) -> Array:
  """Broadcasts an array of the batch, and flattens it to (models,)."""
  wide = structures.cast(x, static.wide_float())
  return np.reshape(np.broadcast_to(wide, batch), (models,))


def _last(phases: Array, inside: Array) -> Array:
  """Returns the last phase that is entered inside an epoch."""
  after = np.concatenate(
    [inside[..., 1:], np.zeros_like(phases[..., :1]) > 0], axis=-1
  )
  is_last = inside & np.logical_not(after)
  return structures.cast(np.sum(np.where(is_last, phases, 0), axis=-1), "int32")


def _arranged(
  events: _Events,
  count: int,
  sizes: list[int],
  bad: Array,
  shape: static.Shape,
  history: epoch_stages.History,
) -> EpochPaths:
  """Returns the first events in the order of time, and their arrays' shapes.

  After the last event of a path come copies: its time where it is absorption,
  inf where the phase is never left.
  """
  width = static.shape(events.times)[-1]
  rows = static.shape(events.times)[0] * static.shape(events.times)[1]
  times = np.reshape(events.times, (rows, width))
  order = structures.cast(np.argsort(times), "int32")[:, :count]
  places = structures.cast(np.arange(rows), "int32")[:, None] * width + order
  times, phases, epochs = (
    np.take(np.reshape(x, (-1,)), places, axis=0) for x in events
  )
  known = times < math.inf
  number = np.sum(np.where(known, 1, 0), axis=-1)
  last = structures.cast(np.arange(rows), "int32") * count + structures.cast(
    number - 1, "int32"
  )
  ends = [
    np.take(np.reshape(x, (-1,)), last, axis=0) for x in (times, phases, epochs)
  ]
  end_time, end_phase, end_epoch = ends
  all_sizes = structures.cast(np.asarray(sizes), "int32")
  absorbed = end_phase == np.take(all_sizes, end_epoch, axis=0)
  end_time = np.where(absorbed, end_time, math.inf)
  times = np.where(known, times, end_time[:, None])
  phases = np.where(known, phases, end_phase[:, None])
  epochs = np.where(known, epochs, end_epoch[:, None])
  whole = (*shape, count)
  wrong = np.zeros((shape[0], 1), dtype="int32") == 1
  wrong = np.reshape(wrong | bad, (rows, 1))
  times = np.where(wrong, math.nan, times)
  phases = np.where(wrong, -1, phases)
  times = _without_derivatives(
    np.reshape(times, whole), history.chains, _PATHS_ADVICE
  )
  return EpochPaths(np.reshape(phases, whole), times, np.reshape(epochs, whole))


def sample_totals(
  n: int,
  seed: SanitizedSeed,
  history: epoch_stages.History,
  rewards: Sequence[Array],
  batch: static.Shape,
) -> Array:
  """Draws exact samples of the rewards of paths, of shape (n, *batch, R).

  Args:
    n: the number of samples for each distribution of the batch.
    seed: a seed as `random.sanitize_seed` returns it.
    history: the epochs' chains.
    rewards: of each epoch, (..., p_k, R).
    batch: the batch shape.

  Returns:
    An array: inf for infinite totals, NaN for invalid values and where a path
    does not end after `jump_chain.MAX_JUMPS` jumps of one epoch.
  """
  size = static.shape(rewards[0])[-1]
  seeds = random.split_seed(seed, len(history.chains) + 1)
  tables, bad = _tables_of(history.chains[0], batch)
  models, _ = static.shape(tables.scales)
  uniform = random.uniform(seeds[-1], (n, models), static.wide_float())
  phases = jumps.first_phases(uniform, tables)
  totals = np.zeros((n, models, size), dtype=static.wide_float())
  for k, chain in enumerate(history.chains):
    if k > 0:
      tables, bad = _tables_of(chain, batch)
    models, p = static.shape(tables.scales)
    length = history.length(k)
    clock: Array | None = None
    if length is not None:
      clock = autodiff.stop_gradient(length)
      clock = np.reshape(np.broadcast_to(clock, batch), (models,))
    rates = autodiff.stop_gradient(rewards[k])
    rates = np.reshape(
      np.broadcast_to(rates, (*batch, p, size)), (models, p, size)
    )
    wrong = np.logical_not(np.all(np.all(np.isfinite(rates), axis=-1), axis=-1))
    bad = bad | wrong
    if clock is not None:
      bad = bad | np.isnan(clock)
    totals = totals + np.where(bad, math.nan, 0.0)[:, None]
    phases, totals = _epoch(seeds[k], tables, rates, clock, phases, totals)
    if length is not None:
      phases = _mapped(history, k, phases, p)
  totals = np.reshape(totals, (n, *batch, size))
  return _without_derivatives(totals, history.chains, _TOTALS_ADVICE)


def _epoch(
  seed: SanitizedSeed,
  tables: jump_tables.JumpTables,
  rewards: Array,
  clock: Array | None,
  phases: Array,
  totals: Array,
) -> tuple[Array, Array]:
  """Simulates paths through an epoch; returns phases at its end, and totals.

  Args:
    seed: a seed.
    tables: the tables of the epoch's chains.
    rewards: (models, p, R).
    clock: the length of the epoch, (models,); None for the last one.
    phases: at the start, (n, models).
    totals: at the start, (n, models, R).
  """
  models, p = static.shape(tables.scales)
  n, wide = static.shape(phases)[0], static.wide_float()
  stops: Array | None = None
  rates = rewards
  if clock is None:
    rates, stops = jump_tables.stopped_reward_rates(tables, rewards)
  flat = np.reshape(rates, (-1, static.shape(rewards)[-1]))
  row_of_model = p * structures.cast(np.arange(models), "int32")
  left = np.zeros((n, models), dtype=wide)
  left = left + (math.inf if clock is None else clock)

  def unfinished(carry: _Carry) -> Array:
    count, _, phase, left, _ = carry
    return (count < jump_chain.MAX_JUMPS) & np.any((phase < p) & (left > 0.0))

  def jump(carry: _Carry) -> _Carry:
    count, seed, phase, left, totals = carry
    hold_seed, turn_seed, seed = random.split_seed(seed, 3)
    running = (phase < p) & (left > 0.0)
    here = np.where(phase < p, phase, 0)
    scales = jumps.phase_values(tables.scales, here)
    stopped = left < 0.0
    if stops is not None:
      stopped = jumps.phase_values(stops, here)
      scales = np.where(stopped, 1.0, scales)
    hold = random.exponential(hold_seed, (n, models), wide)
    hold = jumps.holding_times(scales, hold, False)
    ends = np.logical_not(hold < left)
    time = np.where(ends, left, hold)
    rate = np.take(flat, here + row_of_model, axis=0)
    gain = np.where(rate == 0.0, 0.0, time[..., None] * rate)
    totals = np.where(running[..., None], totals + gain, totals)
    turn = random.uniform(turn_seed, (n, models), wide)
    target = jumps.next_phases(turn, tables, here)
    target = np.where(stopped, p, target)
    moved = running & np.logical_not(ends)
    phase = np.where(moved, target, phase)
    rest = np.where(ends, 0.0, left - time)
    return count + 1, seed, phase, np.where(running, rest, left), totals

  init = (np.asarray(0), seed, phases, left, totals)
  _, _, phases, left, totals = control_flow.while_loop(unfinished, jump, init)
  lost = (phases < p) & (left > 0.0)
  return phases, totals + np.where(lost, math.nan, 0.0)[..., None]


def _mapped(
  history: epoch_stages.History, k: int, phases: Array, p: int
) -> Array:
  """Moves phases to the next epoch's; absorbed paths, p, stay absorbed."""
  target = history.state_maps[k].targets(p)
  if target is None:
    return phases
  after = static.shape(history.chains[k + 1].initial)[-1]
  known = np.where(phases < p, phases, 0)
  return np.where(phases < p, np.take(target, known, axis=0), after)


def _tables_of(
  chain: epoch_stages.StageChain, batch: static.Shape
) -> tuple[jump_tables.JumpTables, Array]:
  """Returns the tables of an epoch's chain, and which models are invalid."""
  p = static.shape(chain.initial)[-1]
  atom = structures.cast(
    0.0 if chain.prob_zero is None else chain.prob_zero,
    static.dtype_name(chain.initial),
  )
  initial, edges, _, fixed = operands.constants(
    (chain.initial, chain.edges, None, atom)
  )
  initial = np.broadcast_to(initial, (*batch, p))
  arguments = (initial, edges, np.zeros_like(initial[..., 0]), None, fixed)
  arrays, _, parts, depth = jump_chain.prepare(arguments, False)
  return jump_chain.make_tables(False, depth, *arrays[:4], *parts)


def _without_derivatives(
  samples: Array,
  chains: Sequence[epoch_stages.Stage | epoch_stages.StageChain],
  advice: str,
) -> Array:
  """Returns samples whose derivatives in the chains raise, with an advice."""
  arrays = [x for each in chains for x in (each.initial, each.edges.parameters)]
  return jump_chain.without_derivatives(samples, *arrays, advice=advice)
