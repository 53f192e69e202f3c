"""Numbers states in the order in which they are found."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as onp

from phasic.graphs.parts import absorbed
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


class StateSpace:
  """Maps states to indices: 0, 1, ... for phases, -1, -2, ... if absorbed."""

  states: list[Hashable]
  causes: list[str | None]
  numbers: dict[Hashable, int]

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
        f"max_states is {shown(max_states)}: it must be below 2**31, as states "
        "have 32-bit numbers"
      )
    self.states = []
    self.causes = []
    self.numbers = {}
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
    if absorbed.is_absorbed(state):
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
