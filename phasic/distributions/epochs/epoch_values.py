"""Functions of time with epochs, from those of the stage of each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import TypeAlias

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.epochs import epoch_stages
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.likelihood import diagnosis
from phasic.math.likelihood import hazards
from phasic.math.numeric import special

# Its inverse is in the range of all dtypes.
_LEAST_RATE = 1e-37
# Shorter times may underflow as parts of the time of one jump; it is zero in
# single precision.
_SHORT = 2.0**-900
# Its exponential is in the range of all dtypes.
_LARGEST_LOG = 80.0
_NO_START = (
  "boundaries: the state distribution at one before it cannot be computed"
)

# Functions of the stages and of times, (...), in the widest dtype.
Stages: TypeAlias = Sequence[epoch_stages.Stage]


def prob(stages: Stages, times: Array) -> Array:
  """Computes the density."""
  return _in_epochs(
    stages, times, lambda s, t: np.exp(s.log_mass) * of_kind("density", s, t)
  )


def log_prob(stages: Stages, times: Array) -> Array:
  """Computes the log density."""
  return _in_epochs(
    stages, times, lambda s, t: log_of_stage("log_density", s, t)
  )


def survival_function(stages: Stages, times: Array) -> Array:
  """Computes P(X > t)."""
  return _in_epochs(
    stages, times, lambda s, t: np.exp(s.log_mass) * of_kind("survival", s, t)
  )


def log_survival_function(stages: Stages, times: Array) -> Array:
  """Computes log P(X > t)."""
  return _in_epochs(
    stages, times, lambda s, t: log_of_stage("log_survival", s, t)
  )


def hazard_function(stages: Stages, times: Array) -> Array:
  """Computes the hazard."""
  return _in_epochs(
    stages,
    times,
    lambda s, t: hazard_of_stage(hazards.hazard_function, s, t),
  )


def log_hazard_function(stages: Stages, times: Array) -> Array:
  """Computes the log hazard."""
  return _in_epochs(
    stages,
    times,
    lambda s, t: hazard_of_stage(hazards.log_hazard_function, s, t),
  )


def cdf(stages: Stages, times: Array) -> Array:
  """Sums the probabilities of absorption in each epoch up to a time."""

  def add(before: Array | float, stage: epoch_stages.Stage, t: Array) -> Array:
    return before + np.exp(stage.log_mass) * of_kind("cdf", stage, t)

  return _accumulated(stages, times, add, 0.0)


def log_cdf(stages: Stages, times: Array) -> Array:
  """Computes log P(X <= t)."""

  def add(before: Array | None, stage: epoch_stages.Stage, t: Array) -> Array:
    if before is None:
      total = stage.log_mass + of_kind("log_cdf", stage, t)
      return seen("log_cdf", stage, t, total)
    # At a boundary the part of the later epoch is zero; its logarithm has no
    # derivatives of second order there.
    at_start = t == 0.0
    later = np.where(at_start, time_within(stage), t)
    in_stage = stage.log_mass + of_kind("log_cdf", stage, later)
    ratio = np.exp(np.minimum(stage.log_mass - before, _LARGEST_LOG))
    none = np.where(at_start, t, 0.0)
    begun = np.log1p(ratio * of_kind("cdf", stage, none))
    summed = special.logaddexp(before, in_stage)
    total = np.where(at_start, before + begun, summed)
    return seen("log_cdf", stage, t, total)

  return _accumulated(stages, times, add, None)


def occupancy(stages: Stages, times: Array) -> list[Array]:
  """Computes P(in phase j of the epoch at time t), (..., p_k) for each epoch."""
  good = (times >= 0.0) & (times < math.inf)
  times = np.where(good, times, 0.0)
  parts: list[Array] = []
  for k, stage in enumerate(stages):
    local, inside = since(stage, times)
    if k + 1 < len(stages):
      inside = inside & np.logical_not(times >= stages[k + 1].start)
    at = epoch_stages.distribution_at(stage, local)
    masses = np.exp(stage.log_mass + at.log_mass)[..., None] * at.probs
    masses = np.where(inside[..., None], masses, 0.0)
    parts.append(np.where(good[..., None], masses, math.nan))
  return parts


def reasons(kind: str, stages: Stages, times: Array) -> onp.ndarray:
  """Returns why a kind of function gives NaN at each time.

  The reason is that of the chain in the epoch of the time, or that mass lost at
  a boundary might matter.
  """
  parts: list[tuple[onp.ndarray, Array]] = []
  before = onp.asarray("ok")  # why the start of the next epoch is not known
  for stage in stages:
    if parts:
      unknown = onp.any(onp.isnan(comparable.host(stage.initial)), axis=-1)
      lost = (before == "ok") & unknown
      before = onp.where(lost, _NO_START, before)
    local, later = since(stage, times)
    chain = (stage.initial, stage.edges)
    reason = diagnosis.reasons(kind, (*chain, local, None, stage.prob_zero))
    is_first = (reason == "ok") | (before == "ok")
    parts.append((onp.where(is_first, reason, before), later))
    if stage.length is not None:
      ends = (*chain, stage.length, None, stage.prob_zero)
      why = diagnosis.reasons("log_survival", ends)
      before = onp.where(before == "ok", why, before)
  result, _ = parts[0]
  for reason, later in parts[1:]:
    result = onp.where(comparable.host(later), reason, result)
  lost = "value: mass lost at a boundary might matter there"
  return onp.where(result == "ok", lost, result)


def _in_epochs(
  stages: Stages,
  times: Array,
  function: Callable[[epoch_stages.Stage, Array], Array],
) -> Array:
  """Evaluates a function at each time, in the stage that contains it."""
  parts = []
  for stage in stages:
    local, later = since(stage, times)
    parts.append((function(stage, local), later))
  return latest(parts)


def _accumulated(
  stages: Stages,
  times: Array,
  add: Callable[..., Array],
  before: Array | float | None,
) -> Array:
  """Sums a function over all stages up to the stage of each time."""
  parts = []
  for stage in stages:
    local, later = since(stage, times)
    parts.append((add(before, stage, local), later))
    if stage.length is not None:
      before = add(before, stage, stage.length)
  return latest(parts)


def of_stage(
  function: Callable[..., Array], stage: epoch_stages.Stage, times: Array
) -> Array:
  """Evaluates a function of `math` for a stage, given that it is reached."""
  return function(times, stage.initial, stage.edges, prob_zero=stage.prob_zero)


def of_kind(kind: str, stage: epoch_stages.Stage, times: Array) -> Array:
  """Evaluates a kind of function for a stage, given that it is reached.

  Args:
    kind: as in `evaluation.value`.
    stage: the stage.
    times: (...), since its start.
  """
  atom = structures.cast(stage.prob_zero, static.dtype_name(stage.initial))
  model = (stage.initial, stage.edges, times, None, atom)
  return evaluation.value_of_arrays(kind, model)


def log_of_stage(kind: str, stage: epoch_stages.Stage, times: Array) -> Array:
  """Computes an unconditional log probability or log density in a stage."""
  logs = stage.log_mass + of_kind(kind, stage, times)
  return seen(kind, stage, times, logs)


def hazard_of_stage(
  function: Callable[..., Array], stage: epoch_stages.Stage, times: Array
) -> Array:
  """Computes the hazard in a stage, which does not depend on the stage's mass.

  Args:
    function: `hazards.hazard_function` or `log_hazard_function`.
    stage: the stage.
    times: the times since its start.
  """
  found = of_stage(function, stage, times)
  if stage.log_lost is None:
    return found
  unknown = stage.log_mass == -math.inf
  for kind in ("log_density", "log_survival"):
    unknown = unknown | np.isnan(log_of_stage(kind, stage, times))
  return np.where(unknown, math.nan, found)


def seen(
  kind: str,
  stage: epoch_stages.Stage,
  times: Array,
  logs: Array,
) -> Array:
  """Returns logs, with NaN where mass that underflowed before may matter.

  The lost mass is bounded by its value in the phase where it counts most.
  """
  if stage.log_lost is None:
    return logs
  lost = autodiff.stop_gradient(stage.log_lost)
  known = static.concrete(lost)
  if known is not None and onp.all(known == -onp.inf):
    return logs
  p = static.shape(stage.initial)[-1]
  anywhere = np.ones_like(stage.initial) / p
  edges = stage.edges._replace(
    parameters=autodiff.stop_gradient(stage.edges.parameters)
  )
  times = autodiff.stop_gradient(times)
  everywhere = stage._replace(initial=anywhere, edges=edges, prob_zero=0.0)
  most = of_kind(kind, everywhere, times) + lost
  eps = static.finfo_eps(static.dtype_name(logs))
  inside = (times > 0.0) & (times < float("inf")) & (lost > -float("inf"))
  wrong = inside & (logs < most + math.log(p / eps))
  return np.where(wrong, float("nan"), logs)


def since(stage: epoch_stages.Stage, value: Array) -> tuple[Array, Array]:
  """Returns times since a stage's start, and a mask of values not before it.

  Times outside of the stage are replaced by some within it, so that derivatives
  of unused values are finite.
  """
  later = value >= stage.start
  inside = later | True
  some = time_within(stage)
  if stage.length is not None:
    inside = np.logical_not(value >= stage.start + stage.length)
  # Negative times and NaN are not replaced in the first stage.
  if isinstance(stage.start, float):
    return np.where(inside, value, some), later
  return np.where(inside & later, value - stage.start, some), later


def time_within(stage: epoch_stages.Stage) -> Array | float:
  """Returns a time within a stage at which derivatives are in range.

  It is about the time of one jump, at most half of the length of a stage that
  is not very short.
  """
  some: Array | float = 1.0
  rates = autodiff.stop_gradient(stage.edges.parameters)
  if static.shape(rates)[-1] > 0:
    largest = np.max(rates, axis=-1)
    some = 1.0 / np.where(largest > _LEAST_RATE, largest, 1.0)
  if stage.length is not None:
    least = _SHORT * (some + np.zeros_like(stage.length))
    some = np.minimum(some, np.maximum(0.5 * stage.length, least))
  return some


def latest(parts: Sequence[tuple[Array, Array]]) -> Array:
  """Selects for each time the value of the last stage that has begun.

  Args:
    parts: for each stage its values, and a mask of the times at which it has
      begun; the first stage counts as begun at all times.
  """
  result, _ = parts[0]
  for found, begun in parts[1:]:
    result = np.where(begun, found, result)
  return result
