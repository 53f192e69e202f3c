"""Conversions of graphs to and from networkx."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as onp

from phasic.graphs.construction import edge_table
from phasic.graphs.parts import contents
from phasic.graphs.parts import weights
from phasic.graphs.parts.contents import Network
from phasic.graphs.parts.contents import State
from phasic.internal import frameworks
from phasic.internal.frameworks import Foreign
from phasic.internal.raw_arguments import shown


def edges_of(
  network: Network, weight: str, absorbing: Mapping[State, contents.Absorbed]
) -> list[edge_table.EdgeLike]:
  """Returns the edges of a directed network, in the form of `from_edges`.

  Args:
    network: a networkx.DiGraph or MultiDiGraph.
    weight: the attribute of the edges that is their weight. Where it is absent
      `constant` and `coefficients` are looked for.
    absorbing: the meaning of some nodes: `ABSORBED` or `ABSORBED("cause")`.

  Raises:
    TypeError: `absorbing` has something else.
    ValueError: a node is not there, or an edge has no weight.
  """
  if not isinstance(absorbing, Mapping):
    raise TypeError(
      f"absorbing is {shown(absorbing)}: it must be a mapping of nodes to ABSORBED"
    )
  if not isinstance(weight, str):
    raise TypeError(
      f"weight is {shown(weight)}: it must be the name of an attribute of edges"
    )
  for node, target in absorbing.items():
    if not contents.is_absorbed(target):
      raise TypeError(
        f"absorbing[{shown(node)}] is {shown(target)}: it must be ABSORBED"
      )
    if node not in network:
      raise ValueError(
        f"absorbing has {shown(node)}: it must be a node of the network"
      )
    if network.out_degree(node) > 0:
      raise ValueError(
        f"absorbing has {shown(node)}: this node must not have outgoing edges"
      )
  edges: list[edge_table.EdgeLike] = []
  for source, target, data in network.edges(data=True):
    target = absorbing.get(target, target)
    if weight in data:
      edges.append((source, target, data[weight]))
    elif "constant" in data or "coefficients" in data:
      coefficients = tuple(data.get("coefficients", ()))
      constant = data.get("constant", 0.0)
      edges.append(edge_table.Edge(source, target, constant, coefficients))
    else:
      raise ValueError(
        f"edge from {shown(source)} to {shown(target)} has no {weight!r}: it "
        "must have this attribute, or constant and coefficients"
      )
  return edges


def defaults(network: Network) -> dict[str, Foreign]:
  """Returns the arguments that `to_network` stored: initial, params, discrete.

  Raises:
    TypeError: `network` is not a directed network.
  """
  if not hasattr(network, "is_directed") or not network.is_directed():
    raise TypeError(
      f"network is {type(network).__name__}: it must be a directed networkx "
      "graph"
    )
  stored = network.graph.get("phasic", {})
  return dict(stored) if isinstance(stored, Mapping) else {}


def to_network(
  graph: contents.Contents, edges: tuple[edge_table.Edge, ...]
) -> Network:
  """Converts a graph to a networkx.DiGraph.

  See `Graph.to_networkx`.
  """
  with frameworks.needed_by("Graph.to_networkx"):
    import networkx

  network: Network = networkx.DiGraph()
  states = graph.states or ()
  for i, state in enumerate(states):
    network.add_node(state, index=i)
  for edge in edges:
    facts: dict[str, object] = {
      "constant": edge.constant,
      "coefficients": edge.coefficients,
    }
    if not edge.coefficients:
      facts["weight"] = edge.constant
    network.add_edge(edge.source, edge.target, **facts)
  p, d = onp.shape(graph.initial_coefficients)
  initial: dict[Hashable, weights.Weight] = {}
  for i in range(p):
    start = weights.split(
      graph.initial_constants[i], tuple(graph.initial_coefficients[i])
    )
    if start.constant != 0.0 or start.terms:
      initial.setdefault(
        contents.ABSORBED if i == len(states) else states[i], start
      )
  names = graph.parameter_names
  kept = {
    "initial": initial,
    "params": d if names is None else names,
    "discrete": graph.discrete,
  }
  network.graph.update(phasic=kept)
  return network
