"""Lays out panel data for the chain of a model, and checks every transition."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
import dataclasses
from typing import Any

import numpy as onp

from phasic.multistate import chains
from phasic.multistate import layouts
from phasic.multistate import panel_data

# How a matrix of the forward algorithm is made: a step, a step in which the
# state is held, or a jump.
_FREE, _HELD, _JUMP = "free", "held", "jump"


@dataclasses.dataclass(frozen=True)
class Observation:
  """What a row of the data says about the phases.

  Attributes:
    mask: one for each phase that is possible, (p,).
    emission: the row of a table of emissions, or None.
  """

  mask: onp.ndarray
  emission: int | None

  @property
  def key(self) -> Hashable:
    """What tells observations apart."""
    return self.emission if self.emission is not None else onp.asarray(self.mask).tobytes()


@dataclasses.dataclass(frozen=True)
class _Move:
  """A matrix of the forward algorithm, and the observation after it.

  Attributes:
    kind: how the matrix is made.
    design: which rates apply.
    time: the length of a step.
    edges: one for edges that a jump may use, (m,).
    seen: the observation.
    row: the row of the data.
  """

  kind: str
  design: int
  time: float
  edges: onp.ndarray
  seen: Observation
  row: int


@dataclasses.dataclass
class _Stretch:
  """Moves from a known or random phase to the next known one.

  Attributes:
    start: the row of the table of starts.
    first: the observation at the start.
    moves: the moves.
    subject: whose they are.
    row: where they begin.
  """

  start: int
  first: Observation
  moves: list[_Move]
  subject: int
  row: int


class Binder:
  """Reads the rows of panel data as moves of a chain."""

  def __init__(
    self,
    chain: chains.Chain,
    data: panel_data.PanelData,
    pieces: Sequence[Sequence[tuple[int, float]]],
    is_random: bool,
    observe: Callable[[int], Observation],
  ):
    """Reads the rows.

    Args:
      chain: the chain.
      data: the data.
      pieces: for each row, the designs and lengths of the pieces of the interval
        that begins there.
      is_random: whether the first phase is random.
      observe: says what a row tells.
    """
    self.chain = chain
    self._data = data
    self._pieces = pieces
    self._observe = observe
    self._all = Observation(onp.ones(chain.num_phases), None)
    self.stretches: list[_Stretch] = []
    starts = onp.flatnonzero(data.is_first)
    ends = onp.append(starts[1:], len(data.times))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
      self._read_subject(start, end, is_random)

  def _read_subject(self, start: int, end: int, is_random: bool) -> None:
    """Reads the rows of a subject."""
    stretch = self._begin(start, is_random)
    for row in range(start + 1, end):
      for move in self._moves(row):
        stretch.moves.append(move)
      phase = self._known_phase(stretch.moves[-1].seen)
      if phase is not None:
        self._end(stretch)
        stretch = _Stretch(phase, self._all, [], stretch.subject, row)
    if stretch.moves or stretch.first is not self._all:
      self._end(stretch)

  def _begin(self, row: int, is_random: bool) -> _Stretch:
    """Starts with the first row of a subject."""
    subject = int(self._data.subject[row])
    seen = self._observe(row)
    p = self.chain.num_phases
    if is_random:
      return _Stretch(p + len(self.chain.states), seen, [], subject, row)
    phase = self._known_phase(seen)
    if phase is not None:
      return _Stretch(phase, self._all, [], subject, row)
    states = set(self._states_of(seen))
    if len(states) > 1 or seen.emission is not None:
      raise ValueError(
        f"{self._data.where(row)}: the first state is not known; give the model "
        "initial_probs, the probabilities of states at the first observation, or "
        "leave rows out"
      )
    return _Stretch(p + states.pop(), self._all, [], subject, row)

  def _states_of(self, seen: Observation) -> list[int]:
    """Returns the states of the phases that are possible."""
    return _numbers(self.chain.state_of[seen.mask > 0])

  def _known_phase(self, seen: Observation) -> int | None:
    """Returns the phase, if only one is possible."""
    phases = onp.flatnonzero(seen.mask)
    return int(phases[0]) if len(phases) == 1 else None

  def _moves(self, row: int) -> list[_Move]:
    """Returns the moves from the row before to a row."""
    data, chain = self._data, self.chain
    kind = int(data.kinds[row])
    seen = self._observe(row)
    state = str(data.states[row])
    step = _FREE
    jumps = kind == panel_data.ENTERED
    if kind == panel_data.HELD:
      before = str(data.states[row - 1])
      if before not in chain.states or state not in chain.states:
        raise ValueError(
          f"{data.where(row)}: the time of the transition is exact, but the state "
          "is not known before and after it; leave exact_times of the row out"
        )
      step, jumps = _HELD, before != state
    pieces = self._pieces[row - 1]
    none = onp.zeros(len(chain.sources))
    moves = [
      _Move(step, design, time, none, self._all, row) for design, time in pieces
    ]
    if not jumps:
      return [*moves[:-1], dataclasses.replace(moves[-1], seen=seen)]
    edges = chain.enters([state])
    return [*moves, _Move(_JUMP, pieces[-1][0], 0.0, edges, seen, row)]

  def _end(self, stretch: _Stretch) -> None:
    """Keeps a stretch; raises ValueError if the model cannot make it."""
    chain = self.chain
    rows = chain.start_rows
    size = len(rows)
    possible = rows[stretch.start] > 0 if stretch.start < size else None
    possible = stretch.first.mask > 0 if possible is None else possible
    before = stretch.row
    for move in stretch.moves:
      if move.kind == _JUMP:
        use = (move.edges > 0) & possible[chain.sources]
        after = onp.zeros(chain.num_phases, bool)
        after[chain.targets[use]] = True
      else:
        after = onp.any(chain.reached(move.kind == _HELD)[possible], axis=0)
      possible = after & (move.seen.mask > 0)
      if not onp.any(possible):
        self._refuse(before, move.row)
      if move.seen is not self._all:
        before = move.row
    self.stretches.append(stretch)

  def _refuse(self, before: int, row: int) -> None:
    """Raises ValueError for a transition that the model cannot make."""
    data = self._data
    label = data.subjects[data.subject[row]]
    old = str(data.states[before]) or "a hidden state"
    new = str(data.states[row]) or "a hidden state"
    how = ""
    if data.kinds[row] == panel_data.ENTERED:
      how = ", whose time of entry is exact"
    if data.kinds[row] == panel_data.HELD:
      how = ", in one step as its time is exact"
    raise ValueError(
      f"subject {label} goes from {old} in row {int(data.rows[before])} to {new} "
      f"in row {int(data.rows[row])}{how}: the model has no such path; allow a "
      "transition that leads there, or correct the rows"
    )

  def layout(
    self, columns: onp.ndarray, misclassified: onp.ndarray, emissions: Any
  ) -> layouts.Layout:
    """Returns all arrays of the likelihood."""
    simple: dict[str, list[_Stretch]] = {_FREE: [], _HELD: []}
    long: list[_Stretch] = []
    for stretch in self.stretches:
      where = (
        simple[stretch.moves[0].kind] if self._is_simple(stretch) else long
      )
      where.append(stretch)
    index: list[onp.ndarray] = []
    subject: list[int] = []
    blocks: dict[str, layouts.Intervals | None] = {}
    offset = 0
    for kind, members in simple.items():
      blocks |= {kind: None}
      if members:
        block, places = self._intervals(members)
        blocks |= {kind: block}
        index.append(places + offset)
        offset += onp.size(block.times)
    paths = None
    if long:
      paths = self._paths(long)
      index.append(onp.arange(len(long)) + offset)
    for members in (*simple.values(), long):
      subject += [x.subject for x in members]
    return layouts.Layout(
      columns=columns,
      misclassified=misclassified,
      free=blocks[_FREE],
      held=blocks[_HELD],
      paths=paths,
      emissions=emissions,
      index=_indices(onp.concatenate(index) if index else onp.zeros(0)),
      subject=_indices(subject),
      weights=onp.ones(len(self._data.subjects)),
    )

  def _is_simple(self, stretch: _Stretch) -> bool:
    """Returns whether a stretch is one interval from a known phase."""
    moves = stretch.moves
    kinds = [x.kind for x in moves]
    return (
      stretch.start < self.chain.num_phases
      and stretch.first.emission is None
      and all(x.seen.emission is None for x in moves)
      and kinds in ([_FREE], [_HELD], [_FREE, _JUMP], [_HELD, _JUMP])
    )

  def _intervals(
    self, members: Sequence[_Stretch]
  ) -> tuple[layouts.Intervals, onp.ndarray]:
    """Lays out intervals; returns the places of their values, too."""
    p = self.chain.num_phases
    none, no_edges = onp.zeros(p), onp.zeros(len(self.chain.sources))
    keys: list[Hashable] = []
    ends: dict[Hashable, tuple[onp.ndarray, onp.ndarray]] = {}
    for stretch in members:
      last = stretch.moves[-1]
      jumps = last.kind == _JUMP
      end = onp.asarray(last.edges).tobytes() if jumps else last.seen.key
      keys.append((stretch.moves[0].design, stretch.start, jumps, end))
      ends |= {
        keys[-1]: (none, last.edges) if jumps else (last.seen.mask, no_edges)
      }
    lengths = onp.asarray([x.moves[0].time for x in members])
    rows: list[Any]
    rows, times, places = layouts.grouped(keys, lengths)
    return layouts.Intervals(
      design=_indices([design for design, *_ in rows]),
      initial=onp.eye(p)[[start for _, start, *_ in rows]],
      weights=onp.stack([ends[key][0] for key in rows]),
      exits=onp.stack([ends[key][1] for key in rows]),
      times=times,
    ), places

  def _paths(self, members: Sequence[_Stretch]) -> layouts.Paths:
    """Lays out longer stretches."""
    moves = [x for stretch in members for x in stretch.moves]
    steps: dict[str, layouts.Steps | None] = {}
    row_of: dict[tuple[str, Hashable], int] = {}
    offset = 0
    for kind in (_FREE, _HELD):
      chosen = [x for x in moves if x.kind == kind]
      steps |= {kind: None}
      if not chosen:
        continue
      keys: list[Any] = [x.design for x in chosen]
      rows, times, places = layouts.grouped(
        keys, onp.asarray([x.time for x in chosen])
      )
      steps |= {kind: layouts.Steps(_indices(rows), times)}
      for x, place in zip(chosen, _numbers(places), strict=True):
        row_of |= {(kind, (x.design, x.time)): offset + place}
      offset += onp.size(times)
    jumps: list[_Move] = []
    for x in moves:
      key = (_JUMP, (x.design, onp.asarray(x.edges).tobytes()))
      if x.kind == _JUMP and key not in row_of:
        row_of |= {key: offset + len(jumps)}
        jumps.append(x)
    unit = offset + len(jumps)
    masks: dict[Hashable, int] = {}
    kept: list[onp.ndarray] = []
    for seen in [self._all] + [
      y for x in members for y in (x.first, *(z.seen for z in x.moves))
    ]:
      if seen.emission is None and seen.key not in masks:
        masks |= {seen.key: len(kept)}
        kept.append(seen.mask)

    def weight(seen: Observation) -> int:
      if seen.emission is not None:
        return len(kept) + seen.emission
      return masks[seen.key]

    def matrix(move: _Move) -> int:
      end: Hashable = move.time
      if move.kind == _JUMP:
        end = onp.asarray(move.edges).tobytes()
      return row_of[move.kind, (move.design, end)]

    length = max(1, *(len(x.moves) for x in members))
    matrices = onp.full((length, len(members)), unit)
    weights = onp.full((length, len(members)), masks[self._all.key])
    for s, stretch in enumerate(members):
      for i, move in enumerate(stretch.moves):
        matrices[i, s] = matrix(move)
        weights[i, s] = weight(move.seen)
    jumped = None
    if jumps:
      designs = _indices([x.design for x in jumps])
      jumped = layouts.Jumps(designs, onp.stack([x.edges for x in jumps]))
    return layouts.Paths(
      free=steps[_FREE],
      held=steps[_HELD],
      jumps=jumped,
      masks=onp.stack(kept),
      start=_indices([x.start for x in members]),
      first=_indices([weight(x.first) for x in members]),
      matrices=_indices(matrices),
      weights=_indices(weights),
    )


def _numbers(x: onp.ndarray) -> list[Any]:
  return x.tolist()


def _indices(x: Any) -> onp.ndarray:
  return onp.asarray(x, onp.int32)
