"""Moments of absorption times and rewards with epochs.

Those of absorption times are sums of nonnegative terms.

With c = E X and F = 1 - S the variance is E (X - c)^2, which is

    2 times the integral of (c - t) F(t) over t < c
      + 2 times the integral of (t - c) S(t) over t > c,

so that it is right however small it is beside c^2.

Covariances of rewards are those of rewards less their mean rates in each epoch,
which differ by constants if absorbed paths go on with the negative mean rates.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_edges
from phasic.distributions.epochs import epoch_rewards
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_values
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_calls
from phasic.math.elimination import moment_chains
from phasic.math.moments import renewals
from phasic.math.moments import truncated_moments
from phasic.math.numeric import array_utils

# The error of a covariance that is accepted, relative to standard deviations.
_DIGITS = {"float64": 1e-6, "float32": 1e-2}


def moment(stages: list[epoch_stages.Stage], order: int) -> Array:
  """Computes E X^k as k times the integral of t^(k - 1) P(X > t)."""
  first, *others = (_share(stage, order) for stage in stages)
  return sum(others, first)


def variance(stages: list[epoch_stages.Stage]) -> Array:
  """Computes the variance E (X - c)^2 with c = E X; it is inf if c is inf."""
  mean = moment(stages, 1)
  center = np.where(np.isfinite(mean), mean, 1.0)
  parts = []
  before: Array | float = 0.0
  for stage in stages:
    since = center - stage.start
    parts += [_below(stage, since, before), _above(stage, since)]
    if stage.length is not None:
      ended = epoch_values.of_kind("cdf", stage, stage.length)
      before = before + np.exp(stage.log_mass) * ended
  total = sum(parts[1:], parts[0])
  return np.where(np.isfinite(mean), total, mean)


def covariance(
  history: epoch_stages.History, rewards: Sequence[Array]
) -> Array:
  """Computes the covariances of rewards, (..., R, R), for rewards (..., p_k, R).

  They are NaN where a mean is infinite, and where differences leave less than
  six digits of a covariance, relative to the standard deviations (two digits in
  single precision).
  """
  size = static.shape(rewards[0])[-1]
  history = _with_traps(history)
  times = epoch_rewards.sojourn_times(history)
  centered = [
    _centered(own, time, history.length(k))
    for k, (own, time) in enumerate(zip(rewards, times, strict=True))
  ]
  mean = epoch_rewards.of_times(times, centered)
  finite = mean < math.inf
  mean = np.where(finite, mean, 0.0)
  second = epoch_rewards.cross_moments(history, centered)
  # The first R rewards are positive parts, the others negative parts.
  (up, cross), (back, down) = (
    (rows[..., :size], rows[..., size:])
    for rows in (second[..., :size, :], second[..., size:, :])
  )
  rest = mean[..., :size] - mean[..., size:]
  product = rest[..., None] * rest[..., None, :]
  with onp.errstate(invalid="ignore"):  # They may be infinite.
    found = (up - cross) - (back - down) - product
  known = finite[..., :size]
  known = known[..., None] & known[..., None, :]
  found = np.where(known | np.isnan(found), found, math.nan)
  terms = up + cross + back + down + np.abs(product)
  return np.where(_is_lost(found, terms), math.nan, found)


def _is_lost(covariances: Array, terms: Array) -> Array:
  """Returns where rounding errors of a sum of terms hide its digits."""
  fixed = autodiff.stop_gradient
  covariances, terms = fixed(covariances), fixed(terms)
  dtype = static.dtype_name(covariances)
  error = 64.0 * static.finfo_eps(dtype) * terms
  size = static.shape(terms)[-1]
  variances = np.sum(np.where(np.eye(size) > 0, covariances, 0.0), axis=-1)
  spread = np.sqrt(np.maximum(variances, 0.0))
  scale = spread[..., None] * spread[..., None, :]
  return error > _DIGITS[dtype] * scale


def _with_traps(history: epoch_stages.History) -> epoch_stages.History:
  """Adds a phase to each epoch, where absorbed paths are until the last one."""
  chains, maps = [], []
  for k, chain in enumerate(history.chains):
    edges, p = chain.edges, static.shape(chain.initial)[-1]
    atom = np.zeros_like(chain.initial[..., 0])
    if chain.prob_zero is not None:
      atom = atom + chain.prob_zero
    atom = atom[..., None]
    if k < len(history.chains) - 1:
      maps.append(history.state_maps[k].with_trap(p))
    else:
      # Paths end, those in the trap at any rate, as they gather nothing there.
      trap, end = onp.asarray([p]), onp.asarray([p + 1])
      targets = np.where(edges.targets == p, p + 1, edges.targets)
      one = np.ones_like(atom)
      edges = epoch_edges.joined(edges, targets, [(trap, end, one)])
    initial = array_utils.joined(chain.initial, atom)
    chains.append(chain._replace(initial=initial, edges=edges))
  return history._replace(chains=chains, state_maps=maps)


def _centered(rewards: Array, times: Array, length: Array | None) -> Array:
  """Subtracts mean rates of rewards in an epoch; see `_with_traps`.

  Args:
    rewards: (..., p, R).
    times: expected times in the phases, (..., p + 1).
    length: the length of the epoch, (...); None for the last one, where nothing
      is subtracted.

  Returns:
    The positive parts, then the negative parts, (..., p + 1, 2 R).
  """
  none = np.zeros_like(rewards[..., :1, :])
  signed = np.concatenate([rewards, none], axis=-2)
  if length is not None:
    fixed, eps = autodiff.stop_gradient, 64.0 * static.finfo_eps(rewards)
    own, length = fixed(rewards), fixed(length)[..., None]
    rate = np.sum(fixed(times)[..., :-1, None] * own, axis=-2) / length
    # All constants are right. The reward of a phase, if that is the rate but
    # for rounding errors, leaves nothing of a reward that is certain.
    near = np.abs(own - rate[..., None, :]) <= eps * rate[..., None, :]
    same = np.max(np.where(near, own, 0.0), axis=-2)
    rate = np.where(same > 0.0, same, rate)
    signed = signed - rate[..., None, :]
  is_up = signed >= 0.0
  up, down = np.where(is_up, signed, 0.0), np.where(is_up, 0.0, -signed)
  return np.concatenate([up, down], axis=-1)


def _share(stage: epoch_stages.Stage, order: int) -> Array:
  """Computes k times the integral of t^(k - 1) P(X > t) over one stage."""
  total: Array | float = 0.0
  shifted: Array | float = 1.0  # In the loop: start ** (order - k).
  first = isinstance(stage.start, float)
  for k in range(order, 0, -1):
    within = math.comb(order - 1, k - 1) * _time_within(stage, k)
    endless = within == math.inf
    finite = shifted * np.where(endless, 0.0, within)
    # If any term is inf, so is the first one, which has the highest order.
    total = total + np.where(endless, math.inf, finite)
    if first:  # The start is zero, and so are the other terms.
      break
    shifted = shifted * stage.start
  # A mass that underflows is not zero.
  endless = (total == math.inf) & (stage.log_mass > -math.inf)
  finite = np.where(total == math.inf, 0.0, total)
  share = order * np.exp(stage.log_mass) * finite
  return np.where(endless, math.inf, share)


def _time_within(stage: epoch_stages.Stage, order: int) -> Array:
  """Integrates u^(order - 1) S(u) over a stage, u since the stage's start.

  S(u) is the probability to be unabsorbed at u, given that the stage is
  reached.
  """
  if stage.length is None:
    atom = structures.cast(stage.prob_zero, static.dtype_name(stage.initial))
    model = (stage.initial, stage.edges, None, atom)
    if order == 1:
      return chain_calls.spread_of_arrays(chain_calls.MEAN, model, False)
    found = chain_calls.value_of_arrays(
      moment_chains.raw_moments, model, False, (order,)
    )
    return found[..., order - 1] / order
  none = np.zeros_like(stage.initial[..., 0])
  model = (stage.initial, stage.edges, None, none)
  found = renewals.limited_moment(model, stage.length, order)
  return math.factorial(order - 1) * found


def _below(
  stage: epoch_stages.Stage, since: Array, before: Array | float
) -> Array:
  """Computes 2 times the integral of (c - t) F(t) over a stage's times t < c.

  Args:
    stage: the stage.
    since: c less its start, (...).
    before: F at its start, (...).
  """
  inside = since > 0.0
  rest: Array | float = 0.0
  if stage.length is None:
    limit = np.where(inside, since, epoch_values.time_within(stage))
  else:
    ends = since > stage.length
    limit = np.where(inside & np.logical_not(ends), since, stage.length)
    rest = np.where(ends, since - stage.length, 0.0)
  atom = structures.cast(stage.prob_zero, static.dtype_name(stage.initial))
  model = (stage.initial, stage.edges, None, atom)
  first, second = (
    truncated_moments.early_moment(model, limit, order) for order in (1, 2)
  )
  own = np.exp(stage.log_mass) * (rest * first + second)
  found = before * (rest * limit + 0.5 * limit * limit) + own
  return np.where(inside, 2.0 * found, 0.0)


def _above(stage: epoch_stages.Stage, since: Array) -> Array:
  """Computes 2 times the integral of (t - c) S(t) over a stage's times t > c.

  Args:
    stage: the stage.
    since: c less its start, (...).
  """
  inside = since > 0.0
  some = epoch_values.time_within(stage)
  length: Array | None = None
  # An array of False: a stage without an end does not end before c.
  passed = since < -float("inf")
  if stage.length is not None:
    passed = since >= stage.length
    left = np.where(passed, stage.length, stage.length - since)
    length = np.where(inside, left, stage.length)
  time = np.where(inside & np.logical_not(passed), since, some)
  transient = epoch_stages.distribution_at(stage, time)
  rest = epoch_stages.Stage(
    np.where(inside[..., None], transient.probs, stage.initial),
    stage.edges,
    0.0,
    np.where(inside, 0.0, -since),
    length,
    stage.log_mass + np.where(inside, transient.log_mass, 0.0),
    None,
  )
  return np.where(passed, 0.0, _share(rest, 2))
