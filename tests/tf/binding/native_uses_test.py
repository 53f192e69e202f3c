"""Kepler's equation in the ways in which TensorFlow users use functions."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from tests.native_ops import libraries
from tests.tf.binding import function_uses

libraries.kepler()

from kepler.tf import kepler  # noqa: E402


def _orbit(theta, t):
  """The mean anomalies and the eccentricities of orbits."""
  return theta[..., 0:1] * t, 0.4 * tf.tanh(theta[..., 2:3])


def _native(theta, t):
  sin_E, cos_E = kepler(*_orbit(theta, t))
  return sin_E * theta[..., 1:2] + cos_E


def _reference(theta, t):
  mean, e = _orbit(theta, t)
  x = mean + e * tf.sin(mean)
  for _ in range(7):
    x = x - (x - e * tf.sin(x) - mean) / (1 - e * tf.cos(x))
  return tf.sin(x) * theta[..., 1:2] + tf.cos(x)


class NativeUsesTest(parameterized.TestCase):
  @parameterized.parameters(*function_uses.USES)
  def test_use(self, use):
    actual = function_uses.USES[use](_native)
    expected = function_uses.USES[use](_reference)
    onp.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)


if __name__ == "__main__":
  absltest.main()
