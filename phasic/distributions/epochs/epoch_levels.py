"""Masses of phases and accumulated rewards, carried through epochs.

With X_t the phase at time t, and Y_k(t) the k-th reward that a path has gathered
before, let v_m(t)_i = E[Y_1^m_1 ... Y_R^m_R; X_t = i] for multi-indices m. Then

    d v_m / dt = v_m S + sum_k m_k v_{m - e_k} diag(r_k),

so that the vectors v_m are the levels of a larger chain in which paths also move
from level m - e_k to m. What absorbed paths gathered is not lost, as it was
counted when it was gathered: E[Y^m] is the integral of sum_k m_k v_{m - e_k} r_k.
Such integrals are masses of phases which are entered and never left. Times in
the phases are the integral of v_0.

The chain of an epoch is killed at a constant rate c, so that the moves to the
next level are part of the rates out of a phase, and what is computed is
multiplied by exp(c t) afterwards. With rewards in units in which c t is about
the order of the moment, that factor is small. Nothing is subtracted.

Reference: C. F. Van Loan, Computing integrals involving the matrix exponential,
  IEEE Trans. Automat. Contr. 23, 1978.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import NamedTuple, Self

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_stages
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_passages
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Edges
from phasic.math.moments import occupancy
from phasic.math.numeric import array_utils
from phasic.math.numeric import kept_indices

# The smallest unit of time. Its inverse does not overflow; in single precision
# it is zero.
_LEAST_UNIT = 2.0**-900


class Carried(NamedTuple):
  """The vectors v_m of all levels m at one time, as shares of a common scale.

  Attributes:
    shares: (..., B, p) for B levels; they sum to one, or are zero.
    log_scale: the logarithm of what the shares are multiplied by, (...).
    units: the units of the rewards that levels count; zero if there were none
      before.
  """

  shares: Array
  log_scale: Array
  units: Array

  def masses(self) -> Array:
    """Returns the mass of each level and phase, of shape (..., B, p)."""
    return self.shares * np.exp(self.log_scale)[..., None, None]

  def mapped(self, state_map: state_maps_lib.StateMap) -> Self:
    """Moves the vectors to the phases of the next epoch."""
    return self._replace(shares=state_map.map_masses(self.shares))


class Move(NamedTuple):
  """A move from one level to another that does not change the phase.

  Attributes:
    source: the level that is left.
    target: the level that is entered; numbers from B on are of levels without
      moves, which only gather.
    rates: of each phase, (..., p), per unit of time.
  """

  source: int
  target: int
  rates: Array


def start(chain: epoch_stages.StageChain, levels: int) -> Carried:
  """Returns the vectors at time zero, when there are no rewards yet."""
  first = chain.initial[..., None, :]
  none = np.zeros_like(first)
  shares = np.concatenate([first, *[none] * (levels - 1)], axis=-2)
  units = np.zeros((), dtype=shares.dtype)
  return scaled(shares, np.zeros_like(chain.initial[..., 0]), units)


def scaled(masses: Array, log_scale: Array, units: Array) -> Carried:
  """Divides vectors by their sum, which becomes part of the scale."""
  total = _total(masses)
  # The scale is a constant for derivatives. The derivative of a quotient may
  # divide by the square of the total, which underflows if the total is small.
  fixed = autodiff.stop_gradient(total)
  some = fixed > 0.0
  if not array_utils.are_true(some):
    fixed = np.where(some, fixed, 1.0)
  masses = masses / fixed[..., None, None]
  log_scale = log_scale + np.log(fixed)
  unit = _total(masses)
  if array_utils.are_true(some):
    shares = masses / unit[..., None, None]
    return Carried(shares, log_scale + np.log(unit), units)
  safe = np.where(some, unit, 1.0)
  log = np.where(some, np.log(safe), np.where(total == 0.0, -math.inf, total))
  return Carried(masses / safe[..., None, None], log_scale + log, units)


def _total(masses: Array) -> Array:
  """Returns the sum of the masses of all levels and phases, (...)."""
  return np.sum(np.sum(masses, axis=-1), axis=-1)


def in_units(
  carried: Carried, largest: Array, powers: Callable[[Array], list[Array]]
) -> Carried:
  """Changes the units of rewards, so that moves in an epoch are slow.

  Args:
    carried: the vectors at its start.
    largest: the largest gains in it, with the shape of the units; units are at
      least that.
    powers: maps ratios of units to their powers for each level, (...).
  """
  fixed, units = autodiff.stop_gradient(largest), carried.units
  new = np.where(fixed > units, fixed, units)
  new = np.where(new > 0.0, new, 1.0)
  factors = np.stack(powers(units / new), axis=-1)[..., None]
  return scaled(carried.shares * factors, carried.log_scale, new)


def through(
  edges: Edges,
  carried: Carried,
  moves: Sequence[Move],
  gathering: int,
  order: int,
  times: Array,
  unit: Array,
) -> tuple[Carried, Carried]:
  """Carries vectors through a part of an epoch.

  Args:
    edges: `math.EdgeRates` of the epoch, without coefficients.
    carried: the vectors at its start, of B levels.
    moves: the moves between levels.
    gathering: the number of levels that only gather.
    order: a bound on the sum of the rates of moves out of one phase and level.
    times: how long it takes, (...), >= 0.
    unit: the unit of time, (...) or (); no element of `times` is larger.

  Returns:
    The vectors at its end, and the vectors of the gathering levels.
  """
  levels, p = static.shape(carried.shares)[-2:]
  # The rate at which each phase and level is left by moves and by killing, per
  # unit of time. It is above `order`, which bounds the rate of the moves. So
  # the rate of killing, the difference, is not zero: derivatives would not
  # exist there.
  clock = order + 1.0
  larger = _larger(edges, moves, levels, gathering, p, clock, unit)
  initial = np.reshape(
    carried.shares, (*static.shape(carried.log_scale), levels * p)
  )
  rest = np.zeros_like(initial[..., :1]) + onp.zeros(gathering * p)
  initial = np.concatenate([initial, rest], axis=-1)
  transient = occupancy.carried(initial, larger, times)
  batch = static.shape(transient.log_mass)
  shares = np.reshape(transient.probs, (*batch, levels + gathering, p))
  log = carried.log_scale + transient.log_mass + clock * (times / unit)
  living = scaled(shares[..., :levels, :], log, carried.units)
  return living, living._replace(shares=shares[..., levels:, :], log_scale=log)


def _larger(
  edges: Edges,
  moves: Sequence[Move],
  levels: int,
  gathering: int,
  p: int,
  clock: float,
  unit: Array,
) -> Edges:
  """Returns the edges of the killed chain of all levels."""
  rate = 1.0 / unit[..., None]
  rates = [(static.shape(edges.parameters)[-1], edges.parameters)] * levels
  for b in range(levels):
    left = clock * np.ones_like(rate)
    for move in moves:
      if move.source == b:
        rates.append((p, move.rates * rate))
        left = left - move.rates
    rates.append((p, left * rate))
  rates.append((gathering * p, clock * rate))
  steps = tuple((move.source, move.target) for move in moves)
  ends = kept_indices.evaluate(
    _ends, edges.sources, edges.targets, p, levels, gathering, steps
  )
  return edge_rates.EdgeRates(*ends, epoch_stages.joined_rates(rates))


def _ends(
  sources: Array,
  targets: Array,
  p: int,
  levels: int,
  gathering: int,
  moves: tuple[tuple[int, int], ...],
) -> tuple[Array, Array]:
  """Returns the sources and the targets of the edges of `_larger`.

  Args:
    sources: the sources of the epoch's edges.
    targets: their targets.
    p: as in `_larger`.
    levels: as in `_larger`.
    gathering: as in `_larger`.
    moves: the source and the target of each move.
  """
  phases = onp.arange(p)
  end = (levels + gathering) * p
  starts: list[Array | onp.ndarray] = []
  stops: list[Array | onp.ndarray] = []
  for b in range(levels):
    to = [target * p for source, target in moves if source == b]
    starts += [phases + b * p] * (len(to) + 1)
    stops += [*(phases + first for first in to), phases * 0 + end]
  more = onp.arange(levels * p, end)
  steps = p * onp.arange(levels)[:, None]
  inner = np.where(targets < p, targets + steps, end)
  kept_ends = np.reshape(sources + steps, (-1,)), np.reshape(inner, (-1,))
  every = [kept_ends[0], *starts, more], [kept_ends[1], *stops, more * 0 + end]
  return epoch_stages.joined_ends(every[0]), epoch_stages.joined_ends(every[1])


def sojourns(edges: Edges, shares: Array) -> Array:
  """Computes the expected time in each phase until absorption, (..., p).

  Args:
    edges: `math.EdgeRates`, without coefficients.
    shares: masses of the phases, (..., p), with any sum.
  """
  # Times are linear in the masses, also where all masses are zero. The chain
  # needs masses that sum to one: where they are zero, a mass of one is put at
  # time zero, which spends no time in the phases.
  total = autodiff.stop_gradient(np.sum(shares, axis=-1))
  some = total > 0.0
  scale = np.where(some, total, 1.0)[..., None]
  rest = np.where(some, 0.0, 1.0) * np.ones_like(shares[..., 0])
  model = (shares / scale, edges, None, rest)
  times = chain_calls.value_of_arrays(
    chain_passages.sojourn_times_with_traps, model, False
  )
  return scaled_times(times, scale)


def scaled_times(times: Array, scale: Array) -> Array:
  """Multiplies times by numbers >= 0; infinite times stay so, also with zero.

  A scale of zero is a mass that underflowed.
  """
  endless = (times == math.inf) & (scale >= 0.0)
  return np.where(endless, math.inf, scale * np.where(endless, 0.0, times))


def gained(times: Array, rates: Array) -> Array:
  """Multiplies times in phases by rewards per time.

  Phases that are never left have infinite times, and count if they have rewards.
  """
  endless = np.logical_not(times < math.inf) & np.logical_not(np.isnan(times))
  finite = np.where(endless, 0.0, times) * rates
  return np.where(endless & (rates > 0.0), math.inf, finite)


def sojourn_times(history: epoch_stages.History) -> list[Array]:
  """Computes expected times in the phases, an array (..., p_k) per epoch."""

  def passing(k: int, carried: Carried, length: Array) -> tuple[Carried, Array]:
    unit = np.maximum(autodiff.stop_gradient(length), _LEAST_UNIT)
    return _gathered(history.chains[k].edges, carried, length, unit)

  def finishing(k: int, carried: Carried) -> Array:
    edges, shares = history.chains[k].edges, carried.shares[..., 0, :]
    scale = np.exp(carried.log_scale)[..., None]
    return scaled_times(sojourns(edges, shares), scale)

  initial = start(history.chains[0], 1)
  return epoch_stages.through_epochs(history, initial, passing, finishing)


def sojourn_times_within(
  history: epoch_stages.History, since: Array | None, until: Array
) -> list[Array]:
  """Computes the expected time in each phase between two times, (..., p_k).

  Args:
    history: the chains.
    since: (...), as until; None for zero.
    until: (...), finite and >= 0, else results are NaN.
  """
  until = np.where(until >= 0.0, until, math.nan)
  if since is not None:
    since = np.where(since >= 0.0, since, math.nan)

  def within(k: int, carried: Carried) -> Array:
    edges = history.chains[k].edges
    length, begin = history.length(k), history.start(k)
    end = _until(until - begin, length, k == 0)
    if since is not None:
      before = _since(since - begin, length)
      carried = passed(edges, carried, before)
      end = np.where(end <= before, 0.0, end - before)
    return _gathered(edges, carried, end, _longest(end))[1]

  def passing(k: int, carried: Carried, length: Array) -> tuple[Carried, Array]:
    after = passed(history.chains[k].edges, carried, length)
    return after, within(k, carried)

  initial = start(history.chains[0], 1)
  return epoch_stages.through_epochs(history, initial, passing, within)


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


def passed(edges: Edges, carried: Carried, times: Array) -> Carried:
  """Carries masses through an epoch, without rewards."""
  unit = _longest(times)
  return through(edges, carried, [], 0, 1, times, unit)[0]


def _longest(times: Array) -> Array:
  """Returns the largest of some times, one if there is none above zero."""
  fixed = autodiff.stop_gradient(times)
  if 0 in static.shape(times):
    return np.sum(fixed) + 1.0
  longest = np.max(np.where(np.isfinite(fixed), fixed, 0.0))
  return np.where(longest > 0.0, longest, 1.0)


def _gathered(
  edges: Edges, carried: Carried, times: Array, unit: Array
) -> tuple[Carried, Array]:
  """Carries masses through an epoch, and gathers the times in its phases."""
  stay = Move(0, 1, np.ones_like(carried.shares[..., 0, :]))
  carried, gathered = through(edges, carried, [stay], 1, 1, times, unit)
  return carried, gathered.masses()[..., 0, :] * unit[..., None]
