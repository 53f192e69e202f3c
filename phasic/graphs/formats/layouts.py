"""Positions of a graph's phases in a plot."""

from __future__ import annotations

import shutil
import subprocess  # noqa: TID251  (`dot`, on numbers)

import numpy as onp

from phasic.graphs.parts import contents
from phasic.internal import frameworks

Point = tuple[float, float]

# The time limit for Graphviz, in seconds.
_PATIENCE = 30.0


def positions(graph: contents.Contents) -> list[Point]:
  """Computes positions of the phases, then of the causes of absorption.

  Graphviz's program `dot` places them, if it is installed. Otherwise networkx
  does, in layers by the fewest edges that lead from the start to a phase.
  """
  points = _by_graphviz(graph) if shutil.which("dot") else None
  return _in_layers(graph) if points is None else points


def to_dot(graph: contents.Contents) -> str:
  """Returns the graph in Graphviz's DOT language, with numbered vertices."""
  size = len(graph.initial_constants) - 1 + len(graph.causes)
  lines = ["digraph {", "rankdir=LR"]
  lines += [f"{i}" for i in range(size)]
  lines += [
    f"{i} -> {j}"
    for i, j in zip(
      contents.plain(graph.sources), contents.plain(graph.targets), strict=True
    )
  ]
  return "\n".join([*lines, "}"])


def _by_graphviz(graph: contents.Contents) -> list[Point] | None:
  """Returns the positions that Graphviz's `dot` finds; None if it fails."""
  try:
    done = subprocess.run(
      ["dot", "-Tplain"],
      input=to_dot(graph),
      capture_output=True,
      text=True,
      timeout=_PATIENCE,
      check=True,
    )
  except (OSError, subprocess.SubprocessError):
    return None
  return parsed(done.stdout)


def parsed(text: str) -> list[Point]:
  """Reads the positions from the output of `dot -Tplain`."""
  by_node: dict[int, Point] = {}
  for line in text.splitlines():
    words = line.split()
    if words[:1] == ["node"]:
      by_node.update({int(words[1]): (float(words[2]), float(words[3]))})
  return [by_node[i] for i in range(len(by_node))]


def _in_layers(graph: contents.Contents) -> list[Point]:
  """Computes positions by networkx, in layers by distance from the start."""
  with frameworks.needed_by("Graph.plot without Graphviz"):
    import networkx

  p = len(graph.initial_constants) - 1
  size = p + len(graph.causes)
  network = networkx.DiGraph()
  network.add_nodes_from(range(size))
  network.add_edges_from(
    zip(contents.plain(graph.sources), contents.plain(graph.targets))
  )
  begins = (graph.initial_constants[:p] != 0.0) | onp.any(
    graph.initial_coefficients[:p] != 0.0, axis=1
  )
  starts = contents.plain(onp.flatnonzero(begins))
  by_distance = networkx.bfs_layers(network, starts)
  layers = [[i for i in layer if i < p] for layer in by_distance]
  layers = [layer for layer in layers if layer]
  # Absorption and unreachable phases form the last layer.
  placed = {i for layer in layers for i in layer}
  layers.append([i for i in range(size) if i not in placed])
  places = networkx.multipartite_layout(
    network,
    subset_key=dict(enumerate(layers)),
    scale=max(len(layers), *map(len, layers)) / 2,
  )
  return [(float(places[i][0]), float(places[i][1])) for i in range(size)]
