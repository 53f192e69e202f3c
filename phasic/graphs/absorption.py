"""Which phases can be reached, and from which absorption can."""

import numpy as onp

from phasic.graphs import contents


def check(graph: contents.Contents) -> None:
  """Raises ValueError if absorption cannot be reached from some state."""
  lost = onp.flatnonzero(~can_be_absorbed(graph))
  if len(lost) == 0:
    return
  states = graph.states
  first = int(lost[0])
  named = contents.shown(first if states is None else states[first])
  leaves = bool(onp.any(graph.sources == first))
  raise ValueError(
    f"absorption cannot be reached from {len(lost)} of "
    f"{len(graph.initial_constants) - 1} states, the first is {named}"
    + ("" if leaves else ", which has no transitions")
    + ": pass allow_never_absorbing=True if that is meant"
  )


def can_be_absorbed(graph: contents.Contents) -> onp.ndarray:
  """Returns whether edges lead from each phase to absorption, bool (p,)."""
  p = len(graph.initial_constants) - 1
  targets = onp.minimum(graph.targets, p)
  found = reached(targets, graph.sources, [p], p + 1)
  return found[:p]


def can_be_reached(graph: contents.Contents) -> onp.ndarray:
  """Returns whether edges lead to each phase from an initial one, (p,)."""
  p = len(graph.initial_constants) - 1
  begins = (graph.initial_constants != 0.0) | onp.any(
    graph.initial_coefficients != 0.0, axis=1
  )
  starts = [int(i) for i in onp.flatnonzero(begins[:p])]
  targets = onp.minimum(graph.targets, p)
  return reached(graph.sources, targets, starts, p + 1)[:p]


def reached(
  sources: onp.ndarray, targets: onp.ndarray, starts: list[int], size: int
) -> onp.ndarray:
  """Returns whether edges lead to each of `size` vertices from the starts."""
  order = onp.argsort(sources, kind="stable")
  ends: list[int] = onp.cumsum(onp.bincount(sources, minlength=size)).tolist()
  begins: list[int] = [0, *ends[:-1]]
  heads: list[int] = targets[order].tolist()
  seen: list[bool] = [False] * size
  open_vertices: list[int] = list(starts)
  for i in starts:
    seen[i] = True
  while open_vertices:
    i = open_vertices.pop()
    for j in heads[begins[i] : ends[i]]:
      if not seen[j]:
        seen[j] = True
        open_vertices.append(j)
  return onp.asarray(seen, bool)
