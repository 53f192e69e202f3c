"""Reachability of phases, and of absorption."""

from __future__ import annotations

from collections.abc import Callable

import numpy as onp

from phasic.graphs.parts import contents
from phasic.internal import raw_arguments


def check(graph: contents.Contents) -> None:
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
    f"{len(graph.initial_constants) - 1} states, for example from {named}"
    + (", which is never left" if len(ends) > 0 else "")
    + ": pass allow_never_absorbing=True if that is meant"
  )


def can_be_absorbed(graph: contents.Contents) -> onp.ndarray:
  """Returns whether absorption is reachable from each phase, bool (p,)."""
  p = len(graph.initial_constants) - 1
  targets = onp.minimum(graph.targets, p)
  absorbable = reached(targets, graph.sources, [p], p + 1)
  return absorbable[:p]


def can_be_reached(graph: contents.Contents) -> onp.ndarray:
  """Returns whether each phase is reachable from an initial one, bool (p,)."""
  p = len(graph.initial_constants) - 1
  begins = (graph.initial_constants != 0.0) | onp.any(
    graph.initial_coefficients != 0.0, axis=1
  )
  starts = [int(i) for i in onp.flatnonzero(begins[:p])]
  targets = onp.minimum(graph.targets, p)
  return reached(graph.sources, targets, starts, p + 1)[:p]


def is_acyclic(graph: contents.Contents) -> bool:
  """Returns whether the edges between phases form no cycle."""
  p = len(graph.initial_constants) - 1
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
  """Returns whether each vertex is reachable from `starts`, bool (size,)."""
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
