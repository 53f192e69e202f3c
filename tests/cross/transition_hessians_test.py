"""Likelihoods of states at visits, against JAX's expm with autodiff."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.numpy import math as pm

jax.config.update("jax_enable_x64", True)

_P = 4
_COUNT = 8
_SOURCES, _TARGETS = onp.nonzero(1 - onp.eye(_P, _P + 1))


def _exact(rates, before, after, times):
  """Computes the log likelihood by `expm`."""
  full = jnp.zeros((_P, _P + 1)).at[_SOURCES, _TARGETS].add(rates)
  matrix = full[:, :_P] - jnp.diag(jnp.sum(full, axis=1))
  probs = jax.vmap(jax.scipy.linalg.expm)(matrix * times[:, None, None])
  return jnp.sum(jnp.log(probs[jnp.arange(_COUNT), before, after]))


# They are compiled once for all cases.
_GRADIENT = jax.jit(jax.value_and_grad(_exact))
_HESSIAN = jax.jit(jax.hessian(_exact))


class TransitionHessiansTest(parameterized.TestCase):
  """Compares values, gradients and Hessians of log likelihoods."""

  @parameterized.parameters(0, 1, 2, 3)
  def test_log_likelihoods(self, seed):
    rng = onp.random.default_rng(seed)
    rates = rng.exponential(size=len(_SOURCES))
    # A ring of positive rates, and some zeros, where derivatives exist too.
    is_ring = (_SOURCES + 1) % _P == _TARGETS
    rates *= is_ring | (rng.uniform(size=len(rates)) < 0.6)
    before, after = rng.integers(0, _P, (2, _COUNT))
    times = rng.exponential(size=_COUNT) + 0.05

    def by_pairs(x):
      edges = pm.EdgeRates(_SOURCES, _TARGETS, x)
      starts, ends = onp.eye(_P)[before], onp.eye(_P)[after]
      logs = pm.phase_type.log_phase_expectation(times, ends, starts, edges)
      return onp.sum(logs)

    def by_matrices(x):
      edges = pm.EdgeRates(_SOURCES, _TARGETS, x)
      logs = pm.phase_type.log_transition_probs(times, edges)
      return onp.sum(logs[onp.arange(_COUNT), before, after])

    value, slope = _GRADIENT(rates, before, after, times)
    hessian = _HESSIAN(rates, before, after, times)
    for likelihood in (by_pairs, by_matrices):
      found, gradient = pm.value_and_gradient(likelihood, rates)
      onp.testing.assert_allclose(found, value, 1e-11)
      onp.testing.assert_allclose(gradient, slope, 1e-9, 1e-10)
      columns = [
        pm.hessian_vector_product(likelihood, (rates,), (along,))
        for along in onp.eye(len(rates))
      ]
      columns = onp.reshape(columns, hessian.shape)
      onp.testing.assert_allclose(columns, hessian, 1e-8, 1e-9)


if __name__ == "__main__":
  absltest.main()
