"""Distributions whose parameters are variables."""

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.distributions import PhaseType

ALPHA = [0.75, 0.25]
MATRIX = [[-2.0, 1.0], [0.5, -1.5]]
TIMES = onp.array([0.5, 1.0])


class VariablesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.matrix = tf.Variable(MATRIX, dtype=tf.float64)
    self.frozen = tf.Variable(ALPHA, dtype=tf.float64, trainable=False)
    self.dist = PhaseType(self.frozen, self.matrix)

  def test_lists_its_variables(self):
    self.assertIsInstance(self.dist, tf.Module)
    self.assertLen(self.dist.variables, 2)
    (trainable,) = self.dist.trainable_variables
    self.assertIs(trainable, self.matrix)
    self.assertIs(self.dist.subgenerator, self.matrix)

  def test_no_variables(self):
    self.assertEmpty(PhaseType(ALPHA, MATRIX).variables)

  def test_found_by_a_module_that_holds_it(self):
    module = tf.Module()
    module.dist = self.dist
    self.assertLen(module.trainable_variables, 1)

  def test_copies_share_them(self):
    self.assertIs(self.dist.copy(name="b").subgenerator, self.matrix)

  def test_read_at_each_call(self):
    traced = tf.function(self.dist.log_prob)
    for scale in (1.0, 2.0):
      self.matrix.assign(onp.array(MATRIX) * scale)
      want = PhaseType(ALPHA, onp.array(MATRIX) * scale)
      onp.testing.assert_array_equal(
        self.dist.log_prob(TIMES), want.log_prob(TIMES)
      )
      onp.testing.assert_array_equal(traced(TIMES), want.log_prob(TIMES))
      onp.testing.assert_array_equal(self.dist.mean(), want.mean())

  def test_gradient(self):
    with tf.GradientTape() as tape:
      value = tf.reduce_sum(self.dist.log_prob(TIMES))
    got = tape.gradient(value, self.dist.trainable_variables)[0]
    matrix = tf.constant(MATRIX, tf.float64)
    with tf.GradientTape() as tape:
      tape.watch(matrix)
      value = tf.reduce_sum(PhaseType(ALPHA, matrix).log_prob(TIMES))
    onp.testing.assert_array_equal(got, tape.gradient(value, matrix))

  def test_gradient_of_samples(self):
    with tf.GradientTape() as tape:
      sample = self.dist.sample(3, seed=1)
    (got,) = tape.gradient(sample, self.dist.trainable_variables)
    # Samples are inversely proportional to the rates: Euler's theorem.
    self.assertAlmostEqual(
      float(tf.reduce_sum(got * self.matrix)),
      -float(tf.reduce_sum(sample)),
      places=12,
    )

  def test_mixed_dtypes(self):
    with self.assertRaisesRegex(TypeError, "float32.*float64"):
      PhaseType(tf.Variable(ALPHA), self.matrix)


if __name__ == "__main__":
  absltest.main()
