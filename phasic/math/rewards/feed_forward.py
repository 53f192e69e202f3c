"""Joint densities of rewards in feed-forward chains.

A chain is feed-forward if each phase has only one of the rewards, and if the
phases with the same reward form blocks that are not reentered after a later
block. With R rewards in the order of their blocks the density is

    f(y) = alpha exp(S_1 y_1) S_12 exp(S_2 y_2) S_23 ... exp(S_R y_R) s_R

for y > 0 (rates in units of the rewards). Paths may skip blocks, whose rewards
are then zero. So the base measure for each reward is Lebesgue's on (0, inf)
plus a unit mass at 0. f(y) belongs to paths that visit exactly the blocks with
y_r > 0. Rewards that are conditionally independent given the first phase have
this form, if each first phase has separate phases.

The blocks are processed from the last to the first. The later blocks split the
exits of a block into success rates and failure rates. So logarithms stay in
range, and nothing is subtracted.

References:
  V. Kulkarni, A new class of multivariate phase type distributions, Oper. Res.
    37, 1989.
  M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
    probability, 2017, chapter 8.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_solves
from phasic.math.likelihood import phase_type
from phasic.math.model.chain import Chain
from phasic.math.numeric import array_utils
from phasic.math.numeric import semirings
from phasic.math.rewards import stochastic_complement


class Blocks(NamedTuple):
  """The phases of each reward, and the order in which rewards accumulate.

  Attributes:
    order: the rewards in the order of their blocks, a tuple.
    phases: for each reward the phases that may be in its block, tuples.
    idle: whether there may be phases without reward.
  """

  order: tuple[int, ...]
  phases: tuple[tuple[int, ...], ...]
  idle: bool


class Rest(NamedTuple):
  """Log densities of a path's remaining rewards, given its phase or absorption.

  Attributes:
    logs: log densities, (..., p + 1).
    faint: zeros with the derivatives of densities that are zero.
  """

  logs: Array
  faint: Array


def blocks(rewards: Array, off: Array) -> Blocks:
  """Groups phases by their reward and finds the order of the blocks.

  Args:
    rewards: (..., p, R).
    off: rates between phases, (..., p, p).

  Raises:
    NotImplementedError: values are concrete, and the chain is not feed-forward.
  """
  known, linked = static.concrete(rewards), static.concrete(off)
  p, size = static.shape(rewards)[-2:]
  if known is None:
    return Blocks(tuple(range(size)), (tuple(range(p)),) * size, True)
  flat = onp.reshape(known > 0, (-1, p, size))
  several = onp.any(onp.sum(flat, axis=-1) > 1, axis=0)
  if onp.any(several):
    raise NotImplementedError(
      f"phase {int(onp.argmax(several))} has several positive rewards: each "
      "phase must have at most one, as the joint density is not known otherwise"
    )
  member = onp.any(flat, axis=0)
  order = tuple(range(size))
  if linked is not None:
    linked = onp.any(onp.reshape(linked > 0, (-1, p, p)), axis=0)
    order = _order(member, linked & ~onp.eye(p, dtype=bool))
  phases = tuple(
    tuple(int(i) for i in onp.flatnonzero(member[:, r])) for r in range(size)
  )
  return Blocks(order, phases, not bool(onp.all(onp.any(flat, axis=-1))))


def _order(member: onp.ndarray, linked: onp.ndarray) -> tuple[int, ...]:
  """Sorts the rewards topologically by the edges between their blocks."""
  size = onp.shape(member)[1]
  # Blocks are also linked by paths through phases without reward.
  idle = ~onp.any(member, axis=1)
  reach = linked
  for _ in range(int(onp.sum(idle))):
    reach = reach | (onp.matmul(1 * (reach & idle), 1 * linked) > 0)
  between = onp.matmul(1 * reach, 1 * member)
  between = onp.matmul(onp.transpose(1 * member), between) > 0
  left, order = list(range(size)), []
  while left:
    free = [r for r in left if not any(between[q, r] for q in left if q != r)]
    if not free:
      raise NotImplementedError(
        f"the phases with rewards {left} are visited alternately: the phases "
        "with one reward must not be entered again after those with another "
        "reward, as the joint density is not known otherwise"
      )
    order.append(free[0])
    left.remove(free[0])
  return tuple(order)


def log_density(
  structure: Blocks, chain: Chain, rewards: Array, values: Array
) -> Array:
  """Computes log f(y); NaN if the chain is not feed-forward.

  The result has shape (...).

  Args:
    structure: the result of `blocks`.
    chain: the result of `chain.derive`, in the widest precision.
    rewards: (..., p, R).
    values: y, (..., R).
  """
  total = np.sum(rewards, axis=-1)
  parts = (chain.initial, chain.off, chain.exits, chain.atom)
  if structure.idle:
    parts = stochastic_complement.complement(*parts, total == 0)
  initial, off, exits, atom = parts
  rows = np.zeros_like(values[..., :1]) + np.zeros_like(total)
  rows = rows + np.zeros_like(initial) + np.zeros_like(atom)[..., None]
  rows = rows + np.zeros_like(exits) + np.zeros_like(off[..., 0])
  units = np.where(total > 0, total, 1.0)[..., None]
  weights = np.concatenate(
    [rows[..., None] + off / units, (rows + exits)[..., None] / units], axis=-1
  )
  rest = Rest(
    np.concatenate([rows - math.inf, rows[..., :1]], axis=-1),
    np.concatenate([rows, rows[..., :1]], axis=-1),
  )
  for r in reversed(structure.order):
    in_block = (rewards[..., r] > 0) & (rows == 0)
    y = values[..., r] + rows[..., 0]
    visited = (y != 0)[..., None]
    here = _visit(structure.phases[r], in_block, weights, rest, y)
    rest = Rest(
      np.where(visited, here.logs, _skipped(in_block, rest.logs, -math.inf)),
      np.where(visited, here.faint, _skipped(in_block, rest.faint, 0.0)),
    )
  masses = np.concatenate([initial + rows, atom[..., None] + rows[..., :1]], -1)
  shift, shares = _shares(rest)
  good = np.all(np.all((rewards >= 0) & np.isfinite(rewards), axis=-1), axis=-1)
  good = good & np.logical_not(np.any(np.isnan(values), axis=-1))
  good = (
    good
    & np.logical_not(chain.bad)
    & np.logical_not(_broken(structure, rewards, off))
  )
  flat = array_utils.merged(rewards, 2)
  lost = np.where(good, 0.0, math.nan)
  lost = lost + stochastic_complement.no_derivative_at_zero(flat)
  some = autodiff.stop_gradient(rest.logs) != -math.inf
  return np.log(_sum_of_shares(masses, shares, some)) + shift + lost


def _broken(structure: Blocks, rewards: Array, off: Array) -> Array:
  """Returns whether the chain violates the order of the blocks, (...)."""
  positive = rewards > 0
  counts = np.sum(structures.cast(positive, static.dtype_name(off)), axis=-1)
  broken = np.any(counts > 1, axis=-1)
  for place, r in enumerate(structure.order):
    for q in structure.order[:place]:
      back = (positive[..., r, None] & positive[..., None, :, q]) & (off > 0)
      broken = broken | np.any(np.any(back, axis=-1), axis=-1)
  return broken


def _skipped(in_block: Array, x: Array, value: float) -> Array:
  """Sets x (..., p + 1) to `value` at the phases of a block that is skipped."""
  p = static.shape(in_block)[-1]
  return np.concatenate(
    [np.where(in_block, value, x[..., :p]), x[..., p:]], axis=-1
  )


def _shares(rest: Rest) -> tuple[Array, Array]:
  """Scales densities by their maximum to avoid underflow.

  Returns the log shift B (...) and exp(logs - B), all at most one (..., p + 1).
  """
  some = autodiff.stop_gradient(rest.logs) != -math.inf
  highest = autodiff.stop_gradient(np.max(rest.logs, axis=-1))
  shift = np.where(np.isfinite(highest), highest, 0.0)
  logs = np.where(some, rest.logs - shift[..., None], 0.0)
  faint = _times_power(rest.faint, -shift[..., None])
  return shift, np.where(some, np.exp(logs), 0.0) + faint


def _sum_of_shares(weights: Array, shares: Array, some: Array) -> Array:
  """Computes sum of weights times scaled densities, over the last axis.

  The sums are NaN if scaled densities that underflow may matter.
  """
  total = np.sum(weights * shares, axis=-1)
  fixed = autodiff.stop_gradient
  info = onp.finfo(static.wide_float())
  small = some & (fixed(shares) < info.tiny)
  unseen = np.max(np.where(small, fixed(weights), 0.0), axis=-1)
  lost = fixed(total) * info.eps < unseen * info.tiny
  return total + np.where(lost, math.nan, 0.0)


def _times_power(x: Array, exponent: Array) -> Array:
  """Returns zeros whose derivative is exp(exponent) times the derivative of x.

  The values of x are zero. The derivative is NaN if the exponential is out of
  range.
  """
  usable = exponent < math.log(onp.finfo(static.wide_float()).max)
  factor = np.exp(np.where(usable, exponent, 0.0))
  lost = chain_solves.undefined(np.logical_not(usable), x[..., None])
  return np.where(usable, x * factor, 0.0) + lost


def _visit(
  phases: tuple[int, ...], in_block: Array, weights: Array, rest: Rest, y: Array
) -> Rest:
  """Computes the `Rest` for the phases of a block from the `Rest` after it.

  Args:
    phases: the phases that may be in the block, a tuple.
    in_block: whether each phase is in the block, (..., p).
    weights: rates to all phases and to absorption, (..., p, p + 1).
    rest: the densities of the path after the block.
    y: the reward, (...).
  """
  p, k = static.shape(in_block)[-1], len(phases)
  empty = np.zeros_like(rest.logs)
  if k == 0:
    return Rest(empty - math.inf, empty)
  block = onp.asarray(phases)
  shift, shares = _shares(rest)
  some = autodiff.stop_gradient(rest.logs) != -math.inf
  logs = np.where(some, rest.logs - shift[..., None], 0.0)
  misses = np.where(some, -np.expm1(logs), 1.0)
  member = np.take(in_block, block, axis=-1)
  weights = np.take(weights, block, axis=-2)
  inside = np.take(weights, block, axis=-1) * (1 - onp.eye(k))
  inside = np.where(member[..., None] & member[..., None, :], inside, 0.0)
  stays = np.concatenate([in_block, np.zeros_like(in_block[..., :1])], axis=-1)
  leave = np.where(stays[..., None, :], 0.0, weights)
  success = _sum_of_shares(leave, shares[..., None, :], some[..., None, :])
  failure = np.sum(leave * misses[..., None, :], axis=-1)
  success = np.where(member, success, 0.0)
  fixed = autodiff.stop_gradient
  leads = semirings.can_reach(fixed(inside) > 0, fixed(success) != 0)
  # An extra phase absorbs paths that cannot have the later rewards.
  matrix = np.concatenate([inside, failure[..., None]], axis=-1)
  matrix = np.concatenate([matrix, np.zeros_like(matrix[..., :1, :])], axis=-2)
  matrix = matrix[..., None, :, :]
  starts = structures.cast(onp.eye(k, k + 1), static.dtype_name(weights))
  times = np.where(y != 0, y, 1.0)[..., None]

  def evaluated(function: Callable[..., Array], exits: Array) -> Array:
    last = np.zeros_like(exits[..., :1])
    exits = np.concatenate([exits, last], axis=-1)
    return function(times, starts, matrix, exits, np.zeros_like(times))

  # Where success is impossible the log density is -inf, without derivative:
  # evaluate it with exits of one instead.
  exits = np.where(leads[..., None], success[..., None, :], 1.0)
  logs = evaluated(phase_type.log_prob, exits) + shift[..., None]
  logs = np.where(leads, logs, -math.inf)
  known = static.concrete(leads)
  if known is not None and onp.all(known):
    faint = np.zeros_like(logs)
  else:
    faint = evaluated(phase_type.prob, success[..., None, :])
    faint = np.where(leads, 0.0, _times_power(faint, shift[..., None]))
  places = onp.full(p + 1, k)
  places[block] = onp.arange(k)
  return Rest(_spread(logs, -math.inf, places), _spread(faint, 0.0, places))


def _spread(x: Array, value: float, places: onp.ndarray) -> Array:
  """Scatters entries (..., k) to (..., p + 1); other entries are `value`."""
  last = np.zeros_like(x[..., :1]) + value
  return np.take(np.concatenate([x, last], axis=-1), places, axis=-1)
