"""Numbers states and collects edges in the order in which they are found."""

from __future__ import annotations

import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as onp

from phasic.graphs.parts import contents
from phasic.graphs.parts import weights
from phasic.internal.arrays import Integer
from phasic.internal.raw_arguments import shown

_T = TypeVar("_T")


def hash_problem(state: object) -> str | None:
  """Returns an error message if a state is not hashable, else None."""
  try:
    hash(state)
  except TypeError as error:
    return (
      f"state {shown(state)} is not hashable ({error}): use numbers, strings, "
      "tuples or frozen dataclasses"
    )
  except RecursionError:
    return too_deep(state)
  return None


def hashable(state: object) -> Hashable:
  """Returns the state; raises TypeError if it is not hashable."""
  problem = hash_problem(state)
  if problem is not None:
    raise TypeError(problem)
  return state


def lookup(table: Mapping[Hashable, _T], state: object) -> _T | None:
  """Looks a state up in a table; returns None if it is missing.

  Raises:
    TypeError: the state is not hashable, or nested too deeply to be compared.
  """
  try:
    return table.get(hashable(state))
  except RecursionError:
    raise TypeError(too_deep(state)) from None


def too_deep(state: object) -> str:
  """Returns an error message for a state that is nested too deeply."""
  return (
    f"state {shown(state)} is nested too deeply: Python must be able to compare "
    "it; use numbers, or tuples of a few levels"
  )


def same_kind(error: Exception, message: str) -> TypeError | ValueError:
  """Returns a new error of the same type, a TypeError or a ValueError."""
  kind = TypeError if isinstance(error, TypeError) else ValueError
  return kind(message)


class StateSpace:
  """Maps states to indices: phases to 0, 1, ..., absorption to -1, -2, ..."""

  def __init__(self, max_states: Integer):
    if isinstance(max_states, bool) or not isinstance(
      max_states, (int, onp.integer)
    ):
      raise TypeError(
        f"max_states is {shown(max_states)}: it must be an integer"
      )
    if max_states < 1:
      raise ValueError(f"max_states is {shown(max_states)}: it must be >= 1")
    if max_states >= 2**31:
      raise ValueError(
        f"max_states is {shown(max_states)}: it must be below 2**31, as the "
        "indices of states have 32 bits"
      )
    self.states: list[Hashable] = []
    self.causes: list[str | None] = []
    self.numbers: dict[Hashable, int] = {}
    self._max_states = max_states

  def number(self, state: Hashable) -> int:
    """Returns the index of a state, and adds the state if it is new.

    Raises:
      TypeError: the state is not hashable.
      ValueError: it does not equal itself, or there are too many states.
    """
    known = lookup(self.numbers, state)
    if known is not None:
      return known
    if contents.is_absorbed(state):
      self.causes.append(state.cause)
      new = -len(self.causes)
    else:
      new = len(self.states)
      if state != state:
        raise ValueError(
          f"state {shown(state)} does not equal itself: states are looked up "
          "by ==; do not use NaN in states"
        )
      if new == self._max_states:
        raise ValueError(self._explosion(state))
      self.states.append(state)
    return self.numbers.setdefault(state, new)

  def check_hashes(self) -> None:
    """Raises ValueError if a state was modified after it was found."""
    for i, state in enumerate(self.states):
      if self.numbers.get(state) != i:
        raise ValueError(
          f"state {shown(state)} changed while the graph was built: states "
          "must not be modified"
        )

  def _explosion(self, state: Hashable) -> str:
    message = (
      f"more than max_states = {self._max_states} states were found, the last "
      f"is {shown(state)}"
    )
    kind: type[object] = type(state)
    if kind.__hash__ is object.__hash__:
      return (
        f"{message}: instances of {kind.__name__} are equal only to "
        "themselves, give the class __eq__ and __hash__"
      )
    for other in self.states:
      if other == state:
        return f"{message}: it equals {shown(other)}, but their hashes differ"
    return message


# A graph has at most this many constants and coefficients, which take 1 GiB.
MAX_NUMBERS = 2**27
# The limit on edges is EDGES_PER_STATE times the limit on states, but never
# less than _ALWAYS.
EDGES_PER_STATE = 100
_ALWAYS = 10_000_000


def max_edges(max_states: Integer) -> int:
  """Returns the limit on the number of edges, given the limit on states."""
  return max(_ALWAYS, EDGES_PER_STATE * int(max_states))


class EdgeList:
  """A list of edges with weights, to which edges are added one by one.

  Attributes:
    sources: the number of the state that each edge leaves.
    targets: the numbers of the target states, negative for absorption.
    loops: states with an edge to itself that was left out.
  """

  def __init__(self, num_params: int, max_edges: int = MAX_NUMBERS):
    self.sources = array.array("i")
    self.targets = array.array("i")
    self.loops = array.array("i")
    # Row e of the table of weights has d coefficients and then the constant.
    self._width = num_params + 1
    self._most = min(max_edges, MAX_NUMBERS // self._width)
    self._places = array.array("q")
    self._numbers = array.array("d")

  def add(self, source: int, target: int, weight: weights.Weight) -> int:
    """Appends an edge, and returns its index.

    Raises:
      ValueError: there are too many edges.
    """
    edge = len(self.sources)
    if edge == self._most:
      raise ValueError(self._explosion())
    self.sources.append(source)
    self.targets.append(target)
    self.increase(edge, weight)
    return edge

  def increase(self, edge: int, weight: weights.Weight) -> None:
    """Adds a weight to the weight of an edge."""
    row = edge * self._width
    for column, number in weight.terms:
      self._places.append(row + column)
      self._numbers.append(number)
    if weight.constant != 0.0:
      self._places.append(row + self._width - 1)
      self._numbers.append(weight.constant)

  def sums(self) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns the edges' constants (m,) and coefficients (m, d)."""
    m = len(self.sources)
    places = onp.asarray(self._places, onp.int64)
    numbers = onp.asarray(self._numbers, float)
    table = onp.bincount(places, numbers, m * self._width)
    table = onp.reshape(table, (m, self._width))
    return table[:, -1], table[:, :-1]

  def _explosion(self) -> str:
    if self._most == MAX_NUMBERS // self._width:
      return (
        f"weights have {self._width - 1} coefficients each, and there are more "
        f"than {self._most}: a graph can hold at most {MAX_NUMBERS} constants and "
        "coefficients; give fewer params, and pass weights as edge_values="
      )
    return (
      f"more than {self._most} edges were found: there must be at most "
      f"{EDGES_PER_STATE} for each of max_states; pass a larger max_states if "
      "they fit in memory"
    )


def indicator(
  graph_states: Sequence[Hashable] | None,
  states: Callable[[contents.State], bool] | Iterable[Hashable],
  name: str,
) -> onp.ndarray:
  """Returns a mask (p,) of the phases whose states are chosen.

  Args:
    graph_states: the states of the phases; None if the graph has lost them.
    states: the chosen states, or a function that is true for these.
    name: the name of this argument.

  Raises:
    TypeError: it is a text, neither iterable nor a function, or a state is not
      hashable.
    ValueError: the graph has lost its states, or no state is chosen, or one
      that the graph does not have.
  """
  if graph_states is None:
    raise ValueError(
      "the graph has no states: jit, vmap, tree_map and files may drop them; "
      "use the graph from which this one was made"
    )
  if callable(states):
    inside = onp.asarray([bool(states(state)) for state in graph_states])
    if not onp.any(inside):
      raise ValueError(
        f"{name} is a function that is true for no state: it must be true for "
        "at least one"
      )
    return inside
  # A string is one state, not an iterable of letters.
  if not isinstance(states, Iterable) or isinstance(states, str):
    raise TypeError(
      f"{name} is {shown(states)}: it must be a list or another "
      "iterable of states, or a function of a state; for one state pass [state]"
    )
  places = {state: i for i, state in enumerate(graph_states)}
  inside = onp.zeros(len(places), bool)
  for state in states:
    place = lookup(places, state)
    if place is None:
      raise ValueError(f"{name}: {shown(state)} is not a state of the graph")
    inside[place] = True
  if not onp.any(inside):
    raise ValueError(f"{name} is empty: give at least one state")
  return inside
