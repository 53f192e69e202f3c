"""Graphs: construction, and weights as array functions."""

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import graphs
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import test_case

ABSORBED = graphs.ABSORBED


def coalescent(n):
  yield (n - 1 if n > 2 else ABSORBED), {"coal": n * (n - 1) / 2}


def repair(state):
  """Builds a machine that works, waits for repair, or is lost."""
  if state == "works":
    yield "waits", {"wear": 1.0}
    yield ABSORBED("worn out"), {"wear": 0.25, 1: 0.5}
  else:
    yield "works", 3.0
    yield ABSORBED("given up"), {"wear": -0.5, 1: 1.0}


class BuiltTest(test_case.TestCase):
  """Tests arrays of small graphs."""

  def test_coalescent(self):
    graph = graphs.Graph.from_transitions(coalescent, 5, params=("coal",))
    self.assertEqual(graph.states, (5, 4, 3, 2))
    self.assertEqual(graph.num_phases, 4)
    self.assertEqual(graph.num_edges, 4)
    self.assertEqual(graph.num_params, 1)
    self.assertEqual(graph.parameter_names, ("coal",))
    self.assertEqual(graph.causes, (None,))
    self.assertFalse(graph.discrete)
    self.assertEqual(graph.index_of(3), 2)
    self.assert_close(graph.sources, [0, 1, 2, 3])
    self.assert_close(graph.targets, [1, 2, 3, 4])
    self.assert_close(graph.constants, onp.zeros(4))
    self.assert_close(graph.coefficients, [[10.0], [6.0], [3.0], [1.0]])
    self.assert_close(graph.initial_constants, [1.0, 0.0, 0.0, 0.0, 0.0])
    self.assert_close(graph.initial_coefficients, onp.zeros((5, 1)))

  def test_causes_and_mixed_weights(self):
    graph = graphs.Graph.from_transitions(repair, "works", params=("wear",))
    self.assertEqual(graph.causes, ("worn out", "given up"))
    self.assert_close(graph.targets, [1, 2, 0, 3])
    self.assert_close(graph.constants, [0.0, 0.5, 3.0, 1.0])
    self.assert_close(graph.coefficients, [[1.0], [0.25], [0.0], [-0.5]])
    self.assert_close(graph.edge_values([2.0]), [2.0, 1.0, 3.0, 0.0])

  def test_parallel_edges_are_summed(self):
    def transitions(state):
      yield ABSORBED, (1.0, 0.0)
      yield state, 7.0
      yield ABSORBED, 2.5
      yield ABSORBED, [0.5, 2.0]

    graph = graphs.Graph.from_transitions(transitions, (), params=2)
    self.assert_close(graph.constants, [2.5])
    self.assert_close(graph.coefficients, [[1.5, 2.0]])
    self.assertEqual(
      graph.notes,
      (
        "left out: 1 transition from a state to itself (they do not change the "
        "distribution), the first at ()",
      ),
    )

  def test_weights_that_are_zero_are_no_edges(self):
    def transitions(n):
      yield n + 1, 0.0
      yield n + 2, {"a": 0.0}
      yield ABSORBED, 1.0

    graph = graphs.Graph.from_transitions(transitions, 0, params=("a",))
    self.assertEqual(graph.states, (0,))

  def test_initial_weights_with_parameters(self):
    graph = graphs.Graph.from_transitions(
      lambda n: [(ABSORBED, float(n))],
      {
        1: {"q": 1.0},
        2: {"q": -0.75, 1: 0.75},
        ABSORBED: {1: 0.25, "q": -0.25},
      },
      params=("q",),
    )
    self.assert_close(graph.initial_probs({"q": 0.5}), [0.5, 0.375])
    self.assert_close(graph.prob_zero({"q": 0.5}), 0.125)
    self.assert_close(
      graph.initial_probs([[1.0], [0.0]]), [[1.0, 0.0], [0.0, 0.75]]
    )
    with self.assertRaisesRegex(ValueError, "params is None: .* parameter q"):
      graph.initial_probs()

  def test_initial_weights_without(self):
    graph = graphs.Graph.from_transitions(
      coalescent, [(3, 0.5), (2, 0.25), (ABSORBED, 0.25)], params=("coal",)
    )
    self.assert_close(graph.initial_probs(), [0.5, 0.25])
    self.assert_close(graph.prob_zero(), 0.25)
    self.assert_close(graph.prob_zero(onp.ones((2, 1))), [0.25, 0.25])

  def test_parameters_that_are_not_used(self):
    for params, name in ((("a", "b"), "'b'"), (2, "1")):
      graph = graphs.Graph.from_transitions(
        lambda n: [(ABSORBED, (1.0, 0.0))], 0, params=params
      )
      self.assertEqual(graph.notes, (f"parameter {name} is in no weight",))

  def test_index_of(self):
    graph = graphs.Graph.from_transitions(coalescent, 5, params=("coal",))
    with self.assertRaisesRegex(ValueError, "state 7 is not in the graph"):
      graph.index_of(7)
    with self.assertRaisesRegex(TypeError, r"state \[7\] is not hashable"):
      graph.index_of([7])


class WeightsTest(test_case.TestCase):
  """Tests weights of given parameters."""

  def test_params_by_name(self):
    graph = graphs.Graph.from_transitions(
      lambda n: [(ABSORBED, {"a": 1.0, "b": 2.0})], 0, params=("a", "b")
    )
    self.assert_close(graph.params_array({"b": 3.0, "a": 1.0}), [1.0, 3.0])
    self.assert_close(
      graph.params_array({"b": [3.0, 4.0], "a": 1.0}), [[1.0, 3.0], [1.0, 4.0]]
    )
    self.assert_close(graph.edge_values({"b": 3.0, "a": 1.0}), [7.0])
    narrow = graph.edge_values(onp.ones((3, 2), onp.float32))
    self.assertEqual(narrow.dtype, np.zeros((), dtype="float32").dtype)
    for params, message in (
      ({"a": 1.0}, "missing 'b'; the graph has 2 parameters a, b"),
      ({"a": 1.0, "b": 1.0, "c": 1.0}, "unknown 'c'"),
      (onp.ones(3), r"shape \(3,\): they must be \(..., 2\)"),
      (1.0, r"shape \(\): they must be"),
      (None, "params is None"),
    ):
      with self.assertRaisesRegex(ValueError, message):
        graph.edge_values(params)

  def test_names_are_needed_for_a_mapping(self):
    graph = graphs.Graph.from_transitions(
      lambda n: [(ABSORBED, [1.0])], 0, params=1
    )
    with self.assertRaisesRegex(TypeError, "without names"):
      graph.edge_values({"a": 1.0})

  def test_edge_weights(self):
    graph = graphs.Graph.from_transitions(repair, "works", params=("wear",))
    edges = graph.edge_weights({"wear": 0.5})
    self.assertIsInstance(edges, pm.EdgeRates)
    self.assert_close(edges.targets, [1, 2, 0, 2])
    times = onp.asarray([0.25, 1.0])
    by_values = graph.edge_weights(edge_values=graph.edge_values([0.5]))
    dense = [[-1.125, 0.5], [3.0, -3.75]]
    alpha = graph.initial_probs()
    expected = pm.phase_type.log_prob(times, [1.0, 0.0], dense)
    self.assert_close(
      pm.phase_type.log_prob(times, alpha, edges), expected, 1e-13
    )
    self.assert_close(
      pm.phase_type.log_prob(times, alpha, by_values), expected, 1e-13
    )
    with self.assertRaisesRegex(ValueError, "both given: pass only one"):
      graph.edge_weights([0.5], [1.0] * 4)
    with self.assertRaisesRegex(ValueError, r"edge_values have shape \(3,\)"):
      graph.edge_weights(edge_values=onp.ones(3))

  def test_no_parameters(self):
    graph = graphs.Graph.from_transitions(lambda n: [(ABSORBED, 2.0)], 0)
    self.assert_close(graph.edge_values(), [2.0])
    self.assert_close(graph.edge_values(onp.ones((3, 0))), 2 * onp.ones((3, 1)))
    value = pm.phase_type.prob(0.5, graph.initial_probs(), graph.edge_weights())
    self.assert_close(value, 2 * onp.exp(-1.0), 1e-14)

  def test_discrete(self):
    graph = graphs.Graph.from_transitions(
      lambda n: [(ABSORBED, 0.25), (n, 0.25)], 0, discrete=True
    )
    edges = graph.edge_weights()
    self.assertIsInstance(edges, pm.EdgeProbs)
    value = pm.discrete_phase_type.prob(3, graph.initial_probs(), edges)
    self.assert_close(value, 0.25 * 0.75**2, 1e-15)

  def test_gradients(self):
    graph = graphs.Graph.from_transitions(repair, "works", params=("wear",))

    def total(wear):
      return np.sum(graph.edge_values({"wear": wear}) * onp.arange(1.0, 5.0))

    value, slope = gradients.value_and_gradient(total, np.asarray(0.5))
    self.assert_close(value, 0.5 + 2 * 0.625 + 3 * 3.0 + 4 * 0.75)
    self.assert_close(slope, 1.0 + 0.5 - 2.0)


class StructureTest(test_case.TestCase):
  """Tests graphs as structures of arrays."""

  def test_rebuilt(self):
    graph = graphs.Graph.from_transitions(repair, "works", params=("wear",))
    rebuilt = graphs.Graph._unflatten(graph._parts())
    self.assert_close(rebuilt.edge_values([2.0]), graph.edge_values([2.0]))
    self.assertEqual(repr(rebuilt), repr(graph))
    with self.assertRaisesRegex(ValueError, "has no states"):
      rebuilt.index_of("works")


if __name__ == "__main__":
  absltest.main()
