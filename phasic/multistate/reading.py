"""Reads panel data for a model: covariates, starting rates, and the layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import math
from typing import Any

import numpy as np
import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.multistate import binding
from phasic.multistate import chains
from phasic.multistate import effects as effects_lib
from phasic.multistate import hidden as hidden_lib
from phasic.multistate import layouts
from phasic.multistate import likelihoods
from phasic.multistate import panel_columns
from phasic.multistate import panel_data
from phasic.multistate import starts


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
  _check_states(spec, data)
  _check_outcomes(spec, data)
  begins = onp.flatnonzero(onp.logical_not(data.is_first)) - 1
  cuts = [x for x in spec.cuts if onp.any(data.times > x)]
  if len(cuts) < len(spec.cuts):
    raise ValueError(
      f"cuts has {spec.cuts[len(cuts)]:g}: it must be before the last time of "
      f"the data, {onp.max(data.times):g}"
    )
  table = _table(data, begins)
  columns = effects_lib.read(spec.effects, table, spec.chain.rates, cuts)
  pieces, designs = _pieces(data, begins, columns, table)
  errors = effects_lib.read(
    spec.errors,
    _table(data, onp.arange(len(data.times))) if spec.errors else None,
    list(spec.hidden.errors),
  )
  emissions, misclassified, rows = _emissions(spec, data, errors)

  def observe(row: int) -> binding.Observation:
    return binding.Observation(_mask(spec, data, row), rows.get(row))

  binder = binding.Binder(
    spec.chain, data, pieces, spec.initial is not None, observe
  )
  layout = binder.layout(designs, misclassified, emissions)
  scales = {
    "effects": _scales(designs),
    "misclassification_effects": _scales(misclassified),
  }
  rates = starts.crude_rates(spec.chain, data)
  return Bound(data, columns, errors, rates, scales), layout


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
  known = {"", *spec.chain.states, *data.possible}
  for row, state in enumerate(map(str, data.states)):
    if state not in known:
      raise ValueError(
        f"{data.where(row)} has state {state!r}: it must be one of the states "
        f"{', '.join(spec.chain.states)}, or a label of censored"
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
        f"{data.where(row)} has {name} {data.outcomes[name][row]}: it must be "
        "finite, or NaN where it is missing"
      )


def _table(
  data: panel_data.PanelData, rows: onp.ndarray
) -> dict[str, onp.ndarray] | None:
  """Returns the covariates of some rows; raises for a missing value."""
  if not data.covariates:
    return None
  for name, column in data.covariates.items():
    for row in rows.tolist():
      x = column[row]
      if x is None or type(x).__name__ == "NAType" or x != x:
        raise ValueError(
          f"{data.where(row)} has no {name}: covariates must have a value in each "
          "row that another one of the subject follows; fill it in, or leave the "
          "row out"
        )
  return {name: column[rows] for name, column in data.covariates.items()}


def _pieces(
  data: panel_data.PanelData,
  begins: onp.ndarray,
  columns: effects_lib.Columns,
  table: Any,
) -> tuple[list[list[tuple[int, float]]], onp.ndarray]:
  """Cuts the intervals into pieces, during which rates do not change.

  Returns:
    For each row, the design and the length of each piece of the interval that
    begins there; and the number that each coefficient multiplies, (d, k).
  """
  rows: list[int] = []
  times: list[float] = []
  lengths: list[float] = []
  for i, row in enumerate(begins.tolist()):
    start, end = float(data.times[row]), float(data.times[row + 1])
    ends = [start, *(x for x in columns.cuts if start < x < end), end]
    for low, high in zip(ends[:-1], ends[1:], strict=True):
      rows.append(i)
      times.append(low)
      lengths.append(high - low)
  if columns.designs:
    table = {name: x[rows] for name, x in table.items()}
  matrix = columns.evaluate(table, len(rows), onp.asarray(times))
  matrix = matrix[:, columns.places]
  designs, which = onp.unique(matrix, axis=0, return_inverse=True)
  if not len(rows):
    designs = onp.zeros((1, len(columns.labels)))
  pieces: list[list[tuple[int, float]]] = [[] for _ in data.times]
  for i, design, length in zip(
    rows, onp.reshape(which, -1).tolist(), lengths, strict=True
  ):
    pieces[int(begins[i])].append((design, length))
  return pieces, designs


def _mask(spec: Spec, data: panel_data.PanelData, row: int) -> onp.ndarray:
  """Returns one for each phase that is possible at a row, (p,)."""
  label = str(data.states[row])
  states = spec.chain.states
  if label in data.possible:
    return spec.chain.in_states(data.possible[label])
  errors = {x for _, x in spec.hidden.errors.values()}
  if label and label not in errors:
    return spec.chain.in_states([label])
  is_known = data.kinds[row] != panel_data.SEEN
  if label and is_known:
    return spec.chain.in_states([label])
  return spec.chain.in_states([x for x in states if x not in data.exact])


def _emissions(
  spec: Spec, data: panel_data.PanelData, errors: effects_lib.Columns
) -> tuple[layouts.Emissions | None, onp.ndarray, dict[int, int]]:
  """Returns the observations of hidden states, and which rows have one.

  Returns:
    The observations; the number that each coefficient multiplies, (c, l); and
    the place of the observation of a row, by row.
  """
  hidden = spec.hidden
  size = len(errors.labels)
  names = list(hidden.outcomes)
  has_label = onp.isin(data.states, spec.chain.states)
  has_label &= hidden.has_errors & (data.kinds == panel_data.SEEN)
  wanted = has_label.copy()
  for name in names:
    wanted |= onp.logical_not(onp.isnan(data.outcomes[name]))
  rows = onp.flatnonzero(wanted)
  if not len(rows):
    return None, onp.zeros((1, size)), {}
  table = _table(data, rows) if errors.designs else None
  matrix = errors.evaluate(table, len(rows), data.times[rows])
  matrix = matrix[:, errors.places] if size else onp.zeros((len(rows), 0))
  columns, which = onp.unique(matrix, axis=0, return_inverse=True)
  index = {x: i for i, x in enumerate(spec.chain.states)}
  none = len(spec.chain.states)
  labels = [
    index[str(data.states[row])] if has_label[row] else none
    for row in rows.tolist()
  ]
  emissions = layouts.Emissions(
    masks=onp.stack([_mask(spec, data, row) for row in rows.tolist()]),
    label=onp.asarray(labels, onp.int32),
    design=onp.asarray(onp.reshape(which, -1), onp.int32),
    outcomes={
      name: onp.asarray(data.outcomes[name][rows], onp.float64)
      for name in names
    },
  )
  return emissions, columns, {row: i for i, row in enumerate(rows.tolist())}


def initial_probs(
  given: Any, states: Sequence[str], estimated: bool
) -> onp.ndarray | None:
  """Reads the probabilities of states at the first row, (s,)."""
  if given is None:
    if estimated:
      raise ValueError(
        "initial_probs is None: with estimate_initial_probs it must have the "
        "probabilities where a fit starts"
      )
    return None
  if not isinstance(given, Mapping):
    raise TypeError(
      f"initial_probs is {raw_arguments.shown(given)}: it must map states to "
      "probabilities"
    )
  probs = onp.zeros(len(states))
  for key, x in given.items():
    state = panel_columns.text(key, "a state of initial_probs")
    if state not in states:
      raise ValueError(
        f"initial_probs has {state!r}: it must be one of the states "
        f"{', '.join(states)}"
      )
    probs[states.index(state)] = float(x)
  total = float(onp.sum(probs))
  if not onp.all((probs >= 0.0) & (probs <= 1.0)) or abs(total - 1.0) > 1e-9:
    raise ValueError(
      f"initial_probs is {dict(given)}: it must be probabilities that sum to one"
    )
  return probs


def initial_states(spec: Spec) -> tuple[str, ...]:
  """Returns the states in which a subject may be at the first row."""
  if spec.initial is None:
    return ()
  return tuple(
    x
    for x, prob in zip(spec.chain.states, spec.initial, strict=True)
    if prob > 0.0
  )


def initial_log_odds(spec: Spec) -> onp.ndarray:
  """Returns log odds of the first state where a fit starts, (number - 1,)."""
  probs = onp.asarray(spec.initial)
  probs = probs[probs > 0.0]
  return onp.log(probs[1:] / probs[0])


def log_initial(spec: Spec, log_odds: Array | None, dtype: str) -> Array:
  """Computes log probabilities of phases at the first row, (p,)."""
  chain, probs = spec.chain, onp.asarray(spec.initial)
  with onp.errstate(divide="ignore"):
    log_entry = structures.cast(onp.log(chain.entry), dtype)
    fixed = structures.cast(onp.log(probs), dtype)
  if log_odds is None:
    return np.take(fixed, chain.state_of, axis=0) + log_entry
  places = onp.full(len(probs), len(log_odds) + 1)
  places[probs > 0.0] = [
    len(log_odds),
    *range(len(log_odds)),
  ]
  zero = np.zeros_like(log_odds[:1])
  padded = np.concatenate([log_odds, zero, zero - math.inf], axis=0)
  logits = np.take(padded, places, axis=0)
  logits = logits - likelihoods.log_sum(logits)
  return np.take(logits, chain.state_of, axis=0) + log_entry
