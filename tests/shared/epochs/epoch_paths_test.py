"""Weights of edges, paths and marks through epochs."""

import math
import warnings

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from tests.helpers import test_case

models = graphs.models
_ABSORBED = graphs.ABSORBED
_FIRST = graphs.Graph.from_edges(
  [
    ("a", "b", [1.0, 0.0, 0.0]),
    ("b", "a", [0.0, 1.0, 0.0]),
    ("a", _ABSORBED, [0.0, 0.0, 1.0]),
    ("b", _ABSORBED, [0.0, 0.0, 0.3]),
  ],
  "a",
  3,
)
_SECOND = graphs.Graph.from_edges(
  [
    ("z", "x", [1.0, 0.0]),
    ("x", "y", [1.0, 0.0]),
    ("x", _ABSORBED, [0.2, 0.0]),
    ("y", _ABSORBED, [0.0, 1.0]),
  ],
  "z",
  2,
)
_TIMES = (0.7, 1.9)


def _mapped():
  """Returns three epochs; states change at both boundaries."""
  return pd.Epochs(
    [_FIRST, _SECOND, _FIRST],
    [[2.0, 1.0, 0.5], [1.0, 0.7], [0.5, 3.0, 0.2]],
    _TIMES,
    state_maps=[
      lambda state: {"a": "z", "b": "y"}[state],
      lambda state: {"x": "a", "y": "b", "z": "b"}[state],
    ],
  )


class EdgeValuesTest(test_case.TestCase):
  """Tests weights of edges in the place of parameters."""

  def test_the_same_as_parameters(self):
    tree = models.kingman(4)
    rates = onp.asarray([[1.0], [2.5], [0.5]])
    weights = [tree.edge_values(rate) for rate in rates]
    same = pd.Epochs(tree, rates, [0.3, 1.1])
    dist = pd.Epochs(tree, None, [0.3, 1.1], edge_values=weights)
    self.assert_close(dist.mean(), same.mean(), 1e-15)
    x = onp.asarray([0.1, 0.5, 2.0])
    self.assert_close(dist.log_prob(x), same.log_prob(x), 1e-15)
    some = pd.Epochs(
      tree,
      [rates[0], None, rates[2]],
      [0.3, 1.1],
      None,
      [None, weights[1], None],
    )
    self.assert_close(some.mean(), same.mean(), 1e-15)
    for copy in (dist.copy(), some.copy(name="other"), dist[...]):
      self.assert_close(copy.mean(), same.mean(), 1e-15)
    self.assertEqual(dist.params, (None, None, None))
    self.assertIsNone(some.edge_values[0])

  def test_a_batch(self):
    tree = models.kingman(3)
    weights = onp.asarray(tree.edge_values([1.0]))
    dist = pd.Epochs(
      tree,
      None,
      [0.5],
      edge_values=[onp.stack([weights, 2 * weights]), weights],
    )
    self.assertEqual(tuple(dist.batch_shape), (2,))
    other = pd.Epochs(tree, [[2.0], [1.0]], [0.5])
    self.assert_close(dist[1].mean(), other.mean(), 1e-15)

  def test_a_parameter_of_multiple_mergers(self):
    # With equal epochs the slope in alpha is that of a single one.
    graph = models.lambda_block_counting(4)
    rewards = onp.asarray([state[:-1] for state in graph.states], float)

    def through_epochs(alpha):
      weights = models.beta_rates(graph, alpha)
      dist = pd.Epochs(graph, None, [0.3], edge_values=[weights, weights])
      return np.sum(pd.MultivariateEpochs(dist, rewards).mean()[:1])

    def of_one(alpha):
      dist = pd.MultivariatePhaseType.from_graph(
        graph, edge_values=models.beta_rates(graph, alpha), rewards=rewards
      )
      return np.sum(dist.mean()[:1])

    alpha = np.asarray(1.5)
    found, slope = pm.value_and_gradient(through_epochs, alpha)
    exact, exact_slope = pm.value_and_gradient(of_one, alpha)
    self.assert_close(found, exact, 1e-13)
    self.assert_close(slope, exact_slope, 1e-11)

  def test_mistakes(self):
    tree = models.kingman(3)
    weights = onp.asarray([3.0, 1.0])

    def refused(message, params, edge_values, error=ValueError, **options):
      with self.assertRaisesRegex(error, message):
        pd.Epochs(tree, params, [0.3], edge_values=edge_values, **options)

    refused(
      r"params\[0\] and edge_values\[0\] are given", [[1.0]] * 2, [weights] * 2
    )
    refused("edge_values has edge values of 1 epochs", None, [weights])
    refused(r"edge_values\[1\] has shape \(1,\)", None, [weights, weights[1:]])
    refused(r"params\[1\] and edge_values\[1\] are None", None, [weights, None])
    refused(r"params\[0\] and edge_values\[0\] are None", None, None)
    refused("edge_values is str", None, "weights", TypeError)
    refused(
      r"edge_values\[1\]\[0\] = -3",
      None,
      [weights, -weights],
      validate_args=True,
    )
    with self.assertWarnsRegex(RuntimeWarning, r"edge_values\[1\]\[0\] = -3"):
      pd.Epochs(tree, None, [0.3], edge_values=[weights, -weights])


class PathsTest(test_case.TestCase):
  """Tests samples of paths."""

  def test_phases_at_times(self):
    n = 40_000
    dist = _mapped()
    paths = dist.sample_paths(40, n, seed=3)
    phases, times, epochs = (self.host(x).astype(float) for x in paths)
    self.assertEqual(phases.shape, (n, 41))
    self.assertTrue(onp.all(onp.diff(times, axis=-1) >= 0.0))
    self.assertTrue(onp.all(times[:, 0] == 0.0))
    sizes = onp.asarray([2, 3, 2])
    starts = onp.cumsum([0, *sizes])
    for time in (0.3, 0.7, 1.2, 1.9, 3.0):
      epoch = int(onp.searchsorted(_TIMES, time, side="right"))
      last = onp.sum(times <= time, axis=-1) - 1
      phase, own = phases[onp.arange(n), last], epochs[onp.arange(n), last]
      alive = phase < sizes[own.astype(int)]
      self.assertTrue(onp.all(own[alive] == epoch))
      exact = self.host(dist.occupancy(time, by_epoch=True))
      for j in range(sizes[epoch]):
        p = exact[starts[epoch] + j]
        share = onp.mean(alive & (phase == j))
        self.assertLessEqual(abs(share - p), 4.0 * math.sqrt(p * (1.0 - p) / n))
    ends = times[:, -1]
    error = onp.std(ends) / math.sqrt(n)
    self.assertLess(abs(onp.mean(ends) - self.host(dist.mean())), 4.0 * error)

  def test_shapes_and_seeds(self):
    tree = models.kingman(3)
    rates = onp.asarray([[1.0], [2.0]])
    dist = pd.Epochs(tree, [rates, [0.5]], [0.5])
    paths = dist.sample_paths(4, (2, 3), seed=1)
    for x in paths:
      self.assertEqual(tuple(x.shape), (2, 3, 2, 5))
    again = dist.sample_paths(4, (2, 3), seed=1)
    for x, y in zip(paths, again, strict=True):
      self.assertTrue(onp.all(self.host(x) == self.host(y)))
    # A path enters each epoch once; two jumps end it.
    epochs = self.host(paths.epochs)
    self.assertTrue(onp.all(self.host(paths.phases)[..., -1] == 2))
    self.assertTrue(onp.all(onp.diff(epochs, axis=-1) >= 0))
    none = dist.sample_paths(0, (), seed=1)
    self.assertEqual(self.host(none.phases).tolist(), [[0], [0]])

  def test_paths_without_an_end(self):
    # In the last epoch nothing happens.
    dist = pd.Epochs(models.kingman(2), [[0.1], [0.0]], [1.0])
    paths = dist.sample_paths(3, 50, seed=2)
    times, phases = self.host(paths.times), self.host(paths.phases)
    stay = phases[:, -1] == 0
    self.assertTrue(onp.any(stay))
    self.assertTrue(onp.all(times[stay][:, 1] == 1.0))
    self.assertTrue(onp.all(times[stay][:, 2:] == math.inf))
    self.assertTrue(onp.all(self.host(paths.epochs)[stay][:, 1:] == 1))

  def test_mistakes(self):
    dist = _mapped()
    with self.assertRaisesRegex(ValueError, "num_jumps is -1"):
      dist.sample_paths(-1, (), seed=1)
    with self.assertRaisesRegex(TypeError, "num_jumps is float"):
      dist.sample_paths(1.0, (), seed=1)
    with self.assertRaisesRegex(ValueError, "sample in parts"):
      dist.sample_paths(2**20, 2**10, seed=1)
    with warnings.catch_warnings():
      warnings.simplefilter("ignore", RuntimeWarning)
      wrong = pd.Epochs(models.kingman(3), [[-1.0], [0.5]], [0.5])
    paths = wrong.sample_paths(2, (), seed=1)
    self.assertTrue(onp.all(self.host(paths.phases) == -1))
    self.assertTrue(onp.all(onp.isnan(self.host(paths.times))))


class MarksTest(test_case.TestCase):
  """Tests joint probabilities of Poisson marks."""

  def test_equal_epochs(self):
    graph = models.block_counting(5)
    rewards = onp.asarray(graph.states, float)[:, :4]
    rates = onp.asarray([0.5, 0.7, 0.0, 2.0])
    dist = pd.MultivariateEpochs(
      pd.Epochs(graph, [[1.3]] * 3, [0.2, 0.9]), rewards
    )
    found = dist.joint_mark_probs((2, 1, 1, 2), rates)
    exact = pm.phase_type.joint_mark_probs(
      (2, 1, 1, 2),
      rewards,
      rates,
      graph.initial_probs([1.3]),
      graph.edge_weights([1.3]),
    )
    self.assert_close(found, exact, 1e-13)

  def test_a_pair(self):
    # Before the boundary the rate is one: P(N = 0, T <= 1) is the integral of
    # exp(-2 t), and so on.
    dist = pd.MultivariateEpochs(
      pd.Epochs(models.kingman(2), [[1.0], [4.0]], [1.0]), onp.asarray([[2.0]])
    )
    found = dist.joint_mark_probs([1], [0.5])
    early = (1.0 - math.exp(-2.0)) / 2.0
    late = math.exp(-2.0) * 4.0 / 5.0
    none = early + late
    early = (1.0 - 3.0 * math.exp(-2.0)) / 4.0
    late = math.exp(-2.0) * (4.0 / 5.0 + 4.0 / 25.0)
    self.assert_close(found, [none, early + late], 1e-13)

  def test_sums_and_moments(self):
    # The mean number is the rate times the mean reward.
    graph = models.block_counting(4)
    rewards = onp.asarray(graph.states, float)[:, :3]
    epochs = pd.Epochs(graph, [[1.0], [3.0]], [0.4])
    one = pd.MultivariateEpochs(epochs, rewards[:, :1])
    probs = self.host(one.joint_mark_probs([60], [0.5]))
    numbers = onp.arange(61)
    self.assert_close(onp.sum(probs), 1.0, 1e-12)
    self.assert_close(
      onp.sum(numbers * probs), 0.5 * self.host(one.mean())[0], 1e-11
    )
    # Marks of several kinds: those of one kind alone, where no other counts.
    both = pd.MultivariateEpochs(epochs, rewards[:, :2])
    joint = self.host(both.joint_mark_probs([2, 40], [0.5, 0.25]))
    self.assert_close(onp.sum(joint, axis=-1), probs[:3], 1e-11)

  def test_paths_without_an_end(self):
    # Half of the paths never end; without marks they have a number of them.
    rewards = onp.asarray([[1.0]])
    history = pd.Epochs(models.kingman(2), [[1.0], [0.0]], [math.log(2.0)])
    endless = pd.MultivariateEpochs(history, [rewards, 0.0 * rewards])
    self.assert_close(
      endless.joint_mark_probs([0], [1.0]), [0.375 + 0.25], 1e-13
    )
    marked = pd.MultivariateEpochs(history, rewards)
    self.assert_close(marked.joint_mark_probs([0], [1.0]), [0.375], 1e-13)

  def test_batches_and_values_that_cannot_be(self):
    rates = onp.asarray([[1.0], [2.0]])
    history = pd.Epochs(models.kingman(2), [rates, [4.0]], [1.0])
    dist = pd.MultivariateEpochs(history, onp.asarray([[2.0]]))
    found = dist.joint_mark_probs([2], [0.5])
    self.assertEqual(tuple(found.shape), (2, 3))
    self.assert_close(found[1], dist[1].joint_mark_probs([2], [0.5]), 1e-14)
    with self.assertWarnsRegex(RuntimeWarning, r"mark_rates\[0\] = -1"):
      found = dist[0].joint_mark_probs([1], [-1.0])
    self.assertTrue(onp.all(onp.isnan(self.host(found))))
    with self.assertRaisesRegex(ValueError, r"max_counts is \(1, 2\)"):
      dist.joint_mark_probs([1, 2], [0.5])
    with self.assertRaisesRegex(ValueError, r"mark_rates has shape \(2,\)"):
      dist.joint_mark_probs([1], [0.5, 1.0])
    with self.assertRaisesRegex(TypeError, "max_counts is"):
      dist.joint_mark_probs([1.5], [0.5])
    wide = pd.MultivariateEpochs(history, onp.ones((1, 2)))
    with self.assertRaisesRegex(ValueError, "levels of counts"):
      wide.joint_mark_probs([99, 99], [0.5, 0.5])

  def test_derivatives(self):
    # By the limit of zero length: with a second epoch that equals the first the
    # slope in the boundary is zero, and slopes in both rates have a known sum.
    graph = models.kingman(3)
    rewards = onp.asarray([[n] for n in graph.states], float)

    def value(x):
      history = pd.Epochs(graph, [x[:1], x[1:2]], x[2:])
      dist = pd.MultivariateEpochs(history, rewards)
      return np.sum(np.log(dist.joint_mark_probs([3], [0.5])))

    def of_one(rate):
      probs = pm.phase_type.joint_mark_probs(
        [3],
        rewards,
        [0.5],
        graph.initial_probs(rate),
        graph.edge_weights(edge_values=graph.edge_values(rate)),
      )
      return np.sum(np.log(probs))

    _, slopes = pm.value_and_gradient(value, np.asarray([1.5, 1.5, 0.4]))
    _, exact = pm.value_and_gradient(of_one, np.asarray([1.5]))
    slopes = self.host(slopes)
    self.assert_close(slopes[0] + slopes[1], self.host(exact)[0], 1e-11)
    self.assertLess(abs(slopes[2]), 1e-12)


if __name__ == "__main__":
  absltest.main()
