"""Moment generating functions, by exponential tilting.

Killing at the negative rate -s gives a linear system with matrix -(S + s I).
This matrix is eliminated as in `elimination`, but row sums may have any sign.
The pivots are all positive if and only if s is below the decay rate.

Reference: A. Berman, R. Plemmons, Nonnegative matrices in the mathematical
  sciences, 1994, ch. 6.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_passages
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing
from phasic.math.model import edge_rates
from phasic.math.numeric import exact_sums


def laplace(system: chain_solves.System, u: Array) -> Array:
  """Computes the Laplace transform E exp(-u X); NaN for u < 0.

  The result has shape (...).

  Args:
    system: the system.
    u: (...).
  """
  if system.stay is not None:
    with onp.errstate(over="ignore"):
      u = np.expm1(u)  # See `generating`.
  return chain_passages.laplace(system, u)


def generating(below: bool, system: chain_solves.System, s: Array) -> Array:
  """Computes the moment generating function E exp(s X).

  The result has shape (...).

  Args:
    below: whether all s are known to be <= 0.
    system: the system.
    s: (...).
  """
  # Use the model's own unit of time: in the scaled unit s may be out of range.
  system = chain_solves.natural(system)
  if system.stay is not None:
    with onp.errstate(over="ignore"):
      # In discrete time, 1 - exp(-s) takes the place of s.
      s = 0.0 - np.expm1(0.0 - s)
  above = s > 0
  value = chain_passages.laplace(system, np.where(above, 0.0, 0.0 - s))
  if below:
    return value
  return np.where(above, _grown(system, np.where(above, s, 0.0)), value)


def excess(system: chain_solves.System, s: Array) -> Array:
  """Computes mean, variance and standard deviation of exp(s X) - 1.

  The result has shape (..., 3). This is a rule for `chain_calls`, for s > 0.
  With x_i = E exp(s X) from phase i, the mean is alpha U s x, a sum of
  nonnegative terms. The variance is computed from the martingale of expected
  values. At a jump from i to j at time t the martingale changes by exp(s t)
  (x_j - x_i), so the variance is

      sum_i alpha_i (x_i - E exp(s X))^2 + alpha (-(S + 2 s I))^-1 d,
      d_i = sum_j w_ij (x_i - x_j)^2.

  The mean is inf for s at or above the decay rate, the other two for s at or
  above half of it.

  Args:
    system: the system, of a continuous chain.
    s: (...).
  """
  system = chain_solves.natural(system)
  one, two = _tilted(system, s), _tilted(system, 2.0 * s)
  inside = (one.known & one.reached)[..., None]
  none = np.zeros_like(system.initial)[..., None]
  x = chain_solves.solve(one.chain, none, one.absorbed[..., None])
  grown = one.growth[..., None, None] * np.where(
    inside, one.level[..., None] * x, 0.0
  )
  more, apart = chain_solves.solve(system, grown, gives_edges=True)
  more = np.where(inside, more, 0.0)[..., 0]
  begins = chain_solves.at_sources(system, np.where(inside[..., 0], 1.0, 0.0))
  apart = np.where(begins > 0, apart[..., 0], 0.0)
  # Scale by a power of two near the largest entry: otherwise squares may
  # underflow.
  unit = chain_solves.largest_exponent(more)
  more, apart = (
    exact_sums.times_power(a, -unit[..., None]) for a in (more, apart)
  )
  mean = np.sum(system.initial * more, axis=-1)
  spread = chain_solves.leaving_weights(system) * np.square(apart)
  spread = spread / chain_solves.at_sources(system, two.level)
  ends = static.shape(two.absorbed)[-1] - static.shape(spread)[-1]
  zeros = np.zeros_like(spread[..., :1]) + np.zeros(ends, dtype=spread.dtype)
  later = np.concatenate([spread, zeros], axis=-1)
  later = chain_solves.solve(two.chain, none, later[..., None])[..., 0]
  parts = np.square(more - mean[..., None])
  parts = parts + np.where(inside[..., 0], two.level * later, 0.0)
  variance = np.sum(system.initial * parts, axis=-1)
  variance = variance + system.atom * np.square(mean)
  statistics = [
    chain_solves.checked(system, _in_range(system, tilted, value, s))
    for tilted, value in (
      (one, exact_sums.times_power(mean, unit)),
      (two, exact_sums.times_power(variance, 2.0 * unit)),
      (two, exact_sums.root(variance, 2.0 * unit)),
    )
  ]
  return np.stack(statistics, axis=-1)


def longest_time(system: chain_solves.System, s: Array) -> Array:
  """Computes the largest mean time to absorption of a tilted chain.

  The result has shape (...). The chain is tilted by exp(s X), and the maximum
  is over the phases that alpha can reach. This is a rule for `chain_calls`, for
  s > 0. The result is a constant for derivatives, and a placeholder for s at or
  above the decay rate.
  """
  fixed = autodiff.stop_gradient
  system = chain_solves.natural(system)
  system = system._replace(
    weights=fixed(system.weights), initial=fixed(system.initial)
  )
  tilted = _tilted(system, fixed(s))
  inside = tilted.known & tilted.reached
  ones = np.where(inside, 1.0, 0.0)[..., None]
  times = chain_solves.solve(tilted.chain, ones)[..., 0]
  longest = np.max(np.where(inside, times, 0.0), axis=-1)
  return longest


class _Tilted(NamedTuple):
  """A chain with weights w_ij x_j / x_i, where x_i = E exp(s X) from phase i.

  Attributes:
    chain: the tilted chain; its killing edges have weight zero, but nonzero
      derivatives.
    absorbed: right-hand sides for absorption, see `killing.killed`.
    level: x, a constant for derivatives, one where x is unknown, (..., p).
    known: whether x is known, (..., p).
    reached: which phases alpha can reach, (..., p).
    growth: s, (...).
    code: the code of `_solution`.
  """

  chain: chain_solves.System
  absorbed: Array
  level: Array
  known: Array
  reached: Array
  growth: Array
  code: Array


def _tilted(system: chain_solves.System, s: Array) -> _Tilted:
  """Applies exponential tilting by exp(s X) to a natural chain, for s >= 0.

  On the tilted chain the solution is one everywhere. The deficits of its rows
  are killing edges of weight zero, whose derivatives may be negative.
  """
  fixed = autodiff.stop_gradient
  p = static.shape(system.initial)[-1]
  constant = system._replace(
    weights=fixed(system.weights), initial=fixed(system.initial)
  )
  reached = chain_solves.sojourns(constant) > 0
  with onp.errstate(over="ignore", invalid="ignore"):
    x, code = _solution(constant, reached, fixed(s))
  known = (x > 0) & (x < math.inf)
  x = np.where(known, x, 1.0)
  source = chain_solves.at_sources(system, x)
  to_end = system.indices[1] == p
  target = np.where(to_end, 1.0, chain_solves.at_targets(system, x))
  tilted = system._replace(weights=system.weights * (target / source))
  is_loop = system.indices[0] == system.indices[1]
  lack = system.weights * np.where(is_loop, 0.0, 1.0 - target / source)
  lack = array_ops.segment_sum(lack, system.indices[0], p) - s[..., None]
  killed_system, absorbed = killing.killed(
    tilted, tilted.weights, lack - fixed(lack)
  )
  return _Tilted(killed_system, absorbed, x, known, reached, s, code)


def _grown(system: chain_solves.System, s: Array) -> Array:
  """Computes E exp(s X) for s >= 0."""
  tilted = _tilted(system, s)
  none = np.zeros_like(system.initial)[..., None]
  solution = chain_solves.solve(tilted.chain, none, tilted.absorbed[..., None])
  counted = tilted.reached | tilted.known
  x = tilted.level * solution[..., 0]
  total = system.atom + np.sum(np.where(counted, system.initial * x, 0.0), -1)
  return chain_solves.checked(system, _in_range(system, tilted, total, s))


def _in_range(
  system: chain_solves.System, tilted: _Tilted, total: Array, s: Array
) -> Array:
  """Sets results to inf for s at or above the decay rate, NaN where unknown."""
  code, known, reached = tilted.code, tilted.known, tilted.reached
  # E exp(s X) from a phase may overflow although s is below the decay rate.
  # Then the result is unknown.
  lost = (
    np.any(reached & np.logical_not(known), axis=-1) | (code < 0) | np.isnan(s)
  )
  total = np.where(lost, math.nan, total)
  total = np.where((code > 0) & np.logical_not(np.isnan(s)), math.inf, total)
  # Derivatives do not exist if s is above the decay rate of a phase, even if
  # alpha cannot reach the phase.
  unreached = np.any(np.logical_not(known) & np.logical_not(reached), axis=-1)
  growth = tilted.growth
  finite = np.where(np.isfinite(growth), growth, 0.0)
  return total + chain_solves.undefined(
    (s > 0) & (unreached | (code != 0)),
    system.initial,
    system.weights,
    finite[..., None],
  )


def _solution(
  system: chain_solves.System, reached: Array, growth: Array
) -> tuple[Array, Array]:
  """Computes E exp(s X) from each phase, and compares s with the decay rate.

  Returns:
    x (..., p); and (...) 0 if s is below the decay rate, 1 if it is not, and -1
    if rounding leaves it open.
  """
  p = static.shape(system.initial)[-1]
  between, exits = _dense(system, p)
  doubt = 32 * p * float(onp.finfo(static.dtype_name(exits)).eps)
  trials = np.stack([growth, growth * (1.0 + doubt), growth * (1.0 - doubt)])
  x, positive = _eliminate(between[None], exits[None], trials)
  # Ignore the pivots of phases that alpha cannot reach.
  good = np.all(positive | np.logical_not(reached[None]), axis=-1)
  leaving = chain_solves.leaving_weights(system)
  total = array_ops.segment_sum(leaving, system.indices[0], p)
  number = array_ops.segment_sum(
    np.where(leaving > 0, 1.0, 0.0), system.indices[0], p
  )
  # The decay rate of a phase with a single edge is known exactly, so it is
  # compared without a margin for rounding errors.
  slow = reached & (number == 1) & (total <= growth[..., None])
  above = np.any(slow, axis=-1) & (growth > 0)
  code = np.where(
    above | np.logical_not(good[2]), 1.0, np.where(good[1], 0.0, -1.0)
  )
  return np.where(good[0][..., None], x[0], math.nan), code


def _dense(system: chain_solves.System, p: int) -> tuple[Array, Array]:
  """Computes dense weights between phases (..., p, p), and exits (..., p)."""
  if p > edge_rates.MAX_DENSE_PHASES:
    raise ValueError(
      f"the model has {p} phases: moment generating functions at s > 0 need a "
      f"dense matrix of at most {edge_rates.MAX_DENSE_PHASES} phases"
    )
  places = system.indices[0] * (p + 1) + system.indices[1]
  sums = array_ops.segment_sum(
    chain_solves.leaving_weights(system), places, p * (p + 1)
  )
  sums = np.reshape(sums, (*static.shape(sums)[:-1], p, p + 1))
  return sums[..., :p], sums[..., p]


def _eliminate(off: Array, exits: Array, growth: Array) -> tuple[Array, Array]:
  """Solves -(S + s I) x = exits; returns also which pivots are > 0.

  Args:
    off: weights between phases (..., p, p); the diagonal is not read.
    exits: weights to absorption (..., p).
    growth: s, (...).
  """
  p = static.shape(exits)[-1]
  order = onp.arange(p)[::-1]
  dtype = static.dtype_name(exits)
  units = structures.cast(onp.eye(p)[order], dtype)
  remain = structures.cast(onp.tril(onp.ones((p, p)), -1)[order], dtype)
  # `net` has the row sums of -(S + s I). A pivot is a row sum plus the row's
  # weights to the phases that remain.
  net = exits - growth[..., None]
  off = off + np.zeros_like(net)[..., None]
  exits = exits + np.zeros_like(net)

  def remove(
    carry: tuple[Array, Array, Array], masks: tuple[Array, Array]
  ) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    off, exits, net = carry
    unit, remain = masks
    row = np.sum(off * unit[:, None], axis=-2) * remain
    column = np.sum(off * unit, axis=-1) * remain
    out = np.sum(exits * unit, axis=-1)
    kept = np.sum(net * unit, axis=-1)
    pivot = np.sum(row, axis=-1) + kept
    good = pivot > 0
    share = np.where(
      good[..., None], column / np.where(good, pivot, 1.0)[..., None], 0.0
    )
    off = off + share[..., :, None] * row[..., None, :]
    exits = exits + share * out[..., None]
    net = net + share * kept[..., None]
    return (off, exits, net), (row, out, pivot)

  _, recorded = control_flow.scan(remove, (off, exits, net), (units, remain))

  def restore(
    carry: tuple[Array, Array], step: tuple[Array, ...]
  ) -> tuple[tuple[Array, Array], None]:
    x, positive = carry
    unit, row, out, pivot = step
    # The value of a phase is unknown if it leads to a phase of unknown value.
    there = np.where(row > 0, x, 0.0)
    value = out + np.sum(row * there, axis=-1)
    good = pivot > 0
    value = np.where(good, value / np.where(good, pivot, 1.0), math.nan)
    x = np.where(unit > 0, value[..., None], x)
    positive = np.where(unit > 0, np.where(good, 1.0, 0.0)[..., None], positive)
    return (x, positive), None

  flipped = tuple(np.flip(a, axis=0) for a in (units, *recorded))
  start = np.zeros_like(exits)
  (x, positive), _ = control_flow.scan(restore, (start, start), flipped)
  return x, positive > 0
