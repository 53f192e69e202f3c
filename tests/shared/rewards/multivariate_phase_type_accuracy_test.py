"""MultivariatePhaseType: projections, samples, contract and graphs."""

import math
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import reward_models
from tests.helpers import test_case


class ProjectionTest(test_case.TestCase):
  """Tests single rewards and their sums."""

  def test_projection(self):
    model = reward_models.random(6, 3)
    alpha, off, rewards, exits, atom = model
    dist = pd.MultivariatePhaseType(*model)
    weights = onp.asarray([0.5, 0.0, 2.0])
    total = dist.projection(weights)
    self.assertIsInstance(total, pd.PhaseType)
    covariance = self.host(dist.covariance())
    self.assert_close(total.mean(), weights @ self.host(dist.mean()), 1e-13)
    self.assert_close(total.variance(), weights @ covariance @ weights, 1e-11)
    for r in (0, 1, 2, -1):
      expected = pd.PhaseType(
        *pm.phase_type.reward_transform(rewards[:, r], alpha, off, exits, atom)
      )
      self.assert_close(
        dist.marginal(r).cdf([0.0, 0.5, 2.0]),
        expected.cdf([0.0, 0.5, 2.0]),
        1e-14,
      )
    first = dist.marginal(0).cdf([0.0, 0.5, 2.0])
    self.assert_close(dist.marginal(-3).cdf([0.0, 0.5, 2.0]), first)
    with self.assertRaisesRegex(IndexError, "index is -4: .* one of 3 rewards"):
      dist.marginal(-4)
    with self.assertRaisesRegex(IndexError, "index is 3: .* one of 3 rewards"):
      dist.marginal(3)
    with self.assertRaisesRegex(ValueError, "number of rewards R"):
      dist.projection([1.0])

  def test_samples(self):
    dist = pd.MultivariatePhaseType(*reward_models.random(5, 2))
    n = 20_000
    x = self.host(dist.sample(n, seed=3))
    self.assertEqual(onp.shape(x), (n, 2))
    deviation = self.host(dist.stddev()) / math.sqrt(n)
    error = onp.abs(onp.mean(x, axis=0) - self.host(dist.mean()))
    self.assertTrue(onp.all(error < 5 * deviation))
    product = x[:, 0] * x[:, 1]
    error = onp.mean(product) - self.host(dist.mixed_moment((1, 1)))
    self.assertLess(abs(error), 5 * onp.std(product) / math.sqrt(n))
    # In distribution, for a sum of both.
    total = dist.projection([1.0, 1.0])
    u = self.host(total.cdf(onp.sum(x, axis=1)))
    atom = float(self.host(total.cdf(0.0)))
    self.assertLess(abs(onp.mean(u <= atom) - atom), 5 / math.sqrt(n))
    grid = onp.linspace(atom, 1.0, 20)
    share = onp.mean(u[:, None] <= grid, axis=0)
    self.assertLess(onp.max(onp.abs(share - grid)), 5 / math.sqrt(n))

  def test_samples_that_earn_for_ever(self):
    matrix = onp.asarray([[-2.0, 1.0], [0.0, 0.0]])
    rewards = onp.asarray([[1.0, 0.0], [0.0, 2.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0], matrix, rewards)
    x = self.host(dist.sample(2000, seed=5))
    self.assertTrue(onp.all(onp.isfinite(x[:, 0])))
    for_ever = onp.isinf(x[:, 1])
    self.assertTrue(onp.all(for_ever | (x[:, 1] == 0)))
    self.assertLess(abs(onp.mean(for_ever) - 0.5), 0.06)
    self.assert_close(dist.mean(), [0.5, math.inf], 1e-14)


class ContractTest(test_case.TestCase):
  """Tests shapes, checks and structure."""

  def test_shapes(self):
    alpha, off, rewards, exits, atom = reward_models.random(4, 2)
    scales = onp.asarray([1.0, 2.0, 4.0])
    dist = pd.MultivariatePhaseType(
      alpha, off, rewards * scales[:, None, None], exits, atom
    )
    self.assertEqual(dist.batch_shape, (3,))
    self.assertEqual(dist.event_shape, (2,))
    self.assertEqual(static.shape(dist.sample((5, 6), seed=1)), (5, 6, 3, 2))
    self.assertEqual(static.shape(dist.mean()), (3, 2))
    self.assertEqual(static.shape(dist.covariance()), (3, 2, 2))
    self.assertEqual(static.shape(dist.mixed_moment((1, 2))), (3,))
    self.assertEqual(static.shape(dist.laplace_transform([1.0, 2.0])), (3,))
    mean = self.host(dist.mean())
    self.assert_close(mean, mean[0] * scales[:, None], 1e-13)
    self.assert_close(dist[1].mean(), mean[1], 1e-14)
    self.assertEqual(dist[1:].batch_shape, (2,))
    self.assert_close(dist.copy(rewards=rewards).mean(), mean[0], 1e-14)

  def test_vectors_have_no_quantiles_whatever_the_value(self):
    dist = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0]])
    for method in ("quantile", "quantile_log_survival", "quantile_log_cdf"):
      for value in ([-1.0], [0.5]):
        with warnings.catch_warnings():
          warnings.simplefilter("error")
          with self.assertRaisesRegex(NotImplementedError, "have no order"):
            getattr(dist, method)(value)

  def test_float32(self):
    arrays = [onp.asarray(x, onp.float32) for x in reward_models.blocks()]
    dist = pd.MultivariatePhaseType(*arrays)
    value = onp.asarray([1.0, 2.0], onp.float32)
    for x in (
      dist.mean(),
      dist.covariance(),
      dist.log_prob(value),
      dist.mixed_moment((1, 1)),
      dist.laplace_transform(value),
      dist.sample(3, seed=1),
    ):
      self.assertEqual(static.dtype_name(x), "float32")
    self.assert_close(
      dist.log_prob(value),
      onp.float32(
        reward_models.log_density_of_blocks(reward_models.blocks(), (1.0, 2.0))
      ),
      1e-5,
    )

  @parameterized.parameters(
    (onp.ones((3, 2)), r"rewards has shape \(3, 2\).*p = 2"),
    (onp.ones(2), r"rewards has shape \(2,\)"),
    (onp.ones((4, 2, 1)), "do not broadcast"),
  )
  def test_bad_shapes(self, rewards, message):
    alpha = onp.asarray([[0.5, 0.5], [1.0, 0.0]])
    with self.assertRaisesRegex(ValueError, message):
      pd.MultivariatePhaseType(alpha, -onp.eye(2), rewards)

  @test_case.of_bad_values
  def test_bad_values(self):
    arguments = ([1.0], [[-1.0]], [[1.0, -1.0]])
    with self.assertRaisesRegex(ValueError, "rewards.*must be >= 0 and finite"):
      pd.MultivariatePhaseType(*arguments, validate_args=True)
    dist = pd.MultivariatePhaseType(*arguments)
    self.assert_close(dist.mean(), [1.0, math.nan])
    self.assert_close(dist.laplace_transform([1.0, 1.0]), math.nan)
    self.assert_close(dist.mixed_moment((1, 1)), math.nan)
    good = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]])
    self.assert_close(good.laplace_transform([-0.5, 1.0]), math.nan)
    with self.assertRaisesRegex(ValueError, r"value has shape \(3,\).*R = 2"):
      good.log_prob([1.0, 2.0, 3.0])
    with self.assertRaisesRegex(TypeError, "sequence of integers"):
      good.mixed_moment((1.5, 1))
    with self.assertRaisesRegex(ValueError, "R = 2 integers"):
      good.mixed_moment((1,))
    checked = pd.MultivariatePhaseType(
      [1.0], [[-1.0]], [[1.0]], validate_args=True
    )
    with self.assertRaisesRegex(ValueError, "must be >= 0"):
      checked.log_prob([-1.0])


class GraphTest(test_case.TestCase):
  """Tests rewards of graphs."""

  def _tree(self, n=6):
    def transitions(k):
      yield (k - 1 if k > 2 else graphs.ABSORBED), {"coal": k * (k - 1) / 2}

    graph = graphs.Graph.from_transitions(transitions, n, params=("coal",))
    rewards = onp.asarray([[1.0, k] for k in graph.states])
    return graph, rewards

  def test_as_the_matrix(self):
    graph, rewards = self._tree()
    params = {"coal": onp.asarray([1.0, 0.5])}
    sparse = pd.MultivariatePhaseType.from_graph(graph, params, rewards)
    self.assertEqual(sparse.batch_shape, (2,))
    self.assertEqual(sparse.event_shape, (2,))
    dense = pd.MultivariatePhaseType(
      sparse.initial_probs, sparse.subgenerator, rewards, sparse.exit_rates
    )
    for name in ("mean", "covariance", "variance", "stddev"):
      self.assert_close(getattr(sparse, name)(), getattr(dense, name)(), 1e-12)
    self.assert_close(
      sparse.mixed_moment((1, 2)), dense.mixed_moment((1, 2)), 1e-13
    )
    u = onp.asarray([0.5, 0.25])
    self.assert_close(
      sparse.laplace_transform(u), dense.laplace_transform(u), 1e-13
    )
    length = sparse.marginal(1)
    self.assertIsInstance(length, pd.GraphPhaseType)
    self.assert_close(length.cdf(2.0), dense.marginal(1).cdf(2.0), 1e-13)
    part = sparse.copy(rewards=onp.eye(5))
    self.assert_close(
      part.marginal(1).mean(), dense.copy(rewards=onp.eye(5)).mean()[:, 1]
    )
    x = self.host(sparse.sample(4000, seed=2))
    error = onp.abs(onp.mean(x, axis=0) - self.host(sparse.mean()))
    limit = 5 * self.host(sparse.stddev()) / math.sqrt(4000)
    self.assertTrue(onp.all(error < limit))
    self.assert_close(sparse[1].mean(), sparse.mean()[1], 1e-14)

  def test_small_atom(self):
    edges = [(0, 1, [1.0]), (1, graphs.ABSORBED, [2.0])]
    start = {0: 1.0, graphs.ABSORBED: 1e-20}
    graph = graphs.Graph.from_edges(edges, start, params=1)
    dist = pd.MultivariatePhaseType.from_graph(graph, [1.0], onp.ones((2, 2)))
    self.assert_close(dist.marginal(0).cdf(0.0), 1e-20)
    self.assert_close(dist.projection([1.0, 2.0]).cdf(0.0), 1e-20)
    moved = dist.copy(initial_probs=onp.asarray([0.25, 0.5]))
    self.assert_close(moved.marginal(0).cdf(0.0), 0.25)
    self.assert_close(moved.marginal(0).mean(), 0.25 * 1.5 + 0.5 * 0.5)

  def test_gradient(self):
    graph, rewards = self._tree()

    def mean(params, rewards):
      dist = pd.MultivariatePhaseType.from_graph(graph, params, rewards)
      return dist.mixed_moment((1, 1))

    value, found = gradients.value_and_gradient(
      mean, np.asarray(onp.asarray([0.5])), np.asarray(rewards)
    )
    # The moment is of degree -2 in the rate, and linear in each reward.
    value = float(self.host(value))
    self.assert_close(found[0], [-2 * value / 0.5], 1e-12)
    sums = onp.sum(self.host(found[1]) * rewards, axis=0)
    self.assert_close(sums, [value, value], 1e-12)

  def test_no_rewards(self):
    graph, _ = self._tree()
    with self.assertRaisesRegex(TypeError, "rewards is None"):
      pd.MultivariatePhaseType.from_graph(graph, [1.0])


if __name__ == "__main__":
  absltest.main()
