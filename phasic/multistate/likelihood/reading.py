"""Reads panel data for a model: covariates, starting rates, and the layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from typing import NamedTuple

import numpy as onp

from phasic.internal import tables
from phasic.multistate.data import effects as effects_lib
from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import binding
from phasic.multistate.likelihood import hidden as hidden_lib
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import rows as rows_lib
from phasic.multistate.likelihood import starts
from phasic.multistate.states import chains


@dataclasses.dataclass(frozen=True, eq=False)
class Spec:
  """The arguments of a model.

  Attributes:
    chain: the chain.
    effects: effects on rates.
    cuts: times at which rates change.
    initial: the probability of each state at the first row, or None.
    estimates_initial: whether it is fitted.
    hidden: how states are observed.
    errors: effects on log odds of wrong labels.
  """

  chain: chains.Chain
  effects: tuple[effects_lib.Term, ...]
  cuts: tuple[float, ...]
  initial: onp.ndarray | None
  estimates_initial: bool
  hidden: hidden_lib.Hidden
  errors: tuple[effects_lib.Term, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Bound:
  """What a model reads from its data, besides the layout.

  Attributes:
    data: the data.
    effects: coefficients of effects on rates.
    errors: coefficients of effects on log odds of wrong labels.
    rates: where a fit starts, (r,).
    scales: typical sizes of coefficients, by name of their array.
  """

  data: panel_data.PanelData
  effects: effects_lib.Columns
  errors: effects_lib.Columns
  rates: onp.ndarray
  scales: Mapping[str, onp.ndarray]


def bind(
  spec: Spec, data: panel_data.PanelData
) -> tuple[Bound, layouts.Layout]:
  """Reads panel data, see `MultiState.with_data`."""
  known = read(spec, data)
  layout = binding.layout(
    spec.chain,
    data,
    known.rows,
    spec.initial is not None,
    known.columns,
    known.misclassified,
    known.emissions,
  )
  scales = {
    "effects": _scales(known.columns),
    "misclassification_effects": _scales(known.misclassified),
  }
  rates = starts.crude_rates(spec.chain, data)
  return Bound(data, known.effects, known.errors, rates, scales), layout


class Read(NamedTuple):
  """What the rows of panel data say.

  Attributes:
    rows: as numbers.
    effects: coefficients of effects on rates.
    errors: coefficients of effects on log odds of wrong labels.
    columns: as in `Layout`.
    misclassified: likewise.
    emissions: likewise.
  """

  rows: rows_lib.Rows
  effects: effects_lib.Columns
  errors: effects_lib.Columns
  columns: onp.ndarray
  misclassified: onp.ndarray
  emissions: layouts.Emissions | None


def read(spec: Spec, data: panel_data.PanelData) -> Read:
  """Reads the rows of panel data, see `MultiState.with_data`."""
  _check_states(spec, data)
  _check_outcomes(spec, data)
  begins = onp.flatnonzero(onp.logical_not(data.is_first)) - 1
  cuts = spec.cuts
  first, last = float(onp.min(data.times)), float(onp.max(data.times))
  for cut in cuts:
    if not first < cut < last:
      raise ValueError(
        f"cuts has {cut:g}: it must be within the times of the data, after "
        f"{first:g} and before {last:g}"
      )
  if not len(begins) and spec.initial is None:
    raise ValueError(
      "each subject has one row: there must be subjects with at least two, as the "
      "likelihood is that of a row given the row before"
    )
  table = _table(data, begins, spec.effects, _FOLLOWED)
  columns = effects_lib.read(spec.effects, table, spec.chain.rates, cuts)
  pieces, designs = rows_lib.pieces(data, columns, table)
  errors = effects_lib.read(
    spec.errors,
    _table(
      data, onp.flatnonzero(_has_label(spec, data)), spec.errors, _LABELED
    ),
    list(spec.hidden.errors),
  )
  emitted, misclassified, labels = _emissions(spec, data, errors)
  place = onp.full(len(data.times), -1)
  place[emitted] = onp.arange(len(emitted))
  rows = rows_lib.read(spec.chain, spec.hidden, data, place, pieces)
  _check_first(spec, data, rows)
  emissions = None
  if len(emitted):
    emissions = labels._replace(masks=rows.masks[rows.mask[emitted]])
  return Read(rows, columns, errors, designs, misclassified, emissions)


def _scales(matrix: onp.ndarray) -> onp.ndarray:
  """Returns one over the standard deviation of each column."""
  deviations = onp.std(matrix, axis=0)
  return 1.0 / onp.where(deviations > 0, deviations, 1.0)


def _check_states(spec: Spec, data: panel_data.PanelData) -> None:
  """Raises ValueError for a label that is no state of the model."""
  for label, states in data.possible.items():
    for state in states:
      if state not in spec.chain.states:
        raise ValueError(
          f"censored[{label!r}] has {state!r}: it must be one of the states "
          f"{', '.join(spec.chain.states)}"
        )
    if label in spec.chain.states:
      raise ValueError(
        f"censored has {label!r}, which is a state of the model: a label of a "
        "set must have another name"
      )
  for state in data.exact:
    if state not in spec.chain.states:
      raise ValueError(
        f"exact has {state!r}: it must be one of the states "
        f"{', '.join(spec.chain.states)}"
      )
  bad = onp.logical_not(
    onp.isin(data.states, ["", *spec.chain.states, *data.possible])
  )
  if onp.any(bad):
    row = int(onp.argmax(bad))
    raise ValueError(
      f"{data.label_of(row)} has state {str(data.states[row])!r}: it must be one of "
      f"the states {', '.join(spec.chain.states)}, or a label of censored"
    )


def _check_outcomes(spec: Spec, data: panel_data.PanelData) -> None:
  """Raises ValueError unless the data has the outcomes of the model."""
  for name in spec.hidden.outcomes:
    if name not in data.outcomes:
      raise ValueError(
        f"outcomes has {name!r}, which the data lack: name the column in "
        "PanelData.from_table(..., outcomes=[...])"
      )
    infinite = onp.isinf(data.outcomes[name])
    if onp.any(infinite):
      row = int(onp.argmax(infinite))
      raise ValueError(
        f"{data.label_of(row)} has {name} {data.outcomes[name][row]}: it must be "
        "finite, or NaN where it is missing"
      )


# Where covariates must have a value, for messages.
_FOLLOWED = (
  "effects need it in each row that another one of the subject follows"
)
_LABELED = "misclassification_effects need it where a label is seen"


def _table(
  data: panel_data.PanelData,
  rows: onp.ndarray,
  effects: Sequence[effects_lib.Term],
  where: str,
) -> dict[str, onp.ndarray] | None:
  """Returns the covariates of some rows that effects name; None without any.

  Raises:
    ValueError: a value is missing, or there is no covariate.
  """
  if not effects:
    return None
  if not data.covariates:
    raise ValueError(
      f"effects is {effects[0].effect!r}, and the data have no covariates: name "
      "the columns in PanelData.from_table(..., covariates=[...])"
    )
  # A formula may name a column anywhere in its text.
  table = {
    name: column[rows]
    for name, column in data.covariates.items()
    if any(name in x.effect for x in effects)
  }
  for name, column in table.items():
    lost = tables.missing(column) if column.dtype.kind == "O" else None
    if column.dtype.kind == "f":
      lost = onp.isnan(column)
    if lost is not None and onp.any(lost):
      row = int(rows[int(onp.argmax(lost))])
      raise ValueError(
        f"{data.label_of(row)} has no {name}: {where}; fill it in, or leave the "
        "row out"
      )
  missing = [
    x
    for term in effects
    if not isinstance(term.effect, str)
    for x in term.effect
    if x not in table
  ]
  if missing:
    raise ValueError(
      f"effects name {missing[0]!r}, which is no covariate of the data: it must be "
      f"one of {', '.join(data.covariates)}; name columns in "
      "PanelData.from_table(..., covariates=[...])"
    )
  return table


def _has_label(spec: Spec, data: panel_data.PanelData) -> onp.ndarray:
  """Returns whether a label that may be wrong is seen at a row, (n,)."""
  seen = (data.states != "") & (data.kinds == panel_data.SEEN)
  return seen & spec.hidden.has_errors


def _check_first(
  spec: Spec, data: panel_data.PanelData, rows: rows_lib.Rows
) -> None:
  """Raises ValueError for a first row that `initial_probs` make impossible."""
  if spec.initial is None:
    return
  names = [
    x
    for x, prob in zip(spec.chain.states, spec.initial, strict=True)
    if prob > 0
  ]
  possible = onp.matmul(rows.masks, spec.chain.in_states(names)) > 0
  bad = data.is_first & onp.logical_not(possible[rows.mask])
  if onp.any(bad):
    row = int(onp.argmax(bad))
    raise ValueError(
      f"{data.label_of(row)} has {str(data.states[row]) or 'outcomes'!r} first: "
      f"initial_probs allow only {', '.join(names)}; give the state a probability"
    )


def _emissions(
  spec: Spec, data: panel_data.PanelData, errors: effects_lib.Columns
) -> tuple[onp.ndarray, onp.ndarray, layouts.Emissions]:
  """Returns the rows with observations of hidden states, and what they are.

  Returns:
    The rows; the number that each coefficient multiplies, (c, l); and the
    observations, without masks.
  """
  hidden, chain = spec.hidden, spec.chain
  # Where nothing is known, or states rather than labels, all labels may be.
  has_label = _has_label(spec, data)
  wanted = has_label
  for name in hidden.outcomes:
    wanted = wanted | onp.logical_not(onp.isnan(data.outcomes[name]))
  rows = onp.flatnonzero(wanted)
  chosen = has_label[rows]
  matrix = onp.zeros((len(rows), len(errors.labels)))
  if errors.labels and onp.any(chosen):
    labeled = rows[chosen]
    table = _table(data, labeled, spec.errors, _LABELED)
    known = errors.evaluate(table, len(labeled), data.times[labeled])
    matrix[chosen] = known[:, errors.places]
  columns, design = onp.unique(matrix, axis=0, return_inverse=True)
  if not len(columns):
    columns = onp.zeros((1, len(errors.labels)))
  names, which = onp.unique(data.states[rows], return_inverse=True)
  sets = onp.asarray(
    [onp.isin(chain.states, rows_lib.possible(chain, data, x)) for x in names]
  )
  labels = onp.ones((len(rows), len(chain.states)))
  if onp.any(chosen):
    labels[chosen] = sets[onp.reshape(which, -1)[chosen]]
  return (
    rows,
    columns,
    layouts.Emissions(
      masks=None,
      labels=labels,
      design=onp.asarray(onp.reshape(design, -1), onp.int32),
      outcomes={
        name: onp.asarray(data.outcomes[name][rows], onp.float64)
        for name in hidden.outcomes
      },
    ),
  )
