"""Moments of accumulated rewards, from solutions of linear systems.

In phase i reward r_i accumulates per unit of time, in discrete time per step.
With b_1 = r, raw moments are E[Y^k] = y . b_k, where y = U^T alpha and

  continuous:  b_k = k r U b_{k-1},
  discrete:    b_k = r^k + sum_{l<k} C(k, l) r^{k-l} U T b_l,

The variance is computed from the martingale of expected totals: each jump
i -> j changes the expected total by d = x_i - x_j, with x = U r. Continuous:

  Var Y = sum_e w_e y_i d_e^2 + sum_i alpha_i (x_i - E Y)^2 + z (E Y)^2,

summed over edges e = i -> j, with the mass z at zero. In discrete time a jump
changes the expected total by r_i - d, a step in the same phase by r_i.
All sums have nonnegative terms.

Reference: L. Rogers, D. Williams, Diffusions, Markov processes and martingales
  2, 1987, IV.21 (the martingales of a chain).
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_solves
from phasic.math.numeric import array_utils
from phasic.math.numeric import exact_sums


def raw_moments(
  order: int, system: chain_solves.System, rewards: Array | None = None
) -> Array:
  """Computes the moments E[Y^k], k = 1, ..., order; the shape is (..., order).

  Args:
    order: a positive integer.
    system: the system.
    rewards: r, (..., p); None for a reward of one in each phase.
  """
  rewards = _checked_rewards(system, rewards)
  y, _, r, infinite = _start(system, rewards)
  reached = autodiff.stop_gradient(y) > 0
  undefined = chain_solves.undefined(
    infinite, system.initial, system.weights, rewards
  )
  sums, moments = [r], []
  unit: Array | float = 0.0
  for k in range(1, order + 1):
    total, exponent = exact_sums.dot(y, sums[-1])
    exponent = exponent + unit - k * system.exponent
    value = exact_sums.times_power(total, exponent)
    value = np.where(infinite, math.inf, value) + undefined
    moments.append(chain_solves.checked(system, value))
    if k == order:
      break
    if system.stay is None:
      x = chain_solves.solve(system, sums[-1][..., None])[..., 0]
      scale = chain_solves.largest_exponent(np.where(reached, x, 0.0))
      unit = unit + scale
      x = exact_sums.times_power(x, -scale[..., None])
      sums.append((k + 1) * _product(r, x))
    else:
      sums.append(_next_sum(system, r, sums))
  return np.stack(moments, axis=-1)


def variance(root: bool, system: chain_solves.System) -> Array:
  """Computes the variance of the time, or the standard deviation.

  Both are infinite where the mean is.

  Args:
    root: whether to return the standard deviation.
    system: the system.
  """
  rewards = _checked_rewards(system, None)
  y, z, r, infinite = _start(system, rewards)
  r = np.where(infinite[..., None], 0.0, r)
  parts = _changes(system, y, z, r[..., None])
  batch = static.shape(parts[0][2])[:-2]
  masses, counts, changes = (
    np.concatenate(
      [np.broadcast_to(a, (*batch, static.shape(a)[-1])) for a in column],
      axis=-1,
    )
    for column in zip(*((m, c, d[..., 0]) for m, c, d in parts), strict=True)
  )
  total, exponent = exact_sums.dot(masses, counts, changes, changes)
  undefined = chain_solves.undefined(infinite, system.initial, system.weights)
  total = np.where(infinite, math.inf, total) + undefined
  total = chain_solves.checked(system, total)
  finish = exact_sums.root if root else exact_sums.times_power
  return finish(total, exponent - 2 * system.exponent)


def means(system: chain_solves.System, rewards: Array) -> Array:
  """Computes the means of accumulated rewards, an array of shape (..., R).

  Arguments are as in `covariance`.
  """
  y, _, r, infinite, undefined = start_all(system, rewards)
  columns = np.moveaxis(r, -1, -2)
  total, exponent = exact_sums.dot(y[..., None, :], columns)
  exponent = exponent - system.exponent[..., None]
  total = exact_sums.times_power(total, exponent)
  total = np.where(infinite, math.inf, total) + undefined[..., None]
  return total * np.where(system.bad, math.nan, 1.0)[..., None]


def covariance(system: chain_solves.System, rewards: Array) -> Array:
  """Computes the covariances of accumulated rewards.

  The result has shape (..., R, R). Covariances are NaN where a mean is
  infinite.

  Args:
    system: the system.
    rewards: (..., p, R).
  """
  y, z, r, infinite, undefined = start_all(system, rewards)
  parts = _changes(system, y, z, r)
  sizes = [np.max(np.abs(d), axis=-2) for _, _, d in parts]
  largest = np.max(np.stack(sizes, axis=-2), axis=-2)
  scale = chain_solves.largest_exponent(largest[..., None])
  total: Array | float = 0.0
  for masses, counts, changes in parts:
    changes = exact_sums.times_power(changes, -scale[..., None, :])
    weighted = (masses * counts)[..., None] * changes
    total = total + np.matmul(np.moveaxis(weighted, -1, -2), changes)
  pairs = scale[..., None] + scale[..., None, :]
  lost = infinite[..., None] | infinite[..., None, :]
  covariances = np.where(lost, math.nan, total) + undefined[..., None, None]
  exponent = pairs - 2 * system.exponent[..., None, None]
  covariances = exact_sums.times_power(covariances, exponent)
  return covariances * np.where(system.bad, math.nan, 1.0)[..., None, None]


def cross_moments(system: chain_solves.System, rewards: Array) -> Array:
  """Computes E[Y_a Y_b] for all a and b; inf where a mean is infinite.

  The result has shape (..., R, R). Arguments are as in `covariance`.
  """
  y, _, r, infinite, undefined = start_all(system, rewards)
  reached = (autodiff.stop_gradient(y) > 0)[..., None]
  if system.stay is None:
    x = chain_solves.solve(system, r)
  else:
    columns = [
      chain_solves.later_steps(system, r[..., a])
      for a in range(static.shape(r)[-1])
    ]
    x = np.stack(columns, axis=-1)
  scale = chain_solves.largest_exponent(
    np.moveaxis(np.where(reached, x, 0.0), -1, -2)
  )
  x = exact_sums.times_power(x, -scale[..., None, :])
  weighted = np.moveaxis(_product(r, y[..., None]), -1, -2)
  total = np.matmul(weighted, np.where(x == math.inf, 0.0, x))
  # Scale by both powers at once: either power alone may be out of range.
  exponent = scale[..., None, :] - 2 * system.exponent[..., None, None]
  total = exact_sums.times_power(total, exponent)
  total = total + np.moveaxis(total, -1, -2)
  if system.stay is not None:
    total = total + np.matmul(weighted, r)
  lost = infinite[..., None] | infinite[..., None, :]
  total = np.where(lost, math.inf, total) + undefined[..., None, None]
  return total * np.where(system.bad, math.nan, 1.0)[..., None, None]


def _changes(
  system: chain_solves.System, y: Array, z: Array, r: Array
) -> list[tuple[Array, Array, Array]]:
  """Splits the covariances of R accumulated rewards into sums of products.

  The covariance of two rewards is a sum of products of a mass, an expected
  count and the changes of both expected totals.

  Args:
    system: the system.
    y: U^T alpha, (..., p).
    z: y at the sources of the edges, (..., m).
    r: rewards, (..., p, R).

  Returns:
    A list of masses (..., n), expected counts (..., n) and changes of the
    expected totals (..., n, R), the last with the full batch shape.
  """
  x, d = chain_solves.solve(system, r, gives_edges=True)
  mean = np.sum(system.initial[..., None] * x, axis=-2)[..., None, :]
  # Differences in a trap are NaN. On edges that are never taken they do not
  # matter, so they are set to zero.
  unused = (autodiff.stop_gradient(z) == 0)[..., None] & np.logical_not(
    np.isfinite(d)
  )
  d = np.where(unused, 0.0, d)
  one = np.ones_like(mean[..., 0])
  mass_at_zero = exact_sums.compensated_sum(
    np.concatenate([one, -system.initial * one], axis=-1)
  )
  parts = [
    (system.initial, np.ones_like(x[..., 0]), x - mean),
    (mass_at_zero[..., None], one, mean),
  ]
  if system.stay is None:
    parts.append((system.weights, z, d))
  else:
    source_rewards = chain_solves.at_sources(system, np.moveaxis(r, -1, -2))
    d = np.moveaxis(source_rewards, -1, -2) - d
    parts.append((chain_solves.leaving_weights(system), z, d))
    parts.append((system.stay, y, r + np.zeros_like(x)))
  return parts


def _checked_rewards(
  system: chain_solves.System, rewards: Array | None
) -> Array:
  """Returns the rewards, (..., p), with NaN in place of invalid rewards."""
  if rewards is None:
    return np.ones_like(system.initial)
  good = (rewards >= 0) & np.isfinite(rewards)
  if array_utils.are_true(good):
    return rewards
  return rewards * np.where(good, 1.0, math.nan)


def start_all(
  system: chain_solves.System, rewards: Array
) -> tuple[Array, Array, Array, Array, Array]:
  """Computes sojourn times, and finds rewards whose expected total is inf.

  Args:
    system: the system.
    rewards: (..., p, R).

  Returns:
    y = U^T alpha (..., p), zero in traps; y at the sources of the edges (...,
    m); the rewards, zero in traps that alpha cannot reach and where their total
    is infinite; whether the total is infinite, (..., R); and 0, (...), whose
    derivatives are NaN if a total is infinite.
  """
  rewards = _checked_rewards(system, rewards)
  y, z, unreached = chain_solves.sojourns_and_traps(system)
  r = array_utils.zero_where(unreached[..., None], rewards)
  infinite = np.any((y == math.inf)[..., None] & (r > 0), axis=-2)
  undefined = chain_solves.undefined(
    np.any(infinite, axis=-1),
    system.initial,
    system.weights,
    np.sum(rewards, axis=-1),
  )
  # Rewards of infinite totals are set to zero, since callers set these totals
  # to inf. All other rewards are zero in the traps that alpha reaches, so the
  # infinite times there can be set to zero, too.
  r = array_utils.zero_where(infinite[..., None, :], r)
  y, z = (np.where(x == math.inf, 0.0, x) for x in (y, z))
  return y, z, r, infinite, undefined


def _start(
  system: chain_solves.System, rewards: Array
) -> tuple[Array, Array, Array, Array]:
  """Computes sojourn times, and whether the expected total reward is infinite.

  Returns:
    y and z as in `start_all`; the rewards, zero in traps that alpha cannot
    reach; and whether E Y is infinite, (...).
  """
  y, z, unreached = chain_solves.sojourns_and_traps(system)
  r = np.where(unreached, 0.0, rewards)
  infinite = np.any((y == math.inf) & (r > 0), axis=-1)
  return y, z, r, infinite


def _product(r: Array, x: Array) -> Array:
  """Computes r x, where a reward of zero times inf is zero."""
  return r * np.where((r == 0) & (x == math.inf), 0.0, x)


def _next_sum(
  system: chain_solves.System, r: Array, sums: Sequence[Array]
) -> Array:
  """Computes the next sum b_k in the recursion of discrete moments.

  Here `sums` are b_1, ..., b_{k-1}, as described above for this module.
  """
  k = len(sums) + 1
  # Second derivatives of r**k at zero are NaN in TensorFlow, so powers are
  # computed as products.
  powers: list[Array] = [np.ones_like(r)]
  for _ in range(k):
    powers.append(powers[-1] * r)
  total = powers[k]
  for j, b in enumerate(sums, start=1):
    later = chain_solves.later_steps(system, b)
    total = total + math.comb(k, j) * _product(powers[k - j], later)
  return total
