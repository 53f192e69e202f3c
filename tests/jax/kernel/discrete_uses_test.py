"""Discrete chains under JAX's transformations."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import config
from phasic.substrates.jax import math

jax.config.update("jax_enable_x64", True)

_COUNTS = onp.asarray([3, 4, 9, 50])


def _log_prob(theta, counts=_COUNTS):
  """Negative binomial: the third success of probability theta."""
  edges = math.EdgeProbs(
    onp.arange(3), onp.arange(3) + 1, theta, onp.ones((3, 1))
  )
  return math.discrete_phase_type.log_prob(counts, onp.eye(3)[0], edges)


def _derivative(theta, order):
  """Of 3 log(theta) + (k - 3) log(1 - theta)."""
  factor = [0, 1, -1, 2][order]
  rest = (_COUNTS - 3) * [0, -1, -1, -2][order] / (1 - theta) ** order
  return 3 * factor / theta**order + rest


class DiscreteUsesTest(parameterized.TestCase):
  theta = jnp.asarray([0.25])

  @parameterized.named_parameters(
    ("jacrev", jax.jacrev, 1),
    ("jacfwd", jax.jacfwd, 1),
    ("hessian", jax.hessian, 2),
    ("reverse_reverse", lambda f: jax.jacrev(jax.jacrev(f)), 2),
    ("third", lambda f: jax.jacfwd(jax.hessian(f)), 3),
  )
  def test_derivatives(self, transform, order):
    for f in (transform(_log_prob), jax.jit(transform(_log_prob))):
      value = onp.reshape(f(self.theta), (-1,))
      expected = _derivative(0.25, order)
      onp.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-9)

  def test_vmap(self):
    thetas = jnp.asarray([[0.25], [0.5], [0.125]])
    alone = [jax.jacrev(_log_prob)(theta) for theta in thetas]
    together = jax.vmap(jax.jacrev(_log_prob))(thetas)
    onp.testing.assert_array_equal(together, onp.stack(alone))

  def test_integer_counts_have_no_derivative(self):
    def loss(theta, counts):
      return jnp.sum(_log_prob(theta, counts))

    slopes = jax.grad(loss, argnums=(0, 1), allow_int=True)(
      self.theta, jnp.asarray(_COUNTS)
    )
    self.assertTrue(onp.all(onp.isfinite(slopes[0])))
    self.assertEqual(slopes[1].dtype, jax.dtypes.float0)

  @parameterized.parameters("kernel", "portable")
  def test_floating_counts_have_none_that_is_a_number(self, path):
    def value(k):
      return math.discrete_phase_type.survival_function(k, [1.0], [[0.5]])

    with config.use_path(path):
      for slope in (jax.grad(value), jax.jacfwd(value)):
        self.assertTrue(onp.isnan(slope(2.0)))
        self.assertEqual(slope(2.5), 0.0)

  def test_traced_portable_path(self):
    counts = jnp.asarray([1.0, 7.0, 4000.0, 10_000.0])
    with config.use_path("portable"):
      value = jax.jit(
        lambda k: math.discrete_phase_type.log_prob(k, [1.0], [[0.75]])
      )(counts)
    expected = onp.log(0.25) + (counts - 1) * onp.log(0.75)
    onp.testing.assert_allclose(value[:3], expected[:3], rtol=1e-13)
    self.assertTrue(onp.isnan(value[3]))


if __name__ == "__main__":
  absltest.main()
