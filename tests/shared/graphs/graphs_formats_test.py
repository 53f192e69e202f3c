"""Graphs from edges and matrices, their hashes, copies and descriptions."""

import collections
import copy
import importlib.util
import math
import pickle
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic.graphs.formats import describing
from tests.helpers import graph_cases

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph

Point = collections.namedtuple("Point", "x y")


class EdgesTest(graph_cases.SameGraphCase):
  def test_edges(self):
    graph = graph_cases.small()
    self.assertEqual(
      graph.edges,
      (
        graphs.Edge("well", "ill", 0.0, (1.0, 0.0)),
        graphs.Edge("well", ABSORBED("age"), 0.125, (0.0, 0.0)),
        graphs.Edge("ill", "well", 0.0, (0.0, 2.0)),
        graphs.Edge("ill", ABSORBED("illness"), 1.0, (0.0, -0.5)),
      ),
    )
    again = Graph.from_edges(
      graph.edges, {"well": 0.75, ABSORBED: 0.25}, graph.parameter_names
    )
    self.assert_same(again, graph)

  def test_states_that_cannot_be_reached(self):
    edges = [(i, i + 1, 1.0) for i in range(-7, 0)]
    graph = Graph.from_edges([*edges, (0, ABSORBED, 1.0)], 0)
    self.assertEqual(graph.states, (0,))
    self.assertEqual(
      graph.notes,
      ("left out: 7 states that cannot be reached, -7, -6, -5, -4, -3, ...",),
    )
    self.assertIn("note: left out: 7 states", graph.describe())


class MatricesTest(graph_cases.SameGraphCase):
  def test_as_phase_type(self):
    alpha = onp.asarray([0.5, 0.25, 0.125])
    matrix = onp.asarray(
      [[-2.0, 1.5, 0.0], [0.25, -1.0, 0.5], [0, 0.75, -0.75]]
    )
    graph = Graph.from_matrices(alpha, matrix)
    self.assertEqual(graph.states, (0, 1, 2))
    self.assert_close(graph.targets, [1, 3, 0, 2, 3, 1])
    self.assert_close(graph.constants, [1.5, 0.5, 0.25, 0.5, 0.25, 0.75])
    self.assert_close(graph.prob_zero(), 0.125)
    times = onp.asarray([0.0, 0.5, 2.0])
    self.assert_close(
      pd.PhaseType.from_graph(graph).prob(times),
      pd.PhaseType(alpha, matrix).prob(times),
      1e-14,
    )

  def test_exits_and_atom(self):
    graph = Graph.from_matrices(
      [0.0, 0.5],
      [[math.nan, 1.0], [2.0, 7.0]],
      [0.0, 3.0],
      0.5,
      states=["a", "b"],
    )
    self.assertEqual(graph.edges[2], graphs.Edge("b", ABSORBED, 3.0, ()))
    self.assert_close(graph.initial_constants, [0.0, 0.5, 0.5])

  def test_discrete(self):
    alpha, matrix = [0.25, 0.75], [[0.5, 0.25], [0.125, 0.0]]
    graph = Graph.from_matrices(alpha, matrix, discrete=True)
    self.assert_close(graph.constants, [0.25, 0.25, 0.125, 0.875])
    counts = onp.asarray([1.0, 2.0, 5.0])
    self.assert_close(
      pd.DiscretePhaseType.from_graph(graph).prob(counts),
      pd.DiscretePhaseType(alpha, matrix).prob(counts),
      1e-14,
    )
    given = Graph.from_matrices(alpha, matrix, [0.25, 0.875], discrete=True)
    self.assert_same(given, graph)

  def test_rounded_exits_are_zero(self):
    row = [-0.3, 0.1, 0.1 + 0.1]
    matrix = [row, [0.1, -0.3, 0.2], [0.0, 0.0, -1.0]]
    graph = Graph.from_matrices([1.0, 0.0, 0.0], matrix)
    self.assert_close(graph.targets, [1, 2, 0, 2, 3])
    narrow = onp.asarray([0.1, 0.2, 0.7], onp.float32)
    graph = Graph.from_matrices(narrow, onp.asarray(-onp.eye(3), onp.float32))
    self.assert_close(graph.prob_zero(), 0.0)
    self.assert_same(Graph.from_json(graph.to_json()), graph)

  def test_phases_that_cannot_be_reached(self):
    matrix = onp.diag([-1.0, -2.0, -3.0]) + onp.diag([1.0, 2.0], 1)
    graph = Graph.from_matrices([0.0, 1.0, 0.0], matrix)
    self.assertEqual(graph.states, (1, 2))
    self.assert_close(graph.sources, [0, 1])
    self.assert_close(graph.targets, [1, 2])
    self.assert_close(graph.constants, [2.0, 3.0])
    self.assertEqual(
      graph.notes, ("left out: 1 state that cannot be reached, 0",)
    )

  @parameterized.named_parameters(
    ("vector", ([], []), ValueError, r"initial_probs have shape \(0,\)"),
    ("square", ([1.0], [[1.0, 2.0]]), ValueError, r"matrix has shape \(1, 2\)"),
    ("exits", ([1.0], [[-1.0]], [1.0, 2]), ValueError, "exits has shape"),
    ("atom", ([1.0], [[-1.0]], None, [0.0]), ValueError, "prob_zero has shape"),
    ("row", ([1.0], [[1.0]]), ValueError, r"row 0 .* sums to 1.0: .* <= 0"),
    ("nan", ([1.0], [[math.nan]]), ValueError, r"\(state 0\) is .*finite"),
    (
      "negative",
      ([1.0, 0.0], [[-1.0, -0.5], [0.0, -1.0]]),
      ValueError,
      "edge from 0 to 1 with weight -0.5: weights must be >= 0",
    ),
    (
      "exit",
      ([1.0], [[-1.0]], [-1.0]),
      ValueError,
      "edge from 0 to ABSORBED with weight -1.0",
    ),
    ("mass", ([1.5], [[-1.0]]), ValueError, "initial_probs sum to 1.5"),
    ("mass_zero", ([0.5], [[-1.0]], None, 0.25), ValueError, "sum to 0.75"),
    ("atom_value", ([1.0], [[-1.0]], None, -1.0), ValueError, "must be in"),
    ("alpha", ([-1.0], [[-1.0]]), ValueError, r"initial_probs\[0\] .* is -1"),
    (
      "never",
      ([1.0, 0.0], [[-1.0, 1.0], [0.0, 0.0]]),
      ValueError,
      "for example from 1, which is never left",
    ),
    ("dtype", ([1j], [[-1.0]]), TypeError, "initial_probs has dtype co"),
    (
      "names",
      ([1.0], [[-1.0]], None, None, False, (1, 2)),
      ValueError,
      "states has 2 entries",
    ),
    (
      "discrete_row",
      ([1.0], [[1.25]], None, None, True),
      ValueError,
      "sums to 1.25: this sum must be <= 1",
    ),
    (
      "discrete_exits",
      ([1.0], [[0.25]], [0.25], None, True),
      ValueError,
      r"exits\[0\] sum to 0.5: this sum must be 1",
    ),
  )
  def test_errors(self, arguments, error, message):
    with self.assertRaisesRegex(error, message):
      Graph.from_matrices(*arguments)


class HashTest(graph_cases.SameGraphCase):
  def test_in_every_process(self):
    # The text in the fixed format, which must not change.
    self.assertEqual(
      graph_cases.small().content_hash(),
      "0a9ed93f56f872325bfb8d2bfe4863438b2cc6f3f79db4ce48ab9e09a49225fa",
    )

  def test_zeros_have_no_sign(self):
    graph = graph_cases.small()
    parts = graph._contents()
    signed = onp.where(parts.constants == 0.0, -0.0, parts.constants)
    self.assertTrue(onp.any(onp.signbit(signed)))
    other = Graph(**parts._replace(constants=signed)._asdict())
    self.assertEqual(other.content_hash(), graph.content_hash())

  def test_what_counts(self):
    base = Graph.from_edges([(0, 1, 1.0), (1, ABSORBED, 2.0)], 0)
    renamed = Graph.from_edges([("a", "b", 1.0), ("b", ABSORBED, 2.0)], "a")
    self.assertEqual(renamed.content_hash(), base.content_hash())
    others = (
      Graph.from_edges([(0, 1, 1.0), (1, ABSORBED, 3.0)], 0),
      Graph.from_edges([(0, 1, 1.0), (1, ABSORBED("a"), 2.0)], 0),
      Graph.from_edges([(0, 1, 1.0), (1, ABSORBED, 2.0)], {0: 0.5, 1: 0.5}),
      Graph.from_edges([(0, 1, 1.0), (1, ABSORBED, 2.0)], 0, params=1),
      Graph.from_edges([(0, 1, 1.0), (1, ABSORBED, 2.0)], 0, params=("a",)),
      Graph.from_edges([(0, 1, 0.5), (1, ABSORBED, 0.5)], 0),
      Graph.from_edges([(0, 1, 0.5), (1, ABSORBED, 0.5)], 0, discrete=True),
    )
    self.assertLen({graph.content_hash() for graph in (base, *others)}, 8)


class CopiesTest(graph_cases.SameGraphCase):
  def test_copies(self):
    graph = graph_cases.small()
    for other in (
      copy.copy(graph),
      copy.deepcopy(graph),
      pickle.loads(pickle.dumps(graph)),
    ):
      self.assert_same(other, graph)
      self.assertEqual(other.notes, graph.notes)
      self.assertEqual(other.edges, graph.edges)

  def test_absorbed(self):
    for state in (ABSORBED, ABSORBED("a")):
      self.assertEqual(pickle.loads(pickle.dumps(state)), state)


class LookingTest(graph_cases.SameGraphCase):
  def test_repr(self):
    self.assertEqual(
      repr(graph_cases.small()),
      "<Graph 2 phases, 4 edges, 2 parameters sick, heal, causes age, illness>",
    )
    self.assertEqual(
      repr(
        Graph.from_edges([(0, ABSORBED, [0.5])], 0, params=1, discrete=True)
      ),
      "<Graph 1 phase, 1 edge, 1 parameter, discrete>",
    )

  def test_describe(self):
    self.assertEqual(
      graph_cases.small().describe().splitlines()[:7],
      [
        "Graph of a continuous chain",
        "  phases: 2, from 'well' to 'ill'",
        "  edges: 4, 2 to absorption",
        "  parameters: sick, heal",
        "  causes of absorption: 'age', 'illness'",
        "  structure: cyclic",
        "  starts in: 1 phase, with an atom at zero",
      ],
    )

  def test_cost_of_moments(self):
    self.require_kernel()
    graph = graph_cases.small()
    self.assertEqual(
      graph.describe().splitlines()[7],
      "  moments: less than 1 ms and less than 1 MB for each set of parameters",
    )
    # The elimination of a dense chain of p phases: p^2 numbers and p^3 / 3
    # multiply-adds.
    for p, start, cost in (
      (3000, "about ", "5,400 ms and about 72 MB"),
      (30000, "refused, as 30,000 phases that lead to each other", "7,200 MB"),
    ):
      size = {"largest_component": p, "fill": p**2, "working": 0}
      size["operations"] = p**3 / 3.0
      with mock.patch.object(
        describing.kernel_ops, "measure_elimination", return_value=size
      ):
        line = graph.describe().splitlines()[7]
      self.assertStartsWith(line, f"  moments: {start}")
      self.assertIn(f"{cost} for each set of parameters", line)
    self.assertIn("; graphs.lump merges phases that behave alike", line)

  def test_progress(self):
    counts = []
    Graph.from_transitions(
      lambda n: [(n + 1 if n < 2500 else ABSORBED, 1.0)],
      1,
      progress=counts.append,
    )
    self.assertEqual(counts, [1001, 2001, 2500])

  def test_progress_bar(self):
    if importlib.util.find_spec("tqdm") is None:
      self.skipTest("tqdm is not installed")
    graph = Graph.from_transitions(
      lambda n: [(ABSORBED, 1.0)], 1, progress=True
    )
    self.assertEqual(graph.num_phases, 1)


if __name__ == "__main__":
  absltest.main()
