"""`log_likelihood_terms` under TensorFlow's tapes and functions."""

import math

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import math as pm
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.math.likelihood import observations

_ALPHA = tf.constant([0.5, 0.3, 0.0], tf.float64)
_MATRIX = tf.constant(
  [[-3.0, 1.0, 0.5], [0.25, -2.0, 0.75], [0.0, 0.5, -1.0]], tf.float64
)
_LOWER = tf.constant([0.5, 2.0, -1.0, 1.0, 0.0], tf.float64)
_UPPER = tf.constant([0.5, math.inf, 1.0, 2.0, 0.5], tf.float64)


def _gradients(alpha, matrix, lower, upper):
  arguments = (alpha, matrix, lower, upper)
  with tf.GradientTape() as tape:
    tape.watch(arguments)
    value = observations.log_likelihood_terms(*arguments)
  return value, tape.gradient(value, arguments)


class ObservationsTest(absltest.TestCase):
  def test_shapes_that_are_not_known_when_tracing(self):
    function = tf.function(
      _gradients,
      input_signature=[
        tf.TensorSpec([None], tf.float64),
        tf.TensorSpec([None, None], tf.float64),
        tf.TensorSpec([None], tf.float64),
        tf.TensorSpec([None], tf.float64),
      ],
    )
    expected = _gradients(_ALPHA, _MATRIX, _LOWER, _UPPER)
    found = function(_ALPHA, _MATRIX, _LOWER, _UPPER)
    for x, y in zip(
      tf.nest.flatten(found), tf.nest.flatten(expected), strict=True
    ):
      onp.testing.assert_array_equal(x, y)

  def test_edges_and_kinds(self):
    # Both lists of the op's fixed inputs at once.
    matrix = _MATRIX.numpy()
    rates = onp.concatenate([matrix, -matrix.sum(1, keepdims=True)], axis=1)
    sources, targets = onp.nonzero(rates > 0)
    theta = tf.constant(rates[sources, targets])

    @tf.function
    def both(theta, lower):
      with tf.GradientTape() as tape:
        tape.watch(theta)
        edges = pm.EdgeRates(sources, targets, theta)
        value = observations.log_likelihood_terms(_ALPHA, edges, lower, _UPPER)
      return value, tape.gradient(value, theta)

    value, bar = both(theta, _LOWER)
    expected, bars = _gradients(_ALPHA, _MATRIX, _LOWER, _UPPER)
    onp.testing.assert_allclose(value, expected, rtol=1e-14)
    # With derived exits the derivative of S_ij moves an exit instead.
    inner = targets < 3
    dense = bars[1].numpy()
    exit_bars = onp.zeros(3)
    exit_bars[sources[~inner]] = bar.numpy()[~inner]
    found = dense[sources[inner], targets[inner]]
    diagonal = onp.diag(dense)[sources[inner]]
    onp.testing.assert_allclose(
      bar.numpy()[inner], found - diagonal, rtol=1e-11, atol=1e-13
    )
    onp.testing.assert_allclose(
      exit_bars[sources[~inner]],
      -onp.diag(dense)[sources[~inner]],
      rtol=1e-11,
    )

  def test_second_derivatives(self):
    def loss(theta):
      value = observations.log_likelihood_terms(
        _ALPHA, theta * _MATRIX, _LOWER, _UPPER
      )
      return tf.reduce_sum(tf.sin(value))

    theta = tf.constant(1.25, tf.float64)
    with tf.GradientTape() as outer:
      outer.watch(theta)
      with tf.GradientTape() as inner:
        inner.watch(theta)
        value = loss(theta)
      slope = inner.gradient(value, theta)
    curvature = outer.gradient(slope, theta)
    with tf.autodiff.ForwardAccumulator(theta, tf.ones_like(theta)) as forward:
      with tf.GradientTape() as tape:
        tape.watch(theta)
        value = loss(theta)
      slope = tape.gradient(value, theta)
    onp.testing.assert_allclose(forward.jvp(slope), curvature, rtol=1e-12)

  def test_kinds_of_another_shape_are_refused(self):
    operands = [_ALPHA, _MATRIX, _ALPHA[:0], _ALPHA[:0], _LOWER]
    with self.assertRaisesRegex(Exception, "kinds: 4 entries do not fit 5"):
      phase_type_op.forward(0, 0, [operands], [tf.zeros([4], tf.int32)])


if __name__ == "__main__":
  absltest.main()
