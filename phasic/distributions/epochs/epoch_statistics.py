"""Expected statistics of the paths in each epoch, given observations.

In the epoch in which an observation is made they are those of its chain, from
the distribution of phases at its start. A path that passes an epoch of length D
is seen at its end in a phase, which counts by

    P(observation | in that phase at the boundary) / P(observation).

The statistics of the later epoch have these ratios: the expected number of
paths that start it in a phase, over the probability of that phase. As all paths
reach an epoch with the same distribution, the ratios of all observations are
summed, and one call of the kernel serves them all: that of a chain in which
each phase leads to an end at a rate in proportion to its ratio, and to a trap
at the rest of a common rate, given that the end is at time D. Nothing is
subtracted that could lose digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.distributions.base import chain_events
from phasic.distributions.epochs import epoch_edges
from phasic.distributions.epochs import epoch_intervals
from phasic.distributions.epochs import epoch_stages
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.likelihood import expected_statistics
from phasic.math.m_step import rate_updates


class Observed(NamedTuple):
  """Observations, and the stages that have their probabilities.

  Attributes:
    stages: the stages of the epochs, or those of one cause.
    lower: lower ends, as in `epoch_intervals.pieces`.
    upper: upper ends.
    weights: w, (..., n); observations of weight zero are ignored.
  """

  stages: Sequence[epoch_stages.Stage]
  lower: Array
  upper: Array
  weights: Array


def of_kind(
  kind: str,
  stages: Sequence[epoch_stages.Stage],
  times: Array,
  upper: Array | None,
  weights: Array,
  batch: static.Shape,
) -> Observed:
  """Returns observations of one kind, such as "log_survival".

  Args:
    kind: the kind, not used if there are upper ends.
    stages: the stages of the epochs.
    times: (...).
    upper: upper ends, (...), or None.
    weights: (...).
    batch: the batch shape of the distribution.

  Raises:
    ValueError: shapes do not broadcast.
  """
  lower, ends = times, times
  if upper is not None:
    ends = upper
  elif kind in ("log_survival", "survival"):
    ends = np.zeros_like(times) + math.inf
  elif kind not in ("log_density", "density"):
    # As in `math`, sojourns of all paths are not known to be finite.
    ends = np.where(times < math.inf, times, math.nan)
    lower = np.zeros_like(times) - 1.0
  arrays = lower, ends, weights
  try:
    shape = static.broadcast_shapes(*map(static.shape, arrays), batch)
  except ValueError:
    raise ValueError(
      f"value has shape {static.shape(times)}, upper {static.shape(ends)} and "
      f"weights {static.shape(weights)}: they must broadcast with each other "
      f"and the batch shape {batch}"
    ) from None
  return Observed(stages, *(np.broadcast_to(x, shape) for x in arrays))


def observed(
  stages: Sequence[epoch_stages.Stage],
  by_cause: Mapping[str | None, Sequence[epoch_stages.Stage]],
  lower: Array,
  upper: Array | None,
  weights: Array | None,
  entry: Array | None,
  cause: Array | None,
) -> list[Observed]:
  """Returns observations by cause, and unseen ones before times of entry.

  For each observation that is made only where X > e, P(X <= e) / P(X > e)
  unseen ones are expected, see `inference.em.e_step`.

  Args:
    stages: the stages of the epochs.
    by_cause: the stages of each cause, in the order of their numbers; not used
      if `cause` is None.
    lower: as the others in `hooks.Hooks._em_update`.
    upper: None where all are exact.
    weights: None for ones.
    entry: None if observations do not start late.
    cause: numbers of causes, or None.
  """
  wide = static.wide_float()
  lower = structures.cast(lower, wide)
  upper = lower if upper is None else structures.cast(upper, wide)
  if weights is None:
    weights = np.ones_like(lower)
  weights = structures.cast(weights, wide)
  unseen: list[Observed] = []
  if entry is not None:
    entry = structures.cast(entry, wide)
    lower, upper, offset = chain_events.cut(lower, upper, entry, upper)
    possible = (weights == 0.0) | (offset > -math.inf)
    weights = np.where(possible, weights, math.nan)
    unseen = [_unseen(stages, entry, weights)]
  if cause is None:
    return [Observed(stages, lower, upper, weights), *unseen]
  any_cause = np.where(cause < 0, weights, 0.0)
  seen = [Observed(stages, lower, upper, any_cause)]
  for number, part in enumerate(by_cause.values()):
    of_it = np.where(cause == number, weights, 0.0)
    seen.append(Observed(part, lower, upper, of_it))
  return [*seen, *unseen]


def _unseen(
  stages: Sequence[epoch_stages.Stage], entry: Array, weights: Array
) -> Observed:
  """Returns the unseen observations before times of entry."""
  none = (entry < 0.0) | (weights == 0.0)
  until = np.where(entry < 0.0, 1.0, entry)
  before, later = np.zeros_like(until) - 1.0, np.zeros_like(until) + math.inf
  logs = [
    epoch_intervals.log_prob(stages, epoch_intervals.pieces(stages, start, end))
    for start, end in ((before, until), (until, later))
  ]
  number = np.where(none, 0.0, weights * np.exp(logs[0] - logs[1]))
  start, end = (
    np.broadcast_to(x, static.shape(number)) for x in (before, until)
  )
  return Observed(stages, start, end, number)


def sufficient(
  given: expected_statistics.ExpectedStatistics,
  batch: static.Shape,
  dtype: str,
) -> rate_updates.SufficientStatistics:
  """Converts statistics (batch..., 1, p) to those that an M-step takes."""
  rank = len(batch)
  starts, sojourns, jumps, exits, atom = (
    structures.cast(
      np.reshape(x, (*batch, *static.shape(x)[rank + 1 :])), dtype
    )
    for x in given
  )
  return rate_updates.SufficientStatistics(
    starts, sojourns, jumps, exits, np.zeros_like(exits), atom
  )


def statistics(
  stages: Sequence[epoch_stages.Stage],
  state_maps: Sequence[state_maps_lib.StateMap],
  observed: Sequence[Observed],
  batch: static.Shape,
  as_parts: bool = False,
) -> list[expected_statistics.ExpectedStatistics]:
  """Computes the statistics of each epoch, summed over observations.

  Args:
    stages: the stages of the epochs.
    state_maps: the maps of phases at boundaries.
    observed: the observations.
    batch: the batch shape of the result.
    as_parts: whether expectations are those of statistics times the indicator
      of the observation, and not conditional on it.
  """
  parts: list[list[expected_statistics.ExpectedStatistics]] = [
    [] for _ in stages
  ]
  for item in observed:
    each = epoch_intervals.pieces(item.stages, item.lower, item.upper)
    total = epoch_intervals.log_prob(item.stages, each)
    # Impossible observations have no statistics.
    total = np.where(total == -math.inf, math.nan, total)
    if as_parts:
      total = np.where(np.isnan(total), total, 0.0)
    for k, piece in enumerate(each):
      shares = np.exp(piece.log_prob - total)
      weights = np.where(item.weights == 0.0, 0.0, item.weights * shares)
      own = _of_piece(item.stages[k], piece, weights, batch)
      parts[k].append(_trimmed(own, stages[k]))
  last = len(stages) - 1
  found = [_added(parts[last])]
  for k in range(last - 1, -1, -1):
    passed = _passing(
      stages[k], stages[k + 1], state_maps[k], found[0].starts, batch
    )
    found.insert(0, _added([*parts[k], passed]))
  return found


def _of_piece(
  stage: epoch_stages.Stage,
  piece: epoch_intervals.Piece,
  weights: Array,
  batch: static.Shape,
) -> expected_statistics.ExpectedStatistics:
  """Computes statistics of observations in their epoch."""
  initial = _initial(stage, batch)
  return expected_statistics.expected_statistics(
    piece.lower,
    initial,
    stage.edges,
    None,
    structures.cast(stage.prob_zero, static.dtype_name(initial)),
    weights=weights,
    upper=piece.upper,
  )


def _passing(
  stage: epoch_stages.Stage,
  following: epoch_stages.Stage,
  state_map: state_maps_lib.StateMap,
  starts: Array,
  batch: static.Shape,
) -> expected_statistics.ExpectedStatistics:
  """Computes statistics in an epoch of paths that reach the next one.

  Args:
    stage: the stage of the epoch.
    following: that of the next epoch.
    state_map: the map of phases between them.
    starts: the expected numbers of paths that start the next epoch in each
      phase, (..., q).
    batch: the batch shape of the result.
  """
  initial = _initial(stage, batch)
  dtype, p = static.dtype_name(initial), static.shape(initial)[-1]
  count = np.sum(starts, axis=-1)
  shares = starts / np.where(count > 0.0, count, 1.0)[..., None]
  probs = _initial(following, batch)
  there = probs > 0.0
  ratios = np.where(there, shares / np.where(there, probs, 1.0), 0.0 * shares)
  targets = state_map.targets(p)
  if targets is not None:
    ratios = np.take(ratios, targets, axis=-1)
  top = np.max(ratios, axis=-1)[..., None]
  ratios = ratios / np.where(top == 0.0, 1.0, top)
  # The kernel takes no subnormal rates.
  ratios = np.where(ratios < onp.finfo(dtype).tiny, 0.0, ratios)
  assert stage.length is not None  # Another epoch follows.
  time = _broadcast(stage.length[..., None], batch)
  phases = onp.arange(p)
  edges = epoch_edges.joined(
    stage.edges,
    stage.edges.targets,
    [
      (phases, phases * 0 + (p + 1), ratios / time),
      (phases, phases * 0 + p, (1.0 - ratios) / time),
    ],
  )
  more = np.concatenate([initial, np.zeros_like(initial[..., :1])], axis=-1)
  found = expected_statistics.expected_statistics(
    time[..., 0],
    more,
    edges,
    None,
    structures.cast(stage.prob_zero, dtype),
    weights=count,
  )
  own = _trimmed(found, stage)
  return own._replace(
    exits=np.zeros_like(own.exits), atom=np.zeros_like(own.atom)
  )


def _trimmed(
  found: expected_statistics.ExpectedStatistics, stage: epoch_stages.Stage
) -> expected_statistics.ExpectedStatistics:
  """Leaves out phases and edges that the chain of a stage does not have."""
  p = static.shape(stage.initial)[-1]
  edges = static.shape(stage.edges.sources)[-1]
  return found._replace(
    starts=found.starts[..., :p],
    sojourns=found.sojourns[..., :p],
    jumps=found.jumps[..., :edges],
    exits=found.exits[..., :p],
  )


def _added(
  parts: Sequence[expected_statistics.ExpectedStatistics],
) -> expected_statistics.ExpectedStatistics:
  return expected_statistics.ExpectedStatistics._make(
    sum(each[1:], each[0]) for each in zip(*parts, strict=True)
  )


def _initial(stage: epoch_stages.Stage, batch: static.Shape) -> Array:
  """Returns the distribution of phases; any, if a stage is never reached."""
  never = (stage.log_mass == -math.inf)[..., None]
  p = static.shape(stage.initial)[-1]
  return _broadcast(np.where(never, 1.0 / p, stage.initial), batch)


def _broadcast(x: Array, batch: static.Shape) -> Array:
  """Broadcasts an array (..., p) to a batch."""
  return np.broadcast_to(x, (*batch, static.shape(x)[-1]))
