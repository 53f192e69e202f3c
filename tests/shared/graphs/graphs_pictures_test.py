"""Graphs as networks and pictures, with packages that users may lack."""

import importlib
import importlib.util
import itertools
import os
import pathlib
import sys
import tempfile
import types
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import graphs
from phasic.graphs.formats import plotting
from tests.helpers import test_case

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph

# The output of `dot -Tplain` for two phases and absorption.
_PLAIN = """graph 1 5 2
node 0 1 2 0.75 0.5 0 solid ellipse black lightgrey
node 2 4.5 0.5 0.75 0.5 2 solid ellipse black lightgrey
node 1 2.5 1 0.75 0.5 1 solid ellipse black lightgrey
edge 0 1 4 1 1 2 2 3 3 solid black
stop
"""


class Network:
  """A stand-in for networkx.DiGraph."""

  def __init__(self):
    self.graph = {}
    self.nodes = {}
    self._edges = {}

  def is_directed(self):
    return True

  def add_node(self, node, **data):
    self.nodes[node] = data

  def add_edge(self, source, target, **data):
    self.nodes.setdefault(source, {})
    self.nodes.setdefault(target, {})
    self._edges[source, target] = data

  def edges(self, data):
    assert data
    return [(*ends, found) for ends, found in self._edges.items()]

  def out_degree(self, node):
    return sum(source == node for source, _ in self._edges)

  def __contains__(self, node):
    return node in self.nodes


def clinic(state):
  """Builds a chain with parameters, constants and two causes."""
  if state == "waits":
    yield "treated", {"serve": 1.0}
    yield ABSORBED("left"), 0.5
  else:
    yield "waits", {"serve": -0.25, 1: 1.0}
    yield ABSORBED, {"serve": 2.0}


def small():
  return Graph.from_transitions(
    clinic, {"waits": 0.75, ABSORBED: 0.25}, params=("serve",)
  )


class NetworkTest(test_case.TestCase):
  """Tests networks, with networkx if installed, and with a stand-in."""

  def setUp(self):
    super().setUp()
    stand_in = types.SimpleNamespace(DiGraph=Network)
    self.modules = {"stand_in": {"networkx": stand_in}, "networkx": {}}

  def use(self, kind):
    if kind == "networkx" and importlib.util.find_spec("networkx") is None:
      self.skipTest("networkx is not installed")
    self.enter_context(mock.patch.dict(sys.modules, self.modules[kind]))

  @parameterized.parameters("stand_in", "networkx")
  def test_round_trip(self, kind):
    self.use(kind)
    graph = small()
    network = graph.to_networkx()
    self.assertEqual(network.nodes["treated"], {"index": 1})
    self.assertEqual(
      set(network.nodes), {"waits", "treated", ABSORBED, ABSORBED("left")}
    )
    found = {ends[:2]: ends[2] for ends in network.edges(data=True)}
    self.assertEqual(
      found["treated", "waits"], {"constant": 1.0, "coefficients": (-0.25,)}
    )
    again = Graph.from_networkx(network)
    self.assertEqual(again.content_hash(), graph.content_hash())
    self.assertEqual(again.states, graph.states)

  @parameterized.parameters("stand_in", "networkx")
  def test_weights_without_parameters(self, kind):
    self.use(kind)
    graph = Graph.from_edges([(0, 1, 0.5), (1, ABSORBED, 0.25)], 0, 0, True)
    network = graph.to_networkx()
    weights = {ends[:2]: ends[2]["weight"] for ends in network.edges(data=True)}
    self.assertEqual(weights, {(0, 1): 0.5, (1, ABSORBED): 0.25})
    again = Graph.from_networkx(network)
    self.assertTrue(again.discrete)
    self.assertEqual(again.content_hash(), graph.content_hash())

  @parameterized.parameters("stand_in", "networkx")
  def test_a_network_of_its_own(self, kind):
    self.use(kind)
    network = importlib.import_module("networkx").DiGraph()
    network.add_edge("up", "down", rate=(1.0,))
    network.add_edge("down", "up", rate=2.0)
    network.add_edge("down", "scrap", rate=0.5)
    with self.assertRaisesRegex(ValueError, "initial is None: it must be"):
      Graph.from_networkx(network)
    with self.assertRaisesRegex(ValueError, "from 'up' to 'down' has no 'weig"):
      Graph.from_networkx(network, "up", 1)
    graph = Graph.from_networkx(
      network, "up", 1, weight="rate", absorbing={"scrap": ABSORBED("old")}
    )
    self.assertEqual(
      graph.edges[2], graphs.Edge("down", ABSORBED("old"), 0.5, (0.0,))
    )
    for absorbing, error, message in (
      ({"scrap": 3}, TypeError, r"absorbing\['scrap'\] is 3"),
      ({"lost": ABSORBED}, ValueError, "absorbing has 'lost': it must be a n"),
      ({"down": ABSORBED}, ValueError, "has 'down': this node must not have"),
    ):
      with self.assertRaisesRegex(error, message):
        Graph.from_networkx(network, "up", 1, absorbing=absorbing)

  def test_no_network(self):
    with self.assertRaisesRegex(TypeError, "network is dict: it must be a dir"):
      Graph.from_networkx({}, 0)

  def test_not_installed(self):
    self.enter_context(mock.patch.dict(sys.modules, {"networkx": None}))
    with self.assertRaisesRegex(
      ModuleNotFoundError,
      "^Graph.to_networkx needs networkx, .*: pip install networkx$",
    ):
      small().to_networkx()


class LayoutTest(test_case.TestCase):
  def directory(self):
    return pathlib.Path(self.enter_context(tempfile.TemporaryDirectory()))

  def require_networkx(self):
    if importlib.util.find_spec("networkx") is None:
      self.skipTest("networkx is not installed")

  def test_layers(self):
    self.require_networkx()
    graph = Graph.from_edges(
      [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0), (3, ABSORBED, 1.0)],
      0,
    )
    with mock.patch.object(plotting.shutil, "which", return_value=None):
      points = plotting.positions(graph._contents())
    across = [x for x, _ in points]
    step = across[1] - across[0]
    self.assertGreater(step, 0.5)
    self.assert_close(
      [x - across[0] for x in across], [k * step for k in (0, 1, 1, 2, 3)]
    )
    self.assertGreater(abs(points[1][1] - points[2][1]), 0.5)
    # Causes stand last, though the first is next to the start.
    with mock.patch.object(plotting.shutil, "which", return_value=None):
      points = plotting.positions(small()._contents())
    self.assertLess(points[1][0], points[2][0])
    self.assertEqual(points[2][0], points[3][0])

  def test_neither(self):
    self.enter_context(mock.patch.dict(sys.modules, {"networkx": None}))
    with (
      mock.patch.object(plotting.shutil, "which", return_value=None),
      self.assertRaises(ModuleNotFoundError),
    ):
      plotting.positions(small()._contents())

  def test_graphviz(self):
    directory = self.directory()
    program = directory / "dot"
    program.write_text(
      f"#!/bin/sh\ncat > {directory}/seen\ncat <<E\n{_PLAIN}E\n"
    )
    program.chmod(0o755)
    graph = Graph.from_edges([("a", "b", 1.0), ("b", ABSORBED, 1.0)], "a")
    path = f"{directory}:{os.environ['PATH']}"
    with mock.patch.dict(os.environ, PATH=path):
      points = plotting.positions(graph._contents())
    self.assertEqual(points, [(1.0, 2.0), (2.5, 1.0), (4.5, 0.5)])
    self.assertEqual(
      (directory / "seen").read_text().split("\n"),
      ["digraph {", "rankdir=LR", "0", "1", "2", "0 -> 1", "1 -> 2", "}"],
    )

  def test_graphviz_that_fails(self):
    self.require_networkx()
    directory = self.directory()
    program = directory / "dot"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    path = f"{directory}:{os.environ['PATH']}"
    with mock.patch.dict(os.environ, PATH=path):
      points = plotting.positions(small()._contents())
    self.assertLen(points, 4)


class MissingPackageTest(test_case.TestCase):
  """Tests the messages about packages that are missing."""

  @parameterized.parameters(
    ("networkx", "Graph.plot without Graphviz"),
    ("matplotlib", "Graph.plot"),
    ("tqdm", "progress=True"),
  )
  def test_not_installed(self, package, user):
    hidden = {package: None, f"{package}.pyplot": None}
    self.enter_context(mock.patch.dict(sys.modules, hidden))
    self.enter_context(
      mock.patch.object(plotting.shutil, "which", return_value=None)
    )
    axes = mock.MagicMock() if package == "networkx" else None
    with self.assertRaisesRegex(
      ModuleNotFoundError, f"^{user} needs {package}, .* install {package}$"
    ):
      if package == "tqdm":
        Graph.from_transitions(lambda n: [(ABSORBED, 1.0)], 1, progress=True)
      else:
        small().plot(axes)


class PlotTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    for package in ("matplotlib", "networkx"):
      if importlib.util.find_spec(package) is None:
        self.skipTest(f"{package} is not installed")
    self.figure = importlib.import_module("matplotlib.figure").Figure()

  def labels(self, axes):
    return [text.get_text() for text in axes.texts if text.get_text()]

  def test_formulas(self):
    axes = self.figure.subplots()
    self.assertIs(small().plot(axes), axes)
    self.assertEqual(
      self.labels(axes),
      [
        *["serve", "0.5", "-0.25 serve + 1", "2 serve"],
        *["'waits'", "'treated'", "left", "absorbed"],
      ],
    )
    self.figure.canvas.draw()

  def test_values(self):
    axes = small().plot(self.figure.subplots(), params={"serve": 2.0})
    self.assertEqual(self.labels(axes)[:4], ["2", "0.5", "0.5", "4"])

  def test_new_axes(self):
    with mock.patch.dict(os.environ, MPLBACKEND="Agg"):
      pyplot = importlib.import_module("matplotlib.pyplot")
      axes = Graph.from_edges([(0, ABSORBED, (1.0, 2.0))], 0, 2).plot()
    self.assertEqual(
      self.labels(axes), ["params[0] + 2 params[1]", "0", "absorbed"]
    )
    pyplot.close(axes.figure)

  def test_edges_keep_off_other_states(self):
    # States and absorption on a line: edges between neighbors, both ways, and
    # edges over others.
    edges = [(k, k + 1, 1.0) for k in range(4)]
    edges += [(k + 1, k, 2.0) for k in range(4)]
    edges += [(0, 2, 3.0), (3, 0, 4.0), (0, 4, 5.0), (4, ABSORBED, 6.0)]
    graph = Graph.from_edges(edges, 0)
    place = [*graph.states, ABSORBED].index
    points = [(float(i), 0.5 * i) for i in range(6)]
    axes = self.figure.subplots()
    with mock.patch.object(plotting, "positions", return_value=points):
      graph.plot(axes)
    # Proportions that are known only when the picture is drawn do no harm.
    self.figure.set_size_inches(12.0, 5.0)
    self.figure.draw_without_rendering()
    centers = axes.transData.transform(points)
    arrows = axes.texts[: 2 * len(edges) : 2]
    labels = axes.texts[1 : 2 * len(edges) : 2]
    near = 18.0 * self.figure.dpi / 72.0
    middles = []
    for edge, arrow, label in zip(graph.edges, arrows, labels, strict=True):
      (corners, *_) = arrow.arrow_patch.get_path().to_polygons(
        closed_only=False
      )
      pieces = itertools.pairwise(corners)
      curve = onp.concatenate([onp.linspace(a, b, 99) for a, b in pieces])
      ends = place(edge.source), place(edge.target)
      others = onp.delete(centers, ends, axis=0)
      apart = onp.linalg.norm(curve[:, None] - others, axis=-1)
      self.assertGreater(onp.min(apart), 0.9 * near)
      box = label.get_window_extent()
      middle = onp.mean(onp.asarray(box), axis=0)
      to_curve = onp.linalg.norm(curve - middle, axis=-1)
      self.assertLess(onp.min(to_curve), 3.0)
      middles.append(middle)
    # The labels of the two ways lie on opposite sides.
    by_ends = {edge[:2]: x for edge, x in zip(graph.edges, middles)}
    self.assertGreater(
      onp.linalg.norm(by_ends[0, 1] - by_ends[1, 0]),
      0.15 * onp.linalg.norm(centers[1] - centers[0]),
    )

  def test_too_many_phases(self):
    with self.assertRaisesRegex(ValueError, "has 2 phases: .* max_phases = 1"):
      small().plot(self.figure.subplots(), max_phases=1)


if __name__ == "__main__":
  absltest.main()
