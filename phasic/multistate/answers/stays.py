"""Single stays in states of fitted multi-state models, and what follows them."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic import inference
from phasic import math as math_lib
from phasic.internal.arrays import Array
from phasic.internal.tables import TableLike
from phasic.multistate.answers import rate_tables
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import models


def sojourn_times(
  fit: inference.ModelFit,
  covariates: TableLike | None = None,
  *,
  time: float = 0.0,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes mean times that a stay in a state takes, with intervals.

  It is -1 / q_ii for a state of one phase. With cuts the rates of one time hold
  for ever.

  Args:
    fit: of a `MultiState`.
    covariates: see `pmatrix`.
    time: where rates are taken, which matters if there are cuts.
    confidence_level: between zero and one.
    method: "wald", on the scale of logarithms, or "profile".

  Returns:
    The times and ends of intervals, (s,), inf for absorbing states; (n, s) if
    covariates are a table.

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
    >>> print([f"{x:.4f}" for x in multistate.sojourn_times(fit).estimate])
    ['0.9102', 'inf']
  """
  table = rate_tables.read(fit, covariates)
  at = rate_tables.time_of("time", time, least=-math.inf)
  chain = table.chain
  stays = onp.where(table.is_absorbing[:, None], 0.0, table.starts)

  def times(parameters: models.Parameters) -> Array:
    rates = table.edge_rates(parameters, at)
    held = rate_tables.edges(
      chain, rates[:, None, :], chain.targets_while_held()
    )
    by_phase = math_lib.phase_type.expected_sojourn_times(
      likelihoods.like(stays, rates), held
    )
    sums = np.sum(by_phase, axis=-1)
    return table.shaped(np.where(table.is_absorbing, math.inf, sums))

  return fit.confidence_interval(
    times,
    confidence_level=confidence_level,
    method=method,
    bounds=(0.0, math.inf),
  )


def next_state_probs(
  fit: inference.ModelFit,
  covariates: TableLike | None = None,
  *,
  time: float = 0.0,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes the probabilities of the next state, with intervals.

  It is -q_ij / q_ii for a state i of one phase. With cuts the rates of one time
  hold for ever.

  Args:
    fit: of a `MultiState`.
    covariates: see `pmatrix`.
    time: where rates are taken, which matters if there are cuts.
    confidence_level: between zero and one.
    method: "wald", on the scale of log odds, or "profile".

  Returns:
    The probabilities and ends of intervals, (s, s), with the state that is left
    in rows, zeros for absorbing ones; (n, s, s) if covariates are a table.

  Raises:
    TypeError, ValueError: as for `pmatrix`.

  Example: a single state can be next.

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
    >>> print(multistate.next_state_probs(fit).estimate)
    [[0. 1.]
     [0. 0.]]
  """
  table = rate_tables.read(fit, covariates)
  at = rate_tables.time_of("time", time, least=-math.inf)
  chain = table.chain
  stays = onp.where(table.is_absorbing[:, None], 0.0, table.starts)
  enters = table.members[chain.targets] * chain.leaves_state[:, None]
  allowed = onp.matmul(onp.transpose(table.members[chain.sources]), enters) > 0
  certain = allowed & (onp.sum(allowed, axis=-1, keepdims=True) == 1)

  def probs(parameters: models.Parameters) -> Array:
    rates = table.edge_rates(parameters, at)
    held = rate_tables.edges(
      chain, rates[:, None, :], chain.targets_while_held()
    )
    jumps = math_lib.phase_type.expected_jumps(
      likelihoods.like(stays, rates), held
    )
    by_state = np.matmul(jumps, likelihoods.like(enters, rates))
    # Exactly one, without a slope.
    return table.shaped(np.where(certain, 1.0, by_state))

  return fit.confidence_interval(
    probs, confidence_level=confidence_level, method=method, bounds=(0.0, 1.0)
  )
