"""State probabilities of a chain at a given time, by the reversed chain.

See `reversed_chains`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.model import operands
from phasic.math.model.model_types import Model
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.model.model_types import SubtransitionLike
from phasic.math.moments import reversed_chains
from phasic.math.numeric import array_utils


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
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

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
  found = chain_calls.value_of_arrays(
    _transient, model, discrete, (discrete,), times
  )
  return Transient(found[..., :-2], found[..., -2], found[..., -1])


def _occupancy(values: chain_arguments.Values, discrete: bool) -> Array:
  names = operands.argument_names(discrete, "value")
  return chain_calls.value(probs, values, names, (0,), (discrete,))


def probs(discrete: bool, system: chain_solves.System, times: Array) -> Array:
  """Computes the state probabilities at given times, (..., p).

  Args:
    discrete: whether time is discrete.
    system: the system.
    times: (...).
  """
  chain = reversed_chains.reverse(discrete, system, times)
  _, terms = reversed_chains.terms_of("density", discrete, chain)
  found = terms * np.exp(chain.alive)[..., None]
  return np.where(chain.good[..., None], found, math.nan)


def weighted(model: Model, times: Array, weights: Array) -> Array:
  """Computes sums over times of weights times P(in phase j at t), (..., p).

  One sweep of the kernel serves all times.

  Args:
    model: initial_probs, subgenerator or edges, exit_rates, prob_zero.
    times: (n, ...), finite and >= 0, else results are NaN.
    weights: (n, ...).
  """
  initial_probs, matrix, exits, prob_zero = model
  values = (initial_probs, matrix, times, weights, exits, prob_zero)
  names = operands.argument_names(False, "times", "weights")
  # To the call the n times are a dimension of the batch, over which it sums.
  return chain_calls.value(_weighted, values, names, (0, 0))[0]


def _weighted(
  system: chain_solves.System, times: Array, weights: Array
) -> Array:
  chain = reversed_chains.reverse(False, system, times)
  found = reversed_chains.weighted_densities(chain, weights)
  good = np.all(chain.good, axis=0)[None, ..., None]
  return np.where(good, found, math.nan)


def _transient(
  discrete: bool, system: chain_solves.System, times: Array
) -> Array:
  """Computes the fields of `Transient`, concatenated to (..., p + 2)."""
  chain = reversed_chains.reverse(discrete, system, times)
  log, terms = reversed_chains.terms_of("log_density", discrete, chain)
  total = np.sum(terms, axis=-1)
  some = total > 0
  total = np.where(some, total, 1.0)
  shares = terms / total[..., None]
  info = onp.finfo(static.dtype_name(times))
  log_mass = log + np.log(total) + chain.alive
  log_mass = np.where(chain.empty, -math.inf, log_mass)
  log_lost = _log_lost(system, chain.reached)
  nothing_lost = chain.good & (log_lost == -math.inf)
  if array_utils.are_true((shares >= info.tiny) & nothing_lost[..., None]):
    return _concatenated(shares, log_mass, log_lost)
  # Set subnormal masses to zero, as later calls would refuse them. Masses that
  # are zero keep their derivatives.
  shares = np.where((shares > 0) & (shares < info.tiny), 0.0, shares)
  p = static.shape(terms)[-1]
  unsure = log_mass < log_lost - math.log(info.eps)
  log_mass = np.where(unsure, math.nan, log_mass)
  small = np.any((shares == 0) & (chain.reached > 0), axis=-1)
  least = autodiff.stop_gradient(log_mass) + math.log(p * info.tiny)
  log_lost = np.maximum(log_lost, np.where(small, least, -math.inf))
  shares = np.where((some & chain.good)[..., None], shares, math.nan)
  log_mass = np.where(chain.good, log_mass, math.nan)
  return _concatenated(shares, log_mass, log_lost)


def _concatenated(shares: Array, log_mass: Array, log_lost: Array) -> Array:
  log_lost = array_utils.expanded(log_lost, static.shape(log_mass))
  logs = [log_mass[..., None], log_lost[..., None]]
  return np.concatenate([shares, *logs], axis=-1)


def _log_lost(system: chain_solves.System, reached: Array) -> Array:
  """Bounds the log of the mass in phases whose expected time underflows.

  Args:
    system: the system.
    reached: expected times in the killed chain, zero in those phases and where
      alpha cannot reach, (..., p).
  """
  if array_utils.are_true(reached > 0):
    return np.zeros_like(reached[..., 0]) - math.inf
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
