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
  blocks: list[layouts.Intervals | None] = []
  index: list[onp.ndarray] = []
  subjects: list[onp.ndarray] = []
  offset = 0
  for held in (False, True):
    chosen = is_single & ((data.kinds == panel_data.HELD) == held)
    ends = onp.flatnonzero(chosen)
    block = None
    if len(ends):
      block, places = _intervals(chain, data, rows, ends, held)
      index.append(places + offset)
      subjects.append(data.subject[ends])
      offset += onp.size(block.times)
    blocks.append(block)
  paths, at = path_layouts.paths(chain, data, rows, is_single, is_random)
  if paths is not None:
    index.append(onp.arange(onp.shape(at)[1]) + offset)
    subjects.append(data.subject[at[0]])
  return layouts.Layout(
    columns=columns,
    misclassified=misclassified,
    free=blocks[0],
    held=blocks[1],
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
  data: panel_data.PanelData,
  rows: rows_lib.Rows,
  ends: onp.ndarray,
  held: bool,
) -> tuple[layouts.Intervals, onp.ndarray]:
  """Lays out intervals that end at some rows.

  Returns:
    The intervals, and the places of their values.
  """
  p, num_states = chain.num_phases, len(chain.states)
  entered, edges_of = rows_lib.jumps_of(chain, data)
  start = rows.phase[ends - 1]
  # The end is the entry of a state, or a set of phases.
  end = onp.where(
    entered[ends] >= 0, entered[ends], num_states + rows.mask[ends]
  )
  piece = rows.pieces[ends]
  size = num_states + len(rows.masks)
  keys = (rows.design[piece] * p + start) * size + end
  _check_possible(chain, data, rows, ends, start, entered[ends], held)
  row_keys, times, places = layouts.grouped(keys, rows.length[piece])
  end = row_keys % size
  start = row_keys // size % p
  jumps = end < num_states
  mask = onp.where(jumps, 0, end - num_states)
  block = layouts.Intervals(
    design=onp.asarray(row_keys // size // p, onp.int32),
    initial=onp.eye(p)[start],
    weights=onp.where(jumps[:, None], 0.0, rows.masks[mask]),
    exits=onp.where(jumps[:, None], edges_of[onp.where(jumps, end, 0)], 0.0),
    times=times,
  )
  return block, places


def _check_possible(
  chain: chains.Chain,
  data: panel_data.PanelData,
  rows: rows_lib.Rows,
  ends: onp.ndarray,
  start: onp.ndarray,
  entered: onp.ndarray,
  held: bool,
) -> None:
  """Raises ValueError for an interval that the model cannot make."""
  reached = chain.reached(held)
  _, edges_of = rows_lib.jumps_of(chain, data)
  exits = onp.matmul(edges_of, chain.from_source)
  by_jump = onp.matmul(reached * 1.0, onp.transpose(exits)) > 0
  by_mask = onp.matmul(reached * 1.0, onp.transpose(rows.masks)) > 0
  jumps = entered >= 0
  good = onp.where(
    jumps,
    by_jump[start, onp.where(jumps, entered, 0)],
    by_mask[start, rows.mask[ends]],
  )
  if not onp.all(good):
    row = int(ends[int(onp.argmin(good))])
    rows_lib.refuse(data, row - 1, row)
