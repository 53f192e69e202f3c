"""Rewards in graphs and under tapes."""

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions
from phasic.substrates.tf import math
from phasic.substrates.tf.internal import kernel_ops

_PROBS = onp.array([0.5, 0.25, 0.25])
_MATRIX = onp.array([[-2.0, 1.5, 0.25], [0.125, -1.0, 0.875], [3.0, 0.0, -4.0]])
_REWARDS = onp.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])


class RewardsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(kernel_ops.unavailable_reason(), "")

  def test_graph(self):
    def values(matrix, rewards):
      dist = distributions.MultivariatePhaseType(_PROBS, matrix, rewards)
      total = dist.projection([0.5, 0.0])
      marks = math.phase_type.joint_mark_probs(
        (2, 1), rewards, [0.5, 0.25], _PROBS, matrix
      )
      return (
        dist.mean(),
        dist.covariance(),
        dist.mixed_moment((1, 2)),
        dist.laplace_transform([0.5, 1.0]),
        total.cdf([0.0, 1.0]),
        marks,
      )

    arguments = (tf.constant(_MATRIX), tf.constant(_REWARDS))
    for x, y in zip(
      tf.function(values)(*arguments), values(*arguments), strict=True
    ):
      onp.testing.assert_allclose(x, y, 1e-12)

  def test_density_in_a_graph(self):
    @tf.function
    def log_prob(rewards, value):
      matrix = onp.array([[-1.0, 1.0], [0.0, -2.0]])
      dist = distributions.MultivariatePhaseType([1.0, 0.0], matrix, rewards)
      return dist.log_prob(value)

    found = log_prob(
      tf.eye(2, dtype=tf.float64), tf.constant([1.0, 2.0], tf.float64)
    )
    onp.testing.assert_allclose(found, onp.log(2.0) - 5, 1e-13)

  def test_derivatives_in_rewards(self):
    rewards = tf.constant([0.0, 2.0, 3.0], tf.float64)

    def mean(rewards):
      return math.phase_type.mean(
        *math.phase_type.reward_transform(rewards, _PROBS, _MATRIX)
      )

    def gradient(rewards):
      with tf.GradientTape() as tape:
        tape.watch(rewards)
        value = mean(rewards)
      return tape.gradient(value, rewards)

    expected = _PROBS @ onp.linalg.inv(-_MATRIX)
    for f in (gradient, tf.function(gradient)):
      slopes = f(rewards)
      self.assertTrue(onp.isnan(slopes[0]))
      onp.testing.assert_allclose(slopes[1:], expected[1:], 1e-12)

  def test_forward_mode(self):
    rewards = tf.constant([0.5, 2.0, 3.0], tf.float64)
    with tf.autodiff.ForwardAccumulator(
      rewards, tf.constant([0.0, 1.0, 0.0], tf.float64)
    ) as accumulator:
      value = math.phase_type.mean(
        *math.phase_type.reward_transform(rewards, _PROBS, _MATRIX)
      )
    expected = (_PROBS @ onp.linalg.inv(-_MATRIX))[1]
    onp.testing.assert_allclose(accumulator.jvp(value), expected, 1e-12)


if __name__ == "__main__":
  absltest.main()
