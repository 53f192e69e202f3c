"""Transition probabilities and intensities of fitted multi-state models."""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic import inference
from phasic.internal.arrays import Array, ArrayLike
from phasic.internal.tables import TableLike
from phasic.multistate.answers import rate_tables
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import models


def pmatrix(
  fit: inference.ModelFit,
  times: ArrayLike,
  covariates: TableLike | None = None,
  *,
  start_time: float = 0.0,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes transition probabilities between states, with intervals.

  They are P(in state j at start_time + t | in state i at start_time). With cuts,
  rates change along the way. A state of several phases has just been entered
  at the start.

  Args:
    fit: of a `MultiState`.
    times: t, (...), finite and >= 0.
    covariates: a table with a row for each of n subjects; or a mapping from
      columns to single values, for one subject; None for a model without
      effects.
    start_time: where the time begins, which matters if there are cuts.
    confidence_level: between zero and one.
    method: "wald", on the scale of log odds, or "profile".

  Returns:
    The probabilities and ends of intervals, (..., s, s), with the start in rows
    and the states in the order of `fit.model.states`; (n, ..., s, s) if
    covariates are a table.

  Raises:
    TypeError: an argument has a wrong type, or effects have no covariates.
    ValueError: a value breaks a rule.

  Example: two subjects fell ill, one did not.

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
    >>> probs = multistate.pmatrix(fit, 2.0)
    >>> print(f"{probs.estimate[0, 0]:.4f}")
    0.1111

  Reference: J. D. Kalbfleisch, J. F. Lawless, The analysis of panel data under a
    Markov assumption, J. Amer. Statist. Assoc. 80, 1985.
  """
  table = rate_tables.read(fit, covariates)
  lengths = rate_tables.times_of("times", times)
  start = rate_tables.time_of("start_time", start_time, least=-onp.inf)
  pieces = table.pieces(start, onp.ravel(lengths))
  s = len(table.chain.states)

  def probs(parameters: models.Parameters) -> Array:
    by_phase = rate_tables.probs_along(table, parameters, pieces)
    first = likelihoods.like(table.starts, by_phase)
    members = likelihoods.like(table.members, by_phase)
    by_state = np.matmul(np.matmul(first, by_phase), members)
    # An absorbing state is not left: exactly, without a slope.
    units = likelihoods.like(onp.eye(s), by_phase)
    by_state = np.where(table.is_absorbing[:, None], units, by_state)
    shape = (table.num_rows, *onp.shape(lengths), s, s)
    return table.shaped(np.reshape(by_state, shape))

  return fit.confidence_interval(
    probs, confidence_level=confidence_level, method=method, bounds=(0.0, 1.0)
  )


def qmatrix(
  fit: inference.ModelFit,
  covariates: TableLike | None = None,
  *,
  time: float = 0.0,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes transition intensities, with intervals.

  They are between phases, in the order of `fit.model.phases`, which are the
  states unless these have several. The diagonal has minus the sums of rows.

  Args:
    fit: of a `MultiState`.
    covariates: see `pmatrix`.
    time: where rates are taken, which matters if there are cuts.
    confidence_level: between zero and one.
    method: "wald", on the scale of logarithms, or "profile".

  Returns:
    The intensities and ends of intervals, (p, p); (n, p, p) if covariates are a
    table.

  Raises:
    TypeError, ValueError: as for `pmatrix`.

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
    >>> print(f"{multistate.qmatrix(fit).estimate[0, 1]:.4f}")
    1.0986
  """
  table = rate_tables.read(fit, covariates)
  at = rate_tables.time_of("time", time, least=-onp.inf)
  chain = table.chain
  p = chain.num_phases
  # The diagonal has the sums of rows.
  diagonal = chain.from_source[:, :, None] * onp.eye(p)
  spread = chain.cells + onp.reshape(diagonal, (-1, p * p))

  # Of the diagonal the absolute value, so that all have one range.
  def intensities(parameters: models.Parameters) -> Array:
    rates = table.edge_rates(parameters, at)
    matrices = np.matmul(rates, likelihoods.like(spread, rates))
    return table.shaped(np.reshape(matrices, (table.num_rows, p, p)))

  sizes = fit.confidence_interval(
    intensities,
    confidence_level=confidence_level,
    method=method,
    bounds=(0.0, onp.inf),
  )
  own = onp.eye(p, dtype=bool)

  def signed(x: onp.ndarray, negative: onp.ndarray) -> onp.ndarray:
    return onp.where(own, 0.0 - negative, x)

  return sizes._replace(
    estimate=signed(sizes.estimate, sizes.estimate),
    low=signed(sizes.low, sizes.high),
    high=signed(sizes.high, sizes.low),
  )
