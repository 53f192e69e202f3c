"""Lays out panel data for the chain of a model, and checks every transition."""

from __future__ import annotations

import numpy as onp

from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import path_layouts
from phasic.multistate.likelihood import rows as rows_lib
from phasic.multistate.states import chains


def layout(
  chain: chains.Chain,
  data: panel_data.PanelData,
  rows: rows_lib.Rows,
  is_random: bool,
  columns: onp.ndarray,
  misclassified: onp.ndarray,
  emissions: layouts.Emissions | None,
) -> layouts.Layout:
  """Returns all arrays of the likelihood.

  Args:
    chain: the chain.
    data: the data.
    rows: what its rows say.
    is_random: whether the first phase of a subject is random.
    columns: as in `Layout`.
    misclassified: likewise.
    emissions: likewise.

  Raises:
    ValueError: the model cannot make a transition, or a first state is not
      known: the message names subject, rows and states.
  """
  _check_held(chain, data)
  is_single = _are_single(data, rows, is_random)
  jumps = rows_lib.jumps_of(chain, data)
  blocks: dict[bool, list[layouts.Intervals]] = {False: [], True: []}
  index: list[onp.ndarray] = []
  subjects: list[onp.ndarray] = []
  offset = 0
  for held in (False, True):
    chosen = is_single & ((data.kinds == panel_data.HELD) == held)
    ends = onp.flatnonzero(chosen)
    if not len(ends):
      continue
    leads = _leads(chain, data, rows, jumps, ends, held)
    _, part = onp.unique(leads, axis=0, return_inverse=True)
    part = onp.reshape(part, -1)
    for number in range(int(onp.max(part)) + 1):
      members = ends[part == number]
      closed = onp.logical_not(leads[int(onp.argmax(part == number))])
      block, places = _intervals(chain, rows, jumps, members, held, closed)
      index.append(places + offset)
      subjects.append(data.subject[members])
      offset += onp.size(block.times)
      blocks[held].append(block)
  paths, at = path_layouts.paths(chain, data, rows, is_single, is_random)
  if paths is not None:
    index.append(onp.arange(onp.shape(at)[1]) + offset)
    subjects.append(data.subject[at[0]])
  return layouts.Layout(
    columns=columns,
    misclassified=misclassified,
    free=tuple(blocks[False]),
    held=tuple(blocks[True]),
    paths=paths,
    emissions=emissions,
    index=_joined(index),
    subject=_joined(subjects),
    weights=onp.ones(len(data.subjects)),
  )


def _joined(parts: list[onp.ndarray]) -> onp.ndarray:
  whole = onp.concatenate(parts) if parts else onp.zeros(0)
  return onp.asarray(whole, onp.int32)


def _check_held(chain: chains.Chain, data: panel_data.PanelData) -> None:
  """Raises ValueError where a state is held, but not known."""
  states = chain.states
  known = onp.isin(data.states, states)
  before = onp.concatenate([[True], known[:-1]])
  bad = (data.kinds == panel_data.HELD) & onp.logical_not(data.is_first)
  bad = bad & onp.logical_not(known & before)
  if onp.any(bad):
    raise ValueError(
      f"{data.label_of(int(onp.argmax(bad)))}: the time of the transition is exact, "
      "but the state is not known before and after it; leave exact_times of the "
      "row out"
    )


def _are_single(
  data: panel_data.PanelData, rows: rows_lib.Rows, is_random: bool
) -> onp.ndarray:
  """Returns whether a row ends an interval from a known phase, (n,).

  Then its likelihood depends on no other row: there is one piece, and the row
  has a known phase or is the last one of its subject.
  """
  is_first = data.is_first
  is_last = onp.append(is_first[1:], True)
  starts = rows.phase >= 0
  if is_random:
    starts = starts & onp.logical_not(is_first)
  after = onp.concatenate([[False], starts[:-1]])
  one_piece = onp.diff(rows.pieces) == 1
  ends = (rows.phase >= 0) | is_last
  return (
    after & one_piece & ends & (rows.emission < 0) & onp.logical_not(is_first)
  )


def _intervals(
  chain: chains.Chain,
  rows: rows_lib.Rows,
  jumps_of: tuple[onp.ndarray, onp.ndarray],
  ends: onp.ndarray,
  held: bool,
  closed: onp.ndarray,
) -> tuple[layouts.Intervals, onp.ndarray]:
  """Lays out intervals that end at some rows.

  Args:
    chain: the chain.
    rows: what the rows of the data say.
    jumps_of: the states that are entered, and the edges there, see `rows`.
    ends: the rows.
    held: whether the state is held.
    closed: phases from which no path leads to an end, (p,).

  Returns:
    The intervals, and the places of their values.
  """
  p, num_states = chain.num_phases, len(chain.states)
  entered, edges_of = jumps_of
  start = rows.phase[ends - 1]
  # The end is the entry of a state, or a set of phases.
  end = onp.where(
    entered[ends] >= 0, entered[ends], num_states + rows.mask[ends]
  )
  piece = rows.pieces[ends]
  size = num_states + len(rows.masks)
  keys = (rows.design[piece] * p + start) * size + end
  row_keys, times, places = layouts.grouped(keys, rows.length[piece])
  end = row_keys % size
  start = row_keys // size % p
  jumps = end < num_states
  mask = onp.where(jumps, 0, end - num_states)
  targets = chain.targets_of(held)
  closed = onp.append(closed, True)
  block = layouts.Intervals(
    design=onp.asarray(row_keys // size // p, onp.int32),
    initial=onp.eye(p)[start],
    weights=onp.where(jumps[:, None], 0.0, rows.masks[mask]),
    exits=onp.where(jumps[:, None], edges_of[onp.where(jumps, end, 0)], 0.0),
    times=times,
    targets=onp.asarray(onp.where(closed[targets], p, targets), onp.int32),
  )
  return block, places


def _leads(
  chain: chains.Chain,
  data: panel_data.PanelData,
  rows: rows_lib.Rows,
  jumps_of: tuple[onp.ndarray, onp.ndarray],
  ends: onp.ndarray,
  held: bool,
) -> onp.ndarray:
  """Returns whether a path leads from a phase to the end at a row, (n, p).

  Raises:
    ValueError: there is none from the phase at the row before.
  """
  reached = chain.reached(held) * 1.0
  entered, edges_of = jumps_of
  exits = onp.matmul(edges_of, chain.from_source)
  jumps = (entered[ends] >= 0)[:, None]
  sets = onp.where(jumps, exits[entered[ends]], rows.masks[rows.mask[ends]])
  leads = onp.matmul(sets, onp.transpose(reached)) > 0
  good = leads[onp.arange(len(ends)), rows.phase[ends - 1]]
  if not onp.all(good):
    row = int(ends[int(onp.argmin(good))])
    rows_lib.refuse(data, row - 1, row)
  return leads
