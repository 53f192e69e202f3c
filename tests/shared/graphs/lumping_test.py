"""Lumping: the coarsest partition, and errors of invalid partitions."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from tests.helpers import test_case

ABSORBED = graphs.ABSORBED
models = graphs.models

_TIMES = (1e-3, 0.1, 1.0, 5.0, 40.0)


def planted(copies, seed, discrete=False):
  """Draws a graph with copied states and unevenly split edges.

  Copies of a state have the same rates into all copies of another together.
  """
  state = onp.random.RandomState(seed)
  p = len(copies)
  weights = state.gamma(1.0, size=(p, p + 1, 2)) * (0.1 / p if discrete else 1)
  weights[state.uniform(size=(p, p + 1)) < 0.4] = 0.0
  shares = {
    (i, c, j): state.dirichlet(onp.ones(copies[j]))
    for i in range(p)
    for c in range(copies[i])
    for j in range(p)
  }

  def transitions(node):
    i, c = node
    yield ABSORBED("all"), (0.01, 0.0)
    yield ABSORBED, tuple(weights[i, p])
    for j in range(p):
      for other, share in enumerate(shares[i, c, j]):
        if j != i:
          yield (j, other), tuple(share * weights[i, j])
    # Rates within a class are irrelevant.
    yield (i, (c + 1) % copies[i]), (float(state.gamma(1.0)) * 0.01, 0.0)

  nodes = [(i, c) for i in range(p) for c in range(copies[i])]
  start = {node: 1.0 / len(nodes) for node in nodes}
  return graphs.Graph.from_transitions(transitions, start, 2, discrete=discrete)


def naive(graph, classes):
  """Computes the coarsest refinement by comparing all states repeatedly."""
  p = graph.num_phases
  sources, targets = onp.asarray(graph.sources), onp.asarray(graph.targets)
  weights = onp.column_stack([graph.constants, graph.coefficients])
  count = 0
  while count != len(set(classes)):
    count = len(set(classes))
    rows = []
    for i in range(p):
      row = {}
      for e in onp.flatnonzero(sources == i):
        j = int(targets[e])
        c = classes[j] if j < p else ("absorbed", j)
        if c != classes[i]:
          row[c] = row.get(c, 0.0) + weights[e]
      rows.append((classes[i], row))
    classes = _numbers(rows)
  return classes


def _numbers(rows):
  found = []
  result = []
  for own, row in rows:
    for k, (other, first) in enumerate(found):
      if (own, row.keys()) == (other, first.keys()) and all(
        onp.allclose(row[c], first[c], 1e-12, 0) for c in row
      ):
        result.append(k)
        break
    else:
      result.append(len(found))
      found.append((own, row))
  return result


class CoarsestTest(test_case.TestCase):
  """Tests the coarsest strong lumping."""

  @parameterized.parameters(([4, 3],), ([3, 2, 2],), ([8, 0, 0],))
  def test_islands_are_sorted(self, samples):
    graph = models.island_coalescent(samples)
    lumped = graphs.lump(graph)
    expected = {tuple(sorted(state)) for state in graph.states}
    self.assertLen(lumped.graph.states, len(expected))
    of_class = {}
    for state, c in zip(graph.states, lumped.classes, strict=True):
      self.assertEqual(of_class.setdefault(c, sorted(state)), sorted(state))
    for theta in ([1.0, 0.25], [0.125, 8.0]):
      whole = pd.PhaseType.from_graph(graph, theta)
      small = pd.PhaseType.from_graph(lumped.graph, theta)
      for t in _TIMES:
        self.assert_close(small.log_prob(t), whole.log_prob(t), 1e-13, 1e-13)

  @parameterized.product(
    copies=((1, 3, 2), (4, 4, 1, 2), (1, 1, 1), (5, 1, 3, 2, 2)),
    seed=(0, 1),
    discrete=(False, True),
  )
  def test_planted(self, copies, seed, discrete):
    graph = planted(copies, seed, discrete)
    lumped = graphs.lump(graph)
    own = [state[0] for state in graph.states]
    self.assertEqual(list(lumped.classes), _numbers([(i, {}) for i in own]))
    self.assertEqual(list(lumped.classes), naive(graph, [0] * len(own)))
    self.assertEqual(lumped.graph.causes, graph.causes)
    theta = [0.75, 1.5]
    if discrete:
      whole = pd.DiscretePhaseType.from_graph(graph, theta)
      small = pd.DiscretePhaseType.from_graph(lumped.graph, theta)
      values = (1.0, 2.0, 17.0)
    else:
      whole = pd.PhaseType.from_graph(graph, theta)
      small = pd.PhaseType.from_graph(lumped.graph, theta)
      values = _TIMES
    for x in values:
      self.assert_close(small.log_prob(x), whole.log_prob(x), 1e-12, 1e-13)

  def test_rewards_are_kept_apart(self):
    graph = models.island_coalescent([2, 2])
    first = [float(state[0] > state[1]) for state in graph.states]
    lumped = graphs.lump(graph, rewards=first)
    kept = onp.asarray(first)[lumped.representatives]
    self.assert_close(kept[lumped.classes], first)
    self.assertEqual(
      list(lumped.classes),
      naive(graph, _numbers([(r, {}) for r in first])),
    )
    both = onp.column_stack([first, onp.zeros(len(first))])
    self.assertEqual(
      list(graphs.lump(graph, rewards=both).classes), list(lumped.classes)
    )
    self.assertGreater(len(kept), graphs.lump(graph).graph.num_phases)

  def test_causes_are_kept_apart(self):
    def transitions(i):
      yield ABSORBED("a" if i == 0 else "b"), 1.0

    graph = graphs.Graph.from_transitions(transitions, {0: 0.5, 1: 0.5})
    self.assertEqual(graphs.lump(graph).graph.num_phases, 2)

  def test_each_parameter_by_itself(self):
    # The rates are equal only for equal parameters.
    graph = graphs.Graph.from_transitions(
      lambda i: [(ABSORBED, (1.0, 0.0) if i == 0 else (0.0, 1.0))],
      {0: 0.5, 1: 0.5},
      2,
    )
    self.assertEqual(graphs.lump(graph).graph.num_phases, 2)

  def test_rounding_does_not_matter(self):
    # 0.1 + 0.2 is not 0.3.
    def transitions(i):
      if i == 0:
        yield 2, 0.1
        yield 3, 0.2
      elif i == 1:
        yield 2, 0.3
      else:
        yield ABSORBED, 1.0

    graph = graphs.Graph.from_transitions(transitions, {0: 0.5, 1: 0.5})
    self.assertEqual(graphs.lump(graph).graph.num_phases, 2)

  def test_long_chain_that_unrolls_slowly(self):
    # Only the end differs, so classes split one at a time.
    p = 3000
    graph = graphs.Graph.from_transitions(
      lambda i: [(i + 1 if i < p - 1 else ABSORBED, 1.0)], 0
    )
    self.assertEqual(graphs.lump(graph).graph.num_phases, p)

  def test_hypercube(self):
    # Machines one by one become their number.
    def transitions(state):
      for i, up in enumerate(state):
        changed = (*state[:i], not up, *state[i + 1 :])
        yield (
          changed if any(changed) else ABSORBED,
          {"fails" if up else "mended": 1.0},
        )

    graph = graphs.Graph.from_transitions(
      transitions, (True,) * 9, ("fails", "mended")
    )
    self.assertEqual(graph.num_phases, 2**9 - 1)
    lumped = graphs.lump(graph)
    self.assertEqual(lumped.graph.num_phases, 9)
    rates = self.host(lumped.graph.edge_values([1.0, 10.0]))
    self.assertEqual(
      sorted(rates),
      sorted([*range(1, 10), *(10.0 * n for n in range(1, 9))]),
    )


class PartitionTest(test_case.TestCase):
  """Tests given partitions."""

  def test_by_function_and_by_name(self):
    graph = models.island_coalescent([2, 1])
    one = graphs.lump(graph, lambda state: tuple(sorted(state)))
    self.assertEqual(
      one.graph.states,
      tuple(dict.fromkeys(tuple(sorted(s)) for s in graph.states)),
    )
    two = graphs.lump(graph, [sum(2**n for n in s) for s in graph.states])
    self.assertEqual(list(one.classes), list(two.classes))
    self.assert_close(one.graph.coefficients, two.graph.coefficients)

  def test_finest(self):
    graph = models.illness_death()
    same = graphs.lump(graph, ["x", "y"]).graph
    self.assertEqual(same.states, ("x", "y"))
    self.assert_close(same.coefficients, graph.coefficients)

  def test_refused_with_the_reason(self):
    graph = models.island_coalescent([3, 0])
    with self.assertRaisesRegex(
      ValueError,
      r"\(3, 0\) and \(2, 1\) are in class 3, but their weights into class 2 "
      r"are \{coalescence: 3.0\} and \{coalescence: 1.0\}",
    ):
      graphs.lump(graph, sum)
    with self.assertRaisesRegex(
      ValueError, r"but their weights into ABSORBED\('ill'\) are 0.0 and"
    ):
      graphs.lump(models.illness_death(), [0, 0])

  def test_refused_for_rewards(self):
    graph = models.island_coalescent([1, 1])
    rewards = [float(state[0]) for state in graph.states]
    with self.assertRaisesRegex(
      ValueError, r"are in one class, but their rewards are 0.0 and 2.0"
    ):
      graphs.lump(graph, lambda s: tuple(sorted(s)), rewards)

  def test_refused(self):
    graph = models.illness_death()
    with self.assertRaisesRegex(ValueError, "1 phases: it must name the class"):
      graphs.lump(graph, [0])
    with self.assertRaisesRegex(TypeError, "name is not hashable"):
      graphs.lump(graph, [[], []])
    with self.assertRaisesRegex(ValueError, r"rewards have shape \(3,\)"):
      graphs.lump(graph, rewards=[1.0, 2.0, 3.0])
    with self.assertRaisesRegex(ValueError, "rewards have a NaN"):
      graphs.lump(graph, rewards=[1.0, onp.nan])
    with self.assertRaisesRegex(TypeError, "graph is int"):
      graphs.lump(1)


class NaiveTest(test_case.TestCase):
  """Compares all small graphs with the naive refinement."""

  def test_all_graphs_of_three_states(self):
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    for chosen in itertools.product((0, 1, 2), repeat=len(pairs)):
      weights = dict(zip(pairs, chosen, strict=True))

      def transitions(i, weights=weights):
        yield ABSORBED, 1.0 + (i == 2 and weights[0, 1] == 1)
        for (source, j), w in weights.items():
          if source == i:
            yield j, float(w)

      graph = graphs.Graph.from_transitions(
        transitions, {i: 1 / 3 for i in range(3)}
      )
      lumped = graphs.lump(graph)
      self.assertEqual(list(lumped.classes), naive(graph, [0] * 3), weights)


if __name__ == "__main__":
  absltest.main()
