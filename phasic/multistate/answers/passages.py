"""Total times in states and times until states of fitted multi-state models."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic import inference
from phasic import math as math_lib
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.tables import TableLike
from phasic.multistate.answers import rate_tables
from phasic.multistate.data import panel_columns
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import models
from phasic.multistate.states import chains


def passage_times(
  fit: inference.ModelFit,
  to: str | int | Sequence[str | int],
  covariates: TableLike | None = None,
  *,
  time: float = 0.0,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes expected first passage times to a set of states, with intervals.

  A state of several phases has just been entered at the start. With cuts the
  rates of one time hold for ever.

  Args:
    fit: of a `MultiState`.
    to: a state, or several.
    covariates: see `pmatrix`.
    time: where rates are taken, which matters if there are cuts.
    confidence_level: between zero and one.
    method: "wald", on the scale of logarithms, or "profile".

  Returns:
    The times from each state and ends of intervals, (s,): zero from the states
    in `to`, inf from those from which these may never be reached; (n, s) if
    covariates are a table.

  Raises:
    TypeError, ValueError: as for `pmatrix`, or a state is unknown.

  Example: two of three subjects fell ill within a year.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [1, 1, 2, 2, 3, 3],
    ...     "year": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    ...     "state": ["well", "ill", "well", "ill", "well", "well"],
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ... )
    >>> fit = inference.fit_mle(multistate.MultiState({"well": ["ill"]}), data)
    >>> times = multistate.passage_times(fit, "ill")
    >>> print([f"{x:.4f}" for x in times.estimate])
    ['0.9102', '0.0000']

  Reference: J. R. Norris, Markov chains, 1997, ch. 3.
  """
  table = rate_tables.read(fit, covariates)
  at = rate_tables.time_of("time", time, least=-math.inf)
  chain = table.chain
  ends = chain.in_states(_states("to", to, chain)) > 0
  targets = onp.where(ends[chain.targets], chain.num_phases, chain.targets)
  there = onp.matmul(table.starts, ends) > 0
  misses = onp.matmul(table.starts, _misses(fit, chain, ends)) > 0
  starts = onp.where((there | misses)[:, None], 0.0, table.starts)

  def times(parameters: models.Parameters) -> Array:
    rates = table.edge_rates(parameters, at)
    passage = rate_tables.edges(chain, rates[:, None, :], targets)
    by_phase = math_lib.phase_type.expected_sojourn_times(
      likelihoods.like(starts, rates), passage
    )
    sums = np.sum(by_phase, axis=-1)
    return table.shaped(np.where(there, 0.0, np.where(misses, math.inf, sums)))

  return fit.confidence_interval(
    times,
    confidence_level=confidence_level,
    method=method,
    bounds=(0.0, math.inf),
  )


def length_of_stay(
  fit: inference.ModelFit,
  until: float = math.inf,
  covariates: TableLike | None = None,
  *,
  start: str | int | None = None,
  start_time: float = 0.0,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes expected total times in each state, with intervals.

  They are the integrals of P(in state j at start_time + u) over u from 0 to
  `until`. A state of several phases has just been entered at the start.

  Args:
    fit: of a `MultiState`.
    until: the length of the time, >= 0; inf for all time, which is inf for
      states in which the chain may stay.
    covariates: see `pmatrix`.
    start: the state at the start; None for each state in turn.
    start_time: where the time begins, which matters if there are cuts.
    confidence_level: between zero and one.
    method: "wald", on the scale of logarithms, or "profile".

  Returns:
    The times and ends of intervals, (s,), or (s, s) with the start in rows if
    `start` is None; with a leading axis (n,) if covariates are a table.

  Raises:
    TypeError, ValueError: as for `pmatrix`, or a state is unknown.

  Example: of ten years, those before falling ill.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [1, 1, 2, 2, 3, 3],
    ...     "year": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    ...     "state": ["well", "ill", "well", "ill", "well", "well"],
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ... )
    >>> fit = inference.fit_mle(multistate.MultiState({"well": ["ill"]}), data)
    >>> stay = multistate.length_of_stay(fit, 10.0, start="well")
    >>> print([f"{x:.4f}" for x in stay.estimate])
    ['0.9102', '9.0898']
  """
  table = rate_tables.read(fit, covariates)
  length = rate_tables.time_of("until", until, endless=True)
  begin = rate_tables.time_of("start_time", start_time, least=-math.inf)
  rows = slice(None)
  if start is not None:
    (state,) = _states("start", start, table.chain)
    place = table.chain.states.index(state)
    rows = slice(place, place + 1)
  pieces = table.pieces(begin, onp.asarray([length]))
  starts = table.starts[rows]
  reach = _reached(fit, table.chain, onp.zeros(table.chain.num_phases, bool))
  closed = _closed(reach)
  ends = onp.matmul(onp.matmul(starts, reach) * closed, table.members) > 0
  limits = onp.where(ends, length, 0.0)
  is_limit = onp.isinf(limits) | table.is_absorbing[rows, None]

  def stays(parameters: models.Parameters) -> Array:
    masses = np.broadcast_to(
      likelihoods.like(starts, parameters["rates"]),
      (table.num_rows, *onp.shape(starts)),
    )
    parts: list[Array] = []
    for moment, (span,) in pieces:
      rates = table.edge_rates(parameters, moment)
      if math.isinf(span):
        parts.append(_until_closed(table, closed, masses, rates))
        break
      edges = rate_tables.edges(table.chain, rates[:, None, :])
      at = likelihoods.like(onp.asarray(span), rates)
      stay = math_lib.phase_type.accumulated_reward_means(
        at, likelihoods.like(table.members, rates), masses, edges
      )
      parts.append(stay)
      masses = math_lib.phase_type.occupancy(at, masses, edges)
    # Exactly, without a slope.
    total = np.where(is_limit, limits, sum(parts[1:], parts[0]))
    total = total if start is None else total[:, 0]
    return table.shaped(total)

  return fit.confidence_interval(
    stays,
    confidence_level=confidence_level,
    method=method,
    bounds=(0.0, length or math.inf),
  )


def _states(name: str, given: object, chain: chains.Chain) -> list[str]:
  """Reads the name of a state, or several; raises for unknown ones."""
  several = isinstance(given, Sequence) and not isinstance(given, str)
  read = (
    panel_columns.names(name, given)
    if several
    else [panel_columns.text(given, name)]
  )
  if not read:
    raise ValueError(f"{name} is empty: it must name at least one state")
  for state in read:
    if state not in chain.states:
      raise ValueError(
        f"{name} is {raw_arguments.shown(given)}: it must be of the states "
        f"{', '.join(chain.states)}"
      )
  return read


def _reached(
  fit: inference.ModelFit, chain: chains.Chain, stops: onp.ndarray
) -> onp.ndarray:
  """Returns whether paths of positive rates lead from i to j, (p, p).

  Args:
    fit: of the model.
    chain: its chain.
    stops: whether paths end in a phase, (p,).
  """
  rates = onp.asarray(static.concrete(fit.parameters["rates"]), onp.float64)
  positive = onp.matmul(chain.coefficients, rates) + chain.constants > 0
  use = positive & onp.logical_not(stops[chain.sources])
  reach = onp.eye(chain.num_phases, dtype=bool)
  reach[chain.sources[use], chain.targets[use]] = True
  for k in range(chain.num_phases):
    reach |= reach[:, k : k + 1] & reach[k : k + 1]
  return reach


def _misses(
  fit: inference.ModelFit, chain: chains.Chain, ends: onp.ndarray
) -> onp.ndarray:
  """Returns the phases from which some phases may never be reached, (p,)."""
  reach = _reached(fit, chain, ends)
  lost = onp.logical_not(onp.any(reach[:, ends], axis=-1))
  return onp.any(reach[:, lost], axis=-1)


def _closed(reach: onp.ndarray) -> onp.ndarray:
  """Returns the phases to which the chain comes back for ever, (p,)."""
  return onp.all(onp.logical_not(reach) | onp.transpose(reach), axis=-1)


def _until_closed(
  table: rate_tables.RateTable,
  closed: onp.ndarray,
  masses: Array,
  rates: Array,
) -> Array:
  """Computes total times in states until closed phases, (n, k, s).

  Args:
    table: the rates.
    closed: phases that are not left, or to which the chain comes back, (p,).
    masses: of phases at the start, (n, k, p).
    rates: of edges, (n, m).
  """
  chain = table.chain
  targets = onp.where(closed[chain.targets], chain.num_phases, chain.targets)
  by_phase = math_lib.phase_type.expected_sojourn_times(
    np.where(closed, 0.0, masses),
    rate_tables.edges(chain, rates[:, None, :], targets),
  )
  return np.matmul(by_phase, likelihoods.like(table.members, rates))
