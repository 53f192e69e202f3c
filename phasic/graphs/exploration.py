"""The states that can be reached, found breadth first."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
import math
from typing import Any

import numpy as onp

from phasic.graphs import absorbed
from phasic.graphs import absorption
from phasic.graphs import contents
from phasic.graphs import weights

shown = contents.shown

# How many states are explored between two reports of progress.
_REPORT = 1000


def explore(
  transitions: Callable[[Any], Iterable[Any]],
  initial: Any,
  params: int | Sequence[str],
  discrete: bool,
  max_states: int,
  progress: Callable[[int], Any] | None,
  allow_never_absorbing: bool,
) -> contents.Contents:
  """Returns the graph of a function of transitions.

  See `Graph.from_transitions`.
  """
  if not callable(transitions):
    raise TypeError(
      f"transitions is {shown(transitions)}: it must be a function of a state"
    )
  reader = weights.WeightReader(params)
  space = StateSpace(max_states)
  start = _read_initial(initial, space, reader)
  edges = EdgeList(reader.num_params)
  for i, state in enumerate(space.states):
    _explore_state(transitions, i, state, space, reader, edges, discrete)
    if progress is not None and (i + 1) % _REPORT == 0:
      progress(len(space.states))
  if progress is not None:
    progress(len(space.states))
  space.check_hashes()
  result = _contents(space, reader, edges, start, discrete)
  if not allow_never_absorbing:
    absorption.check(result)
  return result


def hashable(state: Any) -> Hashable:
  """Returns the state; raises TypeError if it is not hashable."""
  try:
    hash(state)
  except TypeError as error:
    raise TypeError(
      f"state {shown(state)} is not hashable ({error}): use numbers, strings, "
      "tuples or frozen dataclasses"
    ) from error
  return state


class StateSpace:
  """States by number: phases from zero up, causes of absorption below zero."""

  states: list[Any]
  causes: list[str | None]
  numbers: dict[Any, int]

  def __init__(self, max_states: int):
    if isinstance(max_states, bool) or not isinstance(
      max_states, (int, onp.integer)
    ):
      raise TypeError(f"max_states is {max_states!r}: it must be an integer")
    if max_states < 1:
      raise ValueError(f"max_states is {max_states}: it must be >= 1")
    self.states = []
    self.causes = []
    self.numbers = {}
    self._max_states = max_states

  def number(self, state: Any) -> int:
    """Returns the number of a state, a new one if it was not seen before.

    Raises:
      TypeError: the state is not hashable.
      ValueError: it does not equal itself, or there are too many states.
    """
    known = self.numbers.get(hashable(state))
    if known is not None:
      return known
    if absorbed.is_absorbed(state):
      self.causes.append(state.cause)
      new = -len(self.causes)
    else:
      new = len(self.states)
      if state != state:
        raise ValueError(f"state {shown(state)} does not equal itself")
      if new == self._max_states:
        raise ValueError(self._explosion(state))
      self.states.append(state)
    return self.numbers.setdefault(state, new)

  def check_hashes(self) -> None:
    """Raises ValueError if a state has changed since it was found."""
    for i, state in enumerate(self.states):
      if self.numbers.get(state) != i:
        raise ValueError(
          f"state {shown(state)} changed while the graph was built: states "
          "must not be modified"
        )

  def _explosion(self, state: Any) -> str:
    message = (
      f"more than max_states = {self._max_states} states were found, the last "
      f"is {shown(state)}"
    )
    kind = type(state)
    if kind.__hash__ is object.__hash__:
      return (
        f"{message}: instances of {kind.__name__} are equal only to "
        "themselves, give the class __eq__ and __hash__"
      )
    for other in self.states:
      if other == state:
        return f"{message}: it equals {shown(other)}, but their hashes differ"
    return message


class EdgeList:
  """The edges found so far, in lists that grow."""

  sources: list[int]
  targets: list[int]
  loops: list[int]

  def __init__(self, num_params: int):
    self.sources, self.targets = [], []
    self.loops = []  # where an edge from a state to itself was left out
    self._num_params = num_params
    # Numbers to be summed, by edge and column; the last column is constants.
    self._rows: list[int] = []
    self._columns: list[int] = []
    self._numbers: list[float] = []

  def add(self, source: int, target: int, weight: weights.Weight) -> int:
    """Appends an edge and returns its number."""
    edge = len(self.sources)
    self.sources.append(source)
    self.targets.append(target)
    self.increase(edge, weight)
    return edge

  def increase(self, edge: int, weight: weights.Weight) -> None:
    """Adds to the weight of an edge."""
    for column, number in (*weight.terms, (self._num_params, weight.constant)):
      if number != 0.0:
        self._rows.append(edge)
        self._columns.append(column)
        self._numbers.append(number)

  def sums(self) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns constants (m,) and coefficients (m, d)."""
    shape = (len(self.sources), self._num_params + 1)
    rows = onp.asarray(self._rows, onp.int64)
    places = rows * shape[1] + onp.asarray(self._columns, onp.int64)
    numbers = onp.asarray(self._numbers, float)
    size = shape[0] * shape[1]
    table = onp.reshape(onp.bincount(places, numbers, size), shape)
    return table[:, -1], table[:, :-1]


def _explore_state(
  transitions: Callable[[Any], Iterable[Any]],
  number: int,
  state: Any,
  space: StateSpace,
  reader: weights.WeightReader,
  edges: EdgeList,
  discrete: bool,
) -> None:
  """Appends the edges out of a state, parallel ones summed."""
  found = transitions(state)
  if found is None or not hasattr(found, "__iter__"):
    raise TypeError(
      f"transitions({shown(state)}) returned {shown(found)}: it must yield "
      "pairs (state, weight)"
    )
  own: dict[int, int] = {}
  known = space.numbers
  fixed: list[float] = []  # of a discrete chain, what has no parameter in it
  for item in found:
    if not isinstance(item, (tuple, list)) or len(item) != 2:
      raise TypeError(
        f"transitions({shown(state)}) yields {shown(item)}: it must yield "
        "pairs (state, weight)"
      )
    try:
      weight = reader.read(item[1])
      if weight is None:  # No edge, whatever the parameters are.
        continue
      target = known.get(hashable(item[0]))
      if target is None:
        target = space.number(item[0])
    except (TypeError, ValueError) as error:
      kind = TypeError if isinstance(error, TypeError) else ValueError
      raise kind(
        f"transitions({shown(state)}) yields {shown(tuple(item))}: {error}"
      ) from error
    if discrete and not weight.terms:
      fixed.append(weight.constant)
    if target == number:
      edges.loops.append(number)
    elif target in own:
      edges.increase(own[target], weight)
    else:
      own[target] = edges.add(number, target, weight)
  if discrete:
    check_row_mass(state, fixed)


def check_row_mass(state: Any, constants: Sequence[float]) -> None:
  """Raises ValueError if probabilities out of a state sum to more than one."""
  mass = math.fsum(constants)
  if mass > 1.0 + 4 * len(constants) * onp.finfo(float).eps:
    raise ValueError(
      f"the probabilities of the transitions from {shown(state)} sum to "
      f"{mass!r}: this sum must be <= 1 within 4 n eps"
    )


def _read_initial(
  initial: Any, space: StateSpace, reader: weights.WeightReader
) -> list[tuple[int, weights.Weight]]:
  """Returns numbers and weights of the initial states; -1 is the atom."""
  if isinstance(initial, Mapping):
    pairs = list(initial.items())
  elif isinstance(initial, list):
    pairs = initial
  else:
    pairs = [(initial, 1.0)]
  found: list[tuple[int, weights.Weight]] = []
  for item in pairs:
    if not isinstance(item, (tuple, list)) or len(item) != 2:
      raise TypeError(
        f"initial has {shown(item)} in it: a list must have pairs (state, "
        "weight); one state may be anything hashable"
      )
    state, weight = item
    try:
      read = reader.read(weight)
      if read is None:
        continue
      found.append((_initial_number(state, space), read))
    except (TypeError, ValueError) as error:
      kind = TypeError if isinstance(error, TypeError) else ValueError
      raise kind(
        f"initial state {shown(state)} with weight {shown(weight)}: {error}"
      ) from error
  if not space.states:
    raise ValueError(
      f"initial is {shown(initial)}: at least one state must have a weight > 0"
    )
  return found


def _initial_number(state: Any, space: StateSpace) -> int:
  if not absorbed.is_absorbed(state):
    return space.number(state)
  if state.cause is not None:
    raise ValueError("the atom at zero has no cause: use plain ABSORBED")
  return -1


def _contents(
  space: StateSpace,
  reader: weights.WeightReader,
  edges: EdgeList,
  start: list[tuple[int, weights.Weight]],
  discrete: bool,
) -> contents.Contents:
  p = len(space.states)
  # Summed as edges are: one for each phase, and for the atom.
  initial = EdgeList(reader.num_params)
  for i in range(p + 1):
    initial.add(i, i, weights.Weight(0.0, []))
  for i, weight in start:
    initial.increase(p if i < 0 else i, weight)
  initial_constants, initial_coefficients = initial.sums()
  check_initial_mass(initial_constants, initial_coefficients)
  constants, coefficients = edges.sums()
  targets = onp.asarray(edges.targets, onp.int64)
  targets = onp.where(targets < 0, p - 1 - targets, targets)
  return contents.Contents(
    sources=onp.asarray(edges.sources, onp.int32),
    targets=onp.asarray(targets, onp.int32),
    constants=constants,
    coefficients=coefficients,
    initial_constants=initial_constants,
    initial_coefficients=initial_coefficients,
    parameter_names=reader.names,
    causes=tuple(space.causes) or (None,),
    discrete=discrete,
    states=tuple(space.states),
    notes=_loop_notes(edges.loops, space.states, discrete),
  )


def check_initial_mass(
  constants: onp.ndarray, coefficients: onp.ndarray
) -> None:
  """Raises ValueError if initial weights without parameters sum not to one."""
  if onp.any(coefficients != 0.0):
    return  # Known with the parameters.
  mass = math.fsum(constants)
  if abs(mass - 1.0) > 4 * len(constants) * onp.finfo(float).eps:
    raise ValueError(
      f"the initial weights sum to {mass!r}: this sum, with that of ABSORBED "
      "for an atom at zero, must be 1 within 4 p eps"
    )


def _loop_notes(
  loops: Sequence[int], states: Sequence[Hashable], discrete: bool
) -> tuple[str, ...]:
  if not loops:
    return ()
  reason = (
    "mass that a row lacks stays" if discrete else "they do not change the law"
  )
  return (
    f"{len(loops)} transitions from a state to itself were left out ({reason}),"
    f" the first at {shown(states[loops[0]])}",
  )
