"""State probabilities at a given time, by the reversed chain.

The chain is killed at a constant rate c, so that absorption need not be
reachable. With y = U^T beta for any beta > 0, U of the killed chain, the
reversed chain goes from j to i at y_i w_ij / y_j, so that (alpha exp(S t))_j =
exp(c t) y_j times the density at t of the reversed chain that starts in j and
ends from phase i at rate alpha_i / y_i. One derivative of the kernel gives the
densities of all starts, without subtraction. Here beta is alpha, and one in
phases that alpha cannot reach: from these the reversed chain moves to an extra
phase that is never left. In discrete time T is multiplied by 1 - c.

Reference: F. P. Kelly, Reversibility and stochastic networks, 1979, sec. 1.7.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killed_chains
from phasic.math.elimination import killing
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Model
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.model.model_types import SubtransitionLike
from phasic.math.numeric import array_utils
from phasic.math.numeric import scaled_sums


def occupancy(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes P(in phase j at time t), alpha exp(S t), for all phases j.

  Each probability has a small relative error, even if it is tiny. The result
  can serve as the initial distribution of a later period, e.g. after a change
  of rates.

  Args:
    value: t, (...), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., p), where (...) is the common batch shape of times and model.

  Raises:
    TypeError: dtypes differ, or are complex, bool or half precision.
    ValueError: shapes do not fit, or an array is empty.

  Example: the second of two stages.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 1.0])
    >>> probs = pm.phase_type.occupancy(1.0, [1.0, 0.0], edges)
    >>> [f"{float(x):.6f}" for x in probs]
    ['0.367879', '0.367879']
  """
  values = (initial_probs, subgenerator, value, exit_rates, prob_zero)
  return _occupancy(values, False)


def discrete_occupancy(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes P(in phase j after k steps), alpha T^k, for all phases j.

  Arguments, result and errors are as in `occupancy`, with T, (..., p, p), or
  `EdgeProbs`, and integers k >= 0, else results are NaN.

  Example: two steps without absorption, which has probability 1/4 in each.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0], [1], [0.25])
    >>> probs = pm.discrete_phase_type.occupancy(2, [1.0], edges)
    >>> [f"{float(x):.6f}" for x in probs]
    ['0.562500']
  """
  values = (initial_probs, subtransition, value, exit_probs, prob_zero)
  return _occupancy(values, True)


class Transient(NamedTuple):
  """The distribution of a chain's phases at a time, given no absorption.

  Attributes:
    probs: P(in phase j at time t | X > t), (..., p); NaN where P(X > t) is zero.
    log_mass: log P(X > t), (...); NaN where underflow might change it.
    log_lost: the log of a bound on the part of P(X > t) in phases whose
      probabilities underflow, (...).
  """

  probs: Array
  log_mass: Array
  log_lost: Array


def transient(model: Model, times: Array, discrete: bool) -> Transient:
  """Computes the distribution of phases at a time, given no absorption.

  With f_j the density of the reversed chain that starts in j, the probabilities
  are y_j f_j over the sum of these terms. The terms are proportional to
  derivatives of the logarithm of a mean of all f_j: so they do not underflow at
  late times.

  Args:
    model: initial_probs, subgenerator, exit_rates, prob_zero, or their discrete
      counterparts.
    times: t, (...), as in `occupancy`.
    discrete: whether time is discrete.
  """
  initial_probs, matrix, exits, prob_zero = model
  values = (initial_probs, matrix, times, exits, prob_zero)
  names = operands.names(discrete)
  found = chain_calls.value(_transient, discrete, values, names, (0,))
  return Transient(found[..., :-2], found[..., -2], found[..., -1])


def _occupancy(values: chain_arguments.Values, discrete: bool) -> Array:
  names = operands.names(discrete)
  return chain_calls.value(probs, discrete, values, names, (0,))


def probs(discrete: bool, system: chain_solves.System, times: Array) -> Array:
  """Computes the state probabilities at given times, (..., p).

  Args:
    discrete: whether time is discrete.
    system: the system.
    times: (...).
  """
  reverse = _reversed(discrete, system, times)
  _, terms = _terms("density", discrete, reverse)
  found = terms * np.exp(reverse.alive)[..., None]
  return np.where(reverse.good[..., None], found, math.nan)


def _transient(
  discrete: bool, system: chain_solves.System, times: Array
) -> Array:
  """Computes the fields of `Transient`, concatenated to (..., p + 2)."""
  reverse = _reversed(discrete, system, times)
  log, terms = _terms("log_density", discrete, reverse)
  total = np.sum(terms, axis=-1)
  some = total > 0
  total = np.where(some, total, 1.0)
  shares = terms / total[..., None]
  info = onp.finfo(static.dtype_name(times))
  # Set subnormal masses to zero, as later calls would refuse them. Masses that
  # are zero keep their derivatives.
  shares = np.where((shares > 0) & (shares < info.tiny), 0.0, shares)
  log_mass = log + np.log(total) + reverse.alive
  log_mass = np.where(reverse.empty, -math.inf, log_mass)
  p = static.shape(terms)[-1]
  log_lost = _log_lost(system, reverse.reached)
  unsure = log_mass < log_lost - math.log(info.eps)
  log_mass = np.where(unsure, math.nan, log_mass)
  small = np.any((shares == 0) & (reverse.reached > 0), axis=-1)
  least = autodiff.stop_gradient(log_mass) + math.log(p * info.tiny)
  log_lost = np.maximum(log_lost, np.where(small, least, -math.inf))
  shares = np.where((some & reverse.good)[..., None], shares, math.nan)
  log_mass = np.where(reverse.good, log_mass, math.nan)
  log_lost = np.broadcast_to(log_lost, static.shape(log_mass))
  return np.concatenate(
    [shares, log_mass[..., None], log_lost[..., None]], axis=-1
  )


def _log_lost(system: chain_solves.System, reached: Array) -> Array:
  """Bounds the log of the mass in phases whose expected time underflows.

  Args:
    system: the system.
    reached: expected times in the killed chain, zero in those phases and where
      alpha cannot reach, (..., p).
  """
  p = static.shape(reached)[-1]
  weights = chain_solves.leaving_weights(system)
  from_reached = chain_solves.at_sources(system, reached) > 0
  to_hidden = np.logical_not(chain_solves.at_targets(system, reached) > 0)
  led_to = (weights > 0) & from_reached & to_hidden & (system.indices[1] < p)
  unseen = np.any(led_to, axis=-1)
  unseen = unseen | np.any((reached == 0) & (system.initial > 0), axis=-1)
  # The mass in a phase is at most e y times the sum of all weights, where y is
  # the expected time that the killed chain spends in the phase.
  info = onp.finfo(static.dtype_name(reached))
  total = np.sum(autodiff.stop_gradient(weights), axis=-1) + 1.0
  least = math.log(p * info.tiny) + 1.0 + np.log(total)
  return np.where(unseen, least, -math.inf)


class _Reversed(NamedTuple):
  """The time reversal of a killed chain, in the system's unit of time.

  Attributes:
    start: masses, positive in phases that alpha can reach, (..., p + 1).
    edges: its edges, without coefficients.
    y: the expected times by which the chain is reversed, (..., p).
    times: (...), zero where they are not good.
    good: where times are valid, (...).
    alive: the log of the factor by which killing reduces densities, (...).
    reached: expected times in the phases of the killed chain, (..., p).
    empty: where alpha is zero, (...).
  """

  start: Array
  edges: edge_rates.EdgeRates | edge_probs.EdgeProbs
  y: Array
  times: Array
  good: Array
  alive: Array
  reached: Array
  empty: Array


def _terms(
  function: str, discrete: bool, reverse: _Reversed
) -> tuple[Array, Array]:
  """Computes a function of the reversed chain, and its scaled derivatives.

  Args:
    function: a density or its logarithm.
    discrete: whether time is discrete.
    reverse: the reversed chain.

  Returns:
    The value, (...); and y_j times the derivative with respect to the initial
    mass of each phase j, (..., p).
  """
  times = reverse.times + 1.0 if discrete else reverse.times
  batch = static.broadcast_shapes(
    static.shape(times), static.shape(reverse.start)[:-1]
  )
  p = static.shape(reverse.y)[-1]
  start = np.broadcast_to(reverse.start, (*batch, p + 1))
  none = np.zeros((), dtype=static.dtype_name(times))
  value, slopes = evaluation.value_and_start_slopes(
    function, (start, reverse.edges, times, None, none), discrete
  )
  return value, slopes[..., :p] * reverse.y


def _reversed(
  discrete: bool, system: chain_solves.System, times: Array
) -> _Reversed:
  """Kills a chain and reverses it.

  Phase p of the reversed chain is never left if an edge leads to it. Without
  such edges it is left at the largest rate: a phase that is never left would
  dominate at late times.
  """
  good = killed_chains.good_times(times, discrete)
  times = np.where(good, times, 0.0)
  if not discrete:
    times = scaled_sums.times_power(times, system.exponent)
  c, alive = _killing(discrete, times)
  keep = 1.0 - c if discrete else 1.0
  own = keep * chain_solves.leaving_weights(system)
  killed, _ = killing.killed(system, own, np.reshape(c, (1,)))
  y = chain_solves.sojourns(killed)
  reached = autodiff.stop_gradient(y)
  info = onp.finfo(static.dtype_name(times))
  # Ratios of expected times below this bound lose digits.
  none = reached < float(info.tiny) * 2.0 ** (32 if info.bits == 32 else 64)
  added = np.where(none, 1.0, 0.0)
  known = static.concrete(none)
  if known is None or onp.any(known):
    y = chain_solves.sojourns(killed._replace(initial=system.initial + added))
  z = chain_solves.at_sources(system, y)
  after = chain_solves.at_targets(system, y)
  inside = after > 0
  weights = np.where(inside, own * z, 0.0) / np.where(inside, after, 1.0)
  soon = autodiff.stop_gradient(np.max(own, axis=-1)[..., None]) + c
  used = np.any(none, axis=-1)[..., None]
  parts = [weights, system.initial / y, added / y, np.where(used, 0.0, soon)]
  if system.stay is not None:
    # Small probabilities of staying become edges: computed as one minus the
    # other probabilities, they would lose digits.
    stay = keep * (system.stay + np.zeros_like(y))
    parts.append(np.where(stay < 0.5, stay, 0.0))
  weights = chain_solves.checked_entries(system, array_utils.joined(*parts))
  kind = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  p = static.shape(y)[-1]
  edges = kind(*_reversed_ends(system, p), weights)
  mass = np.where(none, 0.0, reached)
  empty = np.all(none, axis=-1)
  mass = np.where(empty[..., None], 1.0, mass)
  start = mass / np.sum(mass, axis=-1)[..., None]
  start = np.concatenate([start, np.zeros_like(start[..., :1])], axis=-1)
  return _Reversed(start, edges, y, times, good, alive, reached, empty)


def _killing(discrete: bool, times: Array) -> tuple[Array, Array]:
  """Returns the killing weight c, and log factors that undo the killing.

  The rate is the inverse of the largest time, and at most one.
  """
  largest = np.max(np.reshape(autodiff.stop_gradient(times), (-1,)), axis=-1)
  if discrete:
    c = 1.0 / (largest + 2.0)
    return c, -times * np.log1p(-c)
  c = 1.0 / np.maximum(largest, 1.0)
  return c, c * times


def _reversed_ends(system: chain_solves.System, p: int) -> tuple[Array, Array]:
  """Returns the sources and the targets of the reversed chain's edges."""
  indices = structures.cast(system.indices, "int32")
  phases = structures.cast(np.arange(p), "int32")
  sources, targets = indices[0], indices[1]
  inner = targets < p
  last = np.zeros_like(phases[:1])
  begins = [np.where(inner, targets, p), phases, phases, last + p]
  reaches = [
    np.where(inner, sources, p),
    np.zeros_like(phases) + (p + 1),
    np.zeros_like(phases) + p,
    last + (p + 1),
  ]
  if system.stay is not None:
    begins, reaches = [*begins, phases], [*reaches, phases]
  return np.concatenate(begins), np.concatenate(reaches)
