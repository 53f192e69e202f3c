"""Properties that hold for all graphs."""

from absl.testing import absltest
import hypothesis
from hypothesis import strategies
import numpy as onp

from phasic import graphs
from tests.helpers import test_case

_SETTINGS = hypothesis.settings(
  max_examples=40, deadline=None, derandomize=True
)
_SEEDS = strategies.integers(0, 2**31 - 1)

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph


def random_matrices(number, discrete):
  """Returns alpha, matrix and exits; absorption can be reached from all."""
  rng = onp.random.default_rng(number)
  p = int(rng.integers(1, 9))
  table = rng.uniform(0.0, 1.0, (p, p + 1)) * (
    rng.uniform(size=(p, p + 1)) < 0.4
  )
  onp.fill_diagonal(table, 0.0)
  # Every phase leads to the next phase, and the last to absorption.
  table = table + onp.eye(p, p + 1, 1)
  if discrete:
    table = table * rng.uniform(0.5, 1.0, (p, 1))
    table = table / onp.maximum(onp.sum(table, axis=1, keepdims=True), 1.0)
  alpha = rng.dirichlet(onp.ones(p))
  matrix = table[:, :p]
  rest = 1.0 - onp.sum(table, axis=1) if discrete else 0.0
  return alpha, matrix + onp.diag(rest * onp.ones(p)), table[:, p]


def edges_of(matrix, exits):
  """Lists the edges, including loops."""
  p = len(exits)
  rows = [
    (i, j, float(matrix[i, j]))
    for i in range(p)
    for j in range(p)
    if matrix[i, j] > 0.0
  ]
  leaving = [(i, float(exits[i])) for i in range(p) if exits[i] > 0.0]
  return rows + [(i, ABSORBED, rate) for i, rate in leaving]


def by_states(graph):
  """Returns facts that do not depend on the order of states and edges."""
  starts = zip(graph.states, graph.initial_constants, strict=False)
  return set(graph.edges), set(starts)


class PropertyTest(test_case.TestCase):
  @_SETTINGS
  @hypothesis.given(_SEEDS, strategies.booleans())
  def test_edges_as_matrices(self, number, discrete):
    alpha, matrix, exits = random_matrices(number, discrete)
    expected = Graph.from_matrices(alpha, matrix, exits, discrete=discrete)
    start = {i: float(a) for i, a in enumerate(alpha)}
    edges = edges_of(matrix, exits)
    in_order = Graph.from_edges(edges, start, discrete=discrete)
    self.assertEqual(in_order.content_hash(), expected.content_hash())
    shuffled = list(reversed(edges))
    other = Graph.from_edges(
      shuffled, dict(reversed(start.items())), discrete=discrete
    )
    self.assertEqual(by_states(other), by_states(expected))

  @_SETTINGS
  @hypothesis.given(_SEEDS, strategies.integers(0, 3))
  def test_round_trips(self, number, num_params):
    rng = onp.random.default_rng(number)
    alpha, matrix, exits = random_matrices(number, False)
    edges = [
      graphs.Edge(
        ("at", i),
        j if j == ABSORBED else ("at", j),
        weight,
        tuple(rng.normal(size=num_params)),
      )
      for i, j, weight in edges_of(matrix, exits)
    ]
    start = {("at", i): float(a) for i, a in enumerate(alpha)}
    graph = Graph.from_edges(edges, start, num_params)
    for other in (
      Graph.from_json(graph.to_json()),
      Graph.from_edges(graph.edges, start, num_params),
    ):
      self.assertEqual(other.content_hash(), graph.content_hash())
      self.assertEqual(other.states, graph.states)
      self.assertEqual(other.edges, graph.edges)

  @_SETTINGS
  @hypothesis.given(_SEEDS)
  def test_every_weight_counts_for_the_hash(self, number):
    alpha, matrix, exits = random_matrices(number, False)
    graph = Graph.from_matrices(alpha, matrix, exits)
    e = number % graph.num_edges
    parts = graph._contents()
    constants = onp.array(parts.constants)
    constants[e] = onp.nextafter(constants[e], 2.0)
    other = Graph(**parts._replace(constants=constants)._asdict())
    self.assertNotEqual(other.content_hash(), graph.content_hash())

  @_SETTINGS
  @hypothesis.given(strategies.text(max_size=50))
  def test_no_text_gets_through(self, text):
    with self.assertRaises(ValueError):
      Graph.from_json(text)

  @_SETTINGS
  @hypothesis.given(_SEEDS, strategies.integers(0, 2**31))
  def test_damaged_texts(self, number, place):
    graph = Graph.from_matrices(*random_matrices(number, False))
    text = graph.to_json()
    i = place % len(text)
    for damaged in (
      text[:i],
      text[:i] + text[i + 1 :],
      text[:i] + "9" + text[i:],
    ):
      try:
        other = Graph.from_json(damaged)
      except ValueError:
        continue
      # A graph that is read is valid, and can be used.
      other.edge_values()
      Graph.from_json(other.to_json())


if __name__ == "__main__":
  absltest.main()
