"""First passage times: the time until a graph reaches given states."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as onp

from phasic.graphs.construction import state_space
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.contents import State
from phasic.graphs.transformations import host_graphs

CAUSES = ("reached", "absorbed")


def first_passage_time(
  graph: graph_lib.Graph, states: Callable[[State], bool] | Iterable[Hashable]
) -> graph_lib.Graph:
  """Returns the graph of the first passage time to given states.

  Edges into these states lead to absorption with the cause "reached";
  absorption with any cause becomes the cause "absorbed". States that can only
  be reached through the given states are dropped. A path that starts in a
  given state takes no time: its probability is added to the atom at zero. The
  parameters of the graph stay, and weights stay linear in them. The cumulative
  incidence of "reached" in the result is P(0 < first passage time <= t).

  Args:
    graph: a `Graph`.
    states: the states to reach, or a function that returns True for them.

  Raises:
    TypeError: `graph` is not a `Graph`, its arrays are traced, `states` is a
      text, or a state is not hashable.
    ValueError: the graph has lost its states, one of `states` is not a state of
      the graph, or all paths start in `states`.

  Example: the time at which a queue of at most three first is full.

    >>> from phasic import graphs
    >>> queue = graphs.models.busy_period(3)
    >>> full = graphs.first_passage_time(queue, [3])
    >>> full.states, full.causes
    ((1, 2), ('reached', 'absorbed'))
  """
  host = host_graphs.read(graph)
  p = host.num_phases
  inside: onp.ndarray = state_space.indicator(host.states, states, "states")
  node = onp.concatenate(
    [onp.where(inside, p, onp.arange(p)), onp.full(len(host.causes), p + 1)]
  )
  initial = onp.array(host.initial)
  initial[p] += onp.sum(host.initial[:p][inside], axis=0)
  initial[onp.flatnonzero(inside)] = 0.0
  keep = ~inside[host.sources]
  passage = host._replace(
    sources=host.sources[keep],
    targets=node[host.targets[keep]],
    weights=host.weights[keep],
    initial=initial,
    causes=CAUSES,
  )
  phases = host_graphs.reached(passage)
  if not len(phases):
    raise ValueError(
      "states has all initial states: the time to reach them is zero; leave "
      "some of them out"
    )
  chosen = host_graphs.selected(passage, phases)
  return host_graphs.build(_used_causes(chosen))


def _used_causes(host: host_graphs.HostGraph) -> host_graphs.HostGraph:
  """Removes the causes of absorption that no edge has as its target."""
  p = host.num_phases
  used = onp.unique(host.targets[host.targets >= p]) - p
  place = onp.zeros(p + len(host.causes), onp.int64)
  place[:p] = onp.arange(p)
  place[p + used] = p + onp.arange(len(used))
  return host._replace(
    targets=place[host.targets],
    causes=tuple(host.causes[c] for c in used),
  )
