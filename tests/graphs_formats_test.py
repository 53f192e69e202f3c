"""Graphs from edges and matrices, to JSON, networkx, pickles and pictures."""

import collections
import copy
import importlib.util
import json
import math
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from tests import test_case

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph

Point = collections.namedtuple("Point", "x y")


def illness(state):
  """Illness and death of two kinds, of which one depends on a parameter."""
  if state == "well":
    yield "ill", {"sick": 1.0}
    yield ABSORBED("age"), 0.125
  else:
    yield "well", {"heal": 2.0}
    yield ABSORBED("illness"), {"heal": -0.5, 1: 1.0}


def small(**changes):
  """A graph with everything that a graph may have."""
  arguments = {
    "initial": {"well": 0.75, ABSORBED: 0.25},
    "params": ("sick", "heal"),
    **changes,
  }
  return Graph.from_transitions(illness, **arguments)


class SameGraphCase(test_case.TestCase):
  def assert_same(self, actual, expected, states=True):
    """Asserts that two graphs agree in everything but notes."""
    for name, x in expected._parts().items():
      y = actual._parts()[name]
      if isinstance(x, onp.ndarray):
        self.assertEqual(y.dtype, x.dtype)
        onp.testing.assert_array_equal(y, x)
      else:
        self.assertEqual(y, x)
    if states:
      self.assertEqual(actual.states, expected.states)


class EdgesTest(SameGraphCase):
  def test_edges(self):
    graph = small()
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


class MatricesTest(SameGraphCase):
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
      [0.0, 0.5], [[math.nan, 1.0], [2.0, 7.0]], [0.0, 3.0], 0.5, states="ab"
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
      "2 states and 1 phases",
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


class JsonTest(SameGraphCase):
  @parameterized.parameters(
    ({},),
    ({"discrete": True},),
    ({"initial": {"well": {"sick": 1.0}, "ill": {1: 1.0, "sick": -1.0}}},),
  )
  def test_round_trip(self, changes):
    graph = small(**changes)
    again = Graph.from_json(graph.to_json())
    self.assert_same(again, graph)
    self.assert_same(Graph.from_json(graph.to_json().encode()), graph)
    self.assertEqual(again.content_hash(), graph.content_hash())

  def test_states(self):
    order = [Point(1, 2), (3, ("a", None)), 4, 2.5, "x", True, onp.int64(7)]
    after = dict(zip(order, [*order[1:], ABSORBED], strict=True))
    graph = Graph.from_transitions(lambda s: [(after[s], 0.1)], order[0])
    again = Graph.from_json(graph.to_json())
    self.assertEqual(again.states, graph.states)
    self.assertEqual(again.index_of(Point(1, 2)), 0)

  def test_states_that_have_no_json(self):
    graph = Graph.from_transitions(lambda s: [(ABSORBED, 0.1)], frozenset([1]))
    again = Graph.from_json(graph.to_json())
    self.assert_same(again, graph, states=False)
    with self.assertRaisesRegex(ValueError, "has no states"):
      _ = again.states

  @parameterized.named_parameters(
    ("format", {"format": "other"}, "format is 'other'"),
    ("version", {"version": 2}, "version is 2: this reads version 1"),
    ("version_bool", {"version": True}, "version is True"),
    ("version_float", {"version": 1.0}, "version is 1.0"),
    ("discrete", {"discrete": 0}, "discrete is 0: must be true or false"),
    ("phases", {"num_phases": 3}, "states has 2 entries: it must have 3"),
    ("phases_bool", {"num_phases": True}, "num_phases is True"),
    ("no_phases", {"num_phases": 0}, "num_phases is 0: .* >= 1"),
    ("huge", {"num_phases": 2**40}, "num_phases is 1099511627776"),
    (
      "huge_too",
      {"num_phases": 2**30, "states": None},
      "initial_constants has 3 entries: it must",
    ),
    ("params", {"num_params": 1}, "parameter_names has 2 entries"),
    (
      "params_too",
      {"num_params": 10**9, "parameter_names": None},
      r"coefficients\[0\] has 2 entries",
    ),
    ("name", {"parameter_names": [1, 2]}, r"parameter_names\[0\] is a number"),
    ("cause", {"causes": [1, "a"]}, r"causes .*\[0\] is a number"),
    (
      "no_cause",
      {"causes": []},
      "targets.* = 2: it must be in|causes is empty",
    ),
    ("source", {"sources": [0, 0, 1, 2]}, r"sources\[3\] = 2: it must be in"),
    ("source_sign", {"sources": [-1, 0, 1, 1]}, r"sources\[0\] is -1"),
    ("source_float", {"sources": [0.0, 0, 1, 1]}, r"sources\[0\] is 0.0"),
    ("source_bool", {"sources": [False, 0, 1, 1]}, r"sources\[0\] is False"),
    ("target", {"targets": [1, 2, 0, 4]}, r"targets\[3\] = 4: it must be in"),
    ("target_wide", {"targets": [1, 2, 0, 2**33]}, r"targets\[3\] is"),
    ("order", {"sources": [0, 1, 0, 1]}, "sources must be ascending"),
    ("few_targets", {"targets": [1, 2]}, "targets has 2 entries: .* have 4"),
    ("constant", {"constants": [0.0] * 3}, "constants has 3 entries"),
    ("bool", {"constants": [True] * 4}, r"constants\[0\] is True"),
    ("text", {"constants": ["1"] * 4}, r"constants\[0\] is '1'"),
    ("null", {"constants": None}, "constants is null: it must be an array"),
    ("integer", {"constants": [10**400] * 4}, r"constants\[0\] is 1000"),
    ("rows", {"coefficients": [[0.0, 0.0]]}, "coefficients has 1 entries"),
    ("row", {"coefficients": [1.0] * 4}, r"coefficients\[0\] is a number"),
    ("initial", {"initial_constants": [0.5, 0, 0]}, "sum to 0.5"),
    ("states", {"states": ["well", "well"]}, "a state is there twice"),
    ("state", {"states": ["well", {}]}, "state {} is an object"),
    ("more", {"comment": "x"}, r"has unknown \['comment'\]"),
  )
  def test_refused(self, changes, message):
    found = {**json.loads(small().to_json()), **changes}
    with self.assertRaisesRegex(ValueError, message):
      Graph.from_json(json.dumps(found))

  def test_every_key_is_needed(self):
    found = json.loads(small().to_json())
    for key in found:
      less = {name: x for name, x in found.items() if name != key}
      with self.assertRaisesRegex(ValueError, key):
        Graph.from_json(json.dumps(less))

  @parameterized.parameters(
    ("", "is no JSON"),
    ("[1, 2]", "is an array: it must be an object"),
    ("null", "is null: it must be an object"),
    ('{"format": 1, "format": 2}', "key 'format' is there twice"),
    ("[" * 100_000, "nested too deeply|is no JSON"),
    ("[" + "1" * 10_000 + "]", "digits"),
    (b"\xff\xfe\xfa", "codec can't decode|is no JSON"),
  )
  def test_no_graph(self, text, message):
    with self.assertRaisesRegex(ValueError, message):
      Graph.from_json(text)

  @parameterized.parameters("NaN", "Infinity", "-Infinity", "1e999")
  def test_not_finite(self, number):
    text = small().to_json().replace("0.125", number)
    with self.assertRaisesRegex(ValueError, f"{number} is in|is inf"):
      Graph.from_json(text)

  def test_state_that_is_not_finite(self):
    text = small().to_json().replace('"well"', "1e999")
    with self.assertRaisesRegex(ValueError, "state inf is not finite"):
      Graph.from_json(text)

  def test_no_text(self):
    with self.assertRaisesRegex(TypeError, "the graph is dict"):
      Graph.from_json({})


class HashTest(SameGraphCase):
  def test_in_every_process(self):
    # As it was when the format was fixed: it must not change.
    self.assertEqual(
      small().content_hash(),
      "0a9ed93f56f872325bfb8d2bfe4863438b2cc6f3f79db4ce48ab9e09a49225fa",
    )

  def test_zeros_have_no_sign(self):
    graph = small()
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


class CopiesTest(SameGraphCase):
  def test_copies(self):
    graph = small()
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


class LookingTest(SameGraphCase):
  def test_repr(self):
    self.assertEqual(
      repr(small()),
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
      small().describe().splitlines()[:7],
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

  def test_elimination(self):
    self.require_kernel()
    self.assertRegex(
      small().describe().splitlines()[7],
      r"  elimination: \d+ numbers kept, \d+ multiply-adds, 2 phases in the l",
    )

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
