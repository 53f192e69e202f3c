"""Plots of graphs, and positions of their phases."""

from __future__ import annotations

from collections.abc import Sequence
import functools
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


# The gap between an edge and the center of a phase, in points.
_RADIUS = 18.0
# The bends that are tried for an edge, the best first: the height of the curve's
# middle is half of it, relative to the length. Where there is an edge back as
# well, bends of one sign put the two on opposite sides.
_BENDS = (0.0, 0.4, -0.4, 0.7, -0.7)
_TWO_WAY_BENDS = (0.2, 0.4, 0.7)


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
  xs, ys = zip(*points, strict=True)
  target.set_xlim(min(xs) - 0.5, max(xs) + 0.5)
  target.set_ylim(min(ys) - 0.5, max(ys) + 0.5)
  begins, both = graph.begins, set(pairs)
  places = target.transData.transform(points)
  gap = _RADIUS * target.figure.dpi / 72.0
  for e, (i, j) in enumerate(pairs):
    bends = _TWO_WAY_BENDS if (j, i) in both else _BENDS
    bend = _free_bend(places, i, j, bends, gap)
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
  target.set_axis_off()
  return target


def _new_axes() -> Axes:
  with frameworks.needed_by("Graph.plot"):
    import matplotlib.pyplot

  _, axes = matplotlib.pyplot.subplots()
  return axes


def _middle(ends: onp.ndarray, bend: float) -> onp.ndarray:
  """Returns the middle of matplotlib's curve "arc3" between two points, (2, 2)."""
  x, y = ends[1] - ends[0]
  return onp.mean(ends, axis=0) + bend / 2 * onp.asarray([y, -x])


def _free_bend(
  places: onp.ndarray, i: int, j: int, bends: Sequence[float], gap: float
) -> float:
  """Returns the first bend with which an edge keeps off all other phases.

  If there is none, it returns the bend that comes least close to one.

  Args:
    places: where the phases and causes are on the screen, (n, 2).
    i: the edge's source.
    j: its target.
    bends: the bends to try, the best first.
    gap: the least distance to the center of another phase.
  """
  ends, others = places[[i, j]], onp.delete(places, [i, j], axis=0)
  t = onp.linspace(0.0, 1.0, 33)[:, None]

  def distance(bend: float) -> float:
    control = 2.0 * _middle(ends, bend) - onp.mean(ends, axis=0)
    curve = (1 - t) ** 2 * ends[0] + 2 * t * (1 - t) * control + t**2 * ends[1]
    apart = onp.linalg.norm(curve[:, None] - others, axis=-1)
    return float(onp.min(apart, initial=gap))

  return max(bends, key=distance)


def _from_middle(
  axes: Axes, ends: tuple[Point, Point], bend: float, renderer: object
) -> object:
  """Returns the shift to an edge's middle, in a picture of any proportions."""
  import matplotlib.transforms

  del renderer  # Matplotlib passes it to all functions of coordinates.
  shift = _middle(axes.transData.transform(ends), bend)
  return matplotlib.transforms.Affine2D().translate(*shift)


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
  axes.annotate(
    label,
    (0.0, 0.0),
    xycoords=functools.partial(_from_middle, axes, (tail, head), bend),
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
