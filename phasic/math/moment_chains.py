"""Moments of accumulated rewards, from solutions of a model's systems.

In phase i reward r_i is earned per unit of time, in discrete time per step.
With b_1 = r, raw moments are E[Y^k] = y . b_k, where y = U^T alpha and

  continuous:  b_k = k r U b_{k-1},
  discrete:    b_k = r^k + sum_{l<k} C(k, l) r^{k-l} U T b_l,

and the variance is that of the martingale of expected totals: each jump i -> j
changes what is expected by d = x_i - x_j, with x = U r. Continuous:

  Var Y = sum_e w_e z_e d_e^2 + sum_i alpha_i (x_i - E Y)^2 + z (E Y)^2.

In discrete time a jump changes it by r_i - d, a step in the same phase by r_i.
All of these are sums of what is not negative.

Reference: L. Rogers, D. Williams, Diffusions, Markov processes and martingales
  2, 1987, IV.21 (the martingales of a chain).
"""

import math
from typing import Any

import numpy as np

from phasic.internal import gradients
from phasic.internal import static
from phasic.math import chain_solves
from phasic.math import exact_sums
from phasic.math import scaled_sums


def raw(system, rewards, order):
  """Returns E[Y^k] for k = 1, ..., order, each (...).

  Args:
    system: the system.
    rewards: r, (..., p).
    order: a positive integer.
  """
  y, r, infinite = _start(system, rewards)
  reached = gradients.stop_gradient(y) > 0
  undefined = chain_solves.undefined(
    infinite, system.initial, system.weights, rewards
  )
  sums, unit, found = [r], 0.0, []
  for k in range(1, order + 1):
    total, exponent = scaled_sums.dot(y, sums[-1])
    exponent = exponent + unit - k * system.exponent
    value = scaled_sums.times_power(total, exponent)
    value = np.where(infinite, math.inf, value) + undefined
    found.append(chain_solves.checked(system, value))
    if k == order:
      break
    if system.stay is None:
      x = chain_solves.solve(system, sums[-1][..., None])[..., 0]
      size = np.where(reached, gradients.stop_gradient(x), 0.0)
      size = np.max(np.where(np.isfinite(size), size, 0.0), axis=-1)
      own = np.where(size > 0, exact_sums.exponent(size, -math.inf), 0.0)
      unit = unit + own
      x = scaled_sums.times_power(x, -own[..., None])
      sums.append((k + 1) * _product(r, x))
    else:
      sums.append(_next_sum(system, r, sums))
  return found


def variance(system, rewards):
  """Returns Var Y as a scaled number; inf where E Y is infinite.

  Args:
    system: the system.
    rewards: r, (..., p).
  """
  y, r, infinite = _start(system, rewards)
  x, d = chain_solves.solve(system, r[..., None], gives_edges=True)
  x = np.where(infinite[..., None], 0.0, x[..., 0])
  change = np.where(infinite[..., None], 0.0, d[..., 0])
  mean = np.sum(system.initial * x, axis=-1)[..., None]
  z = chain_solves.at_sources(system, y)
  one = np.ones_like(mean)
  left = exact_sums.compensated_sum(
    np.concatenate([one, -system.initial * one], axis=-1)
  )
  parts = [
    (system.initial, np.ones_like(x), x - mean),
    (left[..., None], one, mean),
  ]
  if system.stay is None:
    parts.append((system.weights, z, change))
  else:
    change = chain_solves.at_sources(system, r) - change
    parts.append((chain_solves.leaving_weights(system), z, change))
    parts.append((system.stay, y, r))
  batch = static.shape(x)[:-1]
  masses, counts, changes = (
    np.concatenate(
      [np.broadcast_to(a, (*batch, static.shape(a)[-1])) for a in column],
      axis=-1,
    )
    for column in zip(*parts, strict=True)
  )
  total, exponent = scaled_sums.dot(masses, counts, changes, changes)
  undefined = chain_solves.undefined(
    infinite, system.initial, system.weights, rewards
  )
  total = np.where(infinite, math.inf, total) + undefined
  total = chain_solves.checked(system, total)
  return total, exponent - 2 * system.exponent


def _start(system, rewards):
  """Returns y, rewards that are zero in unreached traps, and if E Y is inf."""
  y = chain_solves.sojourns(system)
  r = np.where(chain_solves.traps(system, y), 0.0, rewards)
  infinite = np.any((y == math.inf) & (r > 0), axis=-1)
  return y, r, infinite


def _product(r, x):
  """Returns r x; without reward in a phase nothing is earned there."""
  return r * np.where((r == 0) & (x == math.inf), 0.0, x)


def _next_sum(system, r, sums):
  """Returns b_k for a discrete chain from all before it."""
  k = len(sums) + 1
  # Not r**k, of which second derivatives at zero are NaN in TensorFlow.
  powers: list[Any] = [np.ones_like(r)]
  for _ in range(k):
    powers.append(powers[-1] * r)
  total = powers[k]
  for j, b in enumerate(sums, start=1):
    later = chain_solves.later_steps(system, b)
    total = total + math.comb(k, j) * _product(powers[k - j], later)
  return total
