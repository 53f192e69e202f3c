"""Graphs that were made of arrays, without names of their phases."""

import math
import types

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from tests.helpers import test_case

ABSORBED = graphs.ABSORBED


def _graph(sources, targets, rates, initial, **options):
  """Makes a graph of rates without parameters."""
  return graphs.Graph(
    sources,
    targets,
    rates,
    onp.zeros((len(rates), 0)),
    initial,
    onp.zeros((len(initial), 0)),
    **options,
  )


def _diamond():
  """Returns a fork into phases 1 and 2, with equal rates, and a last phase 3."""
  return _graph(
    [0, 0, 1, 2, 3],
    [1, 2, 3, 3, 4],
    [1.0, 3.0, 2.0, 2.0, 5.0],
    [1.0, 0.0, 0.0, 0.0, 0.0],
  )


class WithoutStatesTest(test_case.TestCase):
  def test_there_are_none(self):
    with self.assertRaisesRegex(ValueError, "states"):
      _ = _diamond().states

  def test_text(self):
    text = _diamond().describe()
    self.assertIn("phases: 4\n", text)
    self.assertIn("structure: acyclic\n", text)
    loop = _graph([0, 1, 1], [1, 0, 2], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0])
    self.assertIn("structure: cyclic\n", loop.describe())

  def test_lumped(self):
    found = graphs.lump(_diamond())
    self.assertEqual(list(onp.asarray(found.classes)), [0, 1, 1, 2])
    self.assert_close(
      pd.PhaseType.from_graph(found.graph).mean(), 1 / 4 + 1 / 2 + 1 / 5
    )
    named = graphs.lump(_diamond(), ["a", "b", "b", "c"])
    self.assertEqual(list(onp.asarray(named.classes)), [0, 1, 1, 2])
    with self.assertRaisesRegex(
      ValueError, "partition is a function of states, but the graph has no st"
    ):
      graphs.lump(_diamond(), lambda state: state)
    with self.assertRaisesRegex(
      ValueError,
      "phase 1 and phase 3 are in class 'b', but their weights into",
    ):
      graphs.lump(_diamond(), ["a", "b", "c", "b"])

  def test_weights_of_classes_in_messages(self):
    # Into class "b" lead 2 x and 2 x + 1, into absorption the same weights.
    def graph(**options):
      return graphs.Graph(
        [0, 0, 1, 1, 2],
        [2, 3, 2, 3, 3],
        [0.0, 1.0, 1.0, 1.0, 1.0],
        [[2.0], [0.0], [2.0], [0.0], [0.0]],
        [0.5, 0.5, 0.0, 0.0],
        onp.zeros((4, 1)),
        **options,
      )

    for names, text in ((None, "0"), (("x",), "x")):
      with self.assertRaisesRegex(
        ValueError,
        f"phase 0 and phase 1 are in class 'a', but their weights into class "
        rf"'b' are {{{text}: 2.0}} and {{{text}: 2.0, constant: 1.0}}",
      ):
        graphs.lump(graph(parameter_names=names), ["a", "a", "b"])

  def test_reversed(self):
    # Backwards the chain starts in phase 3, and the fork closes in phase 0.
    back = graphs.reverse(_diamond())
    mean = pd.PhaseType.from_graph(back).mean()
    self.assert_close(mean, pd.PhaseType.from_graph(_diamond()).mean())

  def test_events(self):
    # At rate 5 events occur before absorption at rate 5 with probability 1/2.
    last = _graph([0], [1], [5.0], [1.0, 0.0])
    chain = graphs.with_event_counts(last, 5.0)
    self.assertEqual(chain.graph.num_phases, 2)
    steps = pd.DiscretePhaseType.from_graph(chain.graph)
    # n events take 2 n + 1 steps.
    self.assert_close(steps.prob(onp.asarray([1.0, 2.0, 3.0])), [0.5, 0, 0.25])
    with self.assertRaisesRegex(ValueError, "rate is 1.*: it must be positive"):
      graphs.with_event_counts(last, 10**400)

  def test_passages_need_states(self):
    with self.assertRaisesRegex(
      ValueError, "the graph has no states: .* use the graph from which this"
    ):
      graphs.first_passage_time(_diamond(), [3])

  def test_initial_weights_that_are_negative(self):
    graph = graphs.Graph(
      [0, 1],
      [1, 2],
      [1.0, 1.0],
      [[0.0], [0.0]],
      [0.0, 1.0, 0.0],
      [[1.0], [-1.0], [0.0]],
    )
    self.assert_close(
      pd.PhaseType.from_graph(graphs.reverse(graph, [0.25])).mean(), 1.25
    )
    for q, phase, weight in ((-0.5, 0, -0.5), (1.5, 1, -0.5)):
      with self.assertRaisesRegex(
        ValueError,
        f"params: the initial weight of phase {phase} is {weight}: it must be",
      ):
        graphs.reverse(graph, [q])
    atom = graphs.Graph([0], [1], [1.0], [[0.0]], [1.0, 0.0], [[-1.0], [1.0]])
    with self.assertRaisesRegex(
      ValueError, "params: the initial weight of the atom at zero is -1.0"
    ):
      graphs.reverse(atom, [-1.0])


class StatesTest(test_case.TestCase):
  @parameterized.parameters(2**31, 2**40)
  def test_too_many(self, most):
    with self.assertRaisesRegex(
      ValueError, f"max_states is {most}: it must be below 2\\*\\*31"
    ):
      graphs.Graph.from_edges([(0, ABSORBED, 1.0)], 0, max_states=most)

  def test_states_that_are_too_deep(self):
    class Deep:
      def __hash__(self):
        return hash((self, 1))

    for state in (Deep(), (Deep(), 2)):
      with self.assertRaisesRegex((TypeError, ValueError), "deep"):
        graphs.Graph.from_transitions(lambda _, s=state: [(s, 1.0)], 0)

  def test_without_parameters(self):
    graph = graphs.Graph.from_edges([(0, ABSORBED, 2.0)], 0)
    for params in (None, {}):
      self.assert_close(pd.PhaseType.from_graph(graph, params).mean(), 0.5)

  def test_networks(self):
    with self.assertRaisesRegex(
      TypeError, "weight is 3: it must be the name of an attribute of edges"
    ):
      network = types.SimpleNamespace(is_directed=lambda: True, graph={})
      graphs.Graph.from_networkx(network, "up", weight=3)
    with self.assertRaisesRegex(
      TypeError, "axes is 3: it must be axes of matplotlib"
    ):
      _diamond().plot(axes=3)

  def test_spectra(self):
    with self.assertRaisesRegex(
      ValueError, r"counts has shape \(3, 2\) and lengths \(4, 2\): they must"
    ):
      graphs.models.spectrum_log_likelihood(onp.ones((3, 2)), onp.ones((4, 2)))
    value = graphs.models.spectrum_log_likelihood([1.0, 2.0], [3.0, 1.0])
    self.assertTrue(math.isfinite(float(value)))


if __name__ == "__main__":
  absltest.main()
