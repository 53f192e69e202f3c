"""Rewards under JAX's transformations."""

import math as host_math

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions
from phasic.substrates.jax import math
from phasic.substrates.jax.internal import kernel_ops

jax.config.update("jax_enable_x64", True)

_PROBS = onp.array([0.5, 0.4, 0.0])
_CYCLE = onp.array([[-2.0, 1.5, 0.25], [0.125, -1.0, 0.875], [3.0, 0.0, -4.0]])
_REWARDS = onp.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])


class RewardsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(kernel_ops.unavailable_reason(), "")

  def test_distribution_is_a_pytree(self):
    dist = distributions.MultivariatePhaseType(_PROBS, _CYCLE, _REWARDS)
    found = jax.jit(lambda d: (d.mean(), d.covariance()))(dist)
    onp.testing.assert_allclose(found[0], dist.mean(), 1e-14)
    onp.testing.assert_allclose(found[1], dist.covariance(), 1e-12)

  def test_density_of_traced_rewards(self):
    matrix = jnp.array([[-1.0, 1.0], [0.0, -2.0]])
    dist = distributions.MultivariatePhaseType([1.0, 0.0], matrix, jnp.eye(2))
    log_prob = jax.jit(lambda d, y: d.log_prob(y))
    y = jnp.array([1.0, 2.0])
    onp.testing.assert_allclose(log_prob(dist, y), host_math.log(2) - 5, 1e-14)
    # Blocks in another order than that of the rewards are not looked for.
    flipped = dist.copy(rewards=jnp.eye(2)[::-1])
    self.assertTrue(jnp.isnan(log_prob(flipped, y)))

  def test_transform_of_traced_rewards(self):
    compiled = jax.jit(math.phase_type.reward_transform)
    for rewards in ([1.0, 2.0, 3.0], [0.0, 2.0, 3.0], [0.0, 0.0, 0.0]):
      rewards = jnp.array(rewards)
      found = compiled(rewards, _PROBS, _CYCLE)
      expected = math.phase_type.reward_transform(rewards, _PROBS, _CYCLE)
      for x, y in zip(found, expected, strict=True):
        onp.testing.assert_allclose(x, y, 1e-14)
    self.assertEqual(compiled._cache_size(), 1)
    rows = jnp.array([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]])
    atoms = jax.vmap(
      lambda r: math.phase_type.reward_transform(r, _PROBS, _CYCLE)[3]
    )(rows)
    for atom, row in zip(atoms, rows, strict=True):
      one = math.phase_type.reward_transform(row, _PROBS, _CYCLE)[3]
      onp.testing.assert_allclose(atom, one, 1e-14)

  def test_no_derivative_in_rewards_of_zero(self):
    def mean(rewards):
      return math.phase_type.mean(
        *math.phase_type.reward_transform(rewards, _PROBS, _CYCLE)
      )

    rewards = jnp.array([0.0, 2.0, 3.0])
    for derivative in (jax.grad, jax.jacfwd):
      slopes = derivative(mean)(rewards)
      onp.testing.assert_array_equal(jnp.isnan(slopes), [True, False, False])
    for first, second in (
      (jax.jacrev, jax.jacfwd),
      (jax.jacfwd, jax.jacrev),
    ):
      curvature = second(first(mean))(rewards)
      self.assertTrue(jnp.all(jnp.isnan(curvature[0])))
      self.assertTrue(jnp.all(jnp.isnan(curvature[:, 0])))
      # In reverse mode NaN times a cotangent of zero is NaN, too.
      if second is jax.jacfwd:
        onp.testing.assert_allclose(curvature[1:, 1:], 0.0, atol=1e-13)

  def test_second_derivatives(self):
    # P(N = 1) = t r a / (t r + a)^2 for one phase that is left at rate a.
    def prob(x):
      t, r, a = x
      found = math.phase_type.joint_mark_probs(
        (1,),
        jnp.reshape(r, (1, 1)),
        jnp.reshape(t, (1,)),
        jnp.ones(1),
        jnp.zeros((1, 1)),
        jnp.reshape(a, (1,)),
      )
      return found[1]

    def exact(x):
      t, r, a = x
      return t * r * a / (t * r + a) ** 2

    x = jnp.array([0.5, 1.5, 2.0])
    for second in (jax.hessian, lambda f: jax.jacrev(jax.jacrev(f))):
      onp.testing.assert_allclose(second(prob)(x), second(exact)(x), 1e-11)

  def test_second_derivatives_of_moments(self):
    def moment(scale):
      return math.phase_type.mixed_moment(
        (1, 2), _REWARDS, _PROBS, scale * _CYCLE
      )

    # It is of degree -3 in the rates.
    onp.testing.assert_allclose(
      jax.hessian(moment)(1.0), 12 * moment(1.0), 1e-11
    )


if __name__ == "__main__":
  absltest.main()
