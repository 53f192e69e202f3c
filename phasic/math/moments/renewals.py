"""Renewal densities, limited expected values and mean residual life.

Renewals and integrals of the survival function belong to chains that never end,
or to matrices that are not subgenerators. Such chains are killed, see
`killed_chains`, so that all times share one chain. Mean residual lives are
averages over the phases. Nothing is subtracted.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec. 2.4.
  S. Asmussen, Applied probability and queues, 2003, sec. V.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killed_chains
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Matrix, Model
from phasic.math.moments import occupancy
from phasic.math.numeric import array_utils
from phasic.math.numeric import kept_indices

# The largest number of edges that restart a chain after absorption.
_MAX_STARTS = 2**24
# Derivatives have six digits up to this product of the fastest rate and the
# time. Beyond it they are NaN.
_MOST_JUMPS = 1e10


def renewal_density(model: Model, times: Array, discrete: bool) -> Array:
  """Computes renewal densities at t > 0, or renewal probabilities at steps n.

  Args:
    model: initial masses, a matrix or edges, exits or None, mass at zero or
      None.
    times: (...), finite and >= 0, integers in discrete time, else results are
      NaN.
    discrete: whether time is discrete.

  Returns:
    An array with the common batch shape of times and model.

  Raises:
    ValueError: shapes do not fit, or there are too many edges.
  """
  p = static.shape(model[0])[-1]
  ends = _ends(model[1], p)
  num_ends = p if ends is None else len(ends)
  if num_ends * p > _MAX_STARTS:
    raise ValueError(
      f"the chain has {p} phases, and {num_ends} of them lead to absorption: "
      "for renewals the product of both numbers must be at most "
      f"{_MAX_STARTS}; use a smaller model"
    )
  return killed_chains.value(_renewals, model, times, discrete, ends)


def limited_expected_value(model: Model, times: Array, discrete: bool) -> Array:
  """Computes E[min(X, t)]; arguments are as in `renewal_density`."""
  more = killed_chains.Integral(1)
  return killed_chains.value(_limited, model, times, discrete, more)


def limited_moment(model: Model, times: Array, order: int) -> Array:
  """Computes E[min(X, t)^k / k!] in continuous time.

  The result has shape (...). It is the integral of u^(k-1) / (k-1)! P(X > u)
  over u from 0 to t.

  Args:
    model: as in `renewal_density`.
    times: t, (...), finite and >= 0, else results are NaN.
    order: k, a positive int.
  """
  more = killed_chains.Integral(order, shared=False)
  return killed_chains.value(_limited, model, times, False, more)


def mean_residual_life(model: Model, times: Array, discrete: bool) -> Array:
  """Computes E[X - t | X > t]; arguments are as in `renewal_density`.

  It is the mean of the phases' mean times to absorption, over the distribution
  of phases at t given X > t. It is inf if absorption is not certain, and NaN if
  P(X > t) is zero, or if phases whose probabilities underflow may matter.
  Derivatives with less than six digits are NaN.
  """
  return killed_chains.value(_mean_residual, model, times, discrete)


def equilibrium_probs(model: Model, discrete: bool) -> Array:
  """Computes the equilibrium probabilities of phases, alpha (-S)^-1 / E[X].

  They are NaN if absorption is not certain.
  """
  return chain_calls.value(_equilibrium, model, discrete)


def _ends(matrix: Matrix, p: int) -> tuple[int, ...] | None:
  """Returns the phases with exits, or None if these phases are not known."""
  if not operands.is_edges(matrix):
    return None
  sources, targets = (
    static.concrete(matrix.sources),
    static.concrete(matrix.targets),
  )
  if sources is None or targets is None:
    return None
  return tuple(int(i) for i in onp.unique(sources[targets == p]))


def _renewals(
  option: killed_chains.Option,
  absorbing: tuple[int, ...] | None,
  system: chain_solves.System,
  times: Array,
) -> Array:
  p = static.shape(system.initial)[-1]
  phases = onp.arange(p)
  ends = phases if absorbing is None else onp.asarray(absorbing, "int32")
  mass = np.sum(system.initial, axis=-1)[..., None]
  start = system.initial / np.where(mass > 0, mass, math.nan)
  killed = killed_chains.kill(option, system, times)
  sources, targets, weights = killed.sources, killed.targets, killed.weights
  out = targets == p
  exits = array_ops.segment_sum(np.where(out, weights, 0.0), sources, p)
  # Count killed mass in proportion to the exit rate of its phase: the counted
  # mass then gives the renewal density.
  fastest_exit = np.max(autodiff.stop_gradient(exits), axis=-1)[..., None]
  usable = np.where(fastest_exit > 0, fastest_exit, 1.0)
  leave = onp.repeat(ends, p)
  enter = onp.tile(phases, len(ends))
  anew = np.take(exits, leave, axis=-1) * np.take(start, enter, axis=-1)
  density = killed_chains.density(
    option.discrete,
    array_utils.joined(start, np.zeros_like(start[..., :1])),
    (
      # A restart replaces absorption. Phase p collects killed mass that
      # does not count.
      (
        sources,
        np.where(out, sources, targets),
        killed.keep * np.where(out, 0.0, weights),
      ),
      (leave, enter, killed.keep * anew),
      (phases, phases * 0 + p, killed.rates * ((usable - exits) / usable)),
      (phases, phases * 0 + p + 1, killed.rates * (exits / usable)),
    ),
    killed.times,
  )
  density = (density / killed.rate) * fastest_exit[..., 0]
  if killed.unit is None:
    density = density * np.exp((1.0 - killed.times) * np.log1p(-killed.rate))
    density = np.where(killed.times == 0, 1.0 + 0.0 * density, density)
  else:
    density = density * np.exp(killed.times) / killed.unit
  return chain_solves.checked(system, np.where(killed.good, density, math.nan))


def _limited(
  option: killed_chains.Option,
  integral: killed_chains.Integral,
  system: chain_solves.System,
  times: Array,
) -> Array:
  """Computes E[min(X, t)^k / k!]; in discrete time k must be 1.

  The power of the integral is k.
  """
  count, _, shared = integral
  killed = killed_chains.kill(option, system, times, count, shared)
  p = static.shape(system.initial)[-1]
  event_rates = killed.rates + np.zeros_like(system.initial)
  copy = (killed.keep * killed.weights, event_rates)
  weights = array_utils.joined(*(copy * count), killed.rates)
  ends = kept_indices.evaluate(
    _limited_ends, killed.sources, killed.targets, p, count
  )
  none = np.zeros_like(system.initial[..., :1]) + onp.zeros(count * p + 2 - p)
  start = np.concatenate([system.initial, none], axis=-1)
  parts = [(ends[0], ends[1], weights)]
  moment = killed_chains.integral(option, integral, killed, start, parts)
  return chain_solves.checked(system, moment)


def _limited_ends(
  sources: Array, targets: Array, p: int, count: int
) -> tuple[Array, Array]:
  """Returns the sources and the targets of the edges of `_limited`.

  Killed mass enters the next of `count` copies of the chain, and phase `last`
  after the last copy. Absorbed mass stays in phase `last` + 1.
  """
  phases, last = onp.arange(p), count * p
  begins: list[Array | onp.ndarray] = []
  reaches: list[Array | onp.ndarray] = []
  for k in range(count):
    entered = phases + (k + 1) * p if k + 1 < count else phases * 0 + last
    copied_targets = np.where(targets == p, last + 1, targets + k * p)
    begins.extend([sources + k * p, phases + k * p])
    reaches.extend([copied_targets, entered])
  begins.append(onp.asarray([last]))
  reaches.append(onp.asarray([last + 2]))
  sources, targets = (
    np.concatenate([structures.cast(x, "int32") for x in ends])
    for ends in (begins, reaches)
  )
  return sources, targets


def _mean_residual(
  option: killed_chains.Option, system: chain_solves.System, times: Array
) -> Array:
  system = chain_solves.natural(system)
  _, _, unreached = chain_solves.sojourns_and_traps(system)
  # Traps that alpha cannot reach count as absorption.
  rewards = np.where(unreached, 0.0, np.ones_like(system.initial))
  means = chain_solves.solve(system, rewards[..., None])[..., 0]
  endless = means == math.inf
  never = np.any(endless & (system.initial > 0), axis=-1)
  means = np.where(endless, 0.0, means)
  good = killed_chains.good_times(times, option.discrete)
  kind = edge_probs.EdgeProbs if option.discrete else edge_rates.EdgeRates
  edges = kind(*killed_chains.edges(option, system))
  none = np.zeros_like(system.initial[..., 0])
  later = occupancy.transient(
    (system.initial, edges, None, none),
    np.where(good, times, 0.0),
    option.discrete,
  )
  mean = np.sum(later.probs * means, axis=-1)
  # The part of the mean in phases whose probabilities underflow is unknown. Its
  # bound must be below the rounding error of the mean.
  longest = np.max(autodiff.stop_gradient(means), axis=-1)
  lost = np.exp(later.log_lost - autodiff.stop_gradient(later.log_mass))
  enough = static.finfo_eps(mean) * autodiff.stop_gradient(mean)
  good = good & (later.log_mass > -math.inf)
  mean = np.where(never, math.inf, mean)
  good = good & (never | (lost * longest <= enough))
  mean = chain_solves.checked(system, np.where(good, mean, math.nan))
  # Derivatives of shares are differences of sums that grow like the time. At
  # late times too few digits are left, so they are NaN.
  weights = array_utils.joined(system.weights, 0.0 * system.initial[..., :1])
  fastest = np.max(autodiff.stop_gradient(weights), axis=-1)
  late = fastest * times > _MOST_JUMPS
  return mean + chain_solves.undefined(late, system.initial, system.weights)


def _equilibrium(system: chain_solves.System) -> Array:
  sojourns = chain_solves.sojourns(system)
  total = np.sum(sojourns, axis=-1)[..., None]
  usable = (total > 0) & (total < math.inf)
  probs = sojourns / np.where(usable, total, math.nan)
  return chain_solves.checked_entries(system, probs)
