"""Resamples of the observations of a fit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters.host_values import host_values
from phasic.inference.results import estimates
from phasic.inference.results import fits
from phasic.inference.results import information
from phasic.inference.results import model_fits
from phasic.inference.results import survival_estimates
from phasic.internal import raw_arguments
from phasic.internal import static

Observations = observations_lib.Observations
METHODS = ("cases", "parametric")
_WAY_OUT = "use method='cases'"


class Sample(NamedTuple):
  """A resample of the data of a fit.

  Attributes:
    data: `Observations`, or the data of a model.
    weights: the weights of a model's observations, (n,); else None.
  """

  data: Any
  weights: onp.ndarray | None = None


def check(
  fit: estimates.Estimates, method: str, clusters: object = None
) -> onp.ndarray | None:
  """Raises unless a fit's observations can be resampled.

  Args:
    fit: the fit.
    method: one of `METHODS`.
    clusters: a label of each observation, (n,), or None.

  Returns:
    The numbers of the observations' clusters, (n,), or None without clusters.
    An observation of weight zero has the number -1.

  Raises:
    TypeError: labels of clusters cannot be compared with each other.
    ValueError: the method is unknown, the observations are not a sample or, for
      parametric resamples, are not exact or right-censored or have an event
      without a cause; or clusters do not fit.
  """
  raw_arguments.check_string("method", method)
  if method not in METHODS:
    raise ValueError(
      f"method is {raw_arguments.shown(method)}: it must be one of {METHODS}"
    )
  weights = estimates.likelihood_of(fit).weights
  if len(weights) > 1 and onp.sum(weights) < 1.0 + 1e-9:
    raise ValueError(
      f"the weights of the observations sum to {onp.sum(weights):g}: they must "
      "be counts, as a bootstrap needs a sample; give counts as weights"
    )
  if method == "cases":
    return None if clusters is None else information.numbered(clusters, weights)
  if clusters is not None:
    raise ValueError(
      "clusters are given, and method is 'parametric': values from the fitted "
      f"distribution are independent; {_WAY_OUT}"
    )
  observations = estimates.counted_by(fit)
  if observations is None:
    raise ValueError(
      "method is 'parametric', and the model does not say how its data are drawn: "
      f"{_WAY_OUT}"
    )
  lower, upper, _ = observations_lib.host_arrays(observations)
  events = lower == upper
  known = events | ((lower >= 0) & (upper == math.inf)) | (weights == 0)
  if not onp.all(known):
    i = int(onp.argmin(known))
    raise ValueError(
      f"observation {i} is from {lower[i]:g} to {upper[i]:g}: for parametric "
      "resamples it must be exact or right-censored, since times of other "
      f"inspections are not known; {_WAY_OUT}"
    )
  if observations.cause is not None:
    cause = host_values("cause", observations.cause)
    lost = events & (weights > 0) & (cause < 0)
    if onp.any(lost):
      i = int(onp.argmax(lost))
      raise ValueError(
        f"cause[{i}] is -1: for parametric resamples the cause of each event "
        f"must be known; {_WAY_OUT}"
      )
  return None


def resample(
  fit: estimates.Estimates,
  method: str,
  random: onp.random.Generator,
  clusters: onp.ndarray | None = None,
) -> Sample:
  """Draws new observations, as `bootstrap` describes.

  Args:
    fit: the fit.
    method: one of `METHODS`.
    random: the source of random numbers.
    clusters: what `check` returned.
  """
  if isinstance(fit, fits.Fit):
    if method == "cases":
      return Sample(_cases(fit.observations, random, clusters))
    return Sample(_parametric(fit.distribution, fit.observations, random))
  assert isinstance(fit, model_fits.ModelFit)
  if method == "cases":
    return Sample(fit.data, _new_weights(fit.weights, random, clusters))
  observations = estimates.counted_by(fit)
  assert observations is not None
  dists = fit.model.distributions(fit.parameters, fit.data)
  drawn = _parametric(dists, observations, random, repeats=False)
  return Sample(fit.model.with_observations(fit.data, drawn), fit.weights)


def _cases(
  observations: Observations,
  random: onp.random.Generator,
  clusters: onp.ndarray | None,
) -> Observations:
  """Draws observations, or clusters, with replacement.

  How often they were drawn becomes their weight, so that arrays keep shapes.
  """
  # The upper ends are None if all observations are exact.
  lower, upper, _, entry, cause = observations.counting()
  _, _, weights = observations_lib.host_arrays(observations)
  new = _new_weights(weights, random, clusters)
  new = onp.asarray(new, static.dtype_name(lower))
  return Observations(lower, upper, new, entry, cause)


def _new_weights(
  weights: onp.ndarray,
  random: onp.random.Generator,
  clusters: onp.ndarray | None,
) -> onp.ndarray:
  """Draws observations, or clusters, and returns their new weights, (n,)."""
  kept = weights > 0
  if clusters is not None:
    num_clusters = int(onp.max(clusters)) + 1
    counts = _counts(random, onp.ones(num_clusters))
    return onp.where(kept, weights * counts[clusters], 0.0)
  if _are_counts(weights):
    return _counts(random, weights)
  return weights * _counts(random, onp.where(kept, 1.0, 0.0))


def _parametric(
  distribution: Distribution,
  observations: Observations,
  random: onp.random.Generator,
  repeats: bool = True,
) -> Observations:
  """Draws values from the fitted distribution, and censors them.

  Args:
    distribution: one, or a batch with one for each observation.
    observations: the observations.
    random: the source of random numbers.
    repeats: whether weights are counts, and rows are repeated.
  """
  lower, upper, weights = observations_lib.host_arrays(observations)
  entry = onp.full_like(lower, -1.0)
  if observations.entry is not None:
    entry = host_values("entry", observations.entry)
  rows = onp.flatnonzero(weights > 0)
  new_weights: onp.ndarray | None = None
  if not repeats:
    rows, new_weights = onp.arange(len(weights)), weights
  elif _are_counts(weights):
    rows = onp.repeat(rows, onp.asarray(weights[rows], int))
  else:
    new_weights = weights[rows]
  times, entry = lower[rows], entry[rows]
  events = times == upper[rows]
  spent = random.standard_exponential(len(rows))
  values = survival_estimates.values_after(distribution, entry, spent)
  ends = survival_estimates.censoring_times(
    times, events, entry, random.random(len(rows)), new_weights
  )
  seen = values <= ends
  times = onp.minimum(values, ends)
  dtype = static.dtype_name(observations.lower)
  cause = None
  if observations.cause is not None:
    drawn = _drawn_causes(distribution, onp.asarray(times, dtype), random)
    cause = onp.where(seen, drawn, -1)
  return Observations(
    onp.asarray(times, dtype),
    None
    if onp.all(events)
    else onp.asarray(onp.where(seen, times, math.inf), dtype),
    None if new_weights is None else onp.asarray(new_weights, dtype),
    None if observations.entry is None else onp.asarray(entry, dtype),
    cause,
  )


def _drawn_causes(
  distribution: Distribution, times: onp.ndarray, random: onp.random.Generator
) -> onp.ndarray:
  """Draws the cause of an event at each time; -1 where no cause is possible."""
  causes = inferring.causes(distribution) or ()
  logs = onp.stack(
    [
      host_values(
        "terms",
        Observations(
          times, cause=onp.full(len(times), number, onp.int32)
        ).log_likelihood_terms(distribution),
      )
      for number in range(len(causes))
    ]
  )
  largest = onp.max(logs, axis=0)
  sums = onp.cumsum(
    onp.exp(logs - onp.where(largest > -math.inf, largest, 0.0)), axis=0
  )
  drawn = onp.sum(sums <= random.random(len(times)) * sums[-1], axis=0)
  return onp.asarray(onp.where(sums[-1] > 0, drawn, -1), onp.int32)


def _are_counts(weights: onp.ndarray) -> bool:
  """Returns whether weights are whole numbers: how often a row was observed."""
  return bool(onp.all(weights == onp.floor(weights)))


def _counts(random: onp.random.Generator, sizes: onp.ndarray) -> onp.ndarray:
  """Draws rows with probabilities proportional to sizes, and counts them.

  The sum of the sizes is the number of draws.
  """
  total = onp.sum(sizes)
  counts = random.multinomial(int(total), sizes / total)
  return onp.asarray(counts, onp.float64)
