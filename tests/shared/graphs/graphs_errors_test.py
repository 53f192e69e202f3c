"""Mistakes in building graphs: state, edge and rule are named."""

import collections
import math
import types

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import graphs
from tests.helpers import graph_cases
from tests.helpers import test_case

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph

Point = collections.namedtuple("Point", "x y")


class WeightErrorTest(test_case.TestCase):
  @parameterized.named_parameters(
    ("negative", -1.0, ValueError, "-1.0\\)?: the weight is negative"),
    ("negative_integer", -2, ValueError, "the weight is negative"),
    ("negative_coefficients", (-1.0, 0.0), ValueError, "is negative: its con"),
    ("negative_by_name", {"a": -1.0, 1: -2.0}, ValueError, "is negative"),
    ("nan", math.nan, ValueError, "nan\\)?: nan is not finite"),
    ("infinite", math.inf, ValueError, "inf is not finite"),
    ("infinite_coefficient", {"a": math.inf}, ValueError, "inf is not finite"),
    ("nan_among_several", (1.0, math.nan), ValueError, "nan is not finite"),
    ("huge_integer", 10**400, ValueError, "inf is not finite"),
    ("too_many", (1.0, 2.0, 3.0), ValueError, "3 coefficients: it must have 2"),
    ("too_few", [1.0], ValueError, "has 1 coefficients: it must have 2, one"),
    ("array", onp.ones(3), ValueError, "has 3 coefficients"),
    ("matrix", onp.ones((2, 2)), TypeError, "is not a number"),
    (
      "unknown_name",
      {"c": 1.0},
      ValueError,
      r"refers to 'c': .*\('a', 'b'\), and 1",
    ),
    ("column", {0: 1.0}, ValueError, "the weight refers to 0: the parameters"),
    ("string", "1.0", TypeError, "the weight is a string"),
    ("string_inside", {"a": "1"}, TypeError, "'1' is not a number"),
    ("bool", True, TypeError, "True is not a number"),
    ("bool_inside", (1.0, True), TypeError, "True is not a number"),
    ("none", None, TypeError, "None is not a number"),
    ("complex", 1j, TypeError, "1j is not a number"),
  )
  def test_weight(self, weight, error, message):
    with self.assertRaisesRegex(error, f"edge from 7 to ABSORBED .*{message}"):
      Graph.from_transitions(graph_cases.one_edge(weight), 7, params=("a", "b"))
    with self.assertRaisesRegex(error, rf"edges\[1\] = .*{message}"):
      edges = [(7, 8, 1.0), (8, ABSORBED, weight)]
      Graph.from_edges(edges, 7, params=("a", "b"))
    with self.assertRaisesRegex(error, f"initial state 7 .*{message}"):
      Graph.from_transitions(
        graph_cases.one_edge(1.0), {7: weight}, params=("a", "b")
      )

  def test_names_that_parameters_do_not_have(self):
    with self.assertRaisesRegex(
      ValueError, "refers to 'a', but params is the number 1: give the names"
    ):
      Graph.from_transitions(graph_cases.one_edge({"a": 1.0}), 0, params=1)

  def test_numbers_of_other_kinds(self):
    for weight in (2, onp.float32(2.0), onp.int64(2), onp.asarray(2.0)):
      graph = Graph.from_transitions(graph_cases.one_edge(weight), 0)
      self.assert_close(graph.constants, [2.0])
    for weight in ((2.0,), [2], onp.asarray([2.0]), {"a": onp.float64(2.0)}):
      graph = Graph.from_transitions(
        graph_cases.one_edge(weight), 0, params=("a",)
      )
      self.assert_close(graph.coefficients, [[2.0]])

  def test_overflow_of_a_sum(self):
    edges = [(0, ABSORBED, 1e308), (0, ABSORBED, 1e308)]
    with self.assertRaisesRegex(
      ValueError, r"constants\[0\] of edge 0 from 0 to ABSORBED is inf"
    ):
      Graph.from_edges(edges, 0)

  def test_probabilities_above_one(self):
    message = "probabilities of the edges from 3 sum to 1.25: .* <= 1 within"
    with self.assertRaisesRegex(ValueError, message):
      Graph.from_transitions(
        lambda n: [(ABSORBED, 0.75), (n, 0.5)], 3, discrete=True
      )
    # Weights with parameters are not checked: q >= 1/2 makes it a chain.
    Graph.from_transitions(
      lambda n: [(target, {1: 1.0, "q": -1.0}) for target in (ABSORBED, n, 0)],
      3,
      params=("q",),
      discrete=True,
    )
    # A sum that is above one by rounding only.
    Graph.from_transitions(lambda n: [(ABSORBED, 0.1)] * 10, 3, discrete=True)


class ArgumentErrorTest(test_case.TestCase):
  def test_params_without_bound(self):
    with self.assertRaisesRegex(
      ValueError, "weights have 1000000000 coefficients"
    ):
      graphs.Graph.from_edges([(0, graphs.ABSORBED, 1.0)], 0, params=10**9)

  def test_what_is_none(self):
    with self.assertRaisesRegex(TypeError, "edges is None: it must be"):
      Graph.from_edges(None, 0)
    with self.assertRaisesRegex(TypeError, "initial_probs is None: it must"):
      Graph.from_matrices(None, [[-1.0]])
    with self.assertRaisesRegex(TypeError, "matrix is None: it must be an"):
      Graph.from_matrices([1.0], None)
    graph = Graph.from_edges([(0, ABSORBED, 1.0)], 0)
    with self.assertRaisesRegex(TypeError, "states is None: it must be"):
      graphs.first_passage_time(graph, None)

  def test_a_text_is_one_state(self):
    """Its letters may be states as well, of another passage."""
    edges = [("a", "ab", 1.0), ("ab", "b", 1.0), ("b", ABSORBED, 1.0)]
    graph = Graph.from_edges(edges, "a")
    with self.assertRaisesRegex(TypeError, r"states is 'ab': .*pass \[state\]"):
      graphs.first_passage_time(graph, "ab")
    passage = graphs.first_passage_time(graph, ["ab"])
    self.assertEqual(passage.states, ("a",))

  def test_absorbing_nodes_are_no_mapping(self):
    network = types.SimpleNamespace(is_directed=lambda: True, graph={})
    with self.assertRaisesRegex(TypeError, "absorbing is .*: it must be a map"):
      Graph.from_networkx(network, "up", absorbing=["down"])

  def test_absorption_is_no_phase(self):
    with self.assertRaisesRegex(ValueError, r"states\[1\] is ABSORBED: "):
      Graph.from_matrices(
        [1.0, 0.0], [[-1.0, 1.0], [0.0, -1.0]], states=[0, ABSORBED]
      )


class TransitionsErrorTest(test_case.TestCase):
  @parameterized.parameters(
    (lambda n: None, "returned None: it must yield pairs"),
    (lambda n: 3, "returned 3: it must yield pairs"),
    (lambda n: [ABSORBED], "yields ABSORBED: it must yield pairs"),
    (lambda n: [(ABSORBED, 1.0, 2.0)], "yields .*: it must yield pairs"),
    (lambda n: ["ab"], "yields 'ab': it must yield pairs"),
    (lambda n: {5: 1.0}, "yields 5: it must yield pairs"),
  )
  def test_no_pairs(self, transitions, message):
    with self.assertRaisesRegex(TypeError, r"transitions\(9\) " + message):
      Graph.from_transitions(transitions, 9)

  def test_no_function(self):
    with self.assertRaisesRegex(TypeError, "must be a function of a state"):
      Graph.from_transitions({1: [(ABSORBED, 1.0)]}, 1)

  def test_what_a_function_raises_is_not_hidden(self):
    def transitions(state):
      yield ABSORBED, 1.0
      raise KeyError("mine")

    with self.assertRaisesRegex(KeyError, "mine"):
      Graph.from_transitions(transitions, 0)

  @parameterized.parameters(
    (-1, ValueError, "params is -1: params must be an integer >= 0"),
    (True, TypeError, "params is True"),
    (1.0, TypeError, "params is 1.0"),
    ("theta", TypeError, "params is 'theta': .* a tuple of names"),
    (("a", 2), TypeError, "params has 2 in it"),
    (("a", "a"), ValueError, "params has 'a' in it twice"),
    (("",), ValueError, "an empty name"),
  )
  def test_params(self, params, error, message):
    with self.assertRaisesRegex(error, message):
      Graph.from_transitions(graph_cases.one_edge(1.0), 0, params=params)

  @parameterized.parameters(
    ({}, "at least one state must have a weight > 0"),
    ([(0, 0.0)], "at least one state must have a weight > 0"),
    (ABSORBED, "at least one state must have a weight > 0"),
    ({0: 0.5}, "initial weights sum to 0.5: .*must be 1 within 4 p eps"),
    ({0: 0.5, 1: 0.75}, "initial weights sum to 1.25"),
    ({0: 0.5, ABSORBED("a"): 0.5}, "the atom at zero has no cause"),
  )
  def test_initial(self, initial, message):
    with self.assertRaisesRegex(ValueError, message):
      Graph.from_transitions(graph_cases.one_edge(1.0), initial)

  def test_initial_without_weights(self):
    with self.assertRaisesRegex(
      TypeError, r"initial is a list with the item 3: .*pair"
    ):
      Graph.from_transitions(graph_cases.one_edge(1.0), [3, 4])

  def test_progress(self):
    with self.assertRaisesRegex(TypeError, "progress is 3"):
      Graph.from_transitions(graph_cases.one_edge(1.0), 0, progress=3)

  @parameterized.parameters(((0, ABSORBED),), (3,), ("abc",))
  def test_edges(self, edge):
    with self.assertRaisesRegex(
      TypeError, r"edges\[0\] = .*must be \(state, state, weight\)"
    ):
      Graph.from_edges([edge], 0)

  def test_coefficients_of_an_edge(self):
    with self.assertRaisesRegex(ValueError, "edge has 1 coefficients: it must"):
      Graph.from_edges([graphs.Edge(0, ABSORBED, 0.0, (1.0,))], 0, params=2)


if __name__ == "__main__":
  absltest.main()
