"""A description of a graph as text."""

from __future__ import annotations

import numpy as onp

from phasic.graphs.parts import contents
from phasic.graphs.parts.contents import counted
from phasic.internal import kernel_common
from phasic.internal import kernel_ops
from phasic.internal.raw_arguments import shown

# The kernel's limits on an elimination, `kMaxFill` and `kMaxOperations` of its
# interface.
_MOST_NUMBERS, _MOST_OPERATIONS = 2.0**27, 1e13


def describe(graph: contents.Contents) -> str:
  """Describes a graph in several lines of text.

  See `Graph.describe`.
  """
  p, d = onp.shape(graph.initial_coefficients)
  p = p - 1
  kind = "discrete" if graph.discrete else "continuous"
  loose = int(onp.sum(onp.logical_not(contents.can_be_absorbed(graph))))
  lines = [
    f"Graph of a {kind} chain",
    f"  phases: {p:,}{_first_and_last(graph)}",
    f"  edges: {len(graph.sources):,}, "
    f"{int(onp.sum(graph.targets >= p)):,} to absorption",
    f"  parameters: {_parameters(graph, d)}",
    f"  causes of absorption: {', '.join(map(_cause, graph.causes))}",
    f"  structure: {'acyclic' if contents.is_acyclic(graph) else 'cyclic'}",
    f"  starts in: {_start(graph)}",
  ]
  if not kernel_ops.unavailable_reason():
    lines.append(f"  moments: {_moments_cost(graph, p)}")
  if loose:
    lines.append(f"  never absorbed: from {counted(loose, 'phase')}")
  lines += [f"  note: {note}" for note in graph.notes]
  return "\n".join(lines)


def _first_and_last(graph: contents.Contents) -> str:
  if not graph.states:
    return ""
  first, last = shown(graph.states[0]), shown(graph.states[-1])
  return f", from {first} to {last}" if first != last else f", {first}"


def _parameters(graph: contents.Contents, d: int) -> str:
  if d == 0:
    return "none"
  names = graph.parameter_names
  return f"{d}, without names" if names is None else ", ".join(names)


def _cause(cause: str | None) -> str:
  return "ABSORBED" if cause is None else repr(cause)


def _moments_cost(graph: contents.Contents, p: int) -> str:
  """Returns the time and the memory that moments of the chain take, as text."""
  targets = onp.minimum(graph.targets, p)
  size = kernel_ops.measure_elimination(p, onp.stack([graph.sources, targets]))
  seconds = size["operations"] / kernel_common.MULTIPLY_ADDS_PER_SECOND
  numbers = size["fill"] + size["working"]
  cost = (
    f"{_about(1e3 * seconds)} ms and {_about(8e-6 * numbers)} MB for each set "
    "of parameters"
  )
  if max(size["fill"], size["working"]) > _MOST_NUMBERS or (
    size["operations"] > _MOST_OPERATIONS
  ):
    loop = counted(size["largest_component"], "phase")
    cost = (
      f"refused, as {loop} that lead to each other would take {cost}; "
      "graphs.lump merges phases that behave alike; densities need no moments"
    )
  return cost


def _about(x: float) -> str:
  """Rounds a cost to a whole number."""
  return f"about {x:,.0f}" if x >= 1.0 else "less than 1"


def _start(graph: contents.Contents) -> str:
  phases = counted(int(onp.sum(graph.begins[:-1])), "phase")
  return f"{phases}, with an atom at zero" if graph.begins[-1] else phases
