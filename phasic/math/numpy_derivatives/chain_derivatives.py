"""Derivatives of the rules of `chain_calls`, written out.

A derivative rule is told by two functions of the option, the system and the
arrays beside it:

    push(option, system, others, moves) -> tangent of the result,
    pull(option, system, others, cotangent) -> cotangents,

where moves and cotangents are lists of those of alpha, the system's weights,
the mass at zero and the others. Along dw the solution x = U b moves by
U (0; -dw d), with d its differences along edges, and a gradient in weights is
-z d: nothing is subtracted that the elimination has not.
"""

import math
from typing import Any

import numpy as np

from phasic.internal import segments
from phasic.internal import static
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing as killing_lib
from phasic.math.numeric import scaled_sums


def push_raw_moments(order, system, others, moves):
  """Tangents of `moment_chains.raw_moments`."""
  of_initial, of_weights, _, *of_others = moves
  y, r, infinite = _start(system, others)
  of_r = of_others[0] if of_others else np.zeros_like(r)
  of_y = moved_sojourns(system, y, of_initial, of_weights)
  later: list[Any] = []
  of_later: list[Any] = []
  found = []
  for k in range(1, order + 1):
    b, of_b = _next_sum(system, k, r, of_r, later, of_later)
    moved = np.sum(of_y * b + y * of_b, axis=-1)
    unit = -k * system.exponent
    moved = scaled_sums.times_power(moved, unit)
    found.append(np.where(infinite, math.nan, moved))
    if k < order:
      x, d = _solve(system, b)
      along = _solve_moved(system, of_weights, d)
      if system.stay is None:
        later.append(x)
        of_later.append(_apply(system, of_b) + along)
      else:
        later.append(_apply(system, step(system, b)))
        of_later.append(_apply(system, step(system, of_b)) + along)
  return np.stack(found, axis=-1)


def pull_raw_moments(order, system, others, cotangent):
  """Cotangents of `moment_chains.raw_moments`."""
  y, r, infinite = _start(system, others)
  z = chain_solves.at_sources(system, y)
  later: list[Any] = []
  differences = []
  none = np.zeros_like(r)
  of_initial = of_weights = 0.0
  weighted = []
  for k in range(1, order + 1):
    b, _ = _next_sum(system, k, r, none, later, later)
    x, d = _solve(system, b)
    steps = system.stay is not None
    later.append(_apply(system, step(system, b)) if steps else x)
    differences.append(d)
    unit = -k * system.exponent
    ct = scaled_sums.times_power(cotangent[..., k - 1], unit)[..., None]
    weighted.append(ct)
    of_initial = of_initial + ct * x
    of_weights = of_weights - ct * z * d
  of_r = none
  of_sums: dict[int, Any] = {}
  for k in range(order, 0, -1):
    of_b = weighted[k - 1] * y
    if k < order:
      of_later = none
      for j in range(k + 1, order + 1):
        of_later = of_later + _share(system, j, k, r) * of_sums[j]
      u = chain_solves.solve_transposed(system, of_later[..., None])[..., 0]
      at_source = chain_solves.at_sources(system, u)
      of_weights = of_weights - at_source * differences[k - 1]
      of_b = of_b + (u if system.stay is None else step_back(system, u))
    of_sums[k] = of_b
    of_r = of_r + of_b * _slope(system, k, r, later)
  lost = np.where(infinite, math.nan, 1.0)[..., None]
  found = [of_initial * lost, of_weights * lost, np.zeros_like(system.atom)]
  return [*found, of_r * lost] if others else found


def push_sojourn_times(option, system, others, moves):
  """Tangent of `chain_passages.sojourn_times`."""
  del option, others
  y = chain_solves.sojourns(system)
  moved = moved_sojourns(system, y, moves[0], moves[1])
  return scaled_sums.times_power(moved, -system.exponent[..., None])


def pull_sojourn_times(option, system, others, cotangent):
  """Cotangents of `chain_passages.sojourn_times`."""
  del option, others
  y = chain_solves.sojourns(system)
  unit = -system.exponent[..., None]
  x, d = _solve(system, scaled_sums.times_power(cotangent, unit))
  of_weights = -chain_solves.at_sources(system, y) * d
  return [x, of_weights, np.zeros_like(x[..., 0])]


def pull_laplace(option, system, others, cotangent):
  """Cotangents of `chain_passages.laplace`."""
  del option
  (u,) = others
  killing = scaled_sums.times_power(u, -system.exponent)
  of_initial, of_weights, of_killing = _pull_killed(
    system, system.weights, killing, cotangent
  )
  of_u = scaled_sums.times_power(of_killing, -system.exponent)
  of_u = of_u * np.where(u >= 0, 1.0, math.nan)
  return [of_initial, of_weights, cotangent, of_u]


def pull_generating(option, system, others, cotangent):
  """Cotangents of `chain_passages.generating`."""
  del option
  z = others[0] * np.where((others[0] >= 0) & (others[0] <= 1), 1.0, math.nan)
  of_initial, of_weights, of_killing = _pull_killed(
    system, z[..., None] * system.weights, 1.0 - z, cotangent
  )
  of_z = np.sum(of_weights * system.weights, axis=-1) - of_killing
  return [of_initial, of_weights * z[..., None], cotangent, of_z]


def _pull_killed(system, weights, killing, cotangent):
  """Returns cotangents of alpha, the weights and what kills, (...)."""
  mortal, alive = killing_lib.killed(system, weights, killing[..., None])
  p = static.shape(system.initial)[-1]
  m = static.shape(system.weights)[-1]
  none = np.zeros_like(system.initial)[..., None]
  x, d = chain_solves.solve(mortal, none, alive[..., None], True)
  z = chain_solves.at_sources(mortal, chain_solves.sojourns(mortal))
  ct = cotangent[..., None]
  change = -d[..., 0]
  ends = np.where(np.asarray(system.indices[1]) == p, 1.0, 0.0)
  of_weights = ct * z[..., :m] * (ends + change[..., :m])
  of_killing = np.sum(ct * z[..., m:] * change[..., m:], axis=-1)
  return ct * x[..., 0], of_weights, of_killing


def push_laplace(option, system, others, moves):
  """Tangent of `chain_passages.laplace`."""
  return _contracted(pull_laplace, option, system, others, moves)


def push_generating(option, system, others, moves):
  """Tangent of `chain_passages.generating`."""
  return _contracted(pull_generating, option, system, others, moves)


def _contracted(pull, option, system, others, moves):
  """Returns the tangent of one number for each model."""
  one = np.ones_like(others[0] + system.atom + system.weights[..., 0])
  total = np.zeros_like(one)
  bars = pull(option, system, others, one)
  for x, v, rank in zip(bars, moves, (1, 1, 0, 0), strict=True):
    total = total + (np.sum(x * v, axis=-1) if rank else x * v)
  return total


def _start(system, others):
  """Returns y, rewards and whether the first moment is infinite."""
  y, _, unreached = chain_solves.sojourns_and_traps(system)
  r = others[0] if others else np.ones_like(system.initial)
  r = np.where(unreached, 0.0, r) + np.zeros_like(y)
  return y, r, np.any((y == math.inf) & (r > 0), axis=-1)


def _solve(system, b):
  """Returns U b and its differences along edges."""
  x, d = chain_solves.solve(system, b[..., None], gives_edges=True)
  return x[..., 0], d[..., 0]


def _apply(system, b):
  return chain_solves.solve(system, b[..., None])[..., 0]


def _solve_moved(system, of_weights, d):
  """Returns how U b moves along weights, where d are its differences."""
  along = (-of_weights * d)[..., None]
  none = np.zeros_like(system.initial + along[..., :1, 0])[..., None]
  return chain_solves.solve(system, none, along)[..., 0]


def moved_sojourns(system, y, of_initial, of_weights):
  """Returns how y = U^T alpha moves."""
  along = -of_weights * chain_solves.at_sources(system, y)
  start = of_initial + np.zeros_like(y)
  return chain_solves.solve_transposed(
    system, start[..., None], along[..., None]
  )[..., 0]


def step(system, x):
  """Returns T x."""
  moved = chain_solves.leaving_weights(system) * chain_solves.at_targets(
    system, x
  )
  p = static.shape(x)[-1]
  gone = segments.segment_sum(moved, system.indices[0], p)
  return system.stay * x + gone


def step_back(system, u):
  """Returns T^T u."""
  at_source = chain_solves.at_sources(system, u)
  moved = chain_solves.leaving_weights(system) * at_source
  p = static.shape(u)[-1]
  come = segments.segment_sum(moved, system.indices[1], p + 1)
  return system.stay * u + come[..., :p]


def _share(system, k, j, r):
  """Returns what b_k has of U b_j, or of U T b_j, by phase."""
  if system.stay is None:
    return k * r if j == k - 1 else np.zeros_like(r)
  return math.comb(k, j) * _power(r, k - j)


def _next_sum(system, k, r, of_r, later, of_later):
  """Returns b_k and how it moves."""
  if k == 1:
    return r, of_r
  if system.stay is None:
    x, of_x = later[-1], of_later[-1]
    return k * r * x, k * (of_r * x + r * of_x)
  b, of_b = _power(r, k), _slope(system, k, r, later) * of_r
  for j in range(1, k):
    share = _share(system, k, j, r)
    b = b + share * later[j - 1]
    of_b = of_b + share * of_later[j - 1]
  return b, of_b


def _slope(system, k, r, later):
  """Returns the derivative of b_k in r, by phase, all else fixed."""
  if k == 1:
    return np.ones_like(r)
  if system.stay is None:
    return k * later[k - 2]
  total = k * _power(r, k - 1)
  for j in range(1, k):
    factor = math.comb(k, j) * (k - j)
    total = total + factor * _power(r, k - j - 1) * later[j - 1]
  return total


def _power(r, k):
  """Returns r^k by products, as TensorFlow's power has no curvature at 0."""
  result = np.ones_like(r)
  for _ in range(k):
    result = result * r
  return result
