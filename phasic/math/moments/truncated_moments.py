"""Moments of a time X given X <= t.

The chain is extended by a count of the events of an independent Poisson process
of rate c, in discrete time of a Bernoulli process. The extended chain ends with
an event. Its density at t gives a moment:

- k events before the absorption at u give c^(k+1) exp(-c t) times the integral
  of u^k / k! f(u) over u < t;
- k events after the absorption give the same integral of (t - u)^k / k! f(u).

In discrete time, binomial coefficients of u or t - u and k replace the powers.
So nothing is subtracted: with m = E[X | X <= t], the variance is the sum of
second moments of m - X below m and of X - m above m.

Reference: M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
  probability, 2017, ch. 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killed_chains
from phasic.math.model.model_types import Model
from phasic.math.moments import occupancy
from phasic.math.numeric import array_utils


def raw_moments(
  model: Model, limit: Array, order: int, discrete: bool
) -> Array:
  """Computes E[X^k | X <= t] for k = 1, ..., order.

  The result has shape (..., order).

  Args:
    model: initial masses, a matrix or edges, exits or None, mass at zero or
      None.
    limit: t, (...), finite and >= 0, an integer in discrete time. Results are
      NaN for other limits, and if P(X <= t) is zero.
    order: a positive int.
    discrete: whether time is discrete.
  """
  log_mass = _log_mass(model, limit, discrete)
  moments: list[Array | float] = [
    math.factorial(k) * _mean_power(k, model, limit, log_mass, discrete)
    for k in range(1, order + 1)
  ]
  if discrete:
    moments = [
      sum((float(n) * x for n, x in zip(_stirling(k), moments)), start=0.0)
      for k in range(1, order + 1)
    ]
  return np.stack(moments, axis=-1)


def mean_and_variance(
  model: Model, limit: Array, discrete: bool
) -> tuple[Array, Array]:
  """Computes the mean and the variance of X given X <= t.

  Arguments are as in `raw_moments`.
  """
  log_mass = _log_mass(model, limit, discrete)
  mean = _mean_power(1, model, limit, log_mass, discrete)
  center = np.floor(mean + 0.5) if discrete else mean
  early = _log_moment(_power_of_rest, 2, model, center, discrete)
  second_moment = 2.0 * np.exp(early - log_mass)
  initial, matrix, exits, atom = model
  # If the center equals the limit, no mass lies between them.
  inside = center < limit
  some = np.where(inside, center, 0.0)
  after = (
    occupancy.transient(model, some, discrete).probs,
    matrix,
    exits,
    np.zeros((), dtype=static.dtype_name(initial)),
  )
  arguments = (initial, matrix, some, exits, atom)
  log_left = evaluation.value("log_survival", arguments, discrete) - log_mass
  rest = np.where(inside, limit - some, 1.0)
  beyond = 2.0 * np.exp(
    _log_moment(_power_of_time, 2, after, rest, discrete) + log_left
  )
  if discrete:
    first = _log_moment(_power_of_rest, 1, model, center, discrete)
    second_moment = second_moment + np.exp(first - log_mass)
    first = _log_moment(_power_of_time, 1, after, rest, discrete)
    beyond = beyond + np.exp(first + log_left)
  second_moment = second_moment + np.where(inside, beyond, 0.0)
  if not discrete:
    return mean, second_moment
  # The center is at most half a step from the mean. So the subtraction removes
  # at most half of the second moment about the center, and loses no digits. If
  # only one count is possible, the rounded mean may make the variance negative.
  return mean, np.maximum(second_moment - np.square(mean - center), 0.0)


def early_moment(model: Model, limit: Array, order: int) -> Array:
  """Computes E[(t - X)^k / k!; X <= t] in continuous time.

  The result has shape (...). It is the integral of
  (t - u)^(k-1) / (k-1)! P(X <= u) over u from 0 to t.

  Args:
    model: as in `raw_moments`.
    limit: t, (...), finite and >= 0, else results are NaN.
    order: k, a positive int.
  """
  more = killed_chains.Integral(order, shared=False)
  return killed_chains.value(_power_of_rest, model, limit, False, more)


def _log_mass(model: Model, limit: Array, discrete: bool) -> Array:
  """Computes log P(X <= t), NaN where P(X <= t) is zero."""
  initial, matrix, exits, atom = model
  good = killed_chains.good_times(limit, discrete)
  arguments = (initial, matrix, np.where(good, limit, 0.0), exits, atom)
  log_cdf = evaluation.value("log_cdf", arguments, discrete)
  return np.where(good & (log_cdf > -math.inf), log_cdf, math.nan)


def _mean_power(
  count: int, model: Model, limit: Array, log_mass: Array, discrete: bool
) -> Array:
  log = _log_moment(_power_of_time, count, model, limit, discrete)
  return np.exp(log - log_mass)


def _log_moment(
  rule: Callable[..., Array],
  count: int,
  model: Model,
  limit: Array,
  discrete: bool,
) -> Array:
  """Computes the log of a moment by `_power_of_time` or `_power_of_rest`."""
  more = killed_chains.Integral(count, "log_density")
  return killed_chains.value(rule, model, limit, discrete, more)


def _power_of_time(
  option: killed_chains.Option,
  integral: killed_chains.Integral,
  system: chain_solves.System,
  times: Array,
) -> Array:
  """Computes E[X^k / k!; X <= t].

  In discrete time it is E[C(X, k); X <= t], a binomial coefficient.

  The power of the integral is k.
  """
  count, _, shared = integral
  killed = killed_chains.kill(option, system, times, count, shared)
  sources, targets = killed.sources, killed.targets
  p = static.shape(system.initial)[-1]
  absorbed, trap = (count + 1) * p, (count + 1) * p + 1
  phases = onp.arange(p)
  event_rates = killed.rates + np.zeros_like(system.initial)
  parts: list[killed_chains.Part] = []
  for k in range(count + 1):
    last = k == count
    out = absorbed if last else trap
    copied_targets = np.where(targets == p, out, targets + k * p)
    parts.append(
      (sources + k * p, copied_targets, killed.keep * killed.weights)
    )
    if last:
      continue
    if option.discrete:
      # A step with an event raises the count.
      out = absorbed if k + 1 == count else trap
      copied_targets = np.where(targets == p, out, targets + (k + 1) * p)
      parts.append(
        (sources + k * p, copied_targets, killed.rate * killed.weights)
      )
    else:
      parts.append((phases + k * p, phases + (k + 1) * p, event_rates))
  # More than `count` events lead to the trap.
  parts.append((phases + count * p, phases * 0 + trap, event_rates))
  parts.append((onp.asarray([absorbed]), onp.asarray([trap + 1]), killed.rates))
  rest = np.zeros_like(system.initial[..., :1])
  start = array_utils.joined(system.initial, *([rest] * (count * p + 2)))
  moment = killed_chains.integral(option, integral, killed, start, parts)
  return chain_solves.checked(system, moment)


def _power_of_rest(
  option: killed_chains.Option,
  integral: killed_chains.Integral,
  system: chain_solves.System,
  times: Array,
) -> Array:
  """Computes E[(t - X)^k / k!; X <= t].

  In discrete time it is E[C(t - X, k); X <= t], a binomial coefficient.

  The power of the integral is k.
  """
  count, _, shared = integral
  killed = killed_chains.kill(option, system, times, count, shared)
  p = static.shape(system.initial)[-1]
  trap = p + count + 1
  phases = onp.arange(p)
  event_rates = killed.rates + np.zeros_like(system.initial)
  # Absorbed mass enters phase p, and each event moves it to the next phase.
  parts = [(killed.sources, killed.targets, killed.keep * killed.weights)]
  parts.append((phases, phases * 0 + trap, event_rates))
  for k in range(count + 1):
    next_phase = trap + 1 if k == count else p + k + 1
    parts.append(
      (onp.asarray([p + k]), onp.asarray([next_phase]), killed.rates)
    )
  rest = np.zeros_like(system.initial[..., :1])
  start = array_utils.joined(
    system.initial, system.atom[..., None], *([rest] * (count + 1))
  )
  moment = killed_chains.integral(option, integral, killed, start, parts)
  return chain_solves.checked(system, moment)


def _stirling(k: int) -> list[int]:
  """Computes Stirling numbers of the second kind S(k, i), i = 1, ..., k."""
  row = [1]
  for _ in range(k - 1):
    padded = [0, *row, 0]
    row = [padded[i] + (i + 1) * padded[i + 1] for i in range(len(row) + 1)]
    # Stirling numbers satisfy S(n + 1, i) = i S(n, i) + S(n, i - 1).
  return row
