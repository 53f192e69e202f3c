"""Numbers of subjects in each state: those observed, and those expected."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import numpy as onp

from phasic import inference
from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike
from phasic.multistate.answers import prevalence_plans
from phasic.multistate.answers import rate_tables
from phasic.multistate.data import panel_columns
from phasic.multistate.likelihood import initial_states
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import models
from phasic.multistate.likelihood import reading


@dataclasses.dataclass(frozen=True, eq=False)
class Prevalence:
  """Numbers of subjects in each state at some times; it prints as a table.

  Attributes:
    states: the names of the s states.
    times: (t,).
    totals: how many subjects are counted, (t,).
    observed: how many were seen in each state, (t, s).
    expected: how many the fit expects, with intervals, (t, s).

  Example: see `prevalence`.

    >>> import numpy as np
    >>> from phasic import inference, multistate
    >>> both = np.asarray([[3.0, 1.0]])
    >>> counts = multistate.Prevalence(
    ...   ("well", "ill"),
    ...   np.asarray([1.0]),
    ...   np.asarray([4]),
    ...   np.asarray([[2, 2]]),
    ...   inference.ConfidenceInterval(both, both, both, 0.95, "wald"),
    ... )
    >>> print(counts)
    time  total  well  expected  ill  expected
    1         4     2      3.00    2      1.00
  """

  states: tuple[str, ...]
  times: onp.ndarray
  totals: onp.ndarray
  observed: onp.ndarray
  expected: inference.ConfidenceInterval

  @property
  def observed_percent(self) -> onp.ndarray:
    """Percentages of the counted subjects that were seen in states, (t, s)."""
    return _percent(self.observed, self.totals)

  @property
  def expected_percent(self) -> inference.ConfidenceInterval:
    """Expected percentages, with intervals, (t, s)."""
    return self.expected._replace(
      estimate=_percent(self.expected.estimate, self.totals),
      low=_percent(self.expected.low, self.totals),
      high=_percent(self.expected.high, self.totals),
    )

  def __str__(self) -> str:
    pairs = [(state, "expected") for state in self.states]
    heads = ["time", "total", *itertools.chain.from_iterable(pairs)]
    lines = []
    for i, time in enumerate(onp.asarray(self.times).tolist()):
      cells = [f"{time:g}", f"{int(self.totals[i])}"]
      for j in range(len(self.states)):
        number = float(self.expected.estimate[i, j])
        cells += [f"{int(self.observed[i, j])}", f"{number:.2f}"]
      lines.append(cells)
    return panel_columns.table_text(heads, lines)

  def _repr_html_(self) -> str:
    return f"<pre>{self}</pre>"


def prevalence(
  fit: inference.ModelFit,
  times: ArrayLike,
  *,
  confidence_level: float = 0.95,
) -> Prevalence:
  """Counts the subjects in each state at some times, with what is expected.

  At a time, those subjects count who have been seen by then, and are seen then
  or later, or have been seen in an absorbing state. Observed is the state, or
  the label, of their last row at or before this time that has one. Expected is
  the sum of their probabilities of states, or of labels, given their first
  state, or the initial probabilities of hidden ones, and given their own
  covariates from row to row. Large differences speak against the model. They
  may also come from visits that depend on the state, or, at late times, from
  deaths that count though follow-up would have ended.

  Args:
    fit: of a `MultiState`, with the data.
    times: (t,).
    confidence_level: of the intervals of expected numbers, "wald" on the scale
      of log odds of shares.

  Raises:
    TypeError: an argument has a wrong type.
    ValueError: a time is not finite, or no states were seen.

  Example: four patients, of whom two fell ill.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "id": [1, 1, 2, 2, 3, 3, 4, 4],
    ...     "year": [0.0, 1.0] * 4,
    ...     "state": ["well", "ill"] * 2 + ["well"] * 4,
    ...   },
    ...   subject="id",
    ...   time="year",
    ...   state="state",
    ... )
    >>> fit = inference.fit_mle(multistate.MultiState({"well": ["ill"]}), data)
    >>> print(multistate.prevalence(fit, [0.0, 0.5, 1.0]))
    time  total  well  expected  ill  expected
    0         4     4      4.00    0      0.00
    0.5       4     4      2.83    0      1.17
    1         4     2      2.00    2      2.00

  Reference: R. C. Gentleman, J. F. Lawless, J. C. Lindsey, P. Yan, Stat. Med. 13,
    1994, p. 805, on multi-state models of incomplete disease histories.
  """
  model = rate_tables.model_of(fit)
  spec, bound = models.spec_of(model), models.bound_of(model)
  at = onp.ravel(rate_tables.times_of("times", times, least=-math.inf))
  plan = prevalence_plans.read(spec, bound, at)
  totals = onp.sum(plan.weights, axis=-1)
  scale = 1.0 / onp.where(totals > 0, totals, 1.0)[:, None]

  def shares(parameters: models.Parameters) -> Array:
    by_item = _item_probs(spec, bound, plan, parameters)
    return np.matmul(likelihoods.like(plan.weights * scale, by_item), by_item)

  interval = fit.confidence_interval(
    shares, confidence_level=confidence_level, bounds=(0.0, 1.0)
  )
  numbers = totals[:, None]
  return Prevalence(
    spec.chain.states,
    at,
    onp.asarray(totals, int),
    plan.observed,
    interval._replace(
      estimate=interval.estimate * numbers,
      low=interval.low * numbers,
      high=interval.high * numbers,
    ),
  )


def _item_probs(
  spec: reading.Spec,
  bound: reading.Bound,
  plan: prevalence_plans.Plan,
  parameters: models.Parameters,
) -> Array:
  """Computes probabilities of states or labels of all items, (items, s)."""
  chain, hidden = spec.chain, spec.hidden
  p = chain.num_phases
  rates = parameters["rates"]
  by_design = likelihoods.edge_rates(
    chain,
    rates,
    parameters.get("effects"),
    likelihoods.like(plan.columns, rates),
    bound.effects.incidence,
  )
  units = likelihoods.like(onp.eye(p)[None], rates)
  matrices, moves = units, onp.zeros_like(plan.moves)
  if plan.steps:
    groups, lengths, places = layouts.grouped(
      onp.asarray([design for design, _ in plan.steps]),
      onp.asarray([length for _, length in plan.steps]),
    )
    chosen = by_design
    if len(plan.columns) > 1:
      chosen = np.take(by_design, groups, axis=0)
    probs = rate_tables.phase_probs(chain, chosen, lengths)
    matrices = np.concatenate([np.reshape(probs, (-1, p, p)), units], axis=0)
    moves = onp.append(places, onp.size(lengths))[plan.moves]
  starts = likelihoods.like(chain.start_rows[p:], rates)
  if spec.initial is not None:
    logs = initial_states.log_probs(
      spec, parameters.get("initial_probs"), static.dtype_name(rates)
    )
    starts = np.concatenate([starts, np.exp(logs)[None]], axis=0)
  masses = np.take(starts, plan.start, axis=0)
  for move in moves:
    step = np.take(matrices, move, axis=0)
    masses = np.matmul(masses[:, None, :], step)[:, 0, :]
  members = onp.eye(len(chain.states))[chain.state_of]
  by_state = np.matmul(masses, likelihoods.like(members, rates))
  by_item = np.take(by_state, plan.path, axis=0)
  if not hidden.has_errors:
    return by_item
  labels = np.exp(
    hidden.log_label_probs(
      parameters["misclassification"],
      parameters.get("misclassification_effects"),
      likelihoods.like(plan.labels, rates),
      bound.errors.incidence,
    )
  )
  chosen = np.take(labels, plan.label, axis=0)
  return np.matmul(by_item[:, None, :], chosen)[:, 0, :]


def _percent(x: onp.ndarray, totals: onp.ndarray) -> onp.ndarray:
  with onp.errstate(invalid="ignore"):
    return 100.0 * onp.asarray(x) / onp.asarray(totals, float)[:, None]
