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

An exact time, or one that is right-censored, belongs to one epoch. An interval
may extend over several: its probability is the sum of what lies in each of
them, so that narrow intervals in far tails keep their digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.distributions.base import observed_events
from phasic.distributions.epochs import epoch_stages
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.likelihood import expected_statistics
from phasic.math.likelihood import observations
from phasic.math.m_step import rate_updates
from phasic.math.numeric import special


class Piece(NamedTuple):
  """The part of each observation that lies in one epoch.

  Attributes:
    lower: the lower ends, since the start of the epoch, (..., n).
    upper: the upper ends; equal ones are an exact time.
    log_prob: the log of the probability, or density, that the observation is
      made and absorption is in the epoch, or after it where right-censored.
  """

  lower: Array
  upper: Array
  log_prob: Array


class Observed(NamedTuple):
  """Observations, and the stages from which their probabilities are computed.

  Attributes:
    stages: the stages of the epochs, or of one cause.
    lower: lower ends, as in `pieces`.
    upper: upper ends.
    weights: w, (..., n); observations of weight zero are ignored.
  """

  stages: Sequence[epoch_stages.Stage]
  lower: Array
  upper: Array
  weights: Array


def pieces(
  stages: Sequence[epoch_stages.Stage], lower: Array, upper: Array
) -> list[Piece]:
  """Divides observations among epochs.

  Args:
    stages: the stages of the epochs, or of one cause; their batch
      broadcasts with the ends.
    lower: lower ends, as `Observations` has them; below zero for X <= upper.
    upper: upper ends; equal to `lower` for exact times, inf for right-censored
      ones.
  """
  parts = []
  for k, stage in enumerate(stages):
    end = stages[k + 1].start if k + 1 < len(stages) else None
    low, high, meets = _within(stage, end, lower, upper)
    logs = stage.log_mass + _log_prob(stage, low, high)
    # A stage that is never reached has no distribution of phases: no
    # observation is in it.
    meets = meets & np.logical_not(stage.log_mass == -math.inf)
    parts.append(Piece(low, high, np.where(meets, logs, -math.inf)))
  return parts


def log_of_pieces(
  stages: Sequence[epoch_stages.Stage], parts: Sequence[Piece]
) -> Array:
  """Computes the log probabilities of observations from their pieces.

  They are NaN where mass that was lost at a boundary may matter.
  """
  total = _sum([piece.log_prob for piece in parts])
  bounds = []
  for stage, piece in zip(stages, parts, strict=True):
    lost = epoch_stages.lost_before(stage)
    if lost is None:
      continue
    everywhere, scale = lost
    bound = scale + _log_prob(
      everywhere,
      autodiff.stop_gradient(piece.lower),
      autodiff.stop_gradient(piece.upper),
    )
    counts = (piece.log_prob > -math.inf) | np.isnan(piece.log_prob)
    bounds.append(np.where(counts, bound, -math.inf))
  if not bounds:
    return total
  return np.where(total < _sum(bounds), math.nan, total)


def _within(
  stage: epoch_stages.Stage,
  end: Array | float | None,
  lower: Array,
  upper: Array,
) -> tuple[Array, Array, Array]:
  """Returns local ends of observations, and whether an epoch has part in them.

  The others have the ends of an event that is certain.
  """
  exact, right = lower == upper, upper == math.inf
  whole = exact | right
  low, high = lower, upper
  begun = meets = (lower >= 0.0) | True  # All times are in the first epoch.
  if not isinstance(stage.start, float):
    begun, meets = lower >= stage.start, upper > stage.start
    low, high = lower - stage.start, upper - stage.start
    low = np.where(begun, low, 0.0)
  if end is not None:
    assert stage.length is not None  # Another epoch follows.
    before = np.logical_not(lower >= end)
    begun, meets = begun & before, meets & before
    high = np.where((upper >= end) & np.logical_not(whole), stage.length, high)
  high = np.where(exact, low, high)
  has_part = np.where(whole, begun, meets)
  return (
    np.where(has_part, low, -1.0),
    np.where(has_part, high, math.inf),
    has_part,
  )


def _log_prob(stage: epoch_stages.Stage, lower: Array, upper: Array) -> Array:
  """Computes log probabilities of local ends, given that a stage is reached."""
  atom = structures.cast(stage.prob_zero, static.dtype_name(stage.initial))
  return observations.log_likelihood_terms(
    stage.initial, stage.edges, lower, upper, prob_zero=atom
  )


def _sum(logs: Sequence[Array]) -> Array:
  """Computes the logarithm of a sum of exponentials."""
  total = logs[0]
  for x in logs[1:]:
    total = special.logaddexp(total, x)
  return total


def observed_kind(
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
    # X <= inf holds for all paths, whose sojourns may be infinite. So an
    # infinite end becomes NaN, as in `math`.
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
  """Returns observations by cause, and expected numbers of unseen times.

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
    lower, upper, offset = observed_events.cut(lower, upper, entry, upper)
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
    log_of_pieces(stages, pieces(stages, start, end))
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
  """Converts statistics (batch..., 1, p) to the statistics of an M-step."""
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
    each = pieces(item.stages, item.lower, item.upper)
    total = log_of_pieces(item.stages, each)
    # Impossible observations have no statistics: they become NaN.
    total = np.where(total == -math.inf, math.nan, total)
    if as_parts:
      total = np.where(np.isnan(total), total, 0.0)
    for k, piece in enumerate(each):
      shares = np.exp(piece.log_prob - total)
      weights = np.where(item.weights == 0.0, 0.0, item.weights * shares)
      piece_statistics = _piece_statistics(
        item.stages[k], piece, weights, batch
      )
      parts[k].append(_trimmed(piece_statistics, stages[k]))
  last = len(stages) - 1
  by_epoch = [_added(parts[last])]
  for k in range(last - 1, -1, -1):
    passed = _passing(
      stages[k], stages[k + 1], state_maps[k], by_epoch[0].starts, batch
    )
    by_epoch.insert(0, _added([*parts[k], passed]))
  return by_epoch


def _piece_statistics(
  stage: epoch_stages.Stage,
  piece: Piece,
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
    following: the stage of the next epoch.
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
  # The kernel does not accept subnormal rates, so that they become zero.
  ratios = np.where(ratios < onp.finfo(dtype).tiny, 0.0, ratios)
  assert stage.length is not None  # Another epoch follows.
  time = _broadcast(stage.length[..., None], batch)
  phases = onp.arange(p)
  edges = epoch_stages.joined_edges(
    stage.edges,
    stage.edges.targets,
    [
      (phases, phases * 0 + (p + 1), ratios / time),
      (phases, phases * 0 + p, (1.0 - ratios) / time),
    ],
  )
  more = np.concatenate([initial, np.zeros_like(initial[..., :1])], axis=-1)
  passing = expected_statistics.expected_statistics(
    time[..., 0],
    more,
    edges,
    None,
    structures.cast(stage.prob_zero, dtype),
    weights=count,
  )
  trimmed = _trimmed(passing, stage)
  return trimmed._replace(
    exits=np.zeros_like(trimmed.exits), atom=np.zeros_like(trimmed.atom)
  )


def _trimmed(
  whole: expected_statistics.ExpectedStatistics, stage: epoch_stages.Stage
) -> expected_statistics.ExpectedStatistics:
  """Leaves out phases and edges that the chain of a stage does not have."""
  p = static.shape(stage.initial)[-1]
  edges = static.shape(stage.edges.sources)[-1]
  return whole._replace(
    starts=whole.starts[..., :p],
    sojourns=whole.sojourns[..., :p],
    jumps=whole.jumps[..., :edges],
    exits=whole.exits[..., :p],
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
