"""Log likelihoods of times under distributions with effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic import distributions
from phasic import inference
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.regression import parts


class Effects(NamedTuple):
  """The linear predictors of observations, in the layout of their chains.

  Attributes:
    time: log factors of times, in the shape of the observations; None for none.
    intensity: log factors of the intensities of an inhomogeneous chain, in the
      shape of the batch of chains; None for none.
    initial_probs: log odds of the phases against the reference, (batch of
      observations or chains..., p), -inf for phases that never are the first;
      None for none.
    params: effects on parameters, in the shape of the batch of chains, by name;
      with their links.
  """

  time: Array | None
  intensity: Array | None
  initial_probs: Array | None
  params: Mapping[str, tuple[str, Array]]


def log_likelihood_terms(
  dist: distributions.Distribution,
  effects: Effects,
  observations: inference.Observations,
) -> Array:
  """Computes the log likelihood of each observation.

  Times are rescaled, and so is the density: with t' = t exp(-eta) it is
  f(t') exp(-eta), so that one call serves all subjects. Other effects make a
  batch of chains.

  Args:
    dist: the distribution without effects.
    effects: the effects.
    observations: (n,), or (r, l) for r chains.

  Returns:
    The terms, in the shape of the observations.
  """
  dist = _with_chains(dist, effects)
  jacobian = None
  if effects.time is not None:
    jacobian = _jacobian(observations, effects.time)
    observations = _rescaled(observations, np.exp(-effects.time))
  if effects.initial_probs is None:
    terms = observations.log_likelihood_terms(dist)
  else:
    has_chains = bool(effects.params) or effects.intensity is not None
    terms = _mixed_terms(dist, effects.initial_probs, observations, has_chains)
  return terms if jacobian is None else terms + jacobian


def with_effects(
  dist: distributions.Distribution, effects: Effects
) -> distributions.Distribution:
  """Returns the batch of distributions of subjects with given effects."""
  dist = _with_chains(dist, effects)
  if effects.initial_probs is not None:
    probs = np.exp(_log_shares(effects.initial_probs))
    dist = parts.replaced(dist, parts.shares_name(dist), lambda _: probs)
  if effects.time is not None:
    scaled: Any = dist
    dist = scaled * np.exp(effects.time)
  return dist


def _with_chains(
  dist: distributions.Distribution, effects: Effects
) -> distributions.Distribution:
  """Returns the batch of distributions with effects on chains."""
  for name, (link, effect) in effects.params.items():
    dist = parts.with_effect(dist, name, link, effect)
  if effects.intensity is not None:
    dist = parts.sped_up(dist, effects.intensity)
  return dist


def _log_shares(log_odds: Array) -> Array:
  """Computes logarithms of probabilities, given log odds (..., p)."""
  return log_odds - _log_sum(log_odds, -1)[..., None]


def _jacobian(observations: inference.Observations, effect: Array) -> Array:
  """Returns minus the effect for exact times, and zero for intervals."""
  lower, upper = observations.lower, observations.upper
  exact = (lower == upper) & (lower > 0)
  return np.where(exact, -effect, 0.0)


def _rescaled(
  observations: inference.Observations, factor: Array
) -> inference.Observations:
  """Multiplies all times by a factor; ends that are infinite stay so."""

  def scaled(times: Array) -> Array:
    is_time = (times > 0) & (times < float("inf"))
    return np.where(is_time, np.where(is_time, times, 1.0) * factor, times)

  lower = scaled(observations.lower)
  upper = observations.upper
  # Exact observations share one array, so that times are evaluated once.
  is_exact = upper is observations.lower
  entry = observations.entry
  return inference.Observations(
    lower,
    None if is_exact else scaled(upper),
    None,
    None if entry is None else scaled(entry),
    observations.cause,
  )


def _mixed_terms(
  dist: distributions.Distribution,
  log_odds: Array,
  observations: inference.Observations,
  has_chains: bool,
) -> Array:
  """Computes terms of mixtures over the first phase.

  Probabilities of events are linear in the initial probabilities: one call has
  those of all phases, and each subject mixes them.
  """
  name = parts.shares_name(dist)
  size = static.shape(log_odds)[-1]
  assert isinstance(size, int)
  units = onp.eye(size)
  if has_chains:
    units = units[:, None, :]
  by_phase = parts.replaced(
    dist, name, lambda x: np.zeros_like(x) + np.asarray(units, x.dtype)
  )
  weights = np.moveaxis(_log_shares(log_odds), -1, 0)
  if has_chains:
    weights = weights[..., None]
  lower, upper, entry = (
    observations.lower,
    observations.upper,
    observations.entry,
  )
  if entry is not None:
    # What of an interval is before the entry is cut off.
    late = (lower != upper) & (entry >= 0)
    lower = np.where(late, np.maximum(lower, entry), lower)
  cause = observations.cause
  events = inference.Observations(
    lower[None],
    None if upper is observations.lower else upper[None],
    None,
    None,
    None if cause is None else cause[None],
  )
  terms = _log_sum(weights + events.log_likelihood_terms(by_phase), 0)
  if entry is None:
    return terms
  later = inference.Observations(
    entry[None], np.zeros_like(entry[None]) + float("inf")
  )
  given = _log_sum(weights + later.log_likelihood_terms(by_phase), 0)
  return terms - np.where(entry >= 0, given, 0.0)


def _log_sum(x: Array, axis: int) -> Array:
  """Computes the logarithm of a sum of exponentials along an axis."""
  top = autodiff.stop_gradient(np.max(x, axis=axis))
  top = np.where(np.isfinite(top), top, 0.0)
  spread = top[None] if axis == 0 else top[..., None]
  return np.log(np.sum(np.exp(x - spread), axis=axis)) + top
