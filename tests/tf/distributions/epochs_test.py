"""Epochs inside of tf.function."""

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions
from phasic.substrates.tf import graphs


class EpochsTest(absltest.TestCase):
  def test_function(self):
    graph = graphs.models.kingman(3)
    times = tf.constant([0.125, 0.75, 2.0], tf.float64)

    def value(rates, boundaries):
      epochs = distributions.Epochs(graph, rates, boundaries)
      return tf.reduce_sum(epochs.log_prob(times)) + epochs.mean()

    def gradient(rates, boundaries):
      with tf.GradientTape() as tape:
        tape.watch((rates, boundaries))
        found = value(rates, boundaries)
      return found, tape.gradient(found, (rates, boundaries))

    arguments = (
      tf.constant([[1.0], [0.5], [3.0]], tf.float64),
      tf.constant([0.5, 1.0], tf.float64),
    )
    eager, slopes = gradient(*arguments)
    found, compiled = tf.function(gradient)(*arguments)
    onp.testing.assert_allclose(found, eager, rtol=1e-13)
    for actual, expected in zip(compiled, slopes, strict=True):
      onp.testing.assert_allclose(actual, expected, rtol=1e-12)

  def test_samples_have_no_derivative(self):
    graph = graphs.models.kingman(3)
    arguments = (
      tf.constant([[1.0], [0.5]], tf.float64),
      tf.constant([0.5], tf.float64),
    )
    for argument in arguments:
      with tf.GradientTape() as tape:
        tape.watch(argument)
        epochs = distributions.Epochs(graph, *arguments)
        found = tf.reduce_sum(epochs.sample(3, seed=1))
      with self.assertRaisesRegex(
        NotImplementedError, r"^samples of Epochs .*: differentiate quantile\(u"
      ):
        tape.gradient(found, argument)

  def test_variables(self):
    graph = graphs.models.kingman(3)
    rates = tf.Variable([[1.0], [0.5]], dtype=tf.float64)
    end = tf.Variable([0.5], dtype=tf.float64)
    one = tf.Variable(0.25, dtype=tf.float64)
    whole = distributions.Epochs(graph, rates, end)
    named = distributions.Epochs(
      graph, [{"coalescence": one}, {"coalescence": 0.5}], end
    )
    self.assertEqual({id(x) for x in whole.variables}, {id(rates), id(end)})
    self.assertEqual({id(x) for x in named.variables}, {id(one), id(end)})
    with tf.GradientTape() as tape:
      total = whole.variance() + named.variance()
    for slope in tape.gradient(total, (rates, end, one)):
      self.assertTrue(onp.all(onp.isfinite(slope)))
    # They are read at each use.
    rates.assign([[0.25], [0.5]])
    onp.testing.assert_allclose(whole.mean(), named.mean(), rtol=1e-14)


if __name__ == "__main__":
  absltest.main()
