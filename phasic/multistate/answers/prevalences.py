"""Numbers of subjects in each state: those observed, and those expected."""

from __future__ import annotations

from collections.abc import Hashable
import dataclasses
import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic import inference
from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike
from phasic.multistate.answers import rate_tables
from phasic.multistate.data import panel_columns
from phasic.multistate.data import panel_data
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
  plan = _plan(spec, bound, at)
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


class _Plan(NamedTuple):
  """What numbers in states are sums of.

  Attributes:
    observed: counts, (t, s).
    weights: how often an item counts at a time, (t, number of items).
    columns: numbers that coefficients multiply, (number of designs, k).
    steps: pairs of a design and a length of time.
    start: the first state of a path, or the number of states where it is
      random, (number of paths,).
    moves: the steps of each path, whose number stands for none, (l, paths).
    labels: numbers that coefficients on wrong labels multiply, (c, l).
    path: the path of an item, (number of items,).
    label: the row of `labels` of an item, (number of items,).
  """

  observed: onp.ndarray
  weights: onp.ndarray
  columns: onp.ndarray
  steps: list[tuple[int, float]]
  start: onp.ndarray
  moves: onp.ndarray
  labels: onp.ndarray
  path: onp.ndarray
  label: onp.ndarray


def _plan(spec: reading.Spec, bound: reading.Bound, at: onp.ndarray) -> _Plan:
  """Reads who counts when, and along which path of rates."""
  data, chain = bound.data, spec.chain
  known = onp.asarray([_state(spec, data, str(x)) for x in data.states])
  if not onp.any(known >= 0):
    raise ValueError(
      "fit has data without states: prevalence needs states that were seen"
    )
  firsts = onp.flatnonzero(data.is_first).tolist()
  columns, designs = _designs(bound)
  rows_of_labels, label_columns = _label_columns(spec, bound)
  observed = onp.zeros((len(at), len(chain.states)), int)
  items: dict[Hashable, int] = {}
  paths: dict[Any, int] = {}
  counts: dict[tuple[int, int], int] = {}
  pairs: list[tuple[int, int]] = []
  absorbing = onp.isin(onp.asarray(chain.states), chain.absorbing)
  for first, end in itertools.pairwise([*firsts, len(data.times)]):
    rows = onp.arange(first, end)
    seen = rows[known[rows] >= 0]
    if not len(seen):
      continue
    ends = data.times[end - 1]
    if known[end - 1] >= 0 and absorbing[known[end - 1]]:
      ends = math.inf
    last = onp.searchsorted(data.times[seen], at, side="right") - 1
    start = len(chain.states)
    if known[first] >= 0 and not spec.hidden.has_errors:
      start = int(known[first])
    tops = onp.searchsorted(data.times[rows], at, side="right") - 1
    for i in onp.flatnonzero((last >= 0) & (at <= ends)).tolist():
      observed[i, known[seen[last[i]]]] += 1
      steps = _steps(data, bound.effects.cuts, designs, rows, float(at[i]))
      path = paths.setdefault((start, steps), len(paths))
      label = int(rows_of_labels[rows[tops[i]]])
      item = items.setdefault((path, label), len(items))
      if item == len(pairs):
        pairs.append((path, label))
      counts[i, item] = counts.get((i, item), 0) + 1
  weights = onp.zeros((len(at), max(len(items), 1)))
  for (i, item), number in counts.items():
    weights[i, item] = number
  numbers: dict[tuple[int, float], int] = {}
  for _, steps in paths:
    for step in steps:
      numbers.setdefault(step, len(numbers))
  longest = max((len(steps) for _, steps in paths), default=0)
  moves = onp.full((longest, max(len(paths), 1)), len(numbers))
  for j, (_, steps) in enumerate(paths):
    for k, step in enumerate(steps):
      moves[k, j] = numbers[step]
  return _Plan(
    observed,
    weights,
    columns,
    list(numbers),
    onp.asarray([start for start, _ in paths] or [0]),
    moves,
    label_columns,
    onp.asarray([path for path, _ in pairs] or [0]),
    onp.asarray([label for _, label in pairs] or [0]),
  )


def _state(spec: reading.Spec, data: panel_data.PanelData, label: str) -> int:
  """Returns the number of the state that was seen, or -1."""
  names = data.possible.get(label, (label,))
  states = spec.chain.states
  return (
    states.index(names[0]) if len(names) == 1 and names[0] in states else -1
  )


def _designs(bound: reading.Bound) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns what coefficients multiply after each row, in each period.

  Returns:
    Distinct rows of numbers, (d, k), and which of these applies, (n, periods).
  """
  data, effects = bound.data, bound.effects
  begins = onp.flatnonzero(onp.logical_not(data.is_first)) - 1
  size, periods = len(begins), len(effects.cuts) + 1
  starts = onp.asarray([-math.inf, *effects.cuts])
  table = {
    name: onp.repeat(column[begins], periods)
    for name, column in data.covariates.items()
  }
  count = size * periods
  columns = effects.evaluate(table, count, onp.tile(starts, size))
  distinct, which = onp.unique(
    columns[:, effects.places], axis=0, return_inverse=True
  )
  designs = onp.zeros((len(data.times), periods), int)
  designs[begins] = onp.reshape(which, (size, periods))
  return distinct, designs


def _label_columns(
  spec: reading.Spec, bound: reading.Bound
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns which probabilities of labels apply to each row, and columns."""
  data, errors = bound.data, bound.errors
  size = len(data.times)
  if not errors.labels:
    return onp.zeros(size, int), onp.zeros((1, 0))
  # Rows of times of entry may have no covariates: those before them count.
  row = onp.where(data.kinds == panel_data.SEEN, onp.arange(size), 0)
  row = onp.where(data.is_first, onp.arange(size), row)
  row = onp.maximum.accumulate(row)
  table = {name: column[row] for name, column in data.covariates.items()}
  columns = errors.evaluate(table, size, data.times)[:, errors.places]
  distinct, which = onp.unique(columns, axis=0, return_inverse=True)
  return onp.reshape(which, -1), distinct


def _steps(
  data: panel_data.PanelData,
  cuts: tuple[float, ...],
  designs: onp.ndarray,
  rows: onp.ndarray,
  end: float,
) -> tuple[tuple[int, float], ...]:
  """Returns the designs and lengths of steps from the first row to a time."""
  marks: list[tuple[int, float, float]] = []
  edges = [-math.inf, *cuts, math.inf]
  # After the last row its covariates may be missing: those before it hold.
  for row in rows[:-1].tolist():
    is_last = row == rows[-2]
    close = math.inf if is_last else float(data.times[row + 1])
    for period, (low, high) in enumerate(itertools.pairwise(edges)):
      begin = max(float(data.times[row]), low)
      until = min(close, high, end)
      if begin >= until:
        continue
      design = int(designs[row, period])
      if marks and marks[-1][0] == design:
        begin = marks.pop()[1]
      marks.append((design, begin, until))
  return tuple((design, until - begin) for design, begin, until in marks)


def _item_probs(
  spec: reading.Spec,
  bound: reading.Bound,
  plan: _Plan,
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
