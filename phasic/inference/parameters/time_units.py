"""Rescales the start of a fit to the time unit of the data."""

from __future__ import annotations

import numpy as onp

from phasic.distributions.base import inferring
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters.host_values import Intervals
from phasic.inference.parameters.host_values import host_values
from phasic.inference.parameters.host_values import observation_values

# A larger ratio of the means indicates that the time units differ.
_FAR = 10.0


def in_units_of(
  where: coordinates_lib.Coordinates, observations: Intervals
) -> onp.ndarray:
  """Scales a start so that its mean roughly equals the mean of the data.

  From a start with a very different mean, an optimizer may end at rates of very
  different sizes. All rates are multiplied by one number. The entries stay
  unchanged in discrete time, and if the mean does not scale with them, because
  some rates are fixed or are constants of a graph.

  Args:
    where: the entries of a start.
    observations: the data.
  """
  entries, data = where.entries, _about_mean(observations)
  mean = _mean(where, entries)
  if not (0.0 < mean < onp.inf and 0.0 < data < onp.inf):
    return entries
  if mean / _FAR <= data <= mean * _FAR:
    return entries
  with onp.errstate(over="ignore", under="ignore"):
    scaled = onp.where(where.groups < 0, entries * (mean / data), entries)
  if not onp.all(onp.isfinite(scaled) & ((scaled > 0) == (entries > 0))):
    return entries
  is_scaled = abs(_mean(where, scaled) / data - 1.0) < 1e-3
  return scaled if is_scaled else entries


def _mean(where: coordinates_lib.Coordinates, entries: onp.ndarray) -> float:
  """Computes the mean of a continuous-time distribution; NaN for others."""
  owners = inferring.owners(where.distribution)
  if any(getattr(owner, "_DISCRETE", False) for _, owner in owners):
    return onp.nan
  try:
    found = where.of(entries).mean()
  except NotImplementedError:
    return onp.nan
  return float(host_values("mean", found)) if onp.ndim(found) == 0 else onp.nan


def _about_mean(observations: Intervals) -> float:
  """Computes the weighted mean of the intervals' midpoints."""
  lower, upper, weights = observation_values(observations)
  known = weights > 0
  lower = onp.maximum(lower[known], 0.0)
  upper = onp.where(upper[known] < onp.inf, upper[known], lower)
  shares = weights[known] / onp.sum(weights[known])
  return float(onp.sum(shares * (lower / 2 + upper / 2)))
