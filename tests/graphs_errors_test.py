"""Mistakes in building graphs: state, edge and rule are named."""

import collections
import dataclasses
import math
import types

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import graphs
from tests import test_case

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph

Point = collections.namedtuple("Point", "x y")


class Identity:
  """Instances are equal only to themselves."""

  def __repr__(self):
    return "Identity()"


class WrongHash:
  """All are equal, their hashes differ."""

  count = 0

  def __init__(self):
    WrongHash.count += 1
    self.hash = WrongHash.count

  def __eq__(self, other):
    return isinstance(other, WrongHash)

  def __hash__(self):
    return self.hash

  def __repr__(self):
    return "WrongHash()"


@dataclasses.dataclass
class Mutable:
  """A state that is modified while the graph is built."""

  value: int

  def __hash__(self):
    return hash(self.value)


def one_edge(weight, target=ABSORBED):
  """A function of transitions with one edge."""
  return lambda state: [(target, weight)]


class WeightErrorTest(test_case.TestCase):
  @parameterized.named_parameters(
    ("negative", -1.0, ValueError, "-1.0\\)?: the weight is negative"),
    ("negative_integer", -2, ValueError, "the weight is negative"),
    ("negative_coefficients", (-1.0, 0.0), ValueError, "is negative: a const"),
    ("negative_by_name", {"a": -1.0, 1: -2.0}, ValueError, "is negative"),
    ("nan", math.nan, ValueError, "nan\\)?: nan is not finite"),
    ("infinite", math.inf, ValueError, "inf is not finite"),
    ("infinite_coefficient", {"a": math.inf}, ValueError, "inf is not finite"),
    ("nan_among_several", (1.0, math.nan), ValueError, "nan is not finite"),
    ("huge_integer", 10**400, ValueError, "inf is not finite"),
    ("too_many", (1.0, 2.0, 3.0), ValueError, "3 coefficients: there are 2"),
    ("too_few", [1.0], ValueError, "has 1 coefficients: there are 2 param"),
    ("array", onp.ones(3), ValueError, "has 3 coefficients"),
    ("matrix", onp.ones((2, 2)), TypeError, "is not a number"),
    (
      "unknown_name",
      {"c": 1.0},
      ValueError,
      r"names 'c': .*\('a', 'b'\), and 1",
    ),
    ("column", {0: 1.0}, ValueError, "the weight names 0: the parameters"),
    ("string", "1.0", TypeError, "the weight is a string"),
    ("string_inside", {"a": "1"}, TypeError, "'1' is not a number"),
    ("bool", True, TypeError, "True is not a number"),
    ("bool_inside", (1.0, True), TypeError, "True is not a number"),
    ("none", None, TypeError, "None is not a number"),
    ("complex", 1j, TypeError, "1j is not a number"),
  )
  def test_weight(self, weight, error, message):
    with self.assertRaisesRegex(error, f"edge from 7 to ABSORBED .*{message}"):
      Graph.from_transitions(one_edge(weight), 7, params=("a", "b"))
    with self.assertRaisesRegex(error, rf"edges\[1\] = .*{message}"):
      edges = [(7, 8, 1.0), (8, ABSORBED, weight)]
      Graph.from_edges(edges, 7, params=("a", "b"))
    with self.assertRaisesRegex(error, f"initial state 7 .*{message}"):
      Graph.from_transitions(one_edge(1.0), {7: weight}, params=("a", "b"))

  def test_names_that_parameters_do_not_have(self):
    with self.assertRaisesRegex(
      ValueError, "names 'a', but params is the number 1: give their names"
    ):
      Graph.from_transitions(one_edge({"a": 1.0}), 0, params=1)

  def test_numbers_of_other_kinds(self):
    for weight in (2, onp.float32(2.0), onp.int64(2), onp.asarray(2.0)):
      graph = Graph.from_transitions(one_edge(weight), 0)
      self.assert_close(graph.constants, [2.0])
    for weight in ((2.0,), [2], onp.asarray([2.0]), {"a": onp.float64(2.0)}):
      graph = Graph.from_transitions(one_edge(weight), 0, params=("a",))
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
    # Those with parameters may be anything: for q >= 1/2 this is a chain.
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
    with self.assertRaisesRegex(TypeError, "edges is None: it must have"):
      Graph.from_edges(None, 0)
    with self.assertRaisesRegex(TypeError, "initial_probs is None: it must"):
      Graph.from_matrices(None, [[-1.0]])
    with self.assertRaisesRegex(TypeError, "matrix is None: it must be an"):
      Graph.from_matrices([1.0], None)
    graph = Graph.from_edges([(0, ABSORBED, 1.0)], 0)
    with self.assertRaisesRegex(TypeError, "states is None: it must have"):
      graphs.time_to(graph, None)

  def test_absorbing_nodes_are_no_mapping(self):
    network = types.SimpleNamespace(is_directed=lambda: True, graph={})
    with self.assertRaisesRegex(TypeError, "absorbing is .*: it must be a map"):
      Graph.from_networkx(network, "up", absorbing=["down"])

  def test_absorption_is_no_phase(self):
    with self.assertRaisesRegex(ValueError, r"states\[1\] is ABSORBED: "):
      Graph.from_matrices(
        [1.0, 0.0], [[-1.0, 1.0], [0.0, -1.0]], states=[0, ABSORBED]
      )


class StateErrorTest(test_case.TestCase):
  @parameterized.parameters(
    ([1, 2],), ({"a": 1},), ({1, 2},), (onp.ones(2),), ((1, [2]),)
  )
  def test_unhashable(self, state):
    with self.assertRaisesRegex(
      TypeError, r"edge from 0 to .* with weight 1.0: state .* not hashable"
    ):
      Graph.from_transitions(one_edge(1.0, state), 0)
    with self.assertRaisesRegex(TypeError, r"edges\[0\] .* is not hashable"):
      Graph.from_edges([(state, ABSORBED, 1.0)], 0)

  def test_unhashable_initial_state(self):
    with self.assertRaisesRegex(
      TypeError, r"initial state \{1\} with weight 1.0: state .* not hashable"
    ):
      Graph.from_transitions(one_edge(1.0), {1})

  def test_not_equal_to_itself(self):
    with self.assertRaisesRegex(ValueError, "nan does not equal itself"):
      Graph.from_transitions(one_edge(1.0, math.nan), 0)

  def test_changed(self):
    def transitions(state):
      if state.value < 3:
        state.value += 1
        yield state, 1.0
      yield ABSORBED, 1.0

    with self.assertRaisesRegex(ValueError, "changed while the graph was bu"):
      Graph.from_transitions(transitions, Mutable(0), max_states=10)

  def test_explosion(self):
    with self.assertRaisesRegex(
      ValueError, "edge from 24 to 25 .*max_states = 25 states.* last is 25$"
    ):
      Graph.from_transitions(
        lambda n: [(n + 1, 1.0), (ABSORBED, 1.0)], 0, max_states=25
      )
    graph = Graph.from_transitions(
      lambda n: [(n + 1 if n < 24 else ABSORBED, 1.0)], 0, max_states=25
    )
    self.assertEqual(graph.num_phases, 25)

  def test_explosion_of_equal_states(self):
    def transitions(state):
      yield type(state)(), 1.0
      yield ABSORBED, 1.0

    with self.assertRaisesRegex(ValueError, "Identity are equal only to them"):
      Graph.from_transitions(transitions, Identity(), max_states=9)
    with self.assertRaisesRegex(ValueError, "but their hashes differ"):
      Graph.from_transitions(transitions, WrongHash(), max_states=9)

  @parameterized.parameters(
    (0, ValueError), (True, TypeError), (1e6, TypeError), (None, TypeError)
  )
  def test_max_states(self, most, error):
    with self.assertRaisesRegex(error, "max_states is .*: it must be"):
      Graph.from_transitions(one_edge(1.0), 0, max_states=most)

  def test_never_absorbed(self):
    edges = [(0, 1, 1.0), (0, ABSORBED, 1.0), (1, 2, 1.0), (2, 1, 1.0)]
    with self.assertRaisesRegex(
      ValueError,
      "cannot be reached from 2 of 3 states, for example from 1: .*allow_nev",
    ):
      Graph.from_edges(edges, 0)
    graph = Graph.from_edges(edges, 0, allow_never_absorbing=True)
    self.assertIn("never absorbed: from 2 phases", graph.describe())

  def test_no_transitions(self):
    with self.assertRaisesRegex(
      ValueError, "from 2 of 2 states, for example from 1, which is never left"
    ):
      Graph.from_transitions(lambda n: [(1, 1.0)] if n == 0 else (), 0)

  def test_no_edges(self):
    with self.assertRaisesRegex(ValueError, "there are no edges"):
      Graph.from_transitions(lambda n: (), 0, allow_never_absorbing=True)

  def test_absorption_is_no_state(self):
    with self.assertRaisesRegex(ValueError, "absorption cannot be left"):
      Graph.from_edges([(ABSORBED, 1, 1.0)], 0)


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
      Graph.from_transitions(one_edge(1.0), 0, params=params)

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
      Graph.from_transitions(one_edge(1.0), initial)

  def test_initial_without_weights(self):
    with self.assertRaisesRegex(TypeError, r"initial has 3 in it: .*pairs"):
      Graph.from_transitions(one_edge(1.0), [3, 4])

  def test_progress(self):
    with self.assertRaisesRegex(TypeError, "progress is 3"):
      Graph.from_transitions(one_edge(1.0), 0, progress=3)

  @parameterized.parameters(((0, ABSORBED),), (3,), ("abc",))
  def test_edges(self, edge):
    with self.assertRaisesRegex(
      TypeError, r"edges\[0\] = .*must be \(state, state, weight\)"
    ):
      Graph.from_edges([edge], 0)

  def test_coefficients_of_an_edge(self):
    with self.assertRaisesRegex(ValueError, "it has 1 coefficients: there are"):
      Graph.from_edges([graphs.Edge(0, ABSORBED, 0.0, (1.0,))], 0, params=2)


class AbsorbedTest(test_case.TestCase):
  def test_equality(self):
    self.assertEqual(ABSORBED("a"), ABSORBED("a"))
    self.assertNotEqual(ABSORBED("a"), ABSORBED)
    self.assertNotEqual(ABSORBED, None)
    self.assertLen({ABSORBED, ABSORBED("a"), ABSORBED("a")}, 2)
    self.assertEqual(repr(ABSORBED("a")), "ABSORBED('a')")

  @parameterized.parameters((None,), ("",), (3,))
  def test_cause(self, cause):
    with self.assertRaisesRegex(TypeError, "cause is .*must be a string"):
      ABSORBED(cause)

  def test_one_cause_only(self):
    with self.assertRaisesRegex(TypeError, "has a cause already"):
      ABSORBED("a")("b")


class ArraysTest(test_case.TestCase):
  """The constructor's checks."""

  good = types.MappingProxyType(
    {
      "sources": [0, 0, 1],
      "targets": [1, 2, 2],
      "constants": [1.0, 0.5, 1.0],
      "coefficients": onp.zeros((3, 0)),
      "initial_constants": [1.0, 0.0, 0.0],
      "initial_coefficients": onp.zeros((3, 0)),
    }
  )

  @parameterized.named_parameters(
    ("float_index", {"sources": [0.0, 0.0, 1.0]}, TypeError, "sources has dty"),
    ("wide", {"targets": [1, 2, 2**40]}, ValueError, "fit into 32 bits"),
    ("bool", {"constants": [True] * 3}, TypeError, "constants has dtype bool"),
    (
      "negative_index",
      {"sources": [-1, 0, 1]},
      ValueError,
      r"sources\[0\] = -1",
    ),
    (
      "source",
      {"sources": [0, 0, 2]},
      ValueError,
      r"sources\[2\] = 2: .*2 pha",
    ),
    (
      "target",
      {"targets": [1, 2, 3]},
      ValueError,
      r"targets\[2\] = 3: .*1 cau",
    ),
    ("order", {"sources": [1, 0, 1]}, ValueError, "sources must be ascending"),
    ("loop", {"targets": [0, 2, 2]}, ValueError, "from a state to itself"),
    ("parallel", {"targets": [2, 2, 2]}, ValueError, "edge 1 .*parallel one"),
    (
      "ragged",
      {"coefficients": [[], [1], []]},
      ValueError,
      "coefficients is no",
    ),
    ("complex", {"constants": [1j] * 3}, TypeError, "constants has dtype comp"),
    ("empty", {"sources": onp.zeros(0, int)}, ValueError, "there are no edges"),
    ("sizes", {"targets": [1, 2]}, ValueError, r"targets have shape \(2,\)"),
    ("rank", {"sources": [[0, 0, 1]]}, ValueError, "sources have shape"),
    ("table", {"coefficients": onp.zeros(3)}, ValueError, r"it must be \(m, d"),
    ("no_phase", {"initial_constants": [1.0]}, ValueError, r"\(p \+ 1,\)"),
    (
      "nan",
      {"constants": [1.0, math.nan, 1.0]},
      ValueError,
      "edge 1 from phas",
    ),
    ("negative", {"constants": [1.0, 0.5, -1.0]}, ValueError, "is negative"),
    (
      "initial",
      {"initial_constants": [-1.0, 1, 1]},
      ValueError,
      "initial state",
    ),
    ("mass", {"initial_constants": [1.0, 1, 0]}, ValueError, "sum to 2.0"),
    (
      "names",
      {"parameter_names": ("a",)},
      ValueError,
      "there are 0 parameters",
    ),
    ("no_cause", {"causes": ()}, ValueError, "causes is empty"),
    ("cause", {"causes": (3,)}, TypeError, "cause 3 must be a string"),
    ("causes", {"causes": ("a", "a")}, ValueError, "'a' is there twice"),
    ("discrete", {"discrete": 1}, TypeError, "discrete is 1"),
    ("above", {"discrete": True}, ValueError, "from phase 0 sum to 1.5"),
    ("states", {"states": (1,)}, ValueError, "1 states and 2 phases"),
    ("twice", {"states": (1, 1)}, ValueError, "a state is there twice"),
  )
  def test_constructor(self, changed, error, message):
    Graph(**self.good)
    with self.assertRaisesRegex(error, message):
      Graph(**{**self.good, **changed})

  def test_arrays_stay_as_they_were_checked(self):
    constants = onp.asarray([1.0, 0.5, 1.0])
    graph = Graph(**{**self.good, "constants": constants})
    constants[0] = -1.0
    self.assert_close(graph.constants, [1.0, 0.5, 1.0])
    with self.assertRaisesRegex(ValueError, "read-only"):
      graph.constants[0] = -1.0


if __name__ == "__main__":
  absltest.main()
