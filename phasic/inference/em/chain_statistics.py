"""Expected sufficient statistics of one chain's paths, given data."""

from __future__ import annotations

import numpy as np

from phasic.inference.data import observation_terms
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.math.calls import gradients
from phasic.math.likelihood import discrete_observations
from phasic.math.likelihood.expected_statistics import expected_statistics
from phasic.math.m_step import rate_updates
from phasic.math.model import chain as chain_lib
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Edges, Matrix, Model
from phasic.math.numeric import array_utils
from phasic.math.numeric import exact_sums


def statistics_of_chain(
  model: Model,
  data: tuple[Array, Array | None, Array],
  batch: static.Shape,
  discrete: bool,
) -> rate_updates.SufficientStatistics:
  """Computes the expected statistics of a chain's paths, given observations.

  Args:
    model: initial probabilities, rates (a matrix or edges), exits or None, atom
      or None, as functions of `math` take them.
    data: lower and upper ends of observations (..., n), and weights; None for
      upper ends if all observations are exact.
    batch: the batch shape of the result; the batch of the model broadcasts to
      (batch..., 1).
    discrete: whether time is discrete.

  Raises:
    NotImplementedError: the native kernel does not run.
    ValueError: time is discrete, and the chain has more than 4096 phases.
  """
  model = _with_observation_axis(model, batch)
  statistics = (_discrete_statistics if discrete else _continuous_statistics)(
    model, data
  )
  # Removes the axis of the observations, which follows the batch axes.
  rank = len(batch)
  return rate_updates.SufficientStatistics(
    *(np.reshape(x, (*batch, *static.shape(x)[rank + 1 :])) for x in statistics)
  )


def log_likelihood_terms(
  model: Model,
  lower: Array,
  upper: Array | None,
  batch: static.Shape,
  discrete: bool,
) -> Array:
  """Computes the log likelihood of each observation under a chain.

  Returns:
    (batch..., n).
  """
  model = _with_observation_axis(model, batch)
  return observation_terms.interval_log_probs(model, lower, upper, discrete)


def _with_observation_axis(model: Model, batch: static.Shape) -> Model:
  """Returns the model with batch shape (batch..., 1), to broadcast to data."""
  initial_probs, matrix, exits, prob_zero = model
  p = static.shape(initial_probs)[-1]
  start = np.broadcast_to(initial_probs, (*batch, 1, p))
  if operands.is_edges(matrix):
    matrix = edge_rates.convert(matrix, static.dtype_name(initial_probs))
  return start, matrix, exits, prob_zero


def _continuous_statistics(
  model: Model, data: tuple[Array, Array | None, Array]
) -> rate_updates.SufficientStatistics:
  initial_probs, matrix, exits, prob_zero = model
  lower, upper, weights = data
  given = expected_statistics(
    lower,
    initial_probs,
    matrix,
    exits,
    prob_zero,
    weights=weights,
    upper=upper,
  )
  return rate_updates.SufficientStatistics(
    given.starts,
    given.sojourns,
    given.jumps,
    given.exits,
    np.zeros_like(given.exits),
    given.atom,
  )


def _discrete_statistics(
  model: Model, data: tuple[Array, Array | None, Array]
) -> rate_updates.SufficientStatistics:
  """Computes discrete-time statistics from derivatives of the log likelihood.

  The likelihood is a sum of products of probabilities. By Fisher's identity the
  derivative of its logarithm in the logarithm of a probability is the expected
  number of times that this probability is a factor. Nothing is subtracted.
  """
  initial_probs, matrix, exits, prob_zero = model
  lower, upper, weights = data
  batch = static.shape(initial_probs)[:-1]
  between, exits = _dense(initial_probs, matrix, exits)
  p = static.shape(initial_probs)[-1]
  if prob_zero is None:
    none = np.zeros_like(initial_probs[..., :0])
    tolerance = 4 * p * static.finfo_eps(initial_probs)
    prob_zero = chain_lib.derive_atom(initial_probs, none, tolerance)
  # All arrays get batch axes: the derivative with respect to an array without
  # them would be a sum over the batch.
  between = np.broadcast_to(between, (*batch, p, p))
  exits = np.broadcast_to(exits, (*batch, p))
  prob_zero = np.broadcast_to(prob_zero, batch)

  def terms(
    initial_probs: Array, between: Array, exits: Array, atom: Array
  ) -> Array:
    return discrete_observations.log_likelihood_terms(
      initial_probs, between, lower, upper, exit_probs=exits, prob_zero=atom
    )

  value, pullback = gradients.vjp(
    terms, initial_probs, between, exits, prob_zero
  )
  with user_warnings.searching():
    derivatives = pullback(np.broadcast_to(weights, static.shape(value)))
  steps, left = between * derivatives[1], exits * derivatives[2]
  is_stay = np.eye(p, dtype=static.dtype_name(initial_probs)) > 0
  stays = np.sum(np.where(is_stay, steps, 0.0), axis=-1)
  visits = np.sum(steps, axis=-1) + left
  jumps = np.where(is_stay, 0.0, steps)
  if operands.is_edges(matrix):
    jumps = _by_edge(matrix, jumps, left)
  return rate_updates.SufficientStatistics(
    initial_probs * derivatives[0],
    visits,
    jumps,
    left,
    stays,
    prob_zero * derivatives[3],
  )


def _dense(
  initial_probs: Array, matrix: Matrix, exits: Array | None
) -> tuple[Array, Array]:
  """Returns step probabilities (..., p, p) and exit probabilities (..., p)."""
  p = static.shape(initial_probs)[-1]
  tolerance = 4 * p * static.finfo_eps(initial_probs)
  if not isinstance(matrix, edge_rates.EDGES):
    if exits is None:
      ones = np.ones_like(matrix[..., :1])
      parts = np.concatenate([ones, -matrix], axis=-1)
      exits = chain_lib.snap(exact_sums.compensated_sum(parts), tolerance)
    return matrix, exits
  between, exits = edge_rates.dense(p, matrix)
  parts = np.concatenate(
    [np.ones_like(exits[..., None]), -between, -exits[..., None]], axis=-1
  )
  missing = chain_lib.snap(exact_sums.compensated_sum(parts), tolerance)
  eye = np.eye(p, dtype=static.dtype_name(initial_probs))
  return between + eye * missing[..., None], exits


def _by_edge(edges: Edges, jumps: Array, exits: Array) -> Array:
  """Divides expected jumps among parallel edges in proportion to weights."""
  p = static.shape(exits)[-1]
  places = edges.sources * (p + 1) + edges.targets
  weights = edge_rates.values(
    edges.parameters, edges.constants, edges.coefficients
  )
  all_between, all_exits = edge_rates.dense(p, edges)
  totals = _at_edges(all_between, all_exits, places)
  known = totals != 0
  shares = np.where(known, weights / np.where(known, totals, 1.0), 0.0)
  return shares * _at_edges(jumps, exits, places)


def _at_edges(between: Array, exits: Array, places: Array) -> Array:
  """Returns the entry of a matrix or of the exits for each edge, (..., m)."""
  rows = np.concatenate([between, exits[..., None]], axis=-1)
  return np.take(array_utils.merged(rows, 2), places, axis=-1)
