"""Probabilities of observed times, as sums over epochs.

An exact time, or one that is right-censored, belongs to one epoch. An interval
may extend over several: its probability is the sum of what lies in each of
them. Nothing is subtracted, so that narrow intervals in far tails keep their
digits.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_stages
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.likelihood import observations
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


def pieces(
  stages: Sequence[epoch_stages.Stage], lower: Array, upper: Array
) -> list[Piece]:
  """Divides observations among epochs.

  Args:
    stages: the stages of the epochs, or those of one cause; their batch
      broadcasts with the ends.
    lower: lower ends, as `Observations` has them; below zero for X <= upper.
    upper: upper ends; equal to `lower` for exact times, inf for right-censored
      ones.
  """
  found = []
  for k, stage in enumerate(stages):
    end = stages[k + 1].start if k + 1 < len(stages) else None
    low, high, own = _within(stage, end, lower, upper)
    logs = stage.log_mass + _log_prob(stage, low, high)
    # A stage that is never reached has no distribution of phases.
    own = own & np.logical_not(stage.log_mass == -math.inf)
    found.append(Piece(low, high, np.where(own, logs, -math.inf)))
  return found


def log_prob(
  stages: Sequence[epoch_stages.Stage], found: Sequence[Piece]
) -> Array:
  """Computes the log probabilities of observations from their pieces.

  They are NaN where mass that was lost at a boundary may matter.
  """
  total = _sum([piece.log_prob for piece in found])
  bounds = []
  for stage, piece in zip(stages, found, strict=True):
    if stage.log_lost is None:
      continue
    lost = autodiff.stop_gradient(stage.log_lost)
    known = static.concrete(lost)
    if known is not None and onp.all(known == -math.inf):
      continue
    most = lost + _log_prob(
      _anywhere(stage),
      autodiff.stop_gradient(piece.lower),
      autodiff.stop_gradient(piece.upper),
    )
    own = (piece.log_prob > -math.inf) | np.isnan(piece.log_prob)
    p = static.shape(stage.initial)[-1]
    eps = static.finfo_eps(static.dtype_name(most))
    bounds.append(np.where(own, most + math.log(p / eps), -math.inf))
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
  own = np.where(whole, begun, meets)
  return np.where(own, low, -1.0), np.where(own, high, math.inf), own


def _anywhere(stage: epoch_stages.Stage) -> epoch_stages.Stage:
  """Returns a stage that starts in all phases alike, without derivatives."""
  p = static.shape(stage.initial)[-1]
  rates = autodiff.stop_gradient(stage.edges.parameters)
  return stage._replace(
    initial=np.ones_like(stage.initial) / p,
    edges=stage.edges._replace(parameters=rates),
    prob_zero=0.0,
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
