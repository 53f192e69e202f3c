"""Distributions of graphs, against matrices with the same rates."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic import graphs as pg
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import chain_cases
from tests.helpers import test_case

METHODS = (
  "log_prob",
  "prob",
  "cdf",
  "log_cdf",
  "survival_function",
  "log_survival_function",
)


def _kingman(n):
  """Builds the coalescent of n lineages, with merges at rate "coal"."""

  def transitions(k):
    yield (k - 1 if k > 2 else pg.ABSORBED), {"coal": k * (k - 1) / 2}

  return pg.Graph.from_transitions(transitions, n, params=("coal",))


def _repairs_arrays(on, off, start):
  """Returns arrays of repairs: initial_probs, subgenerator, exits, atom."""
  exits = onp.asarray([0.5 * off, 0.0, 2 * off])
  between = onp.asarray(
    [[0.0, on, 0.25], [0.0, 0.0, 2 * on + 0.5], [on + off, 0.0, 0.0]]
  )
  # States are found in the order a, b, c.
  matrix = between - onp.diag(onp.sum(between, axis=1) + exits)
  return onp.asarray([start, 0.75 - start, 0.0]), matrix, exits, 0.25


class AgainstMatricesTest(test_case.TestCase):
  """Compares graphs with matrices."""

  def test_continuous(self):
    values = (1.5, 0.75, 0.5)
    dist = pd.PhaseType.from_graph(chain_cases.repairs(), onp.asarray(values))
    alpha, matrix, exits, atom = _repairs_arrays(*values)
    dense = pd.PhaseType(alpha, matrix, exits, atom)
    times = onp.asarray([0.0, 1e-3, 0.5, 2.0, 40.0])
    for method in METHODS:
      self.assert_close(
        getattr(dist, method)(times), getattr(dense, method)(times)
      )
    for statistic in ("mean", "variance", "stddev"):
      self.assert_close(getattr(dist, statistic)(), getattr(dense, statistic)())
    self.assert_close(dist.moment(4), dense.moment(4))
    self.assert_close(dist.initial_probs, alpha)
    self.assert_close(dist.prob_zero, atom)
    self.assert_close(dist.subgenerator, matrix)
    self.assert_close(dist.exit_rates, exits)

  def test_discrete(self):
    dist = pd.DiscretePhaseType.from_graph(
      chain_cases.heads(), onp.asarray([0.25, 0.5])
    )
    matrix = [[0.0, 0.25, 0.75], [0.0, 0.75, 0.0], [0.0, 0.5, 0.5]]
    exits = [0.0, 0.25, 0.0]
    dense = pd.DiscretePhaseType([1.0, 0.0, 0.0], matrix, exits)
    counts = onp.asarray([0, 1, 2, 3, 17, 400])
    for method in METHODS:
      self.assert_close(
        getattr(dist, method)(counts), getattr(dense, method)(counts)
      )
    for statistic in ("mean", "variance", "stddev"):
      self.assert_close(getattr(dist, statistic)(), getattr(dense, statistic)())
    self.assert_close(dist.moment(3), dense.moment(3))
    self.assert_close(dist.initial_probs, [1.0, 0.0, 0.0])
    self.assert_close(dist.subtransition, matrix)
    self.assert_close(dist.exit_probs, exits)

  def test_kingman(self):
    # P(T <= t) = sum_k (-1)^k (2k - 1) n_[k] / n_(k) exp(-k (k - 1) t / 2).
    n, t = 5, 0.75
    expected = 1.0
    for k in range(2, n + 1):
      falling = math.perm(n, k)
      rising = math.prod(range(n, n + k))
      term = (2 * k - 1) * falling / rising * math.exp(-k * (k - 1) * t / 2)
      expected -= (-1) ** k * term
    dist = pd.PhaseType.from_graph(_kingman(n), {"coal": 2.0})
    self.assert_close(dist.mean(), 0.5 * 2 * (1 - 1 / n))
    rates = [math.comb(k, 2) * 2.0 for k in range(2, n + 1)]
    self.assert_close(dist.variance(), sum(r**-2.0 for r in rates))
    self.assert_close(dist.cdf(t / 2.0), expected, 1e-11)

  @test_case.of_bad_values
  def test_edge_values(self):
    graph = chain_cases.repairs()
    params = {"on": 1.5, "off": 0.75, "start": 0.5}
    by_params = pd.PhaseType.from_graph(graph, params)
    by_values = pd.PhaseType.from_graph(
      graph,
      edge_values=graph.edge_values(params),
      initial_probs=graph.initial_probs(params),
    )
    self.assert_close(
      by_values.log_prob([0.5, 2.0]), by_params.log_prob([0.5, 2.0])
    )
    self.assert_close(by_values.prob_zero, by_params.prob_zero)
    self.assertIsNone(by_values.params)

  def test_a_graph_without_parameters(self):
    graph = pg.Graph.from_transitions(
      lambda k: [(k + 1 if k < 2 else pg.ABSORBED, 2.0)], 0
    )
    dist = pd.PhaseType.from_graph(graph)
    self.assert_close(dist.cdf(1.0), stats.gamma.cdf(1.0, 3, scale=0.5))
    self.assertEqual(dist.dtype, "float64")
    narrow = dist.copy(initial_probs=onp.asarray([1, 0, 0], onp.float32))
    self.assertEqual(narrow.dtype, "float32")
    self.assertEqual(static.dtype_name(narrow.cdf(1.0)), "float32")


class ContractTest(test_case.TestCase):
  """Tests the contract of distributions."""

  def _batch(self):
    params = {
      "on": onp.asarray([[1.0], [1.5]]),
      "off": onp.asarray([0.75, 1.0, 2.0]),
      "start": 0.5,
    }
    return pd.PhaseType.from_graph(chain_cases.repairs(), params)

  def test_facts(self):
    dist = self._batch()
    self.assertIsInstance(dist, pd.PhaseType)
    self.assertIsInstance(dist, pd.GraphPhaseType)
    self.assertEqual(dist.batch_shape, (2, 3))
    self.assertEqual(dist.event_shape, ())
    self.assertEqual(dist.num_phases, 3)
    self.assertEqual(dist.name, "GraphPhaseType")
    self.assertEqual(
      repr(dist),
      "<GraphPhaseType 'GraphPhaseType' batch_shape=(2, 3), event_shape=(), "
      "dtype=float64, graph=<Graph 3 phases, 6 edges, 3 parameters on, off, "
      "start>, params={'off': [0.75, 1, 2], 'on': [[1], [1.5]], 'start': 0.5}>",
    )
    self.assertEqual(
      list(dist.parameters),
      [
        "graph",
        "params",
        "edge_values",
        "initial_probs",
        "validate_args",
        "allow_nan_stats",
        "name",
      ],
    )
    properties = pd.GraphPhaseType.parameter_properties()
    self.assertEqual(
      {name: p.event_ndims for name, p in properties.items()},
      {"params": 1, "edge_values": 1, "initial_probs": 1},
    )

  def test_copy(self):
    dist = self._batch()
    other = dist.copy(params=[1.0, 1.0, 0.25], name="other")
    self.assertIsInstance(other, pd.GraphPhaseType)
    self.assertEqual((other.batch_shape, other.name), ((), "other"))
    self.assertIs(other.graph, dist.graph)

  @parameterized.parameters(
    ((0,), (3,)),
    ((slice(None), 1), (2,)),
    ((1, 2), ()),
    ((None, 0), (1, 3)),
  )
  def test_slices(self, index, shape):
    dist = self._batch()
    part = dist[index]
    self.assertEqual(part.batch_shape, shape)
    self.assert_close(part.cdf(0.5), self.host(dist.cdf(0.5))[index], 1e-14)

  def test_float32(self):
    params = onp.asarray([1.5, 0.75, 0.5], onp.float32)
    dist = pd.PhaseType.from_graph(chain_cases.repairs(), params)
    self.assertEqual(dist.dtype, "float32")
    for x in (dist.log_prob(0.5), dist.sample(2, seed=1)):
      self.assertEqual(static.dtype_name(x), "float32")
    wide = dist.copy(params=[1.5, 0.75, 0.5])
    self.assert_close(dist.log_prob(0.5), self.host(wide.log_prob(0.5)), 1e-6)

  def test_samples(self):
    for dist in (
      pd.PhaseType.from_graph(chain_cases.repairs(), [1.5, 0.75, 0.5]),
      pd.DiscretePhaseType.from_graph(chain_cases.heads(), [0.25, 0.5]),
    ):
      n = 20000
      x = self.host(dist.sample(n, seed=5))
      for t in (0.0, 1.0, 2.0, 5.0):
        p = float(self.host(dist.cdf(t)))
        error = 5 * math.sqrt(p * (1 - p) / n)
        self.assertLessEqual(abs(onp.mean(x <= t) - p), error)

  def test_samples_of_any_scale(self):
    rates = {"slow": ("fast", 1e-150), "fast": (pg.ABSORBED, 1e150)}
    graph = pg.Graph.from_transitions(lambda state: [rates[state]], "slow")
    x = self.host(pd.PhaseType.from_graph(graph).sample(200, seed=3))
    self.assertLess(abs(onp.mean(x) * 1e-150 - 1), 5 / math.sqrt(200))

  def test_samples_that_are_caught(self):
    moves = {0: [(1, 1.0), (pg.ABSORBED, 3.0)], 1: [(2, 1.0)], 2: [(1, 1.0)]}
    for kind, scale in ((pd.PhaseType, 1.0), (pd.DiscretePhaseType, 0.25)):
      graph = pg.Graph.from_transitions(
        lambda i, scale=scale: [(j, scale * w) for j, w in moves[i]],
        0,
        discrete=kind is pd.DiscretePhaseType,
        allow_never_absorbing=True,
      )
      dist = kind.from_graph(graph)
      x = self.host(dist.sample(2000, seed=3))
      error = 5 * math.sqrt(0.25 * 0.75 / 2000)
      self.assertLess(abs(onp.mean(onp.isinf(x)) - 0.25), error)
      self.assert_close(dist.cause_probs(), [0.75])
      self.assert_close(dist.mean(), math.inf)

  @test_case.of_bad_values
  def test_diagnose(self):
    dist = pd.PhaseType.from_graph(chain_cases.repairs(), [1.5, -0.75, 0.5])
    self.require_kernel()
    self.assertIn("rate", str(dist.diagnose(1.0)))
    self.assertEqual(
      str(dist.copy(params=[1.5, 0.75, 0.5]).diagnose(1.0)), "ok"
    )

  def test_gradients(self):
    graph = chain_cases.repairs()
    times = onp.asarray([0.0, 0.5, 2.0])
    params = np.asarray(onp.asarray([1.5, 0.75, 0.5]))

    def dense(params):
      on, off, start = params[0], params[1], params[2]
      zero = 0.0 * on
      rows = [
        [-on - 0.25 - 0.5 * off, on, zero + 0.25],
        [zero, -2 * on - 0.5, 2 * on + 0.5],
        [on + off, zero, -on - 3 * off],
      ]
      matrix = np.stack([np.stack(row) for row in rows])
      exits = np.stack([0.5 * off, zero, 2 * off])
      alpha = np.stack([start, 0.75 - start, zero])
      dist = pd.PhaseType(alpha, matrix, exits, 0.25 + zero)
      return dist.log_prob(times)

    value, gradient = gradients.value_and_gradient(
      lambda x: pd.PhaseType.from_graph(graph, x).log_prob(times), params
    )
    expected, wanted = gradients.value_and_gradient(dense, params)
    self.assert_close(value, expected)
    self.assert_close(gradient, wanted, 1e-10)

    def by_values(values, alpha):
      dist = pd.PhaseType.from_graph(
        graph, edge_values=values, initial_probs=alpha
      )
      return dist.log_prob(times)

    values, alpha = graph.edge_values(params), graph.initial_probs(params)
    _, (by_edge, by_start) = gradients.value_and_gradient(
      by_values, values, alpha
    )
    chained = self.host(by_edge) @ self.host(graph.coefficients)
    chained += self.host(by_start) @ self.host(graph.initial_coefficients)[:3]
    self.assert_close(chained, wanted, 1e-10)


class ErrorsTest(test_case.TestCase):
  """Tests errors and their messages."""

  def test_other_kind_of_time(self):
    with self.assertRaisesRegex(
      TypeError, "graph is discrete.*DiscretePhaseType.from_graph"
    ):
      pd.PhaseType.from_graph(chain_cases.heads(), [0.5, 0.5])
    with self.assertRaisesRegex(
      TypeError, "graph is continuous.* PhaseType.from_graph"
    ):
      pd.DiscretePhaseType.from_graph(chain_cases.repairs(), [1.0, 1.0, 0.5])

  def test_no_graph(self):
    with self.assertRaisesRegex(TypeError, "graph is builtins.list"):
      pd.PhaseType.from_graph([[-1.0]])

  def test_params(self):
    graph = chain_cases.repairs()
    for params, error, message in (
      (None, ValueError, "params is None"),
      ([1.0, 2.0], ValueError, r"params have shape \(2,\)"),
      ({"on": 1.0, "of": 1.0, "start": 1.0}, ValueError, "unknown 'of'"),
      ({"on": 1.0}, ValueError, "missing 'off', 'start'"),
      ([True, True, True], TypeError, "params"),
    ):
      with self.assertRaisesRegex(error, message):
        pd.PhaseType.from_graph(graph, params)
    with self.assertRaisesRegex(ValueError, "params and edge_values"):
      pd.PhaseType.from_graph(graph, [1.0, 1.0, 0.5], onp.ones(6))
    with self.assertRaisesRegex(ValueError, r"edge_values have shape \(5,\)"):
      pd.PhaseType.from_graph(graph, edge_values=onp.ones(5))

  def test_initial_probs(self):
    with self.assertRaisesRegex(ValueError, r"initial_probs.* \(\.\.\., 3\)"):
      pd.PhaseType.from_graph(
        chain_cases.repairs(),
        [1.0, 1.0, 0.5],
        initial_probs=[1.0, 0.0, 0.0, 0.0],
      )
    # The weights depend on a missing parameter.
    with self.assertRaisesRegex(ValueError, "params is None"):
      pd.PhaseType.from_graph(chain_cases.repairs(), edge_values=onp.ones(6))

  @test_case.of_bad_values
  def test_values(self):
    for params, message in (
      ([-1.0, 1.0, 0.5], r"^graph.edge_values\(params\)\[0\] = -1"),
      ([1.0, 1.0, 0.875], r"^graph.initial_probs\(params\)\[1\] = -0.125"),
      ([1.0, math.nan, 0.5], r"^params\['off'\] = nan: .* must be finite"),
    ):
      with self.assertRaisesRegex(ValueError, message):
        pd.PhaseType.from_graph(
          chain_cases.repairs(), params, validate_args=True
        )
      lax = pd.PhaseType.from_graph(chain_cases.repairs(), params)
      self.assert_close(lax.log_prob(1.0), math.nan)
    with self.assertRaisesRegex(ValueError, r"^edge_values\[1\] = -1"):
      pd.PhaseType.from_graph(
        chain_cases.repairs(),
        edge_values=[1.0, -1.0, 1.0, 1.0, 1.0, 1.0],
        initial_probs=[1.0, 0.0, 0.0],
        validate_args=True,
      )
    with self.assertRaisesRegex(ValueError, r"^params\[1, 0\] = nan: "):
      one = pg.Graph.from_edges([(0, pg.ABSORBED, [1.0])], 0, params=1)
      pd.MultivariatePhaseType.from_graph(
        one, [[1.0], [math.nan]], [[1.0]], validate_args=True
      )
    with self.assertRaisesRegex(
      ValueError, r"the phase of edge\[[01]\] = 1.25: .* <= 1"
    ):
      pd.DiscretePhaseType.from_graph(
        chain_cases.heads(),
        edge_values=[0.5, 0.75, 0.5, 0.25],
        validate_args=True,
      )
    with self.assertRaisesRegex(ValueError, "value = -1.0"):
      dist = pd.PhaseType.from_graph(
        chain_cases.repairs(), [1.0, 1.0, 0.5], validate_args=True
      )
      dist.log_prob(-1.0)

  def test_too_many_phases(self):
    graph = pg.Graph.from_transitions(
      lambda k: [(k + 1 if k < 4096 else pg.ABSORBED, 1.0)], 0
    )
    dist = pd.PhaseType.from_graph(graph)
    self.assertEqual(dist.num_phases, 4097)
    with self.assertRaisesRegex(ValueError, "4097 phases.*graph.edge_weights"):
      _ = dist.subgenerator


if __name__ == "__main__":
  absltest.main()
