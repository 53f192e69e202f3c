"""Posterior predictive data, censored and truncated like the observed data."""

from __future__ import annotations

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.data import survival_estimates
from phasic.inference.parameters.host_values import host_values
from phasic.internal import random
from phasic.internal.arrays import Seed

# The limit on values that are drawn at once; one data set is always drawn.
_AT_ONCE = 2**18


def predicted_survival(
  draws: Distribution,
  num_draws: int,
  observations: observations_lib.Observations,
  at: onp.ndarray,
  seed: Seed,
) -> onp.ndarray:
  """Samples a data set from each draw; computes their Kaplan-Meier estimates.

  Args:
    draws: a distribution with batch shape (draws,).
    num_draws: how many these are.
    observations: (n,), exact or right-censored, whose weights are counts.
    at: (m,), times.
    seed: of the samples.

  Returns:
    Survival functions at these times, (draws, m).

  Raises:
    ValueError: weights are not whole numbers, or samples are NaN.
  """
  times, events, weights, entry = survival_estimates.host_times(observations)
  odd = weights != onp.floor(weights)
  if onp.any(odd):
    raise ValueError(
      f"observations has a weight of {weights[onp.argmax(odd)]}: predictions "
      "need weights that are counts, whole numbers"
    )
  rows = onp.repeat(onp.arange(len(times)), onp.asarray(weights, int))
  times, events, entry = times[rows], events[rows], entry[rows]
  step = max(1, _AT_ONCE // len(rows))
  firsts = range(0, num_draws, step)
  seeds = random.split_seed(random.sanitize_seed(seed), len(firsts))
  curves = []
  for first, chunk_seed in zip(firsts, seeds, strict=True):
    one, other = random.split_seed(chunk_seed)
    values = _values(draws[first : first + step], entry, one)
    missing = onp.any(values != values, axis=1)
    if onp.any(missing):
      raise ValueError(
        f"draws[{first + int(onp.argmax(missing))}] has NaN samples: "
        "predictions need finite draws; drop them or refit"
      )
    shares = random.uniform(other, values.shape, "float32")
    ends = _censoring_times(times, events, entry, host_values("shares", shares))
    for value, end in zip(values, ends, strict=True):
      estimate = survival_estimates.product_limit(
        onp.minimum(value, end), value <= end, entry
      )
      curves.append(_at(estimate.surv_times, estimate.surv_prob, at))
  return onp.stack(curves)


def _values(draws: Distribution, entry: onp.ndarray, seed: Seed) -> onp.ndarray:
  """Samples X given X > entry from each draw, (draws, n)."""
  n = len(entry)
  if onp.all(entry < 0):
    return onp.transpose(host_values("draws", draws.sample(n, seed=seed)))
  start = onp.asarray(onp.maximum(entry, 0.0)[:, None], draws.dtype)
  at_entry = host_values("draws", draws.log_survival_function(start))
  sampling_seed = random.sanitize_seed(seed)
  spent = random.exponential(sampling_seed, onp.shape(at_entry), draws.dtype)
  left = onp.where(entry[:, None] < 0, 0.0, at_entry)
  left = onp.asarray(left - host_values("draws", spent), draws.dtype)
  sampled = host_values("draws", draws.quantile_log_survival(left))
  # A value must exceed its entry time, also after rounding.
  after = onp.nextafter(start, onp.inf)
  if draws.support.constraint == "nonnegative_integer":
    after = onp.floor(start) + 1.0
  least = onp.where(entry[:, None] < 0, 0.0, after)
  return onp.transpose(onp.maximum(sampled, least))


def _censoring_times(
  times: onp.ndarray,
  events: onp.ndarray,
  entry: onp.ndarray,
  shares: onp.ndarray,
) -> onp.ndarray:
  """Returns censoring times, known or sampled, (draws, n).

  They are known for censored observations. For an event the time is sampled
  from the Kaplan-Meier estimate of the censoring times, given that it is not
  before the event; it is inf with the probability that the estimate leaves.
  """
  limits = onp.where(events, onp.inf, times)
  known_times = onp.broadcast_to(limits, shares.shape)
  if onp.all(events):
    return known_times
  # An event precedes a censoring at the same time.
  left = onp.where(events, onp.nextafter(times, -onp.inf), times)
  known = survival_estimates.product_limit(left, onp.logical_not(events), entry)
  before = _at(known.surv_times, known.surv_prob, left)
  index = onp.searchsorted(
    -onp.asarray(known.surv_prob), -(shares * before), side="right"
  )
  drawn = onp.append(known.surv_times, onp.inf)[index]
  return onp.where(events, drawn, known_times)


def _at(
  times: onp.ndarray, survival: onp.ndarray, at: onp.ndarray
) -> onp.ndarray:
  """Evaluates a step function that estimates a survival function."""
  index = onp.searchsorted(times, at, side="right")
  return onp.append(1.0, survival)[index]
