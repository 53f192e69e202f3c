"""One step of the EM algorithm for families whose phases share parameters."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from phasic.graphs import ABSORBED
from phasic.graphs import Graph
from phasic.math.m_step import ascending_rates
from phasic.math.m_step import rate_updates
from tests.helpers import em_cases
from tests.helpers import test_case
from tests.oracle import em_oracle


def _isotonic(counts, times):
  """Computes the likeliest ascending rates, by pooling adjacent violators."""
  pools = []
  for count, time in zip(counts, times, strict=True):
    pools.append([count, time, 1])
    while len(pools) > 1 and (
      pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]
    ):
      last = pools.pop()
      pools[-1] = [x + y for x, y in zip(pools[-1], last, strict=True)]
  return [count / time for count, time, size in pools for _ in range(size)]


class SharedTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.require_kernel()

  def _expected(self, alpha, rates, exits, atom=0.0):
    return em_oracle.expected(alpha, rates, exits, atom, em_cases.TIMES)

  def test_erlang(self):
    rates = onp.diag([2.0, 2.0], 1)
    _, visits, jumps, left, _ = self._expected(
      [1.0, 0.0, 0.0], rates, [0.0, 0.0, 2.0]
    )
    found = inference.em_step(
      pd.Erlang(3, 2.0), em_cases.observations(em_cases.TIMES)
    )
    rate = (onp.sum(jumps) + onp.sum(left)) / onp.sum(visits)
    self.assert_close(found.distribution.rate, rate)

  def test_hyper_erlang(self):
    rates = onp.zeros((3, 3))
    rates[1, 2] = 2.0
    starts, visits, jumps, left, _ = self._expected(
      [0.25, 0.75, 0.0], rates, [0.5, 0.0, 2.0]
    )
    dist = pd.HyperErlang([0.25, 0.75], (1, 2), [0.5, 2.0])
    found = inference.em_step(
      dist, em_cases.observations(em_cases.TIMES)
    ).distribution
    self.assert_close(found.mixture_probs, starts[:2] / onp.sum(starts))
    second = (jumps[1, 2] + left[2]) / (visits[1] + visits[2])
    self.assert_close(found.rates, [left[0] / visits[0], second])

  def test_coxian(self):
    exits = [0.25, 0.5, 1.0]
    _, visits, jumps, left, _ = self._expected(
      [1.0, 0.0, 0.0], onp.diag([2.0, 1.0], 1), exits
    )
    dist = pd.Coxian([2.0, 1.0], exits)
    found = inference.em_step(
      dist, em_cases.observations(em_cases.TIMES)
    ).distribution
    self.assert_close(found.exit_rates, left / visits)
    self.assert_close(found.progression_rates, onp.diag(jumps, 1) / visits[:2])

  @parameterized.parameters((1.0, 2.0, 4.0), (0.5, 3.0, 3.0))
  def test_acyclic(self, *rates):
    alpha = [0.25, 0.25, 0.5]
    starts, visits, jumps, left, _ = self._expected(
      alpha, onp.diag(rates[:2], 1), [0.0, 0.0, rates[2]]
    )
    dist = pd.AcyclicPhaseType(alpha, rates)
    found = inference.em_step(
      dist, em_cases.observations(em_cases.TIMES)
    ).distribution
    self.assertTrue(onp.all(onp.diff(self.host(found.rates)) >= 0))
    # The distribution does not depend on the order.
    ratios = onp.append(onp.diag(jumps, 1), left[2]) / visits
    plain = pd.AcyclicPhaseType(starts / onp.sum(starts), ratios)
    times = onp.asarray([0.1, 1.0, 5.0])
    self.assert_close(found.log_prob(times), plain.log_prob(times))
    self.assert_close(onp.sort(self.host(found.rates)), onp.sort(ratios))

  def test_acyclic_whose_zeros_stay(self):
    # The likeliest rates would change their order, which needs a mass that is
    # zero: they become equal.
    alpha = [0.5, 0.0, 0.5]
    rates = [0.5, 3.0, 3.0]
    _, visits, jumps, left, _ = self._expected(
      alpha, onp.diag(rates[:2], 1), [0.0, 0.0, rates[2]]
    )
    counts = onp.append(onp.diag(jumps, 1), left[2])
    self.assertGreater(counts[1] / visits[1], counts[2] / visits[2])
    dist = pd.AcyclicPhaseType(alpha, rates, validate_args=True)
    found = inference.em_step(
      dist, em_cases.observations(em_cases.TIMES)
    ).distribution
    self.assertEqual(self.host(found.initial_probs)[1], 0.0)
    pooled = onp.sum(counts[1:]) / onp.sum(visits[1:])
    self.assertLess(counts[0] / visits[0], pooled)
    self.assert_close(found.rates, [counts[0] / visits[0], pooled, pooled])

  def test_pooled_rates(self):
    random = onp.random.default_rng(3)
    p = 12
    visits = onp.stack([random.exponential(size=p), onp.ones(p)])
    counts = onp.stack([random.exponential(size=p), onp.arange(p, 0.0, -1.0)])
    visits[0, 4] = counts[0, 4] = 0.0
    # The last has all the mass: no two may change places.
    masses = onp.asarray((onp.arange(p) == p - 1) * 1.0)
    nothing = onp.zeros(p)
    paths = rate_updates.SufficientStatistics(
      nothing, visits, counts, nothing, nothing, 0.0
    )
    rates = counts / onp.where(visits > 0, visits, 1.0)
    rates[0, 4], rates[0, -1] = 1.0, 0.01
    counts[0, -1] = rates[0, -1] * visits[0, -1]
    _, found = ascending_rates.maximized(
      masses, np.asarray(masses + 0.0 * rates), np.asarray(rates), paths
    )
    seen = visits[0] > 0
    expected = _isotonic(counts[0][seen], visits[0][seen])
    self.assert_close(self.host(found)[0][seen], expected)
    self.assert_close(self.host(found)[1], onp.full(p, (p + 1) / 2))

  def test_graph(self):
    # Weights a + 0.5 b + 0.25 and b: a sum is edges side by side.
    edges = [
      (0, 1, {"a": 1.0, "b": 0.5, 1: 0.25}),
      (1, ABSORBED, {"b": 1.0}),
      (1, 0, {"a": 0.5}),
    ]
    graph = Graph.from_edges(edges, 0, params=("a", "b"))
    a, b = 0.5, 1.0
    first = a + 0.5 * b + 0.25
    _, visits, jumps, left, _ = self._expected(
      [1.0, 0.0], [[0.0, first], [0.5 * a, 0.0]], [0.0, b]
    )
    dist = pd.PhaseType.from_graph(graph, {"a": a, "b": b})
    found = inference.em_step(
      dist, em_cases.observations(em_cases.TIMES)
    ).distribution
    of_a = jumps[0, 1] * a / first + jumps[1, 0]
    of_b = jumps[0, 1] * 0.5 * b / first + left[1]
    self.assert_close(found.params["a"], of_a / (visits[0] + 0.5 * visits[1]))
    self.assert_close(found.params["b"], of_b / (0.5 * visits[0] + visits[1]))

  def test_discrete_families(self):
    data = em_cases.observations(em_cases.COUNTS)
    q = 0.25
    _, visits, jumps, left, _ = em_oracle.expected(
      [1.0, 0.0],
      [[1 - q, q], [0.0, 1 - q]],
      [0.0, q],
      0.0,
      em_cases.COUNTS[:-1],
      True,
    )
    # A ratio of at most one does not come from two phases.
    rows = em_cases.observations(em_cases.COUNTS[:-1])
    found = inference.em_step(pd.NegativeBinomialTrials(2, q), rows)
    share = (jumps[0, 1] + left[1]) / onp.sum(visits)
    self.assert_close(found.distribution.success_prob, share)
    failures = [
      (*(x - 2.0 for x in row[:2]), row[2], -1.0) for row in em_cases.COUNTS
    ]
    failures = [row for row in failures if row[0] >= 0]
    trials = [(row[0] + 2.0, row[1] + 2.0, row[2], -1.0) for row in failures]
    same = inference.em_step(
      pd.NegativeBinomialTrials(2, q), em_cases.observations(trials)
    )
    other = inference.em_step(
      pd.NegativeBinomialFailures(2, q), em_cases.observations(failures)
    )
    self.assert_close(
      other.distribution.success_prob, same.distribution.success_prob
    )
    starts, visits, _, left, _ = em_oracle.expected(
      [0.5, 0.5], onp.diag([0.5, 0.75]), [0.5, 0.25], 0.0, em_cases.COUNTS, True
    )
    dist = pd.GeometricMixture([0.5, 0.5], [0.5, 0.25])
    found = inference.em_step(dist, data).distribution
    self.assert_close(found.mixture_probs, starts / onp.sum(starts))
    self.assert_close(found.success_probs, left / visits)

  def test_discrete_graph(self):
    # Both exits of a phase have parameters; the rest is staying.
    edges = [
      (0, 1, {"a": 1.0}),
      (0, ABSORBED, {1: 0.25, "a": -0.25}),
      (1, ABSORBED, {"b": 1.0}),
    ]
    graph = Graph.from_edges(edges, 0, params=("a", "b"), discrete=True)
    a, b = 0.5, 0.25
    steps = [[0.75 - 0.75 * a, a], [0.0, 1 - b]]
    _, visits, jumps, left, _ = em_oracle.expected(
      [1.0, 0.0], steps, [0.25 - 0.25 * a, b], 0.0, em_cases.COUNTS, True
    )
    dist = pd.DiscretePhaseType.from_graph(graph, [a, b])
    found = inference.em_step(
      dist, em_cases.observations(em_cases.COUNTS)
    ).distribution
    # n_a log a + (rest) log(1 - a), all else in a is constant.
    others = jumps[0, 0] + left[0]
    expected = [jumps[0, 1] / (jumps[0, 1] + others), left[1] / visits[1]]
    self.assert_close(found.params, expected)


if __name__ == "__main__":
  absltest.main()
