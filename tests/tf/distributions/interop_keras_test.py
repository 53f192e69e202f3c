"""Variables of Keras, with its TensorFlow backend, as arguments."""

from absl.testing import absltest
import keras
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions
from phasic.substrates.tf import graphs

TIMES = onp.array([0.5, 1.0, 2.5])


def _variable(x, dtype="float64"):
  return keras.Variable(x, dtype=dtype)


class Waiting(keras.Model):
  """A distribution of times, made once, whose rate is learned."""

  def __init__(self):
    super().__init__()
    self.rate = self.add_weight(shape=(), initializer="ones")
    self.dist = distributions.Erlang(3, self.rate)

  def call(self, times):
    return -self.dist.log_prob(times)


class KerasVariablesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.rate = _variable(2.0)
    self.dist = distributions.Erlang(3, self.rate)

  def test_read_at_each_use(self):
    mean = tf.function(self.dist.mean)
    for rate in (2.0, 5.0):
      self.rate.assign(rate)
      self.assertAlmostEqual(float(self.dist.mean()), 3.0 / rate, places=14)
      self.assertAlmostEqual(float(mean()), 3.0 / rate, places=14)

  def test_lists_its_variables(self):
    (variable,) = self.dist.trainable_variables
    self.assertIs(variable, self.rate.value)

  def test_gradient(self):
    with tf.GradientTape() as tape:
      value = tf.reduce_sum(self.dist.log_prob(TIMES))
    got = tape.gradient(value, self.rate.value)
    self.assertAlmostEqual(float(got), 9.0 / 2.0 - TIMES.sum(), places=12)

  def test_value_of_a_scope(self):
    with keras.StatelessScope([(self.rate, tf.constant(8.0, tf.float64))]):
      dist = distributions.Erlang(3, self.rate)
    self.assertEqual(float(dist.mean()), 3.0 / 8.0)

  def test_edges_of_a_graph(self):
    edges = [(0, 1, {"a": 2.0}), (1, graphs.ABSORBED, {"b": 1.0})]
    graph = graphs.Graph.from_edges(edges, 0, params=("a", "b"))
    params = {"a": self.rate, "b": _variable(0.5)}
    dist = distributions.PhaseType.from_graph(graph, params)
    self.assertAlmostEqual(float(dist.mean()), 0.25 + 2.0, places=14)
    self.rate.assign(1.0)
    self.assertAlmostEqual(float(dist.mean()), 0.5 + 2.0, places=14)

  def test_in_a_list(self):
    dist = distributions.Hypoexponential([self.rate, 1.0])
    self.assertAlmostEqual(float(dist.mean()), 1.5, places=14)

  def test_as_a_value(self):
    got = self.dist.log_prob(_variable(TIMES))
    onp.testing.assert_array_equal(got, self.dist.log_prob(TIMES))

  def test_bad_dtypes(self):
    with self.assertRaisesRegex(TypeError, "rate.*bfloat16"):
      distributions.Erlang(3, _variable(2.0, "bfloat16"))
    with self.assertRaisesRegex(TypeError, "float32.*float64"):
      self.dist.log_prob(_variable(2.0, "float32"))

  def test_training_finds_the_maximum(self):
    times = onp.float32(TIMES)
    model = Waiting()
    model.compile(keras.optimizers.Adam(0.1), lambda _, losses: losses)
    model.fit(times, times, epochs=150, verbose=0)
    rate = model.rate.numpy()
    onp.testing.assert_allclose(rate, 3.0 / times.mean(), rtol=1e-3)


if __name__ == "__main__":
  absltest.main()
