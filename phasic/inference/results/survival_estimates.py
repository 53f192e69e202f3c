"""Kaplan-Meier estimates of data and of posterior predictive data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters.host_values import host_values
from phasic.internal import random
from phasic.internal.arrays import Seed
from phasic.internal.frameworks import Foreign


class SurvivalEstimate(NamedTuple):
  """A step function that estimates a survival function, in host arrays.

  Attributes:
    times: (m,), when events were, ascending.
    survival: (m,), P(X > time) just after.
    standard_errors: (m,), by Greenwood's formula.
    num_at_risk: (m,), of how many it was known just before.
    num_events: (m,), how many events there were.

  Example: after one event among four the estimate is 3 / 4, with the standard
    error sqrt(3 / 4 x 1 / 4 / 4).

    >>> from phasic import inference
    >>> data = inference.Observations.right_censored(
    ...   [1.0, 2.0, 2.0, 5.0], [1, 1, 0, 1]
    ... )
    >>> estimate = inference.kaplan_meier(data)
    >>> print(f"{estimate.survival[0]:.4f}, {estimate.standard_errors[0]:.4f}")
    0.7500, 0.2165
  """

  times: onp.ndarray
  survival: onp.ndarray
  standard_errors: onp.ndarray
  num_at_risk: onp.ndarray
  num_events: onp.ndarray


def kaplan_meier(
  observations: observations_lib.Observations,
) -> SurvivalEstimate:
  """Computes the Kaplan-Meier estimate with statsmodels.

  At each time of an event the survival function falls by the share that the
  events have among those at risk, who entered before and have not left:

      S(t) = prod_{t_i <= t} (1 - d_i / n_i)

  Args:
    observations: `Observations` (n,) that are exact or right-censored; weights
      and entries count, causes do not.

  Raises:
    ImportError: statsmodels is missing.
    TypeError: `observations` is not an `Observations`, or is traced.
    ValueError: they are batched, one is left- or interval-censored, or none is
      an event.

  Example:

    >>> from phasic import inference
    >>> data = inference.Observations.right_censored(
    ...   [1.0, 2.0, 2.0, 5.0], [1, 1, 0, 1]
    ... )
    >>> estimate = inference.kaplan_meier(data)
    >>> print([f"{x:.2f}" for x in estimate.survival.tolist()])
    ['0.75', '0.50', '0.00']

  References:
    E. L. Kaplan, P. Meier, Nonparametric estimation from incomplete
      observations, J. Amer. Statist. Assoc. 53, 1958.
  """
  times, events, weights, entry = host_times(observations)
  estimate = product_limit(times, events, entry, weights)
  survival = onp.asarray(estimate.surv_prob)
  at_risk, num_events = (
    onp.asarray(estimate.n_risk),
    onp.asarray(estimate.n_events),
  )
  # Standard errors are computed here by Greenwood's formula, because
  # statsmodels uses another formula if there are weights.
  left = onp.where(survival > 0.0, at_risk - num_events, onp.inf)
  spread = onp.sqrt(onp.cumsum(num_events / at_risk / left))
  return SurvivalEstimate(
    onp.asarray(estimate.surv_times),
    survival,
    survival * spread,
    at_risk,
    num_events,
  )


def product_limit(
  times: onp.ndarray,
  events: onp.ndarray,
  entry: onp.ndarray,
  weights: onp.ndarray | None = None,
) -> Foreign:
  """Calls `SurvfuncRight` of statsmodels with arrays from `host_times`."""
  try:
    from statsmodels.duration import survfunc
  except ImportError as error:
    raise ImportError(
      "kaplan_meier needs statsmodels: pip install 'phasic-substrates[inference]'"
    ) from error
  return survfunc.SurvfuncRight(
    times, events, entry=entry, freq_weights=weights
  )


def host_times(
  observations: observations_lib.Observations,
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray, onp.ndarray]:
  """Returns arrays (n,): times, event indicators, weights and entry times.

  Observations without an entry time have -1.
  """
  observations_lib.check_data(observations)
  lower, upper, weights = observations_lib.host_arrays(observations)
  if onp.ndim(lower) != 1:
    raise ValueError(
      f"observations has shape {onp.shape(lower)}: it must be (n,), one data set"
    )
  events = lower == upper
  known = events | ((lower >= 0.0) & (upper == onp.inf))
  if not onp.all(known):
    i = int(onp.argmin(known))
    raise ValueError(
      f"observation {i} is ({lower[i]}, {upper[i]}]: it must be exact or "
      "right-censored; compare interval-censored observations with the "
      "distribution's cdf at the interval ends"
    )
  if not onp.any(events & (weights > 0.0)):
    raise ValueError(
      "observations has no event: at least one must be exact, not censored"
    )
  entry = onp.full_like(lower, -1.0)
  if observations.entry is not None:
    entry = host_values("entry", observations.entry)
  kept = weights > 0.0
  return lower[kept], events[kept], weights[kept], entry[kept]


# The limit on the number of values that are sampled at once. One data set is
# sampled even if it has more values.
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
  times, events, weights, entry = host_times(observations)
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
    ends = censoring_times(times, events, entry, host_values("shares", shares))
    for value, end in zip(values, ends, strict=True):
      estimate = product_limit(onp.minimum(value, end), value <= end, entry)
      curves.append(_at(estimate.surv_times, estimate.surv_prob, at))
  return onp.stack(curves)


def _values(draws: Distribution, entry: onp.ndarray, seed: Seed) -> onp.ndarray:
  """Samples X given X > entry from each draw, (draws, n)."""
  n = len(entry)
  if onp.all(entry < 0):
    return onp.transpose(host_values("draws", draws.sample(n, seed=seed)))
  shape = (n, *inferring.batch_shape(draws))
  sampling_seed = random.sanitize_seed(seed)
  spent = random.exponential(sampling_seed, shape, draws.dtype)
  return values_after(draws, entry, host_values("draws", spent))


def values_after(
  distribution: Distribution, entry: onp.ndarray, spent: onp.ndarray
) -> onp.ndarray:
  """Samples X given X > entry, by inversion.

  Args:
    distribution: a distribution with any batch shape.
    entry: (n,), below zero for none.
    spent: random numbers of the unit exponential distribution, (n, batch...).

  Returns:
    The samples, (batch..., n).
  """
  dtype = distribution.dtype
  column = onp.reshape(entry, (len(entry),) + (1,) * (onp.ndim(spent) - 1))
  start = onp.asarray(onp.maximum(column, 0.0), dtype)
  left = -spent
  if onp.any(entry >= 0):
    at_entry = distribution.log_survival_function(start)
    left = left + onp.where(column < 0, 0.0, host_values("draws", at_entry))
  sampled = distribution.quantile_log_survival(onp.asarray(left, dtype))
  # A value must exceed its entry time, also after rounding.
  after = onp.nextafter(start, onp.inf)
  if distribution.support.constraint == "nonnegative_integer":
    after = onp.floor(start) + 1.0
  least = onp.where(column < 0, 0.0, after)
  values = onp.maximum(host_values("draws", sampled), least)
  return onp.moveaxis(values, 0, -1)


def censoring_times(
  times: onp.ndarray,
  events: onp.ndarray,
  entry: onp.ndarray,
  shares: onp.ndarray,
  weights: onp.ndarray | None = None,
) -> onp.ndarray:
  """Returns censoring times, known or sampled, (..., n).

  They are known for censored observations. For an event the time is sampled
  from the Kaplan-Meier estimate of the censoring times, given that it is not
  before the event; it is inf with the probability that the estimate leaves.

  Args:
    times: (n,), of events and censorings.
    events: (n,), which times are events.
    entry: (n,), below zero for none.
    shares: (..., n), uniform random numbers.
    weights: (n,), how often each time was observed, or None for once.
  """
  limits = onp.where(events, onp.inf, times)
  known_times = onp.broadcast_to(limits, shares.shape)
  if onp.all(events):
    return known_times
  # If an event and a censoring have the same time, the event comes first.
  left = onp.where(events, onp.nextafter(times, -onp.inf), times)
  known = product_limit(left, onp.logical_not(events), entry, weights)
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
