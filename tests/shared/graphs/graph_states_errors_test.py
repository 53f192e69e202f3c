"""Mistakes in the states of graphs."""

import dataclasses
import json
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import graphs
from tests.helpers import graph_cases
from tests.helpers import test_case

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph


class Identity:
  """A class whose instances are equal only to themselves."""

  def __repr__(self):
    return "Identity()"


class Nested:
  """A class whose comparison recurses in Python.

  That of nested tuples has a limit of its own in each version of Python.
  """

  def __init__(self, inner):
    self.inner = inner

  def __eq__(self, other):
    return self is other or self.inner == other.inner

  def __hash__(self):
    return 1


class WrongHash:
  """A class with equal instances and different hashes."""

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


class StateErrorTest(test_case.TestCase):
  @parameterized.parameters(
    ([1, 2],), ({"a": 1},), ({1, 2},), (onp.ones(2),), ((1, [2]),)
  )
  def test_unhashable(self, state):
    with self.assertRaisesRegex(
      TypeError, r"edge from 0 to .* with weight 1.0: state .* not hashable"
    ):
      Graph.from_transitions(graph_cases.one_edge(1.0, state), 0)
    with self.assertRaisesRegex(TypeError, r"edges\[0\] .* is not hashable"):
      Graph.from_edges([(state, ABSORBED, 1.0)], 0)

  def test_nested_too_deeply(self):
    def state():
      found = ()
      for _ in range(12_000):
        found = Nested(found)
      return found

    one = state()
    message = r"^(edge from .*: )?states? .*is nested too deeply|are nested too"
    graph = Graph.from_edges([(one, ABSORBED, 1.0)], one)
    self.assertEqual(graph.index_of(one), 0)
    self.assertIsNone(json.loads(graph.to_json())["states"])
    for error, call in (
      (TypeError, lambda: graph.index_of(state())),
      (TypeError, lambda: graphs.first_passage_time(graph, [state()])),
      (TypeError, lambda: Graph.from_edges([(one, ABSORBED, 1.0)], state())),
      (
        TypeError,
        lambda: Graph.from_edges([(one, 1, 1), (state(), 1, 1)], one),
      ),
      (
        TypeError,
        lambda: Graph.from_transitions(lambda x: [(state(), 1.0)], state()),
      ),
      (
        ValueError,
        lambda: Graph.from_matrices(
          [1.0, 0.0], [[0, 1], [0, 0]], [0, 1], states=[one, state()]
        ),
      ),
    ):
      with self.assertRaisesRegex(error, message):
        call()
    with self.assertRaisesRegex(TypeError, r"state \[1\] is not hashable"):
      Graph.from_matrices([1.0], [[0.0]], [1.0], states=[[1]])

  @parameterized.parameters(([1],), ({},), ({1},))
  def test_unhashable_in_a_passage(self, state):
    graph = Graph.from_edges([(0, ABSORBED, 1.0)], 0)
    with self.assertRaisesRegex(TypeError, "state .* is not hashable"):
      graphs.first_passage_time(graph, [state])

  def test_unhashable_initial_state(self):
    with self.assertRaisesRegex(
      TypeError, r"initial state \{1\} with weight 1.0: state .* not hashable"
    ):
      Graph.from_transitions(graph_cases.one_edge(1.0), {1})

  def test_not_equal_to_itself(self):
    with self.assertRaisesRegex(ValueError, "nan does not equal itself"):
      Graph.from_transitions(graph_cases.one_edge(1.0, math.nan), 0)

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
    chain = [(n, n + 1, {"a": 2.0, 1: 0.5}) for n in range(9)]
    with self.assertRaisesRegex(
      ValueError,
      r"edge from 4 to 5 with weight 0.5 \+ 2.0 params\[0\]: more than",
    ):
      Graph.from_edges(chain, 0, params=("a",), max_states=5)
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
      Graph.from_transitions(graph_cases.one_edge(1.0), 0, max_states=most)

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
    with self.assertRaisesRegex(ValueError, "the graph has no edges"):
      Graph.from_transitions(lambda n: (), 0, allow_never_absorbing=True)

  def test_absorption_is_no_state(self):
    with self.assertRaisesRegex(ValueError, "no edge may leave ABSORBED"):
      Graph.from_edges([(ABSORBED, 1, 1.0)], 0)


if __name__ == "__main__":
  absltest.main()
