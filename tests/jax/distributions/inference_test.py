"""`phasic.inference` under JAX's transformations."""

import math

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import graphs
from phasic.substrates.jax import inference

jax.config.update("jax_enable_x64", True)

_LOWER = onp.asarray([0.5, 1.0, -1.0, 0.25, 0.0])
_UPPER = onp.asarray([0.5, math.inf, 2.0, 0.375, 1.0])
_ENTRY = onp.asarray([0.25, 0.5, -1.0, 0.125, -1.0])
_WEIGHTS = onp.asarray([1.0, 2.0, 1.0, 0.5, 0.0])
_DATA = inference.Observations(_LOWER, _UPPER, _WEIGHTS, _ENTRY)
_THETA = jnp.array([1.5, 2.0])


def _loss(theta, data=_DATA):
  return -data.log_likelihood(pd.Hypoexponential(theta))


class ObservationsTest(absltest.TestCase):
  def test_is_a_structure(self):
    self.assertLen(jax.tree.leaves(_DATA), 4)
    doubled = jax.tree.map(lambda x: 2 * x, _DATA)
    self.assertIsNone(doubled.cause)
    onp.testing.assert_array_equal(doubled.lower, 2 * _LOWER)

  def test_jit_is_compiled_once(self):
    step = jax.jit(jax.value_and_grad(_loss))
    value, gradient = step(_THETA, _DATA)
    onp.testing.assert_allclose(value, _loss(_THETA), rtol=1e-15)
    other = inference.Observations(_LOWER, _UPPER, _WEIGHTS + 1, _ENTRY)
    step(_THETA, other)
    self.assertEqual(step._cache_size(), 1)
    along = jax.jvp(_loss, (_THETA,), (jnp.array([1.0, -0.5]),))[1]
    onp.testing.assert_allclose(
      along, gradient @ onp.asarray([1.0, -0.5]), rtol=1e-13
    )

  def test_one_call_of_the_kernel(self):
    step = jax.jit(jax.value_and_grad(_loss))
    text = step.lower(_THETA, _DATA).compile().as_text()
    self.assertEqual(text.count('"phasic_phase_type_forward"'), 1)
    self.assertEqual(text.count('"phasic_phase_type_adjoint"'), 1)

  def test_vmap(self):
    thetas = jnp.stack([_THETA, 2.0 * _THETA])
    found = jax.vmap(jax.grad(_loss), (0, None))(thetas, _DATA)
    for k in range(2):
      onp.testing.assert_allclose(
        found[k], jax.grad(_loss)(thetas[k]), rtol=1e-13
      )
    sets = jax.tree.map(lambda x: jnp.stack([x, x[::-1]]), _DATA)
    found = jax.vmap(_loss, (None, 0))(_THETA, sets)
    onp.testing.assert_allclose(found, [_loss(_THETA)] * 2, rtol=1e-13)

  def test_second_derivatives(self):
    # Of one exact and one right-censored exponential time.
    data = inference.Observations([2.0, 3.0], [2.0, math.inf])
    hessian = jax.hessian(_loss)(jnp.array([1.5]), data)
    onp.testing.assert_allclose(hessian, [[1 / 1.5**2]], rtol=1e-13)

  def test_traced_values_that_break_a_rule_are_nan(self):
    @jax.jit
    def value(lower, upper, weights):
      data = inference.Observations(lower, upper, weights)
      return data.log_likelihood(pd.Hypoexponential(_THETA))

    good = jnp.array([1.0]), jnp.array([2.0]), jnp.array([1.0])
    self.assertTrue(jnp.isfinite(value(*good)))
    for bad in (
      (good[1], good[0], good[2]),
      (good[0], good[1], -good[2]),
      (jnp.array([math.nan]), good[1], good[2]),
    ):
      self.assertTrue(jnp.isnan(value(*bad)))

  def test_what_is_not_known_has_no_derivative(self):
    graph = graphs.models.illness_death()
    rates = jnp.array([0.4, 0.3, 0.1, 0.8])

    @jax.jit
    @jax.value_and_grad
    def of_causes(rates, lower, upper, entry, cause):
      data = inference.Observations(lower, upper, None, entry, cause)
      return data.log_likelihood(pd.GraphPhaseType(graph, rates))

    @jax.jit
    @jax.value_and_grad
    def of_epochs(rates, lower, upper, entry):
      data = inference.Observations(lower, upper, None, entry)
      law = pd.Epochs(graph, [rates, 2.0 * rates], [1.5])
      return data.log_likelihood(law)

    lower, upper = jnp.array([0.5, 2.0, 1.0]), jnp.array([0.5, math.inf, 2.0])
    entry, cause = jnp.array([0.1, 0.2, 0.3]), jnp.array([0, -1, 1])
    for found in (
      of_causes(rates, lower, upper, entry, cause),
      of_epochs(rates, lower, upper, entry),
    ):
      self.assertTrue(all(jnp.all(jnp.isfinite(x)) for x in found))
    unknown = lower.at[0].set(math.nan)
    for found in (
      of_causes(rates, unknown, upper, entry, cause),
      of_causes(rates, lower, upper, entry + 5.0, cause),
      of_causes(rates, lower, upper, entry, cause.at[0].set(5)),
      of_causes(rates, lower, upper, entry, cause.at[1].set(0)),
      of_epochs(rates, unknown, upper, entry),
      of_epochs(rates, lower, upper, entry + 5.0),
    ):
      self.assertTrue(all(jnp.all(jnp.isnan(x)) for x in found))


if __name__ == "__main__":
  absltest.main()
