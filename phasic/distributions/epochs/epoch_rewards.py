"""Times in phases, and moments and transforms of rewards, through epochs.

See `epoch_levels` for the vectors v_m. Times in the phases of an epoch are the
integral of v_0. A second moment E[Y_a Y_b] is the integral of v_a r_b + v_b r_a,
for which the vectors v_a of all rewards are carried at once, as a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_edges
from phasic.distributions.epochs import epoch_levels
from phasic.distributions.epochs import epoch_stages
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.likelihood import phase_type
from phasic.math.model.model_types import Edges
from phasic.math.moments import count_levels
from phasic.math.numeric import array_utils
from phasic.math.rewards import multivariate

# The least unit of time, whose inverse is in range; zero in single precision.
_LEAST_UNIT = 2.0**-900

# The largest number of phases of all levels of a moment.
MAX_PHASES = 2**20
# The largest sum of the orders of a moment.
MAX_ORDER = 6


class History(NamedTuple):
  """The chains of the epochs, in the widest dtype.

  Attributes:
    chains: the chain of each epoch.
    boundaries: the times at which epochs end, (..., K - 1).
    state_maps: how phases are mapped at each of them.
  """

  chains: Sequence[epoch_stages.StageChain]
  boundaries: Array
  state_maps: Sequence[state_maps_lib.StateMap]

  def start(self, k: int) -> Array | float:
    """Returns the time at which an epoch starts."""
    return self.boundaries[..., k - 1] if k else 0.0

  def length(self, k: int) -> Array | None:
    """Returns the length of an epoch; None for the last one."""
    if k == len(self.chains) - 1:
      return None
    length = self.boundaries[..., k] - self.start(k)
    # Traced boundaries cannot raise.
    good = (length > 0.0) & (length < math.inf)
    return np.where(good, length, math.nan)


def sojourn_times(history: History) -> list[Array]:
  """Computes the expected times in the phases of each epoch, (..., p_k)."""
  carried = epoch_levels.start(history.chains[0], 1)
  found = []
  for k, chain in enumerate(history.chains):
    length = history.length(k)
    if length is None:
      own = epoch_levels.sojourns(chain.edges, carried.shares[..., 0, :])
      scale = np.exp(carried.log_scale)[..., None]
      found.append(epoch_levels.scaled_times(own, scale))
      break
    unit = np.maximum(autodiff.stop_gradient(length), _LEAST_UNIT)
    carried, own = _gathered(chain.edges, carried, length, unit)
    found.append(own)
    carried = epoch_levels.mapped(carried, history.state_maps[k])
  return found


def sojourn_times_within(
  history: History, since: Array | None, until: Array
) -> list[Array]:
  """Computes expected times in the phases between two times, (..., p_k).

  Args:
    history: the chains.
    since: (...), as until; None for zero.
    until: (...), finite and >= 0, else results are NaN.
  """
  until = np.where(until >= 0.0, until, math.nan)
  if since is not None:
    since = np.where(since >= 0.0, since, math.nan)
  carried = epoch_levels.start(history.chains[0], 1)
  found = []
  for k, chain in enumerate(history.chains):
    length, start = history.length(k), history.start(k)
    end = _until(until - start, length, k == 0)
    begun = carried
    if since is not None:
      before = _since(since - start, length)
      begun = _passed(chain.edges, carried, before)
      end = np.where(end <= before, 0.0, end - before)
    _, own = _gathered(chain.edges, begun, end, _longest(end))
    found.append(own)
    if length is not None:
      carried = _passed(chain.edges, carried, length)
      carried = epoch_levels.mapped(carried, history.state_maps[k])
  return found


def _until(time: Array, length: Array | None, is_first: bool) -> Array:
  """Moves the end of a window, since the start of an epoch, into the epoch.

  A window that ends at a boundary ends in the epoch before, so that one epoch
  alone has the derivative in that time.
  """
  outside = time < 0.0 if is_first else time <= 0.0
  time = np.where(outside, 0.0, time)
  return time if length is None else np.where(time > length, length, time)


def _since(time: Array, length: Array | None) -> Array:
  """Moves the start of a window into an epoch, at a boundary the later one."""
  time = np.where(time < 0.0, 0.0, time)
  return time if length is None else np.where(time >= length, length, time)


def _passed(
  edges: Edges, carried: epoch_levels.Carried, times: Array
) -> epoch_levels.Carried:
  """Carries masses through an epoch without gathering anything."""
  unit = _longest(times)
  return epoch_levels.through(edges, carried, [], 0, 1, times, unit)[0]


def _longest(times: Array) -> Array:
  """Returns the largest of some times, one if there is none above zero."""
  fixed = autodiff.stop_gradient(times)
  if 0 in static.shape(times):
    return np.sum(fixed) + 1.0
  longest = np.max(np.where(np.isfinite(fixed), fixed, 0.0))
  return np.where(longest > 0.0, longest, 1.0)


def _gathered(
  edges: Edges, carried: epoch_levels.Carried, times: Array, unit: Array
) -> tuple[epoch_levels.Carried, Array]:
  """Carries masses through an epoch, and gathers the times in its phases."""
  stay = epoch_levels.Move(0, 1, np.ones_like(carried.shares[..., 0, :]))
  carried, gathered = epoch_levels.through(
    edges, carried, [stay], 1, 1, times, unit
  )
  return carried, gathered.masses()[..., 0, :] * unit[..., None]


def means(history: History, rewards: Sequence[Array]) -> Array:
  """Computes the expected rewards, (..., R), for rewards (..., p_k, R)."""
  return of_times(sojourn_times(history), rewards)


def of_times(times: Sequence[Array], rewards: Sequence[Array]) -> Array:
  """Computes expected rewards from expected times in the phases."""
  parts = [
    np.sum(epoch_levels.gained(time[..., None], own), axis=-2)
    for time, own in zip(times, rewards, strict=True)
  ]
  return sum(parts[1:], parts[0])


def cross_moments(history: History, rewards: Sequence[Array]) -> Array:
  """Computes the second moments E[Y_a Y_b], (..., R, R)."""
  size = static.shape(rewards[0])[-1]
  first, *others = (_with_axis(chain) for chain in history.chains)
  carried = epoch_levels.start(first, 2)
  none = np.zeros((size, 1, 1), dtype=carried.shares.dtype)
  carried = epoch_levels.Carried(
    carried.shares + none, carried.log_scale + none[..., 0, 0]
  )
  units = none[..., 0, 0]
  terms = []
  for k, chain in enumerate([first, *others]):
    own = np.moveaxis(rewards[k], -1, -2)
    length = history.length(k)
    if length is None:
      gathered = _gathered_at_last(chain.edges, carried, own, units)
    else:
      time = length[..., None]
      unit = autodiff.stop_gradient(time)
      carried, units = _in_units(carried, own, units, unit)
      raises = own * (unit / units)[..., None]
      moves = [
        epoch_levels.Move(0, 1, raises),
        epoch_levels.Move(1, 2, np.ones_like(own[..., :1, :])),
      ]
      carried, after = epoch_levels.through(
        chain.edges, carried, moves, 1, 1, time, unit
      )
      gathered = after.masses()[..., 0, :] * (unit * units)[..., None]
      carried = epoch_levels.mapped(carried, history.state_maps[k])
    terms.append(_weighted(gathered, rewards[k]))
  total = sum(terms[1:], terms[0])
  return total + np.moveaxis(total, -1, -2)


def _with_axis(
  chain: epoch_stages.StageChain,
) -> epoch_stages.StageChain:
  """Adds an axis to a chain's batch."""
  edges = chain.edges._replace(parameters=chain.edges.parameters[..., None, :])
  return chain._replace(initial=chain.initial[..., None, :], edges=edges)


def _in_units(
  carried: epoch_levels.Carried, rewards: Array, units: Array, time: Array
) -> tuple[epoch_levels.Carried, Array]:
  """Changes the units of the vectors of level one, so that moves are slow.

  Args:
    carried: the vectors, (..., R, 2, p), in the given units.
    rewards: (..., R, p).
    units: (..., R); zero if there were no rewards before.
    time: the length of the epoch, (..., 1).
  """
  new = _enlarged(units, np.max(rewards, axis=-1) * time)
  factors = np.stack([np.ones_like(new), units / new], axis=-1)[..., None]
  return epoch_levels.scaled(carried.shares * factors, carried.log_scale), new


def _enlarged(units: Array, largest: Array) -> Array:
  """Returns units of rewards that are at least the largest gain of an epoch."""
  fixed = autodiff.stop_gradient(largest)
  new = np.where(fixed > units, fixed, units)
  return np.where(new > 0.0, new, 1.0)


def _gathered_at_last(
  edges: Edges, carried: epoch_levels.Carried, rewards: Array, units: Array
) -> Array:
  """Integrates v_a over the last epoch, (..., R, p)."""
  shares = carried.shares
  times = epoch_levels.sojourns(edges, shares[..., 0, :])
  more = epoch_levels.gained(times, rewards)
  before = shares[..., 1, :] * units[..., None]
  endless = np.logical_not(more < math.inf)
  found = epoch_levels.sojourns(edges, before + np.where(endless, 0.0, more))
  # Rewards that are infinite by then make all later ones infinite.
  found = found + np.where(np.any(endless, axis=-1)[..., None], math.inf, 0.0)
  scale = np.exp(carried.log_scale)[..., None]
  return epoch_levels.scaled_times(found, scale)


def _weighted(times: Array, rewards: Array) -> Array:
  """Computes the sums over phases of times (..., R, p) by rewards (..., p, R)."""
  endless = np.logical_not(times < math.inf)
  known = np.matmul(np.where(endless, 0.0, times), rewards)
  counts = np.matmul(
    np.where(endless, 1.0, 0.0), np.where(rewards > 0.0, 1.0, 0.0)
  )
  unknown = np.any(np.isnan(times), axis=-1)[..., None]
  found = np.where(counts > 0.0, math.inf, known)
  return np.where(unknown, math.nan, found)


def mixed_moment(
  history: History, rewards: Sequence[Array], orders: tuple[int, ...]
) -> Array:
  """Computes E[Y_1^n_1 ... Y_R^n_R], (...), for at least one order > 0.

  Raises:
    ValueError: there would be too many levels.
  """
  used = [r for r, n in enumerate(orders) if n > 0]
  counts = tuple(orders[r] for r in used)
  rewards = [np.take(own, onp.asarray(used), axis=-1) for own in rewards]
  every = itertools.chain.from_iterable(count_levels.levels(counts))
  levels = [m for m in every if m != counts]
  size = len(levels) * max(static.shape(own)[-2] for own in rewards)
  if size > MAX_PHASES:
    raise ValueError(
      f"orders is {orders}, which needs {size} phases: there must be at most "
      f"{MAX_PHASES}; use smaller orders"
    )
  carried = epoch_levels.start(history.chains[0], len(levels))
  none = np.zeros((), dtype=carried.shares.dtype)
  units = none + onp.zeros(len(counts))
  terms = []
  for k, chain in enumerate(history.chains):
    length, own = history.length(k), rewards[k]
    if length is None:
      at_end = _moment_at_last(chain.edges, carried, own, units, levels, counts)
      terms.append(at_end)
      break
    unit = autodiff.stop_gradient(length)
    new = _enlarged(units, np.max(own, axis=-2) * unit[..., None])
    ratios = units / new
    factors = np.stack([_power(ratios, m) for m in levels], axis=-1)
    carried = epoch_levels.scaled(
      carried.shares * factors[..., None], carried.log_scale
    )
    units, order = new, sum(counts)
    raises = own * (unit[..., None] / units)[..., None, :]
    moves = _moves(levels, counts, raises)
    carried, after = epoch_levels.through(
      chain.edges, carried, moves, 1, order, length, unit
    )
    gained = np.sum(after.masses()[..., 0, :], axis=-1)
    terms.append(gained * _power(units, counts))
    carried = epoch_levels.mapped(carried, history.state_maps[k])
  return sum(terms[1:], terms[0])


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
  found = np.ones_like(x[..., 0])
  for r, order in enumerate(orders):
    for _ in range(order):
      found = found * x[..., r]
  return found


def _moment_at_last(
  edges: Edges,
  carried: epoch_levels.Carried,
  rewards: Array,
  units: Array,
  levels: Sequence[tuple[int, ...]],
  counts: tuple[int, ...],
) -> Array:
  """Computes what the last epoch adds to a mixed moment."""
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
    own = shares[..., b, :] * _power(units, m)[..., None]
    times[m] = epoch_levels.sojourns(edges, own + more)
  found = np.sum(entering(counts) + np.zeros_like(shares[..., 0, :]), axis=-1)
  found = np.where(endless, math.inf, found)
  return epoch_levels.scaled_times(found, np.exp(carried.log_scale))


def laplace_transform(
  history: History, rewards: Sequence[Array], arguments: Array
) -> Array:
  """Computes E exp(-u_1 Y_1 - ... - u_R Y_R) for arguments (..., R).

  It is the probability of absorption before the chain is killed at the rates
  sum_r u_r r.
  """
  first = history.chains[0]
  carried = epoch_levels.start(first, 1)
  good = np.all((arguments >= 0.0) & (arguments < math.inf), axis=-1)
  safe = np.where(good[..., None], arguments, 0.0)
  assert first.prob_zero is not None  # The first chain has an atom.
  total = np.where(good, 0.0, math.nan) + first.prob_zero
  for k, chain in enumerate(history.chains):
    length, edges = history.length(k), chain.edges
    rates = np.sum(safe[..., None, :] * rewards[k], axis=-1)
    shares, p = carried.shares[..., 0, :], static.shape(carried.shares)[-1]
    # Masses of zero are no distribution, and count as zero by the factor.
    empty = np.all(shares == 0.0, axis=-1)[..., None]
    shares = np.where(empty, 1.0 / p, shares)
    factor, none = np.exp(carried.log_scale), np.zeros_like(shares[..., 0])
    if length is None:
      one = np.ones_like(shares[..., :1])
      found = multivariate.joint_laplace_transform(
        one, rates[..., None], shares, edges, None, none
      )
      total = total + factor * found
      break
    trapped = epoch_edges.with_trap(edges, p, rates)
    more = np.concatenate([shares, np.zeros_like(shares[..., :1])], axis=-1)
    found = phase_type.cdf(length, more, trapped, prob_zero=none)
    total = total + factor * found
    killed = epoch_edges.with_exits(edges, p, rates)
    carried = _passed(killed, carried, length)
    carried = epoch_levels.mapped(carried, history.state_maps[k])
  return array_utils.at_most(total, 1.0)
