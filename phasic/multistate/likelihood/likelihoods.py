"""Log likelihoods of panel data, from rates and weights of observations.

An interval that begins in a known phase and ends with an observation of the
chain alone has one number, log e_i exp(Q t) w. Where hidden phases matter for
longer, the forward algorithm carries log probabilities of all phases along, by
matrices log exp(Q t).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic import math as math_lib
from phasic.internal import array_ops
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.multistate.likelihood import layouts
from phasic.multistate.states import chains


def edge_rates(
  chain: chains.Chain,
  rates: Array,
  effects: Array | None,
  columns: Array,
  incidence: onp.ndarray,
) -> Array:
  """Computes the rates of edges, (d, m), for d rows of covariates.

  Args:
    chain: the chain.
    rates: the named rates where covariates are zero, (r,).
    effects: coefficients, (k,), or None.
    columns: the number that each coefficient multiplies, (d, k).
    incidence: one where a coefficient acts on a rate, (k, r).
  """
  by_row = rates[None]
  if effects is not None:
    by_row = by_row * np.exp(
      np.matmul(columns * effects, like(incidence, rates))
    )
  if chain.is_plain:
    return by_row
  weighted = np.matmul(by_row, like(onp.transpose(chain.coefficients), rates))
  return weighted + like(chain.constants, rates)


def log_terms(
  chain: chains.Chain,
  layout: layouts.Layout,
  rates: Array,
  log_initial: Array | None,
  log_emissions: Array | None,
) -> Array:
  """Computes the log likelihood of each subject, (s,).

  Args:
    chain: the chain.
    layout: the data.
    rates: of edges, (d, m), from `edge_rates`.
    log_initial: of phases at the first observation, (p,), or None.
    log_emissions: of the observations of hidden states, (e, p), or None.
  """
  parts = [
    _of_intervals(chain, block, rates) for block in (*layout.free, *layout.held)
  ]
  if layout.paths is not None:
    parts.append(
      _of_paths(chain, layout.paths, rates, log_initial, log_emissions)
    )
  size = static.shape(layout.weights)[0]
  if not parts:
    return structures.cast(layout.weights, static.dtype_name(rates)) * 0.0
  values = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=0)
  chosen = np.take(values, layout.index, axis=0)
  return array_ops.segment_sum(chosen, layout.subject, size)


def like(x: object, array: Array) -> Array:
  """Converts host values to an array of the dtype of another one."""
  return structures.cast(x, static.dtype_name(array))


def _edges(
  chain: chains.Chain, targets: Any, rates: Array
) -> math_lib.EdgeRates:
  return math_lib.EdgeRates(
    onp.asarray(chain.sources, onp.int32), targets, rates
  )


def _of_intervals(
  chain: chains.Chain, intervals: layouts.Intervals, rates: Array
) -> Array:
  """Computes log e_i exp(Q t) w of intervals, in a flat array."""
  chosen = np.take(rates, intervals.design, axis=0)
  exits = like(intervals.exits, rates)
  sources = like(chain.from_source, rates)
  # Where a phase has no exit, the slope of its weight may overflow.
  weights = np.where(
    np.matmul(exits, sources) > 0.0,
    np.matmul(chosen * exits, sources),
    like(intervals.weights, rates),
  )
  is_one = static.shape(rates)[0] == 1
  chosen = rates[0] if is_one else chosen[:, None]
  edges = _edges(chain, intervals.targets, chosen)
  values = math_lib.phase_type.log_phase_expectation(
    like(intervals.times, rates),
    weights[:, None],
    like(intervals.initial, rates)[:, None],
    edges,
  )
  return np.reshape(values, (-1,))


def log_matrices(
  chain: chains.Chain, steps: layouts.Steps, rates: Array, held: bool
) -> Array:
  """Computes log exp(Q t) for all steps, (g n, p, p)."""
  p = chain.num_phases
  pairs = onp.nonzero(chain.reached(held))
  units = like(onp.eye(p), rates)
  is_one = static.shape(rates)[0] == 1
  chosen = rates[0] if is_one else np.take(rates, steps.design, axis=0)
  values = math_lib.phase_type.log_phase_expectation(
    like(steps.times, rates)[:, None],
    np.take(units, pairs[1], axis=0)[:, None],
    np.take(units, pairs[0], axis=0)[:, None],
    _edges(
      chain,
      onp.asarray(chain.targets_of(held), onp.int32),
      chosen if is_one else chosen[:, None, None],
    ),
  )
  values = np.reshape(np.transpose(values, (0, 2, 1)), (-1, len(pairs[0])))
  return _spread(values, pairs[0] * p + pairs[1], p)


def _spread(values: Array, places: onp.ndarray, p: int) -> Array:
  """Puts logs of entries into matrices, (n, p, p), with -inf elsewhere."""
  size = static.shape(values)[-1]
  index = onp.full(p * p, size)
  index[places] = onp.arange(size)
  lost = np.zeros_like(values[:, :1]) - math.inf
  whole = np.take(np.concatenate([values, lost], axis=-1), index, axis=-1)
  return np.reshape(whole, (-1, p, p))


def _log_jumps(
  chain: chains.Chain, jumps: layouts.Jumps, rates: Array
) -> Array:
  """Computes logs of rates between phases, (k, p, p), for jumps."""
  p = chain.num_phases
  chosen = np.take(rates, jumps.design, axis=0) * like(jumps.edges, rates)
  matrices = np.matmul(chosen, like(chain.cells, rates))
  return np.reshape(_log(matrices), (-1, p, p))


class Tables(NamedTuple):
  """What the forward algorithm needs of paths, in logs.

  Attributes:
    matrices: from phase i to phase j, (k, p, p), the rows of `Paths.matrices`.
    weights: of observations in each phase, (w, p), the rows of `Paths.weights`.
    first: of phases at the starts, with the first observations, (s, p).
  """

  matrices: Array
  weights: Array
  first: Array


def path_tables(
  chain: chains.Chain,
  paths: layouts.Paths,
  rates: Array,
  log_initial: Array | None,
  log_emissions: Array | None,
) -> Tables:
  """Computes the tables of the forward algorithm; see `log_terms`."""
  tables = []
  if paths.free is not None:
    tables.append(log_matrices(chain, paths.free, rates, False))
  if paths.held is not None:
    tables.append(log_matrices(chain, paths.held, rates, True))
  if paths.jumps is not None:
    tables.append(_log_jumps(chain, paths.jumps, rates))
  tables.append(_log(like(onp.eye(chain.num_phases)[None], rates)))
  weights = _log(like(paths.masks, rates))
  if log_emissions is not None:
    weights = np.concatenate([weights, log_emissions], axis=0)
  starts = _log(like(chain.start_rows, rates))
  if log_initial is not None:
    starts = np.concatenate([starts, log_initial[None]], axis=0)
  first = np.take(starts, paths.start, axis=0)
  first = first + np.take(weights, paths.first, axis=0)
  return Tables(np.concatenate(tables, axis=0), weights, first)


def _of_paths(
  chain: chains.Chain,
  paths: layouts.Paths,
  rates: Array,
  log_initial: Array | None,
  log_emissions: Array | None,
) -> Array:
  """Computes log likelihoods of paths by the forward algorithm, (s,)."""
  tables, weights, first = path_tables(
    chain, paths, rates, log_initial, log_emissions
  )
  # Transposed, so that sums are over the last axis.
  matrices = np.transpose(tables, (0, 2, 1))

  def step(carry: Array, x: tuple[Array, Array]) -> tuple[Array, None]:
    matrix, weight = x
    moved = carry[:, None, :] + np.take(matrices, matrix, axis=0)
    return log_sum(moved) + np.take(weights, weight, axis=0), None

  last, _ = control_flow.scan(step, first, (paths.matrices, paths.weights))
  return log_sum(last)


def _log(x: Array) -> Array:
  """Computes logarithms; -inf of zero, with a derivative of zero."""
  some = x > 0.0
  return np.where(some, np.log(np.where(some, x, 1.0)), -math.inf)


def log_sum(x: Array) -> Array:
  """Computes log sum exp(x) over the last axis; -inf has no derivative."""
  largest = math_lib.stop_gradient(np.max(x, axis=-1))
  largest = np.where(largest > -math.inf, largest, 0.0)
  return _log(np.sum(np.exp(x - largest[..., None]), axis=-1)) + largest
