"""Rewards through epochs against matrix exponentials in ball arithmetic."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic.internal import static
from tests.helpers import epoch_models
from tests.helpers import test_case
from tests.oracle import epoch_oracle

MODE = "numpy"


def _middles(balls):
  return [epoch_models.middle(ball) for ball in balls]


class RewardsTest(test_case.TestCase):
  """Tests random chains, 40 in NumPy, rates over eight decades among them."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()  # The portable path is slow.

  @parameterized.parameters(*range(5))
  def test_random_chains(self, block):
    count = 1  # The others compute what NumPy computes, in the same code.
    if MODE == "numpy":
      count = 8
    for seed in range(8 * block, 8 * block + count):
      with self.subTest(seed):
        self._check(epoch_models.random_rewards(seed))

  def _check(self, model):
    oracle = epoch_oracle.EpochRewardOracle(*model)
    chains, params, boundaries, rewards, maps = model
    epochs = pd.Epochs(chains, params, boundaries, maps)
    dist = pd.MultivariateEpochs(epochs, rewards)
    size = dist.num_rewards
    units = onp.eye(size, dtype=int)
    means = _middles(oracle.mixed_moment(unit) for unit in units)
    self.assert_close(dist.mean(), means, 1e-12)
    found = self.host(dist.covariance())
    for a in range(size):
      for b in range(size):
        second = oracle.mixed_moment(units[a] + units[b])
        exact = second - oracle.mixed_moment(units[a]) * oracle.mixed_moment(
          units[b]
        )
        error = abs(found[a, b] - epoch_models.middle(exact))
        self.assertLessEqual(error, 1e-12 * epoch_models.middle(second))
    for orders in epoch_models.ORDERS[size]:
      exact = epoch_models.middle(oracle.mixed_moment(orders))
      self.assert_close(dist.mixed_moment(orders), exact, 1e-12)
    scale = 1.0 / (onp.asarray(means) + 1e-300)
    for factor in (0.01, 1.0, 30.0):
      u = onp.minimum(factor * scale, 1e6)
      exact = epoch_models.middle(oracle.laplace_transform(u))
      self.assert_close(dist.laplace_transform(u), exact, 1e-12)
    rates = onp.minimum(0.5 * scale, 1e6)
    most = (2,) if size == 1 else (1,) * size
    found = self.host(dist.joint_mark_probs(most, rates))
    for counts in onp.ndindex(*found.shape):
      exact = epoch_models.middle(oracle.mark_prob(counts, rates))
      self.assert_close(found[counts], exact, 1e-12)
    last = boundaries[-1] if len(boundaries) else 1.0
    for since, until in ((None, 0.3 * last), (0.2 * last, 2.0 * last)):
      exact = oracle.sojourn_times(since or 0.0, until)
      times = epochs.expected_sojourn_times(until, since, by_epoch=True)
      self.assert_close(times, _middles(itertools.chain(*exact)), 1e-12)


class ShapesTest(test_case.TestCase):
  def test_one_array_for_epochs_of_different_sizes(self):
    two, one = (
      graphs.Graph.from_edges(edges, 0, 1)
      for edges in (
        [(0, 1, [1.0]), (1, graphs.ABSORBED, [1.0])],
        [(0, graphs.ABSORBED, [1.0])],
      )
    )
    maps = [lambda state: 0]
    epochs = pd.Epochs([two, one], [[1.0], [2.0]], [0.5], maps)
    for p in (1, 2):
      with self.assertRaisesRegex(ValueError, r"different numbers .* \(2, 1\)"):
        pd.MultivariateEpochs(epochs, onp.ones((p, 1)))
    dist = pd.MultivariateEpochs(epochs, onp.ones((3, 1)))
    with self.assertRaisesRegex(ValueError, r"u has shape \(\): it must"):
      dist.laplace_transform(1.0)

  def test_small_rewards_of_a_trap(self):
    # After the boundary nothing leaves the second phase.
    edges = [(0, 1, {"x": 1.0}), (1, graphs.ABSORBED, {"y": 1.0})]
    graph = graphs.Graph.from_edges(edges, 0, ("x", "y"))
    epochs = pd.Epochs(graph, [[1.0, 2.0], [1.0, 0.0]], [0.5])
    rewards = onp.asarray([[1.0, 0.25], [0.0, 0.5]])
    dist = pd.MultivariateEpochs(epochs, rewards)
    self.assert_close(dist.mean(), [1.0, onp.inf], 1e-13)
    orders = ((2, 0), (1, 1), (0, 2))
    found = [float(dist.mixed_moment(order)) for order in orders]
    self.assert_close(onp.asarray(found), [2.0, onp.inf, onp.inf], 1e-13)


class WidePrecisionTest(test_case.TestCase):
  """Tests what is computed in the widest precision."""

  def test_single_precision(self):
    if static.wide_float() != "float64":
      self.skipTest("there is no double precision")
    model = epoch_models.random_rewards(3)
    chains, params, boundaries, rewards, maps = model
    single = [onp.asarray(x, onp.float32) for x in params]
    times = onp.asarray(boundaries, onp.float32)
    narrow = [onp.asarray(x, onp.float32) for x in rewards]
    dist = pd.MultivariateEpochs(pd.Epochs(chains, single, times, maps), narrow)
    oracle = epoch_oracle.EpochRewardOracle(
      chains,
      [x.astype(float) for x in single],
      times.astype(float),
      [x.astype(float) for x in narrow],
      maps,
    )
    units = onp.eye(dist.num_rewards, dtype=int)
    means = _middles(oracle.mixed_moment(unit) for unit in units)
    self.assertEqual(static.dtype_name(dist.mean()), "float32")
    self.assert_close(dist.mean(), means, 3e-7)


if __name__ == "__main__":
  absltest.main()
