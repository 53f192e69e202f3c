"""Distributions of a chain's phases at given times.

With weights e of the phases in which the time ends, the density of the kernel is
alpha exp(S t) e, or alpha T^(k-1) e in steps. So its derivatives in e are the
probabilities of the phases. They are sums of nonnegative terms, and their own
derivatives are the kernel's of the next order.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import evaluation
from phasic.math.elimination import killed_chains
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import (
  Edges,
  Given,
  Model,
  SubgeneratorLike,
  SubtransitionLike,
)
from phasic.math.moments import phase_vectors
from phasic.math.moments import weighted_models
from phasic.math.numeric import array_utils

# Times whose product with the fastest rate is below this are replaced by a time
# at which it equals this: until then no mass that counts has moved. In single
# precision the number is zero.
_BEGUN = 2.0**-960


def occupancy(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes P(in phase j at time t), alpha exp(S t), for all phases j.

  Each probability has a small relative error, even if it is tiny: below 1e-262
  of their sum the error is 1e-277 of that. The result can serve as the initial
  distribution of a later period, e.g. after a change of rates.

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
  arguments = (initial_probs, subgenerator, value, exit_rates, prob_zero)
  return evaluate(arguments, False)


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
  arguments = (initial_probs, subtransition, value, exit_probs, prob_zero)
  return evaluate(arguments, True)


def evaluate(arguments: Sequence[Given], discrete: bool) -> Array:
  """Computes `occupancy` from initial masses, rates, times, exits and atom."""
  names = operands.argument_names(discrete, "value")
  converted = operands.convert(*arguments, names=names)
  operands.canonical(converted, names)  # Raises if shapes do not broadcast.
  initial, matrix, times, exits, atom = converted
  model = weighted_models.make(
    (initial, matrix, exits, atom), static.shape(times), discrete
  )
  probs = _run_probs(discrete, model, _wide(times))
  return structures.cast(probs, static.dtype_name(initial))


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

  The derivatives of the logarithm of alpha exp(S t) e are the probabilities
  divided by their sum if all weights are one. So they do not underflow at late
  times.

  Args:
    model: initial_probs, subgenerator or edges, exit_rates, prob_zero, or their
      discrete counterparts.
    times: t, (...), as in `occupancy`.
    discrete: whether time is discrete.
  """
  weighted_model = weighted_models.make(model, static.shape(times), discrete)
  dtype = static.dtype_name(model[0])
  fields = _run_transient(discrete, weighted_model, _wide(times))
  return Transient(*(structures.cast(x, dtype) for x in fields))


def carried(masses: Array, edges: Edges, times: Array) -> Transient:
  """Computes the transient distribution of masses, which may all be zero.

  Args:
    masses: of the phases, (..., p).
    edges: the edges of a chain in continuous time.
    times: (...), as in `occupancy`.

  Returns:
    The distribution of the mass that is not absorbed; zeros, not NaN, if there
    is none.
  """
  model = (masses, edges, None, np.zeros_like(masses[..., 0]))
  state = transient(model, times, False)
  none = state.log_mass == -math.inf
  if array_utils.are_true(np.logical_not(none)):
    return state
  return state._replace(probs=np.where(none[..., None], 0.0, state.probs))


def weighted(model: Model, times: Array, weights: Array) -> Array:
  """Sums the weights times P(in phase j at time t) over the times t.

  The result has shape (..., p). One sweep of the kernel serves all times.

  Args:
    model: initial_probs, subgenerator or edges, exit_rates, prob_zero.
    times: (n, ...), finite and >= 0, else results are NaN.
    weights: (n, ...).
  """
  weighted_model = weighted_models.make(model, static.shape(times)[1:], False)
  sums = _run_weighted(weighted_model, _wide(times), _wide(weights))
  return structures.cast(sums, static.dtype_name(model[0]))


def _wide(x: Array) -> Array:
  return structures.cast(x, static.wide_float())


def _probs(
  discrete: bool, model: weighted_models.WeightedModel, times: Array
) -> Array:
  """Computes the probabilities of phases at times, (..., p)."""
  probs = phase_vectors.rows(
    discrete, model.initial, model.edges, times, model.unit
  )
  return probs if model.good is None else probs * model.good[..., None]


def _weighted(
  model: weighted_models.WeightedModel, times: Array, weights: Array
) -> Array:
  """Computes `weighted`."""
  valid = killed_chains.good_times(times, False)
  ends = np.where(valid, times, 0.0)
  arguments = weighted_models.arguments(model, model.initial, ends)
  sums = evaluation.weight_slopes(arguments, weights)
  good = weighted_models.also(model.good, np.all(valid, axis=0))
  return sums if good is None else sums * good[..., None]


def _transient(
  discrete: bool, model: weighted_models.WeightedModel, times: Array
) -> tuple[Array, Array, Array]:
  """Computes the fields of `Transient`."""
  ends, good = weighted_models.checked_times(model, times, discrete)
  ends = ends + 1.0 if discrete else _begun(model, ends)
  initial = model.initial
  if model.empty is not None:
    initial = np.where(model.empty[..., None], 1.0, initial)
  arguments = weighted_models.arguments(model, initial, ends)
  log, slopes = evaluation.log_value_and_weight_slopes(arguments, discrete)
  shares = slopes * model.weights
  log_mass = log - np.log(model.unit)
  if good is not None:
    shares, log_mass = shares * good[..., None], log_mass * good
  if model.empty is not None:
    log_mass = np.where(model.empty, -math.inf, log_mass)
  least = _least_share(static.dtype_name(shares))
  none = np.zeros_like(log_mass) - math.inf
  if array_utils.are_true(shares >= least):
    return shares, log_mass, none
  hidden = autodiff.stop_gradient(np.where(shares >= least, 0.0, 1.0))
  unseen = weighted_models.leads_to(model, hidden, times > 0.0)
  p = static.shape(shares)[-1]
  bound = autodiff.stop_gradient(log_mass) + math.log(p * least)
  # Only tiny positive shares become zero: shares of zero keep their
  # derivatives.
  shares = np.where((shares > 0.0) & (shares < least), 0.0, shares)
  return shares, log_mass, np.where(unseen, bound, none)


def _begun(model: weighted_models.WeightedModel, times: Array) -> Array:
  """Replaces early times by the earliest whose derivatives the kernel computes.

  Until then the shares of phases that paths have moved to are below
  `_least_share`.
  """
  fixed = autodiff.stop_gradient
  edges = model.edges
  if static.shape(edges.sources)[-1] == 0:
    return times
  rates = edge_rates.values(
    edges.parameters, edges.constants, edges.coefficients
  )
  fastest = np.max(fixed(rates), axis=-1)
  first = _BEGUN / np.where(fastest > 0.0, fastest, 1.0)
  rest = np.where(times > 0.0, first - fixed(times), 0.0)
  known = static.concrete(rest)
  if known is not None and not onp.any(known > 0.0):
    return times
  return times + np.maximum(rest, 0.0)


@functools.cache
def _least_share(dtype: str) -> float:
  """Returns a bound below which shares lose digits by underflow."""
  return max(2.0**-870, float(onp.finfo(dtype).tiny))


_run_probs = control_flow.compiled(_probs, static_argnums=(0,))
_run_transient = control_flow.compiled(_transient, static_argnums=(0,))
_run_weighted = control_flow.compiled(_weighted)
