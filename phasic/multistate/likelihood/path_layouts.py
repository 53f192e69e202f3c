"""Lays out stretches of panel data for the forward algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as onp

from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import rows as rows_lib
from phasic.multistate.states import chains

# How a matrix of the forward algorithm is made: a step of the chain, a step in
# which the state is held, or a jump.
_FREE, _HELD, _JUMP = 0, 1, 2
# The largest number of entries of all matrices: 1 GiB of doubles.
_MOST_ENTRIES = 2**27


class _Move(NamedTuple):
  """A matrix of the forward algorithm, and the observation after it.

  Attributes:
    kind: how the matrix is made.
    design: which rates apply.
    value: the length of a step, or the state that a jump enters.
    row: the row that is observed after it; -1 if none is.
  """

  kind: int
  design: int
  value: float
  row: int


class _Stretch(NamedTuple):
  """Moves from a known or random phase to the next known one.

  Attributes:
    start: the row of the table of starts.
    row: the row where it begins.
    is_seen: whether that row is an observation of this stretch.
    moves: the moves.
  """

  start: int
  row: int
  is_seen: bool
  moves: list[_Move]


class _Reader:
  """Reads rows that are not single intervals as moves."""

  def __init__(
    self,
    chain: chains.Chain,
    data: panel_data.PanelData,
    rows: rows_lib.Rows,
    is_random: bool,
  ):
    self._chain, self._data, self._rows = chain, data, rows
    self._is_random = is_random
    self._entered, self._edges = rows_lib.jumps_of(chain, data)
    self._kinds = _ints(data.kinds)
    self._entered_states = _ints(self._entered)
    self._pieces = _ints(rows.pieces)
    self._designs, self._lengths = _ints(rows.design), _floats(rows.length)
    self._phases = _ints(rows.phase)
    self._reached = [_bits(chain.reached(held)) for held in (False, True)]
    self._sets = [_number(x) for x in rows.masks > 0]
    self._masks = _ints(rows.mask)
    self._after_jump = [self._jump_bits(x) for x in self._edges]

  def stretches(self, is_single: onp.ndarray) -> list[_Stretch]:
    """Returns the stretches of all subjects."""
    data = self._data
    is_first = data.is_first
    needed = onp.logical_not(is_single | is_first)
    if self._is_random:
      needed = needed | is_first
    begins = onp.flatnonzero(is_first)
    owners = onp.unique(data.subject[needed])
    ends = onp.append(begins[1:], len(data.times))
    wanted: list[bool] = list(map(bool, needed))
    made: list[_Stretch] = []
    for subject in map(int, owners):
      made += self._of_subject(int(begins[subject]), int(ends[subject]), wanted)
    return made

  def _of_subject(
    self, begin: int, end: int, wanted: Sequence[bool]
  ) -> list[_Stretch]:
    """Returns the stretches of a subject."""
    made: list[_Stretch] = []
    stretch: _Stretch | None = None
    if self._is_random:
      start = self._chain.num_phases + len(self._chain.states)
      stretch = _Stretch(start, begin, True, [])
    for row in range(begin + 1, end):
      if not wanted[row]:
        continue
      if stretch is None:
        stretch = _Stretch(self._start(row - 1, begin), row - 1, False, [])
      stretch.moves.extend(self._moves(row))
      if self._phases[row] >= 0:
        made.append(stretch)
        stretch = None
    if stretch is not None:
      made.append(stretch)
    for x in made:
      self._check(x)
    return made

  def _start(self, row: int, begin: int) -> int:
    """Returns the row of the table of starts for a row whose state is known."""
    if self._phases[row] >= 0:
      return self._phases[row]
    mask = self._rows.masks[self._masks[row]]
    states = {int(x) for x in self._chain.state_of[mask > 0]}
    if row != begin or len(states) > 1 or self._rows.emission[row] >= 0:
      raise ValueError(
        f"{self._data.label_of(row)}: the first state is not known; give the model "
        "initial_probs, the probabilities of states at the first observation, or "
        "leave rows out"
      )
    return self._chain.num_phases + states.pop()

  def _moves(self, row: int) -> list[_Move]:
    """Returns the moves from the row before to a row."""
    held = self._kinds[row] == panel_data.HELD
    kind = _HELD if held else _FREE
    low, high = self._pieces[row], self._pieces[row + 1]
    jumps = self._entered_states[row] >= 0
    moves = [
      _Move(kind, self._designs[i], self._lengths[i], -1)
      for i in range(low, high if jumps else high - 1)
    ]
    if jumps:
      state = float(self._entered_states[row])
      return [*moves, _Move(_JUMP, self._designs[high - 1], state, row)]
    last = high - 1
    return [*moves, _Move(kind, self._designs[last], self._lengths[last], row)]

  def _check(self, stretch: _Stretch) -> None:
    """Raises ValueError if the model cannot make a stretch."""
    rows = self._chain.start_rows
    possible = (1 << self._chain.num_phases) - 1
    if stretch.start < len(rows):
      possible = _number(rows[stretch.start] > 0)
    if stretch.is_seen:
      possible = possible & self._sets[self._masks[stretch.row]]
    before = stretch.row
    for move in stretch.moves:
      leads = self._reached[move.kind] if move.kind != _JUMP else []
      leads = leads or self._after_jump[int(move.value)]
      after = 0
      for i, reached in enumerate(leads):
        if possible >> i & 1:
          after = after | reached
      if move.row >= 0:
        after = after & self._sets[self._masks[move.row]]
      if not after:
        rows_lib.refuse(self._data, before, max(move.row, before + 1))
      possible = after
      before = move.row if move.row >= 0 else before

  def _jump_bits(self, edges: onp.ndarray) -> list[int]:
    """Returns the phases to which edges lead, as bits, for each phase."""
    p = self._chain.num_phases
    leads = onp.zeros((p, p), bool)
    used = onp.flatnonzero(edges)
    leads[self._chain.sources[used], self._chain.targets[used]] = True
    return _bits(leads)


def paths(
  chain: chains.Chain,
  data: panel_data.PanelData,
  rows: rows_lib.Rows,
  is_single: onp.ndarray,
  is_random: bool,
) -> tuple[layouts.Paths | None, onp.ndarray]:
  """Lays out the stretches of rows that are not single intervals.

  Returns:
    The s paths, or None; and the rows where they begin and where each move ends,
    (l + 1, s), -1 for moves that end between rows.
  """
  stretches = _Reader(chain, data, rows, is_random).stretches(is_single)
  if not stretches:
    return None, onp.zeros((1, 0), int)
  moves = [x for stretch in stretches for x in stretch.moves]
  kinds = onp.asarray([x.kind for x in moves], int)
  designs = onp.asarray([x.design for x in moves], int)
  sizes = onp.asarray([x.value for x in moves], float)
  table = onp.zeros(len(moves), int)
  steps: list[layouts.Steps | None] = []
  offset = 0
  for kind in (_FREE, _HELD):
    chosen = kinds == kind
    if not onp.any(chosen):
      steps.append(None)
      continue
    keys, times, places = layouts.grouped(designs[chosen], sizes[chosen])
    steps.append(layouts.Steps(_indices(keys), times))
    table[chosen] = places + offset
    offset += onp.size(times)
  jumps = None
  chosen = kinds == _JUMP
  if onp.any(chosen):
    size = len(chain.states)
    keys, places = onp.unique(
      designs[chosen] * size + onp.asarray(sizes[chosen], int),
      return_inverse=True,
    )
    table[chosen] = onp.reshape(places, -1) + offset
    offset += len(keys)
    _, edges = rows_lib.jumps_of(chain, data)
    jumps = layouts.Jumps(_indices(keys // size), edges[keys % size])
  entries = max(offset, len(stretches)) * chain.num_phases**2
  if entries > _MOST_ENTRIES:
    raise MemoryError(
      f"the data need {offset} matrices of {chain.num_phases} phases, {entries} "
      f"entries: there must be at most {_MOST_ENTRIES}; round times and "
      "covariates, so that intervals repeat, or take fewer phases"
    )
  weights = _weights(rows, onp.asarray([x.row for x in moves], int))
  length = max(1, *(len(x.moves) for x in stretches))
  matrices_at = onp.full((length, len(stretches)), offset)
  weights_at = onp.zeros((length, len(stretches)), int)
  rows_at = onp.full((length + 1, len(stretches)), -1)
  done = 0
  for s, stretch in enumerate(stretches):
    count = len(stretch.moves)
    matrices_at[:count, s] = table[done : done + count]
    weights_at[:count, s] = weights[done : done + count]
    rows_at[: count + 1, s] = [stretch.row, *(x.row for x in stretch.moves)]
    done += count
  first = onp.asarray([x.row if x.is_seen else -1 for x in stretches])
  return layouts.Paths(
    free=steps[0],
    held=steps[1],
    jumps=jumps,
    masks=rows.masks,
    start=_indices([x.start for x in stretches]),
    first=_indices(_weights(rows, first)),
    matrices=_indices(matrices_at),
    weights=_indices(weights_at),
  ), rows_at


def _weights(rows: rows_lib.Rows, at: onp.ndarray) -> onp.ndarray:
  """Returns rows of the table of weights for rows of the data, 0 for -1."""
  if not len(at):
    return at
  emission = rows.emission[at]
  seen = onp.where(emission >= 0, len(rows.masks) + emission, rows.mask[at])
  return onp.where(at >= 0, seen, 0)


def _ints(x: onp.ndarray) -> list[int]:
  return x.tolist()


def _floats(x: onp.ndarray) -> list[float]:
  return x.tolist()


def _number(mask: onp.ndarray) -> int:
  """Returns a set of phases as the bits of an integer."""
  return sum(1 << int(i) for i in onp.flatnonzero(mask))


def _bits(reached: onp.ndarray) -> list[int]:
  return [_number(row) for row in reached]


def _indices(x: Any) -> onp.ndarray:
  return onp.asarray(x, onp.int32)
