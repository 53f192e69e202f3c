"""Samples of paths through epochs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_totals
from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import SanitizedSeed
from phasic.math.sampling import jump_chain
from phasic.math.sampling import jumps
from phasic.math.sampling import sample_paths

_ADVICE = (
  "paths through epochs have no derivative: apply stop_gradient to their times"
)


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


def sample(
  n: int,
  num_jumps: int,
  seed: SanitizedSeed,
  history: epoch_stages.History,
  batch: static.Shape,
) -> EpochPaths:
  """Draws exact samples of paths, of arrays (n, *batch, k + 1).

  In each epoch its chain is followed for k jumps, from the phase at its start.
  What lies beyond its end is dropped, as chains have no memory.

  Args:
    n: the number of samples for each distribution of the batch.
    num_jumps: k, the number of jumps and boundaries that are followed.
    seed: a seed as `random.sanitize_seed` returns it.
    history: the epochs' chains.
    batch: the batch shape.
  """
  seeds = random.split_seed(seed, len(history.chains) + 1)
  tables, bad = epoch_totals.tables_of(history.chains[0], batch)
  models, p = static.shape(tables.scales)
  uniform = random.uniform(seeds[-1], (n, models), static.wide_float())
  phases = jumps.first_phases(uniform, tables)
  found: list[_Events] = []
  for k, chain in enumerate(history.chains):
    if k > 0:
      tables, wrong = epoch_totals.tables_of(chain, batch)
      bad = bad | wrong
      p = static.shape(tables.scales)[-1]
    start = np.zeros_like(uniform) + _of_models(history.start(k), batch, models)
    entered, times = sample_paths.follow(
      num_jumps, False, seeds[k], tables, phases, start
    )
    # An absorbed path has no more events; in later epochs it has none at all.
    before = entered[..., :-1]
    first = np.zeros_like(entered[..., :1]) == 0
    if k > 0:
      first = first & (phases < p)[..., None]
    happens = np.concatenate([first, before < p], axis=-1)
    length = history.length(k)
    if length is not None:
      end = _of_models(history.boundaries[..., k], batch, models)
      bad = bad | np.isnan(_of_models(length, batch, models))
      inside = times < end[..., None]
      happens = happens & inside
      phases = epoch_totals.mapped(history, k, _last(entered, inside), p)
    times = np.where(happens, times, math.inf)
    found.append(_Events(times, entered, np.zeros_like(entered) + k))
  joined = _Events(*(np.concatenate(x, axis=-1) for x in zip(*found)))
  sizes = [static.shape(chain.initial)[-1] for chain in history.chains]
  return _arranged(joined, num_jumps + 1, sizes, bad, (n, *batch), history)


def _of_models(
  x: Array | float, batch: static.Shape, models: int | Array
) -> Array:
  """Broadcasts an array of the batch, and flattens it to (models,)."""
  wide = structures.cast(x, static.wide_float())
  return np.reshape(np.broadcast_to(wide, batch), (models,))


def _last(phases: Array, inside: Array) -> Array:
  """Returns the last phase of which the entry is inside an epoch."""
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
  pairs = [(chain.initial, chain.edges.parameters) for chain in history.chains]
  arrays = [x for pair in pairs for x in pair]
  times = jump_chain.without_derivatives(
    np.reshape(times, whole), *arrays, advice=_ADVICE
  )
  return EpochPaths(np.reshape(phases, whole), times, np.reshape(epochs, whole))
