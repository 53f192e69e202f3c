"""State probabilities at a given time, by the reversed chain.

With y = U^T beta for any beta > 0 the reversed chain goes from j to i at
y_i w_ij / y_j, so that (alpha exp(S t))_j = y_j times the density at t of the
reversed chain that starts in j and ends from phase i at rate alpha_i / y_i. One
derivative of the kernel gives the densities of all starts, without subtraction.
Here beta is alpha, and one in phases that alpha cannot reach: from these the
reversed chain moves to an extra phase that is never left.

Reference: F. P. Kelly, Reversibility and stochastic networks, 1979, sec. 1.7.
"""

from __future__ import annotations

import math

import numpy as np

from phasic.internal import autodiff
from phasic.internal import segments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Model
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.model.model_types import SubtransitionLike
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
    It is NaN for traps that alpha can reach; other traps count as absorption.

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


def conditional_occupancy(model: Model, times: Array, discrete: bool) -> Array:
  """Computes P(in phase j at time t | X > t), alpha exp(S t) / P(X > t).

  With f_j the density of the reversed chain that starts in j, this is y_j f_j
  over the sum of these terms. The terms are proportional to derivatives of the
  logarithm of a mean of all f_j: so they do not underflow at late times.

  Args:
    model: initial_probs, subgenerator, exit_rates, prob_zero, or their discrete
      counterparts.
    times: t, (...), as in `occupancy`.
    discrete: whether time is discrete.

  Returns:
    An array (..., p); NaN where P(X > t) is zero, and where `occupancy` is.
  """
  initial_probs, matrix, exits, prob_zero = model
  values = (initial_probs, matrix, times, exits, prob_zero)
  names = operands.names(discrete)
  return chain_calls.value(_shares, discrete, values, names, (0,))


def _occupancy(values: chain_arguments.Values, discrete: bool) -> Array:
  names = operands.names(discrete)
  return chain_calls.value(probs, discrete, values, names, (0,))


def probs(discrete: bool, system: chain_solves.System, times: Array) -> Array:
  """Computes the state probabilities, (..., p): a rule for `chain_calls`.

  Args:
    discrete: whether time is discrete.
    system: the system.
    times: (...).
  """
  return _of_reversed("density", discrete, system, times)


def _shares(discrete: bool, system: chain_solves.System, times: Array) -> Array:
  """Computes the state probabilities given X > t, (..., p)."""
  found = _of_reversed("log_density", discrete, system, times)
  total = np.sum(found, axis=-1)[..., None]
  some = total > 0
  return np.where(some, found / np.where(some, total, 1.0), math.nan)


def _of_reversed(
  function: str, discrete: bool, system: chain_solves.System, times: Array
) -> Array:
  """Computes y_j times the derivative in initial mass j of the reversed chain.

  The derivative is that of `function`, a density or its logarithm.
  """
  indices, weights, y, none, lost = _reversed(system)
  p = static.shape(y)[-1]
  batch = static.broadcast_shapes(
    static.shape(times), static.shape(y)[:-1], static.shape(weights)[:-1]
  )
  # The reversed chain starts only in phases that alpha can reach. Otherwise mass
  # that is never absorbed would dominate the result.
  start = np.where(none, 0.0, np.ones_like(y) / (p + 1))
  start = np.concatenate([start, np.zeros_like(start[..., :1])], axis=-1)
  start = np.broadcast_to(start, (*batch, p + 1))
  good = (times >= 0) & (times < math.inf)
  if discrete:
    good = good & (np.floor(times) == times)
  times = np.where(good, times, 0.0)
  kind = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  edges = kind(indices[0], indices[1], weights)
  others = (edges, times + 1.0 if discrete else times, None)
  _, slopes = evaluation.value_and_start_slopes(
    function, (start, *others, np.zeros_like(y[..., 0])), discrete
  )
  found = slopes[..., :p] * y
  return np.where(lost | np.logical_not(good[..., None]), math.nan, found)


def _reversed(
  system: chain_solves.System,
) -> tuple[Array, Array, Array, Array, Array]:
  """Builds the reversed chain: indices, weights, y, and two boolean arrays.

  The first is whether alpha cannot reach a phase, the second whether the phase
  is a trap that alpha can reach, both (..., p). Phase p of the reversed chain
  is never left if an edge leads to it. Without such edges it is left at the
  largest rate: a phase that is never left would dominate at late times.
  """
  reached = chain_solves.sojourns(system)
  none = autodiff.stop_gradient(reached) == 0
  start = np.where(none, 1.0, 0.0)
  y = chain_solves.sojourns(system._replace(initial=system.initial + start))
  caught = y == math.inf
  y = np.where(caught, 1.0, y)
  z = chain_solves.at_sources(system, y)
  after = chain_solves.at_targets(system, y)
  traps = np.where(caught, 1.0, 0.0)
  trapped = chain_solves.at_targets(system, traps) > 0
  trapped = trapped | (chain_solves.at_sources(system, traps) > 0)
  p = static.shape(y)[-1]
  inside = (after > 0) & np.logical_not(trapped)
  weights = chain_solves.leaving_weights(system) * z
  weights = np.where(inside, weights, 0.0) / np.where(inside, after, 1.0)
  ends = np.where(caught, 0.0, system.initial / y)
  others = np.where(caught, 0.0, start / y)
  leaving = segments.segment_sum(
    chain_solves.leaving_weights(system), system.indices[0], p
  )
  soon = autodiff.stop_gradient(np.max(leaving, axis=-1)[..., None])
  used = np.any(none, axis=-1)[..., None]
  parts = [weights, ends, others, np.where(used, 0.0, soon)]
  if system.stay is not None:
    # As one minus the others, small probabilities of staying would lose digits.
    stay = system.stay + np.zeros_like(y)
    parts.append(np.where((stay < 0.5) & np.logical_not(caught), stay, 0.0))
  weights = np.concatenate(parts, axis=-1)
  weights = scaled_sums.times_power(weights, system.exponent[..., None])
  weights = chain_solves.checked_entries(system, weights)
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
  indices = np.stack([np.concatenate(begins), np.concatenate(reaches)])
  y = scaled_sums.times_power(y, -system.exponent[..., None])
  y = np.where(caught, 0.0, y)
  return indices, weights, y, none, caught & np.logical_not(none)
