"""Builds graphs from lists of edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from phasic.graphs.construction import exploration
from phasic.graphs.construction import state_space
from phasic.graphs.parts import contents
from phasic.graphs.parts import weights
from phasic.graphs.parts.contents import State
from phasic.graphs.parts.contents import counted
from phasic.internal import raw_arguments
from phasic.internal.arrays import Integer
from phasic.internal.raw_arguments import shown


class Edge(NamedTuple):
  """An edge of a graph: its two states and its weight.

  Attributes:
    source: a state.
    target: a state or absorption.
    constant: the constant term of the weight.
    coefficients: the coefficients of the parameters, d numbers.

  Example: three lineages merge at three times the rate of a pair.

    >>> from phasic import graphs
    >>> graphs.models.kingman(3).edges[0]
    Edge(source=3, target=2, constant=0.0, coefficients=(3.0,))
  """

  source: State
  target: State
  constant: float
  coefficients: tuple[float, ...]


# The type of an edge that users pass: its source state, its target state or
# ABSORBED, and its weight.
EdgeLike: TypeAlias = Edge | tuple[Hashable, Hashable, object]


def build(
  edges: Iterable[EdgeLike],
  initial: object,
  params: Integer | Sequence[str],
  discrete: bool,
  max_states: Integer,
  allow_never_absorbing: bool,
) -> contents.Contents:
  """Builds a graph from a list of edges.

  See `Graph.from_edges`.
  """
  raw_arguments.check_flags(
    discrete=discrete, allow_never_absorbing=allow_never_absorbing
  )
  is_other = isinstance(edges, (str, bytes, Mapping))
  if is_other or not isinstance(edges, Iterable):
    raise TypeError(
      f"edges is {shown(edges)}: it must be an iterable of triples "
      "(state, state, weight)"
    )
  reader = weights.WeightReader(params)
  table: dict[Hashable, list[tuple[Hashable, weights.Weight]]] = {}
  for e, edge in enumerate(edges):
    source, target, weight = _read_edge(e, edge, reader)
    row = state_space.lookup(table, source)
    if row is None:
      row = table[source] = []
    if weight is not None:
      row.append((target, weight))
  graph = exploration.explore(
    lambda state: state_space.lookup(table, state) or (),
    initial,
    params,
    discrete,
    max_states,
    None,
    allow_never_absorbing,
  )
  reached = set(graph.states or ())
  lost = [state for state in table if state not in reached]
  return graph._replace(notes=(*graph.notes, *lost_notes(lost)))


def listed(
  graph: contents.Contents, states: Sequence[Hashable]
) -> tuple[Edge, ...]:
  """Returns the edges of a graph, with states in place of indices."""
  ends = [*states, *(contents.Absorbed(cause) for cause in graph.causes)]
  sources, targets = (
    contents.plain(graph.sources),
    contents.plain(graph.targets),
  )
  constants = contents.plain(graph.constants)
  rows = contents.plain(graph.coefficients)
  return tuple(
    Edge(ends[i], ends[j], constant, tuple(row))
    for i, j, constant, row in zip(
      sources, targets, constants, rows, strict=True
    )
  )


def lost_notes(states: Sequence[Hashable]) -> tuple[str, ...]:
  """Returns a note on the unreachable states, or () if there are none."""
  if not states:
    return ()
  listed = ", ".join(shown(state) for state in states[:5])
  more = ", ..." if len(states) > 5 else ""
  return (
    f"left out: {counted(len(states), 'state')} that cannot be reached, "
    f"{listed}{more}",
  )


def _read_edge(
  e: int, edge: object, reader: weights.WeightReader
) -> tuple[Hashable, Hashable, weights.Weight | None]:
  """Reads source, target and weight; a zero weight becomes None."""
  try:
    if isinstance(edge, Edge):
      source, target = edge.source, edge.target
      weight: object = weights.split(edge.constant, edge.coefficients)
      if len(edge.coefficients) != reader.num_params:
        raise ValueError(
          f"the edge has {len(edge.coefficients)} coefficients: it must have "
          f"{reader.num_params}, one for each parameter"
        )
    elif isinstance(edge, (tuple, list)) and len(edge) == 3:
      source, target, weight = edge
    else:
      raise TypeError("it must be (state, state, weight)")
    if contents.is_absorbed(state_space.hashable(source)):
      raise ValueError("the source is ABSORBED: no edge may leave ABSORBED")
    return source, state_space.hashable(target), reader.read(weight)
  except (TypeError, ValueError) as error:
    message = f"edges[{e}] = {shown(edge)}: {error}"
    raise state_space.same_kind(error, message) from error
