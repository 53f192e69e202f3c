"""Steady states: against exact rationals and closed forms; errors, warnings."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as onp
import scipy.sparse

from phasic import graphs
from phasic import math as pm
from phasic.internal import control_flow
from phasic.math.calls import gradients
from tests.helpers import test_case


def rational(x):
  """Converts a float to a rational number."""
  return flint.fmpq(*float(x).as_integer_ratio())


def exact(rates):
  """Solves pi Q = 0 for rates (p, p) off the diagonal.

  Returns the probabilities, and the inverse of the matrix of the system.
  """
  p = len(rates)
  system = flint.fmpq_mat(p, p)
  for i in range(p):
    for j in range(p):
      if i != j:
        system[j, i] += rational(rates[i, j])
        system[i, i] -= rational(rates[i, j])
  for i in range(p):
    system[p - 1, i] = 1  # The probabilities sum to one.
  right = flint.fmpq_mat(p, 1)
  right[p - 1, 0] = 1
  inverse = system.inv()
  return (inverse * right).entries(), inverse


def exact_slopes(rates):
  """Computes d pi_k / d q_ij for all i != j as rationals, by (i, j)."""
  probs, inverse = exact(rates)
  p = len(rates)
  slopes = {}
  for i in range(p):
    for j in range(p):
      if i == j:
        continue
      right = flint.fmpq_mat(p, 1)
      if i != p - 1:
        right[i, 0] = probs[i]
      if j != p - 1:
        right[j, 0] = -probs[i]
      slopes[i, j] = (inverse * right).entries()
  return slopes


def generator(rates):
  """Returns the generator with the given rates off the diagonal."""
  matrix = onp.array(rates)
  onp.fill_diagonal(matrix, 0.0)
  onp.fill_diagonal(matrix, -matrix.sum(axis=-1))
  return matrix


def random_rates(seed, p, lowest=-12, highest=12, density=1.0):
  state = onp.random.RandomState(seed)
  rates = 10.0 ** state.uniform(lowest, highest, (p, p))
  drop = state.uniform(size=(p, p)) >= density
  cycle = onp.roll(onp.eye(p), 1, axis=1) > 0  # Every state leads to the next.
  rates[drop & ~cycle] = 0.0
  onp.fill_diagonal(rates, 0.0)
  return rates


def edges_of(rates):
  sources, targets = onp.nonzero(rates)
  return pm.EdgeRates(sources, targets, rates[sources, targets])


class StationaryDistributionTest(test_case.TestCase):
  def assert_exact(self, probs, rates, rtol):
    for x, truth in zip(self.host(probs), exact(rates)[0], strict=True):
      error = abs(rational(x) - truth)
      self.assertLessEqual(error, rational(rtol) * truth)

  def test_rationals(self):
    for seed in range(20):
      p = 2 + seed % 7
      rates = random_rates(seed, p, density=0.6 if seed % 2 else 1.0)
      with self.subTest(seed=seed):
        dense = pm.stationary_distribution(generator(rates))
        self.assert_exact(dense, rates, 1e-13)
        edges = pm.stationary_distribution(edges_of(rates))
        self.assert_exact(edges, rates, 1e-13)

  def test_rare_states(self):
    # A birth and death chain of 1e24 to one at each step.
    p = 12
    rates = onp.diag([1e12] * (p - 1), 1) + onp.diag([1e-12] * (p - 1), -1)
    probs = self.host(pm.stationary_distribution(generator(rates)))
    self.assert_close(probs, 1e24 ** (onp.arange(p) - p + 1.0), 1e-13)

  def test_out_of_range_of_the_first_state(self):
    p = 20
    rates = onp.diag([1e12] * (p - 1), 1) + onp.diag([1e-12] * (p - 1), -1)
    for matrix in (rates, rates[::-1, ::-1]):
      probs = self.host(pm.stationary_distribution(generator(matrix)))
      self.assertAlmostEqual(probs.sum(), 1.0)
      self.assert_close(onp.sort(probs)[-3:], [1e-48, 1e-24, 1.0], 1e-13)

  def test_sparse_and_linear(self):
    rates = random_rates(3, 6, -2, 2, 0.5)
    truth = pm.stationary_distribution(generator(rates))
    sparse = scipy.sparse.csr_matrix(generator(rates))
    self.assert_close(pm.stationary_distribution(sparse), truth, 1e-14)
    sources, targets = onp.nonzero(rates)
    values = rates[sources, targets]
    edges = pm.EdgeRates(sources, targets, [2.0], values[:, None] / 2)
    self.assert_close(pm.stationary_distribution(edges), truth, 1e-14)

  def test_steps(self):
    state = onp.random.RandomState(0)
    steps = state.dirichlet(onp.ones(5), size=5)
    probs = pm.stationary_distribution(steps, discrete=True)
    self.assert_close(self.host(probs) @ steps, probs, 1e-14)
    sources, targets = onp.nonzero(steps)
    edges = pm.EdgeProbs(sources, targets, steps[sources, targets])
    self.assert_close(
      pm.stationary_distribution(edges, discrete=True), probs, 1e-14
    )

  def test_batches(self):
    rates = [random_rates(seed, 4, -2, 2) for seed in range(6)]
    batch = onp.reshape([generator(x) for x in rates], (2, 3, 4, 4))
    probs = self.host(pm.stationary_distribution(batch)).reshape(6, 4)
    rewards = onp.random.RandomState(1).normal(size=(3, 4))
    earned = self.host(pm.long_run_reward_rate(rewards, batch))
    for k, x in enumerate(rates):
      self.assert_exact(probs[k], x, 1e-14)
      self.assertAlmostEqual(
        earned[k // 3, k % 3], float(probs[k] @ rewards[k % 3]), places=13
      )

  @parameterized.parameters(
    ([[0.0]], [1.0]),
    ([[0.0, 0.0], [1.0, -1.0]], [1.0, 0.0]),
    ([[-1.0, 1.0], [0.0, 0.0]], [0.0, 1.0]),
    # Two transient states, then two that alternate.
    (
      [[-2.0, 1, 1, 0], [5, -6, 1, 0], [0, 0, -3, 3], [0, 0, 1, -1]],
      [0.0, 0.0, 0.25, 0.75],
    ),
    # The transient states come last.
    (
      [[-3.0, 3, 0, 0], [1, -1, 0, 0], [1, 1, -4, 2], [0, 2, 5, -7]],
      [0.25, 0.75, 0.0, 0.0],
    ),
  )
  def test_transient_states(self, matrix, truth):
    self.assert_close(pm.stationary_distribution(matrix), truth, 1e-15)
    compiled = control_flow.compiled(pm.stationary_distribution)
    self.assert_close(compiled(onp.asarray(matrix)), truth, 1e-15)

  def test_compiled(self):
    rates = random_rates(5, 6)
    compiled = control_flow.compiled(pm.stationary_distribution)
    self.assert_exact(compiled(generator(rates)), rates, 1e-13)

  def test_slopes(self):
    for seed in range(5):
      rates = random_rates(seed, 5, density=0.7)
      edges, slopes = edges_of(rates), exact_slopes(rates)
      truths = exact(rates)[0]

      def probs(values, edges=edges):
        return pm.stationary_distribution(edges._replace(parameters=values))

      values, tangents = edges.parameters, onp.eye(len(edges.parameters))
      _, pullback = gradients.vjp(probs, values)
      for k in range(5):
        cotangents = self.host(pullback(onp.eye(5)[k])[0])
        for e, (i, j) in enumerate(
          zip(edges.sources, edges.targets, strict=True)
        ):
          # Per unit of the logarithms of rate and probability.
          scale = rational(values[e]) / truths[k]
          error = (rational(cotangents[e]) - slopes[i, j][k]) * scale
          self.assertLess(abs(float(error)), 2e-12, (seed, k, e))
      for e, (i, j) in enumerate(
        zip(edges.sources, edges.targets, strict=True)
      ):
        _, along = gradients.jvp(probs, [values], [tangents[e]])
        for k, x in enumerate(self.host(along)):
          scale = rational(values[e]) / truths[k]
          error = (rational(x) - slopes[i, j][k]) * scale
          self.assertLess(abs(float(error)), 2e-12, (seed, k, e))

  def test_slope_of_an_edge_without_weight(self):
    # With the rate w the trap 0 leads to 1, which stays for half a unit.
    def probs(w):
      return pm.stationary_distribution(pm.EdgeRates([0, 1], [1, 0], w))

    _, along = gradients.jvp(probs, [onp.asarray([0.0, 2.0])], [[1.0, 0.0]])
    self.assert_close(along, [-0.5, 0.5], 1e-15)

  def test_second_derivatives(self):
    def down(rate):
      matrix = pm.EdgeRates(
        [0, 1], [1, 0], rate * onp.asarray([1.0, 0.0]), None
      )
      matrix = matrix._replace(constants=onp.asarray([0.0, 3.0]))
      return pm.stationary_distribution(matrix)[1]

    change = gradients.hessian_vector_product(down, (2.0,), (1.0,))
    self.assert_close(change, -2 * 3.0 / 5.0**3, 1e-13)

  def test_single_precision(self):
    matrix = onp.asarray(generator(random_rates(2, 4, -1, 1)), onp.float32)
    onp.fill_diagonal(matrix, 0)
    onp.fill_diagonal(matrix, -matrix.sum(axis=-1, dtype=onp.float32))
    probs = self.host(pm.stationary_distribution(matrix))
    self.assertEqual(probs.dtype, onp.float32)
    self.assert_exact(probs, matrix.astype(float), 1e-6)

  @parameterized.parameters(
    (onp.zeros((2, 2)), "several recurrent classes"),
    (
      [[-1.0, 2.0], [1.0, -1.0]],
      r"row sum of generator\[0\] = 1.0: it must be",
    ),
    ([[1.0, -1.0], [1.0, -1.0]], r"generator\[0, 1\] = -1.0: it must be >= 0"),
    ([[-math.inf, math.inf], [1.0, -1.0]], r"generator\[0, 1\] = inf"),
  )
  def test_reasons(self, matrix, text):
    probs, messages = self.caught(lambda: pm.stationary_distribution(matrix))
    self.assertTrue(onp.all(onp.isnan(self.host(probs))))
    self.assertLen(messages, 1)
    self.assertRegex(str(messages[0].message), text)

  def test_reasons_of_edges(self):
    edges = pm.EdgeRates([0, 1], [1, 0], [1.0, -2.0])
    probs, messages = self.caught(lambda: pm.stationary_distribution(edges))
    self.assertTrue(onp.all(onp.isnan(self.host(probs))))
    self.assertRegex(str(messages[0].message), r"edge_values\[1\] = -2.0")

  def test_one_bad_chain_of_a_batch(self):
    good = [[-1.0, 1.0], [3.0, -3.0]]
    probs, messages = self.caught(
      lambda: pm.stationary_distribution([good, onp.zeros((2, 2)), good])
    )
    truth = [[0.75, 0.25], [math.nan] * 2, [0.75, 0.25]]
    self.assert_close(probs, truth, 1e-15)
    self.assertLen(messages, 1)

  @parameterized.parameters(
    (ValueError, [1.0, 2.0], False, r"shape \(2,\): it must be \(..., p, p\)"),
    (ValueError, onp.zeros((2, 3)), False, r"shape \(2, 3\)"),
    (TypeError, None, False, "generator is None"),
    (
      ValueError,
      pm.EdgeRates([0, 1], [1, 2], [1.0, 1.0]),
      False,
      "generator has 1 edges to absorption, the first is edge 1 from state 1",
    ),
    (
      TypeError,
      pm.EdgeRates([0], [0], [1.0]),
      True,
      "must be a matrix or Edge",
    ),
    (TypeError, pm.EdgeProbs([0], [0], [1.0]), False, "or EdgeRates"),
  )
  def test_errors(self, kind, matrix, discrete, text):
    with self.assertRaisesRegex(kind, text):
      pm.stationary_distribution(matrix, discrete)

  def test_errors_of_rewards(self):
    matrix = [[-1.0, 1.0], [1.0, -1.0]]
    with self.assertRaisesRegex(ValueError, r"it must be \(..., 2\)"):
      pm.long_run_reward_rate([1.0], matrix)
    value, messages = self.caught(
      lambda: pm.long_run_reward_rate([1.0, math.inf], matrix)
    )
    self.assertTrue(math.isnan(value))
    self.assertIn("rewards must be finite", str(messages[0].message))


class GraphTest(test_case.TestCase):
  def test_queue(self):
    # M/M/1/K: pi_n is proportional to rho^n.
    def transitions(n):
      if n < 30:
        yield n + 1, {"arrival": 1.0}
      if n > 0:
        yield n - 1, {"service": 1.0}

    queue = graphs.Graph.from_transitions(
      transitions, 0, ("arrival", "service"), allow_never_absorbing=True
    )
    rates = {"arrival": 0.3, "service": 1.5}
    truth = 0.2 ** onp.asarray(queue.states, float)
    truth /= truth.sum()
    probs = graphs.stationary_distribution(queue, rates)
    self.assert_close(probs, truth, 1e-14)
    length = graphs.long_run_reward_rate(
      queue, onp.asarray(queue.states, float), rates
    )
    self.assert_close(length, truth @ onp.arange(31), 1e-14)
    full = graphs.availability(queue, lambda n: n == 30, rates)
    self.assert_close(full, truth[-1], 1e-13)

  def test_two_of_three_with_common_cause(self):
    # Components fail by themselves at `fail`, all at once at `common`; one crew.
    fail, common, repair = 0.01, 0.0005, 1.0

    def transitions(n):
      if n > 0:
        yield n - 1, n * fail
        yield 0, common
      if n < 3:
        yield n + 1, repair

    system = graphs.Graph.from_transitions(
      transitions, 3, allow_never_absorbing=True
    )
    rates = onp.zeros((4, 4))
    for n in range(1, 4):
      rates[n, n - 1] += n * fail
      rates[n, 0] += common
    for n in range(3):
      rates[n, n + 1] = repair
    probs = [float(x.p) / float(x.q) for x in exact(rates)[0]]
    up = graphs.availability(system, lambda n: n >= 2)
    down = graphs.availability(system, [0, 1])
    self.assert_close(up, probs[2] + probs[3], 1e-14)
    self.assertEqual(f"{float(up):.12f}", "0.998399155725")
    self.assert_close(down, probs[0] + probs[1], 1e-14)
    works = pm.long_run_reward_rate([0.0, 0.0, 1.0, 1.0], generator(rates))
    self.assert_close(works, up, 1e-14)

  def test_initial_weights_do_not_matter(self):
    edges = [(0, 1, 1.0), (1, 0, 3.0)]
    for start in (0, 1, {0: 0.5, 1: 0.5}):
      graph = graphs.Graph.from_edges(edges, start, allow_never_absorbing=True)
      probs = self.host(graphs.stationary_distribution(graph))
      self.assertAlmostEqual(probs[graph.states.index(0)], 0.75, places=15)

  def test_discrete(self):
    edges = [("sun", "rain", 0.1), ("rain", "sun", 0.4)]
    weather = graphs.Graph.from_edges(
      edges, "sun", discrete=True, allow_never_absorbing=True
    )
    self.assert_close(graphs.availability(weather, ["sun"]), 0.8, 1e-15)

  def test_state_that_is_never_left(self):
    graph = graphs.Graph.from_edges(
      [(0, 1, 2.0)], 0, allow_never_absorbing=True
    )
    self.assert_close(graphs.stationary_distribution(graph), [0.0, 1.0], 1e-15)

  def test_parameters(self):
    edges = [("up", "down", {"fail": 1.0}), ("down", "up", {"mend": 1.0})]
    graph = graphs.Graph.from_edges(
      edges, "up", ("fail", "mend"), allow_never_absorbing=True
    )

    def down(rates):
      return graphs.availability(graph, ["down"], rates)

    value, slopes = gradients.value_and_gradient(down, onp.asarray([0.5, 2.0]))
    self.assert_close(value, 0.2, 1e-15)
    self.assert_close(slopes, [2.0 / 2.5**2, -0.5 / 2.5**2], 1e-14)
    batch = onp.asarray([[0.5, 2.0], [1.0, 1.0]])
    self.assert_close(down(batch), [0.2, 0.5], 1e-15)

  def test_errors(self):
    with self.assertRaisesRegex(TypeError, "graph is str: it must be a Graph"):
      graphs.stationary_distribution("graph")
    absorbed = graphs.Graph.from_edges([(0, graphs.ABSORBED, 1.0)], 0)
    with self.assertRaisesRegex(ValueError, "graph has 1 edges to absorption"):
      graphs.stationary_distribution(absorbed)
    cycle = graphs.Graph.from_edges(
      [(0, 1, 1.0), (1, 0, 1.0)], 0, allow_never_absorbing=True
    )
    with self.assertRaisesRegex(ValueError, "up: 7 is not a state"):
      graphs.availability(cycle, [7])
    with self.assertRaisesRegex(TypeError, "up is 'on': it must be a list"):
      graphs.availability(cycle, "on")


if __name__ == "__main__":
  absltest.main()
