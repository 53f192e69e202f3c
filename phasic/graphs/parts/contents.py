"""The data of a graph as host arrays, absorption, and reachable phases."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple, TypeAlias, TypeGuard

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Tree
from phasic.internal.frameworks import Foreign


class Absorbed:
  """The target of transitions that end in absorption; see `ABSORBED`.

  Two are equal if their causes are equal, in any substrates.

  Attributes:
    cause: the name of the cause, None for plain `ABSORBED`.

  Example: one of several causes.

    >>> from phasic import graphs
    >>> relapse = graphs.ABSORBED("relapse")
    >>> relapse.cause
    'relapse'
    >>> relapse == graphs.Absorbed("relapse"), relapse == graphs.ABSORBED
    (True, False)
  """

  __slots__ = ("cause",)

  cause: str | None

  def __init__(self, cause: str | None = None):
    if cause is not None and not (isinstance(cause, str) and cause):
      raise TypeError(
        f"cause is {raw_arguments.shown(cause)}: it must be a string, not empty"
      )
    self.cause = cause

  def __call__(self, cause: str) -> Absorbed:
    """Returns the absorbing state of a cause, for competing risks."""
    if self.cause is not None:
      raise TypeError(
        f"{self!r} already has a cause: use ABSORBED(cause) for another one"
      )
    if cause is None:
      raise TypeError("cause is None: it must be a string, not empty")
    return Absorbed(cause)

  def __eq__(self, other: object) -> bool:
    return is_absorbed(other) and other.cause == self.cause

  def __hash__(self) -> int:
    return hash(("phasic.ABSORBED", self.cause))

  def __reduce__(self) -> tuple[object, ...]:
    return Absorbed, (self.cause,)

  def __repr__(self) -> str:
    return "ABSORBED" if self.cause is None else f"ABSORBED({self.cause!r})"


ABSORBED = Absorbed()


def is_absorbed(state: object) -> TypeGuard[Absorbed]:
  """Returns whether a state is `ABSORBED`, of any substrate (backend)."""
  return isinstance(state, Absorbed) or (
    # Each substrate (backend) has its own class, but a function of transitions
    # may serve several substrates.
    type(state).__name__ == "Absorbed"
    and type(state).__module__.startswith("phasic.")
  )


# Type checkers cannot check the following types: states are of any hashable
# type, and networkx and matplotlib are imported only where they are needed.

# A state of a graph, any hashable object.
State: TypeAlias = Foreign
# A networkx.DiGraph or MultiDiGraph.
Network: TypeAlias = Foreign
# A matplotlib.axes.Axes.
Axes: TypeAlias = Foreign


class Contents(NamedTuple):
  """The constructor arguments of a `Graph`, as host arrays.

  The parts of `Graph`, which documents them.
  """

  sources: onp.ndarray
  targets: onp.ndarray
  constants: onp.ndarray
  coefficients: onp.ndarray
  initial_constants: onp.ndarray
  initial_coefficients: onp.ndarray
  parameter_names: tuple[str, ...] | None = None
  causes: tuple[str | None, ...] = (None,)
  discrete: bool = False
  states: tuple[Hashable, ...] | None = None
  notes: tuple[str, ...] = ()

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return len(self.initial_constants) - 1

  @property
  def begins(self) -> onp.ndarray:
    """Whether the chain may start in each phase.

    The last entry says whether it may start in absorption.
    """
    return (self.initial_constants != 0.0) | onp.any(
      self.initial_coefficients != 0.0, axis=1
    )


ARRAYS = Contents._fields[:6]


def counted(n: int, noun: str) -> str:
  """Returns a count with its noun, such as "1 phase" or "2 phases"."""
  return f"{n:,} {noun}{'' if n == 1 else 's'}"


def ends_with(shape: static.Shape, size: int) -> bool:
  """Returns whether the last dimension is `size`, or unknown while tracing."""
  return len(shape) > 0 and (
    not isinstance(shape[-1], int) or shape[-1] == size
  )


def plain(array: onp.ndarray) -> list[Tree]:
  """Converts an array to nested lists of Python numbers."""
  return array.tolist()


def check_absorption(graph: Contents) -> None:
  """Raises ValueError if absorption is unreachable from some state."""
  lost = onp.flatnonzero(~can_be_absorbed(graph))
  if len(lost) == 0:
    return
  # The message names a state without outgoing edges, the most likely mistake.
  ends = onp.setdiff1d(lost, graph.sources)
  first = int(ends[0] if len(ends) > 0 else lost[0])
  states = graph.states
  named = raw_arguments.shown(first if states is None else states[first])
  raise ValueError(
    f"absorption cannot be reached from {len(lost)} of "
    f"{graph.num_phases} states, for example from {named}"
    + (", which is never left" if len(ends) > 0 else "")
    + ": pass allow_never_absorbing=True if that is meant"
  )


def can_be_absorbed(graph: Contents) -> onp.ndarray:
  """Returns whether absorption can be reached from each phase.

  The result is a bool array of shape (p,).
  """
  p = graph.num_phases
  targets = onp.minimum(graph.targets, p)
  return reached(targets, graph.sources, [p], p + 1)[:p]


def can_be_reached(graph: Contents) -> onp.ndarray:
  """Returns whether each phase can be reached from an initial phase.

  The result is a bool array of shape (p,).
  """
  p = graph.num_phases
  starts = [int(i) for i in onp.flatnonzero(graph.begins[:p])]
  targets = onp.minimum(graph.targets, p)
  return reached(graph.sources, targets, starts, p + 1)[:p]


def is_acyclic(graph: Contents) -> bool:
  """Returns whether the edges between phases form no cycle."""
  p = graph.num_phases
  inner = graph.targets < p
  heads = _heads(graph.sources[inner], graph.targets[inner], p)
  entering: list[int] = onp.bincount(graph.targets[inner], minlength=p).tolist()
  free: list[int] = [i for i in range(p) if entering[i] == 0]
  # Kahn's algorithm: a phase is appended once all its predecessors are listed.
  for i in free:
    for j in heads(i):
      entering[j] = entering[j] - 1
      if entering[j] == 0:
        free.append(j)
  return len(free) == p


def reached(
  sources: onp.ndarray, targets: onp.ndarray, starts: list[int], size: int
) -> onp.ndarray:
  """Returns whether each vertex can be reached from `starts`.

  The result is a bool array of shape (size,).
  """
  heads = _heads(sources, targets, size)
  seen: list[bool] = [False] * size
  open_vertices: list[int] = list(starts)
  for i in starts:
    seen[i] = True
  while open_vertices:
    for j in heads(open_vertices.pop()):
      if not seen[j]:
        seen[j] = True
        open_vertices.append(j)
  return onp.asarray(seen, bool)


def _heads(
  sources: onp.ndarray, targets: onp.ndarray, size: int
) -> Callable[[int], list[int]]:
  """Returns a function that lists the successors of a vertex."""
  order = onp.argsort(sources, kind="stable")
  ends: list[int] = onp.cumsum(onp.bincount(sources, minlength=size)).tolist()
  begins: list[int] = [0, *ends[:-1]]
  heads: list[int] = targets[order].tolist()
  return lambda i: heads[begins[i] : ends[i]]
