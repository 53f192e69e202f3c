"""Derivatives of covariances of rewards, written out; see `chain_derivatives`.

E[Y_a Y_b] = sum_i y_i (r_ia q_ib + r_ib q_ia), where y = U^T alpha and q = U r;
in discrete time q = U T r, and y_i r_ia r_ib is added. E Y_a = sum_i y_i r_ia.
"""

import math

import numpy as np

from phasic.math.elimination import chain_solves
from phasic.math.numeric import scaled_sums
from phasic.math.numpy_derivatives import chain_derivatives


def push(option, system, others, moves):
  """Tangents of `moment_chains.covariance`."""
  del option
  of_initial, of_weights, _, of_r = moves
  y, r, lost = _start(system, others[0])
  of_y = chain_derivatives.moved_sojourns(system, y, of_initial, of_weights)
  _, d = chain_solves.solve(system, r, gives_edges=True)
  q = _expected(system, r)
  none = np.zeros_like(q)
  of_q = _expected(system, of_r + none)
  along = -of_weights[..., None] * d
  of_q = of_q + chain_solves.solve(system, none, along)
  mean = np.sum(y[..., None] * r, axis=-2)
  of_mean = np.sum(of_y[..., None] * r + y[..., None] * of_r, axis=-2)
  half = _product(r, of_y[..., None] * q + y[..., None] * of_q)
  half = half + _product(of_r + none, y[..., None] * q)
  half = half - mean[..., None] * of_mean[..., None, :]
  if system.stay is not None:
    half = half + _product(of_r + none, y[..., None] * r)
    half = half + 0.5 * _product(r, of_y[..., None] * r)
  found = half + _transposed(half)
  unit = -2 * system.exponent[..., None, None]
  return scaled_sums.times_power(found, unit) + lost[..., None, None]


def pull(option, system, others, cotangent):
  """Cotangents of `moment_chains.covariance`."""
  del option
  y, r, lost = _start(system, others[0])
  unit = -2 * system.exponent[..., None, None]
  cotangent = scaled_sums.times_power(cotangent, unit)
  pairs = cotangent + _transposed(cotangent)
  x, d = chain_solves.solve(system, r, gives_edges=True)
  q = x if system.stay is None else _expected(system, r)
  mean = np.sum(y[..., None] * r, axis=-2)
  of_mean = -np.matmul(pairs, mean[..., None])
  weighted = np.matmul(q, pairs)
  of_y = np.sum(r * weighted, axis=-1) + np.matmul(r, of_mean)[..., 0]
  of_r = weighted + _transposed(of_mean)
  if system.stay is not None:
    own = np.matmul(r, pairs)
    of_y = of_y + 0.5 * np.sum(r * own, axis=-1)
    of_r = of_r + own
  of_r = y[..., None] * of_r
  of_q = y[..., None] * np.matmul(r, pairs)
  u = chain_solves.solve_transposed(system, of_q)
  of_initial, changes = chain_solves.solve(
    system, of_y[..., None], gives_edges=True
  )
  of_weights = -chain_solves.at_sources(system, y) * changes[..., 0]
  at_source = chain_solves.at_sources(system, _transposed(u))
  of_weights = of_weights - np.sum(_transposed(at_source) * d, axis=-1)
  if system.stay is None:
    of_r = of_r + u
  else:
    back = chain_derivatives.step_back(_by_column(system), _transposed(u))
    of_r = of_r + _transposed(back)
  found = of_initial[..., 0] + lost[..., None]
  none = np.zeros_like(system.atom)
  return [
    found,
    of_weights + lost[..., None],
    none,
    of_r + lost[..., None, None],
  ]


def _start(system, rewards):
  """Returns y, rewards, and NaN where a mean is infinite, else 0."""
  y, _, unreached = chain_solves.sojourns_and_traps(system)
  unreached = unreached[..., None]
  r = np.where(unreached, 0.0, rewards) + np.zeros_like(y)[..., None]
  infinite = np.any((y == math.inf)[..., None] & (r > 0), axis=(-2, -1))
  y = np.where(y == math.inf, 0.0, y)
  return y, r, np.where(infinite, math.nan, 0.0)


def _expected(system, r):
  """Returns q, (..., p, R), for rewards of that shape."""
  if system.stay is None:
    return chain_solves.solve(system, r)
  steps = chain_derivatives.step(_by_column(system), _transposed(r))
  return chain_solves.solve(system, _transposed(steps))


def _by_column(system):
  """Returns the system for arrays (..., R, p) in the place of (..., p)."""
  return system._replace(
    weights=system.weights[..., None, :], stay=system.stay[..., None, :]
  )


def _product(a, b):
  """Returns sum_i a_i b_i, (..., R, R)."""
  return np.matmul(_transposed(a), b)


def _transposed(x):
  return np.moveaxis(x, -1, -2)
