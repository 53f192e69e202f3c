"""Moments and transforms of rewards through epochs.

See `epoch_levels` for the vectors v_m. A second moment E[Y_a Y_b] is the integral
of v_a r_b + v_b r_a, for which the vectors v_a of all rewards are carried at once,
as a batch.

Covariances are those of rewards less their mean rates in each epoch, which differ
by constants if absorbed paths go on with the negative mean rates.
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_levels
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs.epoch_levels import Carried
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.likelihood import phase_type
from phasic.math.model.model_types import Edges
from phasic.math.moments import mixed_moments
from phasic.math.numeric import array_utils
from phasic.math.rewards import multivariate

# The largest error of a covariance that is accepted, relative to the standard
# deviations.
_DIGITS = {"float64": 1e-6, "float32": 1e-2}

# The largest number of phases that all levels of a moment may have together.
MAX_PHASES = 2**20
# The largest sum of the orders of a moment.
MAX_ORDER = 6


def means(history: epoch_stages.History, rewards: Sequence[Array]) -> Array:
  """Computes the expected totals (..., R) of the rewards (..., p_k, R)."""
  return expected_totals(epoch_levels.sojourn_times(history), rewards)


def expected_totals(times: Sequence[Array], rewards: Sequence[Array]) -> Array:
  """Computes expected rewards from expected times in the phases."""
  parts = [
    np.sum(epoch_levels.gained(time[..., None], rates), axis=-2)
    for time, rates in zip(times, rewards, strict=True)
  ]
  return sum(parts[1:], parts[0])


def cross_moments(
  history: epoch_stages.History, rewards: Sequence[Array]
) -> Array:
  """Computes the second moments E[Y_a Y_b], of shape (..., R, R)."""
  chains = [_with_axis(chain) for chain in history.chains]
  start = epoch_levels.start(chains[0], 2)
  size = static.shape(rewards[0])[-1]
  none = np.zeros((size, 1, 1), dtype=start.shares.dtype)
  units = none[..., 0, 0]
  start = Carried(start.shares + none, start.log_scale + units, units)

  def passing(k: int, carried: Carried, length: Array) -> tuple[Carried, Array]:
    by_reward = np.moveaxis(rewards[k], -1, -2)
    time = length[..., None]
    unit = autodiff.stop_gradient(time)
    largest = np.max(by_reward, axis=-1) * unit
    carried = epoch_levels.in_units(
      carried, largest, lambda ratios: [np.ones_like(ratios), ratios]
    )
    moves = [
      epoch_levels.Move(0, 1, by_reward * (unit / carried.units)[..., None]),
      epoch_levels.Move(1, 2, np.ones_like(by_reward[..., :1, :])),
    ]
    carried, after = epoch_levels.through(
      chains[k].edges, carried, moves, 1, 1, time, unit
    )
    times = after.masses()[..., 0, :] * (unit * carried.units)[..., None]
    return carried, _weighted(times, rewards[k])

  def finishing(k: int, carried: Carried) -> Array:
    times = _gathered_at_last(
      chains[k].edges, carried, np.moveaxis(rewards[k], -1, -2)
    )
    return _weighted(times, rewards[k])

  first, *others = epoch_stages.through_epochs(
    history, start, passing, finishing
  )
  total = sum(others, first)
  return total + np.moveaxis(total, -1, -2)


def _with_axis(
  chain: epoch_stages.StageChain,
) -> epoch_stages.StageChain:
  """Adds an axis to a chain's batch."""
  edges = chain.edges._replace(parameters=chain.edges.parameters[..., None, :])
  return chain._replace(initial=chain.initial[..., None, :], edges=edges)


def _gathered_at_last(edges: Edges, carried: Carried, rewards: Array) -> Array:
  """Integrates v_a over the last epoch, (..., R, p)."""
  shares = carried.shares
  times = epoch_levels.sojourns(edges, shares[..., 0, :])
  more = epoch_levels.gained(times, rewards)
  before = shares[..., 1, :] * carried.units[..., None]
  endless = np.logical_not(more < math.inf)
  gathered = epoch_levels.sojourns(edges, before + np.where(endless, 0.0, more))
  # Where the reward gathered so far is infinite in some phase, all that is
  # gathered from then on is infinite.
  gathered = gathered + np.where(
    np.any(endless, axis=-1)[..., None], math.inf, 0.0
  )
  scale = np.exp(carried.log_scale)[..., None]
  return epoch_levels.scaled_times(gathered, scale)


def _weighted(times: Array, rewards: Array) -> Array:
  """Computes the sums over phases of times (..., R, p) by rewards (..., p, R)."""
  endless = np.logical_not(times < math.inf)
  known = np.matmul(np.where(endless, 0.0, times), rewards)
  counts = np.matmul(
    np.where(endless, 1.0, 0.0), np.where(rewards > 0.0, 1.0, 0.0)
  )
  unknown = np.any(np.isnan(times), axis=-1)[..., None]
  sums = np.where(counts > 0.0, math.inf, known)
  return np.where(unknown, math.nan, sums)


def mixed_moment(
  history: epoch_stages.History,
  rewards: Sequence[Array],
  orders: tuple[int, ...],
) -> Array:
  """Computes E[Y_1^n_1 ... Y_R^n_R], of shape (...), with some order n_r > 0.

  Raises:
    ValueError: there would be too many levels.
  """
  used = [r for r, n in enumerate(orders) if n > 0]
  counts = tuple(orders[r] for r in used)
  rewards = [np.take(x, onp.asarray(used), axis=-1) for x in rewards]
  every = itertools.chain.from_iterable(mixed_moments.levels(counts))
  levels = [m for m in every if m != counts]
  size = len(levels) * max(static.shape(x)[-2] for x in rewards)
  if size > MAX_PHASES:
    raise ValueError(
      f"orders is {orders}, which needs {size} phases: there must be at most "
      f"{MAX_PHASES}; use smaller orders"
    )
  start = epoch_levels.start(history.chains[0], len(levels))
  start = start._replace(units=start.units + onp.zeros(len(counts)))

  def passing(k: int, carried: Carried, length: Array) -> tuple[Carried, Array]:
    unit = autodiff.stop_gradient(length)
    carried = epoch_levels.in_units(
      carried,
      np.max(rewards[k], axis=-2) * unit[..., None],
      lambda ratios: [_power(ratios, m) for m in levels],
    )
    raises = rewards[k] * (unit[..., None] / carried.units)[..., None, :]
    moves = _moves(levels, counts, raises)
    carried, after = epoch_levels.through(
      history.chains[k].edges, carried, moves, 1, sum(counts), length, unit
    )
    gained = np.sum(after.masses()[..., 0, :], axis=-1)
    return carried, gained * _power(carried.units, counts)

  def finishing(k: int, carried: Carried) -> Array:
    edges = history.chains[k].edges
    return _moment_at_last(edges, carried, rewards[k], levels, counts)

  first, *others = epoch_stages.through_epochs(
    history, start, passing, finishing
  )
  return sum(others, first)


def _moves(
  levels: Sequence[tuple[int, ...]], counts: tuple[int, ...], raises: Array
) -> list[epoch_levels.Move]:
  """Returns the moves between the levels m <= n; the last one only gathers."""
  places = {m: b for b, m in enumerate(levels)}
  places[counts] = len(levels)
  moves = []
  for b, m in enumerate(levels):
    for r, number in enumerate(m):
      after = (*m[:r], number + 1, *m[r + 1 :])
      if after in places:
        rates = (number + 1) * raises[..., r]
        moves.append(epoch_levels.Move(b, places[after], rates))
  return moves


def _power(x: Array, orders: tuple[int, ...]) -> Array:
  """Computes the product of powers of x, (..., R); 0^0 is one."""
  product = np.ones_like(x[..., 0])
  for r, order in enumerate(orders):
    for _ in range(order):
      product = product * x[..., r]
  return product


def _moment_at_last(
  edges: Edges,
  carried: Carried,
  rewards: Array,
  levels: Sequence[tuple[int, ...]],
  counts: tuple[int, ...],
) -> Array:
  """Computes the part of a mixed moment that the last epoch adds."""
  shares = carried.shares
  times: dict[tuple[int, ...], Array] = {}

  def entering(m: tuple[int, ...]) -> Array | float:
    more: Array | float = 0.0
    for r, number in enumerate(m):
      if number > 0:
        before = times[*m[:r], number - 1, *m[r + 1 :]]
        more = more + number * epoch_levels.gained(before, rewards[..., r])
    return more

  endless = np.zeros_like(shares[..., 0, 0]) > 0.0
  for b, m in enumerate(levels):
    more = entering(m) + np.zeros_like(shares[..., 0, :])
    infinite = more == math.inf
    endless = endless | np.any(infinite, axis=-1)
    more = np.where(infinite, 0.0, more)
    before = shares[..., b, :] * _power(carried.units, m)[..., None]
    times[m] = epoch_levels.sojourns(edges, before + more)
  total = np.sum(entering(counts) + np.zeros_like(shares[..., 0, :]), axis=-1)
  total = np.where(endless, math.inf, total)
  return epoch_levels.scaled_times(total, np.exp(carried.log_scale))


def laplace_transform(
  history: epoch_stages.History, rewards: Sequence[Array], u: Array
) -> Array:
  """Computes E exp(-u_1 Y_1 - ... - u_R Y_R) for u of shape (..., R).

  It is the probability of absorption before the chain is killed at the rates
  sum_r u_r r.
  """
  first = history.chains[0]
  good = np.all((u >= 0.0) & (u < math.inf), axis=-1)
  safe = np.where(good[..., None], u, 0.0)
  assert first.prob_zero is not None  # The first chain has an atom.
  at_zero = np.where(good, 0.0, math.nan) + first.prob_zero

  def killing(k: int) -> Array:
    return np.sum(safe[..., None, :] * rewards[k], axis=-1)

  def passing(k: int, carried: Carried, length: Array) -> tuple[Carried, Array]:
    edges, rates = history.chains[k].edges, killing(k)
    shares, none = _distribution(carried)
    p = static.shape(shares)[-1]
    trapped = epoch_stages.with_trap(edges, p, rates)
    more = np.concatenate([shares, np.zeros_like(shares[..., :1])], axis=-1)
    ended = phase_type.cdf(length, more, trapped, prob_zero=none)
    killed = epoch_stages.with_exits(edges, p, rates)
    after = epoch_levels.passed(killed, carried, length)
    return after, np.exp(carried.log_scale) * ended

  def finishing(k: int, carried: Carried) -> Array:
    shares, none = _distribution(carried)
    one, rates = np.ones_like(shares[..., :1]), killing(k)[..., None]
    ended = multivariate.joint_laplace_transform(
      one, rates, shares, history.chains[k].edges, None, none
    )
    return np.exp(carried.log_scale) * ended

  start = epoch_levels.start(first, 1)
  each = epoch_stages.through_epochs(history, start, passing, finishing)
  total = sum(each, at_zero)
  return array_utils.at_most(total, 1.0)


def _distribution(carried: Carried) -> tuple[Array, Array]:
  """Returns a distribution of phases in proportion to masses, and zeros.

  Masses of zero are no distribution. Any serves, as their scale is zero.
  """
  shares = carried.shares[..., 0, :]
  empty = np.all(shares == 0.0, axis=-1)[..., None]
  shares = np.where(empty, 1.0 / static.shape(shares)[-1], shares)
  return shares, np.zeros_like(shares[..., 0])


def covariance(
  history: epoch_stages.History, rewards: Sequence[Array]
) -> Array:
  """Computes the covariances, (..., R, R), of totals of rewards (..., p_k, R).

  They are NaN where a mean is infinite, and where differences leave less than
  six digits of a covariance, relative to the standard deviations (two digits in
  single precision).
  """
  size = static.shape(rewards[0])[-1]
  history = _with_traps(history)
  times = epoch_levels.sojourn_times(history)
  centered = [
    _centered(rates, time, history.length(k))
    for k, (rates, time) in enumerate(zip(rewards, times, strict=True))
  ]
  mean = expected_totals(times, centered)
  finite = mean < math.inf
  mean = np.where(finite, mean, 0.0)
  second = cross_moments(history, centered)
  # The first R of these rewards are positive parts, the last R negative parts.
  (up, cross), (back, down) = (
    (rows[..., :size], rows[..., size:])
    for rows in (second[..., :size, :], second[..., size:, :])
  )
  rest = mean[..., :size] - mean[..., size:]
  product = rest[..., None] * rest[..., None, :]
  with onp.errstate(invalid="ignore"):  # They may be infinite.
    covariances = (up - cross) - (back - down) - product
  known = finite[..., :size]
  known = known[..., None] & known[..., None, :]
  covariances = np.where(known | np.isnan(covariances), covariances, math.nan)
  terms = up + cross + back + down + np.abs(product)
  return np.where(_is_lost(covariances, terms), math.nan, covariances)


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
      # A path in the trap gathers nothing, so that any rate from there to
      # absorption is right: it is one.
      trap, end = onp.asarray([p]), onp.asarray([p + 1])
      targets = np.where(edges.targets == p, p + 1, edges.targets)
      one = np.ones_like(atom)
      edges = epoch_stages.joined_edges(edges, targets, [(trap, end, one)])
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
    fixed_rewards, length = fixed(rewards), fixed(length)[..., None]
    rate = (
      np.sum(fixed(times)[..., :-1, None] * fixed_rewards, axis=-2) / length
    )
    # The result is right for any constant that is subtracted. If a phase's
    # reward is the mean rate up to rounding, that reward is the constant: then
    # nothing remains of a reward that is certain.
    near = (
      np.abs(fixed_rewards - rate[..., None, :]) <= eps * rate[..., None, :]
    )
    same = np.max(np.where(near, fixed_rewards, 0.0), axis=-2)
    rate = np.where(same > 0.0, same, rate)
    signed = signed - rate[..., None, :]
  is_up = signed >= 0.0
  up, down = np.where(is_up, signed, 0.0), np.where(is_up, 0.0, -signed)
  return np.concatenate([up, down], axis=-1)
