"""What each row of panel data says about the phases of a chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as onp

from phasic.multistate.data import effects as effects_lib
from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import hidden as hidden_lib
from phasic.multistate.states import chains


class Rows(NamedTuple):
  """Observations and intervals of n rows, as numbers.

  The interval that ends at a row has pieces, during which rates do not change.

  Attributes:
    masks: distinct sets of phases, one for each that is possible, (k, p); the
      first set has all of them.
    mask: the set of each row, (n,).
    phase: the phase of each row, if only one is possible, else -1, (n,).
    emission: the place among observations of hidden states, else -1, (n,).
    pieces: where the pieces of each row begin, (n + 1,).
    design: which rates apply to a piece, (number of pieces,).
    length: of a piece, (number of pieces,).
  """

  masks: onp.ndarray
  mask: onp.ndarray
  phase: onp.ndarray
  emission: onp.ndarray
  pieces: onp.ndarray
  design: onp.ndarray
  length: onp.ndarray


def read(
  chain: chains.Chain,
  hidden: hidden_lib.Hidden,
  data: panel_data.PanelData,
  emission: onp.ndarray,
  pieces: tuple[onp.ndarray, onp.ndarray, onp.ndarray],
) -> Rows:
  """Reads the rows of panel data.

  Args:
    chain: the chain.
    hidden: how states are observed.
    data: the data.
    emission: as in `Rows`.
    pieces: the last three attributes of `Rows`.
  """
  codes, keys = _observations(hidden, data)
  every = onp.ones(chain.num_phases)
  masks, which = onp.unique(
    onp.stack([every, *(_mask(chain, hidden, data, *key) for key in keys)]),
    axis=0,
    return_inverse=True,
  )
  which = onp.reshape(which, -1)
  # The set of all phases comes first.
  order = onp.concatenate(
    [which[:1], onp.delete(onp.arange(len(masks)), which[0])]
  )
  place = onp.argsort(order)
  masks = masks[order]
  mask = place[which[1:]][codes]
  is_one = onp.sum(masks, axis=-1) == 1
  phase_of_mask = onp.where(is_one, onp.argmax(masks, axis=-1), -1)
  return Rows(masks, mask, phase_of_mask[mask], emission, *pieces)


def _observations(
  hidden: hidden_lib.Hidden, data: panel_data.PanelData
) -> tuple[onp.ndarray, list[tuple[str, bool, tuple[str, ...]]]]:
  """Returns the kind of observation of each row, (n,), and all kinds.

  A kind is a label, whether it may be wrong, and the outcomes that are there.
  """
  may_be_wrong = (data.kinds == panel_data.SEEN) & hidden.has_errors
  columns: list[onp.ndarray] = [data.states, may_be_wrong]
  names = list(hidden.outcomes)
  columns += [onp.logical_not(onp.isnan(data.outcomes[x])) for x in names]
  codes = onp.zeros(len(data.times), int)
  for column in columns:
    _, inverse = onp.unique(column, return_inverse=True)
    codes = codes * (int(onp.max(inverse)) + 1) + onp.reshape(inverse, -1)
  _, first, inverse = onp.unique(codes, return_index=True, return_inverse=True)
  keys = []
  for row in map(int, first):
    there = [x for x, c in zip(names, columns[2:], strict=True) if c[row]]
    keys.append((str(data.states[row]), bool(may_be_wrong[row]), tuple(there)))
  return onp.reshape(inverse, -1), keys


def _mask(
  chain: chains.Chain,
  hidden: hidden_lib.Hidden,
  data: panel_data.PanelData,
  label: str,
  may_be_wrong: bool,
  outcomes: Sequence[str],
) -> onp.ndarray:
  """Returns one for each phase that is possible, (p,)."""
  states = set(possible(chain, data, label))
  if may_be_wrong:
    states |= {x for x, y in hidden.errors.values() if y in states}
  for name in outcomes:
    states = states & set(hidden.outcomes[name])
  return chain.in_states([x for x in chain.states if x in states])


def possible(
  chain: chains.Chain, data: panel_data.PanelData, label: str
) -> Sequence[str]:
  """Returns the states, or their labels, for which a label stands."""
  if label in data.possible:
    return data.possible[label]
  if label:
    return (label,)
  return [x for x in chain.states if x not in data.exact]


def pieces(
  data: panel_data.PanelData, columns: effects_lib.Columns, table: Any
) -> tuple[tuple[onp.ndarray, onp.ndarray, onp.ndarray], onp.ndarray]:
  """Cuts the intervals into pieces, during which rates do not change.

  Args:
    data: the data.
    columns: the columns of effects.
    table: covariates of the rows at which an interval begins.

  Returns:
    The last three attributes of `Rows`; and the number that each coefficient
    multiplies, (d, k).
  """
  ends = onp.flatnonzero(onp.logical_not(data.is_first))
  low, high = data.times[ends - 1], data.times[ends]
  cuts = onp.asarray(columns.cuts)
  first = onp.searchsorted(cuts, low, side="right")
  counts = onp.searchsorted(cuts, high, side="left") - first + 1
  which = onp.repeat(onp.arange(len(ends)), counts)
  starts = onp.cumsum(counts) - counts
  number = onp.arange(len(which)) - starts[which]
  inner = onp.concatenate([cuts, [onp.inf]])
  begin = onp.where(number == 0, low[which], inner[first[which] + number - 1])
  last = number == counts[which] - 1
  end = onp.where(last, high[which], inner[first[which] + number])
  if columns.designs:
    table = {name: x[which] for name, x in table.items()}
  matrix = columns.evaluate(table, len(which), begin)[:, columns.places]
  designs, design = onp.unique(matrix, axis=0, return_inverse=True)
  if not len(which):
    designs = onp.zeros((1, len(columns.labels)))
  of_row = onp.zeros(len(data.times) + 1, int)
  of_row[ends + 1] = counts
  return (onp.cumsum(of_row), onp.reshape(design, -1), end - begin), designs


def jumps_of(
  chain: chains.Chain, data: panel_data.PanelData
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns the state that is entered at each row, else -1, (n,).

  Returns:
    The states; and the edges that lead there from other states, for each state,
    (s, m).
  """
  names = onp.asarray(chain.states)
  order = onp.argsort(names)
  at = onp.searchsorted(names[order], data.states)
  state = order[onp.minimum(at, len(names) - 1)]
  changed = data.states != onp.concatenate([[""], data.states[:-1]])
  jumps = (data.kinds == panel_data.ENTERED) | (
    (data.kinds == panel_data.HELD) & changed
  )
  edges = onp.stack([chain.enters([x]) for x in chain.states])
  return onp.where(jumps, state, -1), edges


def refuse(data: panel_data.PanelData, before: int, row: int) -> Any:
  """Raises ValueError for a transition that the model cannot make."""
  label = data.subjects[data.subject[row]]
  old = str(data.states[before]) or "a hidden state"
  new = str(data.states[row]) or "a hidden state"
  how = ""
  if data.kinds[row] == panel_data.ENTERED:
    how = ", whose time of entry is exact"
  if data.kinds[row] == panel_data.HELD:
    how = ", in one step as its time is exact"
  if not data.states[row] and str(data.states[before]) in data.exact:
    raise ValueError(
      f"subject {label} has no state in row {int(data.rows[row])}, which says that "
      f"none of {', '.join(data.exact)} had been entered, after {old} in row "
      f"{int(data.rows[before])}: leave the row out"
    )
  outcomes = [x for x, y in data.outcomes.items() if not onp.isnan(y[row])]
  if outcomes:
    how += f", where {', '.join(outcomes)} has a value that not all states have"
  raise ValueError(
    f"subject {label} goes from {old} in row {int(data.rows[before])} to {new} in "
    f"row {int(data.rows[row])}{how}: the model has no such path; allow a "
    "transition that leads there, or correct the rows"
  )
