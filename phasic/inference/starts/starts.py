"""Checks the data, options and start of a fit; converts its time unit."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import likelihood_derivatives
from phasic.inference.data import observation_rules
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters.host_values import host_values
from phasic.inference.parameters.host_values import number
from phasic.inference.parameters.host_values import whole_number
from phasic.internal import raw_arguments
from phasic.internal import user_warnings
from phasic.internal.arrays import Integer

# If the means of the start and of the data differ by a larger factor, they are
# taken to be in different units of time.
_FAR = 10.0


def check_one_data_set(observations: observations_lib.Observations) -> None:
  """Raises ValueError unless there is one data set, which is not empty."""
  observations_lib.check_data(observations)
  lower, _, _ = observations_lib.host_arrays(observations)
  if onp.ndim(lower) != 1:
    raise ValueError(
      f"observations have shape {onp.shape(lower)}: they must be (n,), since "
      "one data set is fitted at a time"
    )


def check_data(
  dist: Distribution, observations: observations_lib.Observations, num_free: int
) -> None:
  """Raises ValueError if the likelihood of the data has no maximum.

  Args:
    dist: the start.
    observations: the data.
    num_free: how many free parameters are fitted.
  """
  check_one_data_set(observations)
  lower, upper, weights = observations_lib.host_arrays(observations)
  counted = weights > 0
  lower, upper = lower[counted], upper[counted]
  if not len(lower):
    raise ValueError(
      "all weights are zero: a fit needs an observation with a positive weight"
    )
  if onp.all(upper == onp.inf):
    raise ValueError(
      "all observations are right-censored: they are likeliest under a "
      "distribution that never ends; a fit needs an event"
    )
  if onp.all((lower <= 0) & (upper > onp.maximum(lower, 0.0))):
    raise ValueError(
      "all observations are left-censored, or groups that begin at zero: they "
      "are likeliest under a distribution that ends at once; a fit needs a "
      "lower end above zero"
    )
  rows = [lower, upper]
  for name in ("entry", "cause"):
    x = getattr(observations, name)
    if x is not None:
      rows.append(host_values(name, x)[counted])
  distinct = onp.unique(onp.stack(rows), axis=1).shape[-1]
  phases = getattr(dist, "num_phases", num_free)
  # A distribution of p phases has at most 2 p - 1 identifiable parameters.
  needed = min(num_free, 2 * phases - 1)
  if distinct < needed:
    plural = "s" if distinct > 1 else ""
    raise ValueError(
      f"the data have {distinct} distinct observation{plural} for {needed} free "
      "parameters of the distribution: fit one with fewer phases, or fix or tie "
      "parameters"
    )
  is_zero = upper == 0
  if onp.any(is_zero):
    at_zero = host_values("log_cdf", dist.log_cdf(onp.zeros((), dist.dtype)))
    if not at_zero > -onp.inf:
      i = int(onp.flatnonzero(counted)[onp.argmax(is_zero)])
      raise ValueError(
        f"observation {i} is zero, and the distribution has no mass there: "
        "start from ZeroInflated(dist, p) with the share p of zeros, or give "
        "an interval for the observation, lower = -1 and upper > 0"
      )


def check_options(
  starts: object,
  num_starts: Integer,
  seed: Integer,
  max_steps: Integer,
  tolerance: float,
) -> None:
  """Raises unless the options of an optimization are valid."""
  whole_number("num_starts", num_starts, 1)
  whole_number("seed", seed, 0, most=2**128 - 1)
  whole_number("max_steps", max_steps, 0)
  if not 0.0 <= number("tolerance", tolerance) < math.inf:
    raise ValueError(f"tolerance is {tolerance}: it must be >= 0 and finite")
  if starts is not None:
    raw_arguments.check_sequence("starts", starts, " of distributions")


def check_continuous(
  where: coordinates_lib.Coordinates,
  observations: observations_lib.Observations,
) -> None:
  """Raises ValueError if the likelihood jumps as a fitted entry changes."""
  jumping = entry_blocks.paths_where(where.distribution, lambda p: p.jumps)
  names = [
    name
    for name in where.names
    if entry_blocks.parameter_of(name, where.tables) in jumping
  ]
  lower, upper, weights = observations_lib.host_arrays(observations)
  exact = (weights > 0) & (lower == upper)
  if names and onp.any(exact):
    i = int(onp.argmax(exact))
    raise ValueError(
      f"free has {names[0]!r}, and observation {i} is exactly {lower[i]:g}: the "
      f"likelihood jumps where {names[0]} crosses an exact observation, so "
      f"gradients cannot find its maximum; fix {names[0]} at several values, "
      "one after the other, and compare the log likelihoods, or give the "
      "observations as intervals"
    )


def check_start(
  where: coordinates_lib.Coordinates,
  entries: onp.ndarray,
  observations: observations_lib.Observations,
) -> None:
  """Raises ValueError if the likelihood at a start is zero or NaN."""
  dist = where.distribution_at(entries)
  # The copy raises ValueError if parameters are outside of their domains.
  dist.copy(validate_args=True)
  value = likelihood_derivatives.log_likelihood(where, entries, observations)
  if not onp.isfinite(value):
    _refuse(dist, observations)


def log_likelihood_of(
  dist: Distribution, observations: observations_lib.Observations
) -> float:
  """Computes the log likelihood; raises ValueError if it is not finite."""
  with user_warnings.derived():
    result = observations.log_likelihood(dist)
  value = float(host_values("log_likelihood", result))
  if not onp.isfinite(value):
    _refuse(dist, observations)
  return value


def _refuse(
  dist: Distribution, observations: observations_lib.Observations
) -> NoReturn:
  """Raises ValueError for the first observation that is impossible, or NaN."""
  with user_warnings.derived():
    computed = observations.log_likelihood_terms(dist)
  terms = host_values("terms", computed)
  lower, upper, weights = observations_lib.host_arrays(observations)
  i = int(onp.argmax(onp.logical_not(onp.isfinite(terms)) & (weights > 0)))
  entry = observations.entry
  late = None if entry is None else float(host_values("entry", entry)[i])
  why = observation_rules.nan_reason(dist, lower[i], upper[i], late)
  said = (
    f"cannot be computed under the distribution that the fit starts from ({why}):"
    " start from one whose mean is near the mean of the data"
  )
  if terms[i] == -onp.inf:
    said = (
      "is -inf under the distribution that the fit starts from: start from one "
      "under which it is possible, or leave the observation out"
    )
  raise ValueError(
    f"the log likelihood of observation {i}, from {lower[i]:g} to {upper[i]:g}, "
    + said
  )


def check_slopes(
  where: coordinates_lib.Coordinates,
  entries: onp.ndarray,
  observations: observations_lib.Observations,
) -> None:
  """Raises ValueError if the gradient at the start is not finite."""
  inner = where.restricted(entries, entries > 0)
  _, slopes = likelihood_derivatives.value_and_gradient(
    inner, inner.entries, observations
  )
  with onp.errstate(all="ignore"):
    slopes = inner.unconstrained_gradient(inner.entries, slopes)
  if onp.all(onp.isfinite(slopes)):
    return
  at = dict(zip(inner.names, map(float, inner.entries), strict=True))
  raise ValueError(
    "the gradient of the log likelihood cannot be computed at the start, "
    f"at {at}: start from a distribution whose mean is near the mean of the data"
  )


def in_units_of(
  where: coordinates_lib.Coordinates,
  observations: observations_lib.Observations,
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
    with user_warnings.derived():
      mean = where.distribution_at(entries).mean()
  except NotImplementedError:
    return onp.nan
  return float(host_values("mean", mean)) if onp.ndim(mean) == 0 else onp.nan


def _about_mean(observations: observations_lib.Observations) -> float:
  """Computes the weighted mean of the intervals' midpoints."""
  lower, upper, weights = observations_lib.host_arrays(observations)
  known = weights > 0
  shares = weights[known] / onp.sum(weights[known])
  middles = observations_lib.middles(lower[known], upper[known])
  return float(onp.sum(shares * middles))
