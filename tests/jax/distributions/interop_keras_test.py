"""Variables of Keras, with its JAX backend, as arguments."""

import os

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions

# Keras reads it when it is imported.
os.environ["KERAS_BACKEND"] = "jax"
try:
  import keras
except ImportError:
  keras = None

TIMES = onp.array([0.5, 1.0, 2.5])


@absltest.skipIf(keras is None, "Keras comes with TensorFlow's environment")
class KerasVariablesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.rate = keras.Variable(2.0, dtype="float64")

  def test_has_the_value_of_its_construction(self):
    dist = distributions.Erlang(3, self.rate)
    self.rate.assign(5.0)
    self.assertEqual(float(dist.mean()), 1.5)

  def test_as_a_value_and_in_a_list(self):
    self.assertEqual(
      float(distributions.Hypoexponential([self.rate, 1.0]).mean()), 1.5
    )
    dist = distributions.Erlang(3, 2.0)
    onp.testing.assert_array_equal(
      dist.log_prob(keras.Variable(TIMES, dtype="float64")),
      dist.log_prob(TIMES),
    )

  def test_gradient_in_a_scope(self):
    def loss(value):
      with keras.StatelessScope([(self.rate, value)]):
        return jnp.sum(distributions.Erlang(3, self.rate).log_prob(TIMES))

    got = jax.jit(jax.grad(loss))(jnp.asarray(4.0))
    self.assertAlmostEqual(float(got), 9.0 / 4.0 - TIMES.sum(), places=12)


if __name__ == "__main__":
  absltest.main()
