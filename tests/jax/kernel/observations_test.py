"""`log_likelihood_terms` under JAX's transformations."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import config
from phasic.substrates.jax.math.likelihood import observations
from tests.oracle import interval_oracle
from tests.oracle import phase_type_oracle as oracle

jax.config.update("jax_enable_x64", True)

_ALPHA = jnp.array([0.5, 0.3, 0.2])
_CYCLE = jnp.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.7, 0.0, 0.0]])
_EXITS = jnp.array([0.25, 0.0, 1.0])
_LOWER = jnp.array([0.5, 1.0, -1.0, 0.25, 0.0])
_UPPER = jnp.array([0.5, jnp.inf, 2.0, 0.375, 1.0])
_THETA = jnp.array([1.0, 1.5, 0.75])


def _terms(theta, lower=_LOWER, upper=_UPPER):
  return observations.log_likelihood_terms(
    _ALPHA, theta[:, None] * _CYCLE, lower, upper, exit_rates=_EXITS
  )


def _loss(theta, lower=_LOWER, upper=_UPPER):
  return jnp.sum(jnp.sin(_terms(theta, lower, upper)))


class ObservationsTest(parameterized.TestCase):
  def test_jit(self):
    onp.testing.assert_array_equal(
      jax.jit(_terms)(_THETA, _LOWER, _UPPER), _terms(_THETA)
    )

  def test_the_kinds_are_values(self):
    # One trace serves all of them.
    traces = []

    @jax.jit
    def terms(*arguments):
      traces.append(arguments)
      return _terms(*arguments)

    for shift in range(3):
      lower, upper = jnp.roll(_LOWER, shift), jnp.roll(_UPPER, shift)
      onp.testing.assert_array_equal(
        terms(_THETA, lower, upper), jnp.roll(_terms(_THETA), shift)
      )
    self.assertLen(traces, 1)

  def test_one_call_of_the_kernel(self):
    text = jax.jit(jax.value_and_grad(_loss)).lower(_THETA).compile().as_text()
    self.assertEqual(text.count('"phasic_phase_type_forward"'), 1)
    self.assertEqual(text.count('"phasic_phase_type_adjoint"'), 1)

  def test_vmap_over_observations(self):
    value = jax.vmap(_terms, (None, 0, 0))(_THETA, _LOWER, _UPPER)
    onp.testing.assert_array_equal(value, _terms(_THETA))

  def test_vmap_over_models_and_observations(self):
    thetas = jnp.stack([_THETA, 2.0 * _THETA])
    lower = jnp.stack([_LOWER, _LOWER[::-1]])
    upper = jnp.stack([_UPPER, _UPPER[::-1]])
    rows = jax.vmap(jax.grad(_loss))(thetas, lower, upper)
    for k in range(2):
      alone = jax.grad(_loss)(thetas[k], lower[k], upper[k])
      onp.testing.assert_array_equal(rows[k], alone)

  def test_orders_agree(self):
    # Forward over reverse, reverse over forward, both twice; and portable.
    hessian = jax.jit(jax.hessian(_loss))(_THETA)
    for other in (
      jax.jacrev(jax.jacfwd(_loss)),
      jax.jacfwd(jax.jacfwd(_loss)),
      jax.jacrev(jax.jacrev(_loss)),
    ):
      onp.testing.assert_allclose(jax.jit(other)(_THETA), hessian, rtol=1e-12)
    with config.use_path("portable"):
      along = jnp.array([1.0, -0.5, 2.0])
      _, portable = jax.jvp(jax.grad(_loss), (_THETA,), (along,))
    onp.testing.assert_allclose(portable, hessian @ along, rtol=1e-9)

  def test_second_derivatives_in_the_ends(self):
    lower, upper = 0.25, 0.375

    def log_mass(ends):
      return _terms(_THETA, ends[0], ends[1])

    hessian = jax.hessian(log_mass)(jnp.array([lower, upper]))
    matrix = onp.asarray(_THETA[:, None] * _CYCLE)
    operands = oracle.Operands(_ALPHA, matrix, _EXITS, None, lower)
    still = oracle.Operands(
      onp.zeros(3), onp.zeros((3, 3)), onp.zeros(3), None, 0.0
    )
    moves = [(still._replace(time=1.0), 0.0), (still, 1.0)]
    for i in range(2):
      for j in range(2):
        truth, scale = interval_oracle.log_mass(
          operands, upper, (moves[i], moves[j])
        )
        self.assertLessEqual(
          oracle.error(hessian[i, j], truth), 1e-12 * scale, (i, j)
        )


if __name__ == "__main__":
  absltest.main()
