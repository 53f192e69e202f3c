"""Likelihoods of observations of distributions that are not of one chain."""

from __future__ import annotations

import math

import numpy as np

from phasic.distributions.base import chain_events
from phasic.distributions.base import hooks
from phasic.internal.arrays import Array
from phasic.math.numeric import special


def log_likelihood_terms(
  distribution: hooks.Hooks,
  lower: Array,
  upper: Array,
  entry: Array | None,
) -> Array:
  """Computes log P(observation | X > entry), (..., n), from cdf and density.

  Unless the distribution computes it itself, the mass of an interval is a
  difference, P(X > l) - P(X > u) or P(X <= u) - P(X <= l), whichever is the
  smaller pair: its relative error is some eps times min(P(X > l), P(X <= u)) /
  P(l < X <= u).
  """
  if entry is None:
    return _unconditional(distribution, lower, upper)
  lower, upper, offset = chain_events.cut(lower, upper, entry, upper)
  found = _unconditional(distribution, lower, upper) + offset
  return special.log_conditional(
    found, distribution._log_survival_function(entry)
  )


def with_causes(
  distribution: hooks.Hooks,
  lower: Array,
  upper: Array,
  entry: Array | None,
  cause: Array,
) -> Array:
  """Computes log P(observation, cause | X > entry), (..., n).

  Args:
    distribution: one that has causes, and no chain.
    lower: (..., n), as all the others.
    upper: those of right-censored observations with a cause give NaN.
    entry: or None.
    cause: the number of the cause, -1 where it is not known.
  """
  distribution = distribution._for_one_call()
  causes = distribution._causes()
  assert causes is not None  # The caller knows that there are causes.
  known = (cause < 0) | ((upper < math.inf) & (cause < len(causes)))
  shift = np.zeros_like(lower)
  if entry is not None:
    lower, upper, shift = chain_events.cut(lower, upper, entry, upper)
    shift = special.log_conditional(
      shift, distribution._log_survival_function(entry)
    )
  found = _unconditional(distribution, lower, upper)
  # Unlike a selection, the product with NaN makes derivatives NaN as well.
  found = found * np.where(known, np.ones_like(found), math.nan)
  for number, name in enumerate(causes):
    # Others are an event that is certain.
    own = known & (cause == number)
    value = distribution._log_observed_by(
      np.where(own, lower, -1.0), np.where(own, upper, math.inf), name
    )
    found = np.where(own, value, found)
  return found + shift


def _unconditional(
  distribution: hooks.Hooks, lower: Array, upper: Array
) -> Array:
  """Computes log P(observation), (..., n), without delayed entry."""
  distribution = distribution._for_one_call()
  own = distribution._log_observed(lower, upper)
  if own is not None:
    return own * np.where(upper >= lower, np.ones_like(own), math.nan)
  exact, right = lower == upper, upper == math.inf
  left = np.logical_not(exact) & np.logical_not(right) & (lower < 0)
  between = np.logical_not(exact) & np.logical_not(right) & np.logical_not(left)
  # A time where all functions are finite, for values not selected below.
  ordinary = np.where(right, lower, upper)
  ordinary = np.where((ordinary > 0) & (ordinary < math.inf), ordinary, 1.0)
  log_prob = distribution._log_prob(np.where(exact, lower, ordinary))
  start = np.where(right | between, lower, ordinary)
  end = np.where(left | between, upper, ordinary)
  alive = distribution._log_survival_function(start)
  ended = distribution._log_cdf(end)
  found = np.where(exact, log_prob, np.where(right, alive, ended))
  later = np.where(between, upper, ordinary)
  begun = between & (lower > 0)
  mass = special.log_interval_mass(
    between,
    lower == 0,
    (alive, distribution._log_survival_function(later)),
    (distribution._log_cdf(np.where(begun, lower, ordinary)), ended),
    distribution._cdf(np.zeros_like(ordinary)),
  )
  found = np.where(between, mass, found)
  # Unlike a selection, the product with NaN makes derivatives NaN as well.
  return found * np.where(upper >= lower, np.ones_like(found), math.nan)
