"""Bound Python functions in the ways in which TensorFlow users use functions."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import binding
from tests.oracle import host_jets
from tests.tf.binding import function_uses

_FACTORS = onp.array([0.5, -1.0, 0.25])


def _decay(theta, t):
  """A sum of two decays, by NumPy or by dual numbers: (..., 3) to (..., n)."""
  first = theta[..., 0:1] * host_jets.exp(-1.0 * theta[..., 1:2] * t)
  return first + 0.3 * host_jets.exp(theta[..., 2:3] * t * -0.5)


def _decay_reference(theta, t):
  first = theta[..., 0:1] * tf.exp(-theta[..., 1:2] * t)
  return first + 0.3 * tf.exp(-0.5 * theta[..., 2:3] * t)


def _row(theta, t):
  return binding.ArraySpec((*theta.shape[:-1], *t.shape), theta.dtype)


def _sum_to(x, size):
  """Sums over the dimensions in front, but the last `size`."""
  return onp.sum(x, axis=tuple(range(onp.ndim(x) - size)))


_FUNCTIONS = {
  "bind": (
    host_jets.bound(binding.bind, _decay, 3, "decay", _row),
    _decay_reference,
  ),
  "bind_multilinear": (
    binding.bind_multilinear(
      lambda theta, t: (theta @ _FACTORS)[..., None] * t,
      transposes=[
        lambda t, c: (t * c).sum(-1)[..., None] * _FACTORS,
        lambda theta, c: _sum_to((theta @ _FACTORS)[..., None] * c, 1),
      ],
      abstract=_row,
    ),
    lambda theta, t: tf.reduce_sum(theta * _FACTORS, -1, keepdims=True) * t,
  ),
}


class UsesTest(parameterized.TestCase):
  @parameterized.named_parameters(
    (f"{use}_{kind}", use, kind)
    for use in function_uses.USES
    for kind in _FUNCTIONS
  )
  def test_use(self, use, kind):
    function, reference = _FUNCTIONS[kind]
    expected = function_uses.USES[use](reference)
    actual = function_uses.USES[use](function)
    onp.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-13)


if __name__ == "__main__":
  absltest.main()
