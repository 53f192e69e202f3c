"""Plots of graphs, and positions of their phases."""

from __future__ import annotations

import shutil
import subprocess  # noqa: TID251  (`dot`, on numbers)

import numpy as onp

from phasic.graphs.parts import contents
from phasic.graphs.parts.contents import Axes
from phasic.internal import frameworks
from phasic.internal import raw_arguments
from phasic.internal.raw_arguments import shown

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
  size = graph.num_phases + len(graph.causes)
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

  p = graph.num_phases
  size = p + len(graph.causes)
  network = networkx.DiGraph()
  network.add_nodes_from(range(size))
  network.add_edges_from(
    zip(contents.plain(graph.sources), contents.plain(graph.targets))
  )
  starts = contents.plain(onp.flatnonzero(graph.begins[:p]))
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


# The gap between the end of an edge and the center of its phase, in points.
_RADIUS = 18.0


def plot(
  graph: contents.Contents,
  values: onp.ndarray | None,
  axes: Axes | None,
  most: int,
) -> Axes:
  """Draws a graph with matplotlib, and returns the axes.

  See `Graph.plot`.
  """
  p = graph.num_phases
  most = raw_arguments.integer("max_phases", most)
  if axes is not None and not hasattr(axes, "annotate"):
    raise TypeError(
      f"axes is {raw_arguments.shown(axes)}: it must be axes of matplotlib"
    )
  if p > most:
    raise ValueError(
      f"the graph has {p:,} phases: a plot shows at most max_phases = {most}; "
      "pass a larger max_phases"
    )
  target = _new_axes() if axes is None else axes
  points = positions(graph)
  pairs = list(
    zip(
      contents.plain(graph.sources), contents.plain(graph.targets), strict=True
    )
  )
  begins, both = graph.begins, set(pairs)
  for e, (i, j) in enumerate(pairs):
    bend = 0.2 if (j, i) in both else 0.0
    _draw_edge(target, points[i], points[j], _label(graph, values, e), bend)
  for i, point in enumerate(points):
    if i < p:
      name = str(i) if graph.states is None else shown(graph.states[i])
      color = "lightblue" if begins[i] else "white"
    else:
      cause = graph.causes[i - p]
      name, color = ("absorbed" if cause is None else cause), "lightgray"
    target.annotate(
      name,
      point,
      ha="center",
      va="center",
      bbox={"boxstyle": "round", "facecolor": color},
    )
  xs, ys = zip(*points, strict=True)
  target.set_xlim(min(xs) - 0.5, max(xs) + 0.5)
  target.set_ylim(min(ys) - 0.5, max(ys) + 0.5)
  target.set_axis_off()
  return target


def _new_axes() -> Axes:
  with frameworks.needed_by("Graph.plot"):
    import matplotlib.pyplot

  _, axes = matplotlib.pyplot.subplots()
  return axes


def _draw_edge(
  axes: Axes,
  tail: Point,
  head: Point,
  label: str,
  bend: float,
) -> None:
  axes.annotate(
    "",
    head,
    tail,
    arrowprops={
      "arrowstyle": "-|>",
      "connectionstyle": f"arc3,rad={bend}",
      "shrinkA": _RADIUS,
      "shrinkB": _RADIUS,
    },
  )
  # The label is placed on the outer side of the arc.
  x = (tail[0] + head[0]) / 2 + bend * (head[1] - tail[1]) / 2
  y = (tail[1] + head[1]) / 2 - bend * (head[0] - tail[0]) / 2
  axes.annotate(
    label,
    (x, y),
    ha="center",
    va="center",
    fontsize="small",
    bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "linewidth": 0},
  )


def _label(graph: contents.Contents, values: onp.ndarray | None, e: int) -> str:
  """Returns the label of an edge: its weight, or the formula of the weight."""
  if values is not None:
    return f"{float(values[e]):.4g}"
  names = graph.parameter_names or tuple(
    f"params[{c}]" for c in range(onp.shape(graph.coefficients)[1])
  )
  terms = [
    name if a == 1.0 else f"{a:.4g} {name}"
    for name, a in zip(
      names, contents.plain(graph.coefficients[e]), strict=True
    )
    if a != 0.0
  ]
  constant = float(graph.constants[e])
  if constant != 0.0 or not terms:
    terms.append(f"{constant:.4g}")
  return " + ".join(terms).replace("+ -", "- ")
