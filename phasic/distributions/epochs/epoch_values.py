"""Evaluates functions of a stage's chain at times within the stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_stages
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation

# Its inverse is in the range of all dtypes.
_LEAST_RATE = 1e-37
# Shorter times may underflow as parts of the time of one jump; it is zero in
# single precision.
_SHORT = 2.0**-900


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
