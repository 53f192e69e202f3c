"""Discrete chains under TensorFlow's derivatives."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import math

_COUNTS = onp.asarray([3, 4, 9, 50])
_FIRST = onp.sum(3 / 0.25 - (_COUNTS - 3) / 0.75)
_SECOND = onp.sum(-3 / 0.25**2 - (_COUNTS - 3) / 0.75**2)


def _log_prob(theta):
  """Negative binomial: the third success of probability theta."""
  edges = math.EdgeProbs(
    onp.arange(3), onp.arange(3) + 1, theta, onp.ones((3, 1))
  )
  return math.discrete_phase_type.log_prob(_COUNTS, onp.eye(3)[0], edges)


def _tapes(theta):
  with tf.GradientTape() as outer:
    outer.watch(theta)
    with tf.GradientTape() as inner:
      inner.watch(theta)
      value = tf.reduce_sum(_log_prob(theta))
    first = inner.gradient(value, theta)
  return first, outer.gradient(first, theta)


def _forward_over_reverse(theta):
  with tf.autodiff.ForwardAccumulator(theta, tf.ones_like(theta)) as forward:
    with tf.GradientTape() as tape:
      tape.watch(theta)
      value = tf.reduce_sum(_log_prob(theta))
    first = tape.gradient(value, theta)
  return first, forward.jvp(first)


class DiscreteUsesTest(parameterized.TestCase):
  @parameterized.parameters(_tapes, _forward_over_reverse)
  def test_derivatives(self, derivatives):
    theta = tf.constant([0.25], tf.float64)
    for f in (derivatives, tf.function(derivatives)):
      first, second = f(theta)
      onp.testing.assert_allclose(first, [_FIRST], rtol=1e-11)
      onp.testing.assert_allclose(second, [_SECOND], rtol=1e-11)

  def test_counts(self):
    counts = tf.constant([2.0, 2.5], tf.float64)
    whole = tf.constant([1, 2], tf.int32)
    with tf.GradientTape() as tape:
      tape.watch([counts, whole])
      value = math.discrete_phase_type.survival_function(counts, [1.0], [[0.5]])
      other = math.discrete_phase_type.survival_function(whole, [1.0], [[0.5]])
      total = tf.reduce_sum(value) + tf.reduce_sum(other)
    slope, none = tape.gradient(total, [counts, whole])
    self.assertIsNone(none)
    onp.testing.assert_array_equal(slope, [onp.nan, 0.0])


if __name__ == "__main__":
  absltest.main()
