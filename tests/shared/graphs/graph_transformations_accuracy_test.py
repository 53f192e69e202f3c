"""Transformations of graphs, and the distributions of the results."""

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as onp
import scipy.sparse
import scipy.sparse.csgraph

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from tests.helpers import test_case
from tests.oracle import rational_graph

ABSORBED = graphs.ABSORBED
models = graphs.models


def random_graph(p, edges, seed, discrete=False):
  """Draws a graph with parameters, two causes, an atom, and cycles."""
  state = onp.random.RandomState(seed)
  places = state.choice(p * (p + 1), edges, replace=False)
  found = {
    (int(e) // (p + 1), int(e) % (p + 1)): state.gamma(1.0, size=3)
    for e in places
  }
  scale = 0.25 / p if discrete else 1.0

  def transitions(i):
    # The cycle makes all states reachable, with absorption.
    yield (i + 1) % p, (0.0, 0.125 * scale)
    yield ABSORBED("other"), (0.25 * scale, 0.0)
    for (source, j), (a, b, c) in found.items():
      if source == i and j != i:
        weight = {"a": a * scale, "b": b * scale, 1: c * scale}
        yield (j if j < p else ABSORBED), weight

  return graphs.Graph.from_transitions(
    transitions,
    [(0, 0.5), (p // 2, 0.25), (ABSORBED, 0.25)],
    ("a", "b"),
    discrete=discrete,
  )


class ComponentsTest(test_case.TestCase):
  """Tests strongly connected components."""

  @parameterized.parameters(*range(8))
  def test_against_scipy(self, seed):
    state = onp.random.RandomState(seed)
    p = 40
    sources = state.randint(p, size=55)
    targets = state.randint(p, size=55)
    graph = graphs.Graph.from_transitions(
      lambda i: [
        (ABSORBED, 1.0),
        *((int(j), 1.0) for j in targets[sources == i]),
      ],
      {i: 1.0 / p for i in range(p)},
    )
    found = graphs.strongly_connected_components(graph)
    labels = onp.zeros(p, onp.int64)
    for c, phases in enumerate(found):
      self.assertEqual(sorted(phases), list(phases))
      labels[phases] = c
    matrix = scipy.sparse.csr_array(
      (onp.ones(55), (sources, targets)), shape=(p, p)
    )
    count, expected = scipy.sparse.csgraph.connected_components(
      matrix, connection="strong"
    )
    self.assertLen(found, count)
    pairs = {(int(a), int(b)) for a, b in zip(labels, expected, strict=True)}
    self.assertLen(pairs, count)
    self.assertTrue(onp.all(labels[sources] <= labels[targets]))

  def test_long_chain(self):
    # The depth exceeds Python's recursion limit.
    p = 20_000
    chain = graphs.Graph.from_transitions(
      lambda i: [(i + 1 if i < p - 1 else ABSORBED, 1.0)], 0
    )
    self.assertLen(graphs.strongly_connected_components(chain), p)
    queue = models.busy_period(p)
    (whole,) = graphs.strongly_connected_components(queue)
    self.assertLen(whole, p)


class EmbeddedJumpChainTest(test_case.TestCase):
  """Tests the embedded jump chain."""

  @parameterized.parameters(False, True)
  def test_jump_chain(self, discrete):
    graph = random_graph(6, 15, 3, discrete)
    theta = [0.5, 1.25]
    chain = graphs.embedded_jump_chain(
      graph, dict(zip(("a", "b"), theta, strict=True))
    )
    given = rational_graph.read(graph, theta)
    jumps = rational_graph.read(chain.graph)
    self.assertTrue(chain.graph.discrete)
    self.assertEqual(chain.graph.states, graph.states)
    self.assertEqual(chain.graph.causes, graph.causes)
    for own, other in zip(
      jumps.cause_probs(), given.cause_probs(), strict=True
    ):
      self.assertTrue(rational_graph.close(float(other), own, 1e-14))
    rewarded = sum(
      (
        y * rational_graph.exact(r)
        for y, r in zip(jumps.sojourns(), chain.rewards, strict=True)
      ),
      flint.fmpq(0),
    )
    truth = given.moment(1)
    self.assertTrue(rational_graph.close(float(rewarded), truth, 1e-14))
    # Each step leaves the phase.
    dense = onp.zeros(graph.num_phases)
    onp.add.at(dense, chain.graph.sources, chain.graph.constants)
    self.assert_close(dense, onp.ones(graph.num_phases), 1e-15)

  def test_results_are_not_graphs(self):
    chain = graphs.embedded_jump_chain(models.kingman(3), [1.0])
    with self.assertRaisesRegex(
      TypeError,
      r"JumpChain: it must be a .*Graph; pass its attribute \.graph",
    ):
      pd.DiscretePhaseType.from_graph(chain)

  def test_number_of_jumps(self):
    # Of a queue of at most two with even odds, an odd number; 2 with none full.
    chain = graphs.embedded_jump_chain(models.busy_period(2), [1.0, 1.0])
    steps = pd.DiscretePhaseType.from_graph(chain.graph)
    expected = [0.5, 0.0, 0.25, 0.0, 0.125]
    self.assert_close(steps.prob([1.0, 2.0, 3.0, 4.0, 5.0]), expected, 1e-15)

  def test_refused(self):
    queue = models.busy_period(2)
    with self.assertRaisesRegex(ValueError, "params is None: .* 2 parameters"):
      graphs.embedded_jump_chain(queue)
    with self.assertRaisesRegex(ValueError, r"params has shape \(3, 2\)"):
      graphs.embedded_jump_chain(queue, onp.ones((3, 2)))
    with self.assertRaisesRegex(ValueError, "from 1 to 2 gets the weight -1"):
      graphs.embedded_jump_chain(queue, [-1.0, 1.0])
    with self.assertRaisesRegex(ValueError, "from 1 to ABSORBED .* weight nan"):
      graphs.embedded_jump_chain(queue, [1.0, onp.nan])
    with self.assertRaisesRegex(ValueError, "leave 1 sum up to 0"):
      graphs.embedded_jump_chain(queue, [0.0, 0.0])
    with self.assertRaisesRegex(TypeError, "graph is list"):
      graphs.embedded_jump_chain([])


class WithEventCountsTest(test_case.TestCase):
  """Tests numbers of events."""

  def _probs(self, chain, counts):
    graph = chain.graph
    alpha, matrix, exits, atom = pm.discrete_phase_type.reward_transform(
      chain.rewards, graph.initial_probs(), graph.edge_weights()
    )
    return self.host(
      pm.discrete_phase_type.prob(counts, alpha, matrix, exits, atom)
    )

  @parameterized.parameters(
    (random_graph(5, 12, 1), [0.5, 1.25], 0.75, [1.0, 0.0, 2.0, 0.25, 0.0]),
    (random_graph(5, 12, 2), [1e-3, 2.5], 40.0, None),
    (models.busy_period(4), [2.0, 1.0], 0.01, [0.0, 1.0, 2.0, 3.0]),
  )
  def test_law(self, graph, theta, rate, rewards):
    chain = graphs.with_event_counts(graph, rate, rewards, theta)
    given = rational_graph.read(graph, theta)
    p = graph.num_phases
    r = onp.ones(p) if rewards is None else rewards
    events = flint.fmpq_mat(p, p)
    for i in range(p):
      events[i, i] = rational_graph.exact(rate) * rational_graph.exact(r[i])
    inverse = (given.system() + events).inv()
    row = flint.fmpq_mat(1, p, given.initial)
    counts = onp.arange(12.0)
    actual = self._probs(chain, counts)
    for n in range(len(counts)):
      truth = sum((row * inverse * given.absorbed).entries(), flint.fmpq(0))
      truth += given.atom if n == 0 else 0
      self.assertTrue(rational_graph.close(actual[n], truth, 1e-13), n)
      row = row * inverse * events

  def test_sparse(self):
    graph = models.block_counting(20)
    leaves = [float(state[0]) for state in graph.states]
    chain = graphs.with_event_counts(graph, 1.0, leaves, [1.0])
    events = onp.count_nonzero(leaves)
    self.assertEqual(chain.graph.num_edges, graph.num_edges + 2 * int(events))
    self.assertEqual(int(onp.sum(chain.rewards)), int(events))
    state = chain.graph.states[-1]
    self.assertIsInstance(state, graphs.Event)
    self.assertIn(state.state, graph.states)

  def test_refused(self):
    pair = models.kingman(2)
    cases = (
      (0.0, None, ValueError, "rate is 0.0: .* positive"),
      (onp.inf, None, ValueError, "rate is inf"),
      ("1", None, TypeError, "rate is '1': it must be a number"),
      (1.0, [1.0, 2.0], ValueError, r"rewards have shape \(2,\)"),
      (1.0, [-1.0], ValueError, r"rewards\[0\] is -1.0"),
      (1.0, [onp.nan], ValueError, r"rewards\[0\] is nan"),
      (1e300, [1e300], ValueError, "must be finite"),
    )
    for rate, rewards, error, message in cases:
      with self.assertRaisesRegex(error, message):
        graphs.with_event_counts(pair, rate, rewards, [1.0])
    steps = graphs.embedded_jump_chain(pair, [1.0]).graph
    with self.assertRaisesRegex(ValueError, "graph is discrete"):
      graphs.with_event_counts(steps, 1.0)


class ReverseTest(test_case.TestCase):
  """Tests reversed chains."""

  @parameterized.parameters(False, True)
  def test_weights(self, discrete):
    graph = random_graph(6, 15, 5, discrete)
    theta = [0.5, 1.25]
    back = graphs.reverse(graph, theta)
    self.assertEqual(back.states, graph.states)
    self.assertEqual(back.causes, (None,))
    self.assertEqual(back.discrete, discrete)
    given = rational_graph.read(graph, theta)
    found = rational_graph.read(back)
    times = given.sojourns()
    p = graph.num_phases
    for i in range(p):
      ends = sum((given.absorbed[i, c] for c in range(2)), flint.fmpq(0))
      pairs = [
        (found.initial[i], times[i] * ends),
        (found.absorbed[i, 0], given.initial[i] / times[i]),
        *(
          (found.off[i, j], times[j] * given.off[j, i] / times[i])
          for j in range(p)
        ),
      ]
      for actual, truth in pairs:
        self.assertTrue(rational_graph.close(float(actual), truth, 1e-14))
    self.assertEqual(found.atom, given.atom)

  def test_law(self):
    graph = random_graph(6, 15, 6)
    theta = [0.5, 1.25]
    forward = pd.PhaseType.from_graph(graph, theta)
    backward = pd.PhaseType.from_graph(graphs.reverse(graph, theta))
    for t in (0.0, 0.01, 1.0, 20.0):
      self.assert_close(forward.prob(t), backward.prob(t), 1e-13)
      self.assert_close(forward.cdf(t), backward.cdf(t), 1e-13)

  def test_twice(self):
    tree = models.kingman(5)
    back = graphs.reverse(graphs.reverse(tree, [2.0]))
    self.assertEqual(back.states, tree.states)
    self.assert_close(back.targets, tree.targets)
    self.assert_close(back.constants, tree.edge_values([2.0]), 1e-15)

  def test_what_is_never_visited_is_left_out(self):
    islands = models.island_coalescent([2, 0])
    still = graphs.reverse(islands, [1.0, 0.0])
    self.assertEqual(still.states, ((2, 0),))

  def test_refused(self):
    def transitions(i):
      yield ABSORBED, float(i == 0)
      yield "trap", 1.0

    graph = graphs.Graph.from_transitions(
      transitions, 0, allow_never_absorbing=True
    )
    with self.assertRaisesRegex(
      ArithmeticError, "expected time in 'trap' is inf"
    ):
      graphs.reverse(graph)
    with self.assertRaisesRegex(ValueError, "params is None"):
      graphs.reverse(models.kingman(3))


class FirstPassageTimeTest(test_case.TestCase):
  """Tests first passage times."""

  @parameterized.parameters(1.0, 2.0, 0.25)
  def test_gamblers_ruin(self, arrival):
    # Feller: from 2, k is reached before 0 with (1 - r^2) / (1 - r^k).
    walk = graphs.Graph.from_transitions(
      lambda n: [
        (n - 1 if n > 1 else ABSORBED, {"down": 1.0}),
        *([(n + 1, {"up": 1.0})] if n < 9 else []),
      ],
      2,
      ("up", "down"),
    )
    passage = graphs.first_passage_time(walk, [5])
    self.assertEqual(passage.states, (2, 1, 3, 4))
    self.assertEqual(passage.parameter_names, ("up", "down"))
    probs = rational_graph.read(passage, [arrival, 1.0]).cause_probs()
    found = {
      cause: float(q) for cause, q in zip(passage.causes, probs, strict=True)
    }
    ratio = 1.0 / arrival
    expected = (1 - ratio**2) / (1 - ratio**5) if ratio != 1 else 0.4
    self.assert_close(found["reached"], expected, 1e-14)
    self.assert_close(found["absorbed"], 1 - expected, 1e-14)

  def test_mean_of_all_paths(self):
    # All paths pass the state with 3 lineages.
    whole = models.kingman(6)
    first = graphs.first_passage_time(whole, lambda n: n <= 3)
    self.assertEqual(first.states, (6, 5, 4))
    self.assertEqual(first.causes, ("reached",))
    one = rational_graph.read(first, [1.0]).moment(1)
    rest = rational_graph.read(models.kingman(3), [1.0]).moment(1)
    truth = rational_graph.read(whole, [1.0]).moment(1)
    self.assertEqual(one + rest, truth)

  def test_starts_inside(self):
    graph = random_graph(6, 15, 3)
    passage = graphs.first_passage_time(graph, [3])
    self.assertNotIn(3, passage.states)
    self.assert_close(passage.prob_zero(), 0.5)
    self.assertEqual(passage.causes, ("reached", "absorbed"))

  def test_refused(self):
    queue = models.busy_period(3)
    with self.assertRaisesRegex(ValueError, "states: 7 is not a state"):
      graphs.first_passage_time(queue, [2, 7])
    with self.assertRaisesRegex(ValueError, "states is empty"):
      graphs.first_passage_time(queue, [])
    with self.assertRaisesRegex(ValueError, "true for no state"):
      graphs.first_passage_time(queue, lambda n: n > 3)
    with self.assertRaisesRegex(ValueError, "states has all initial states"):
      graphs.first_passage_time(queue, [1])


if __name__ == "__main__":
  absltest.main()
