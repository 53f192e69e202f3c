"""Statistics of distributions under JAX's transformations."""

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import math as pm

jax.config.update("jax_enable_x64", True)


def _exponential(rate):
  return pd.PhaseType(jnp.ones(1), -rate[None, None])


def _statistics(rates):
  """What there is of two exponential times, of rates a and b."""
  p, q = _exponential(rates[0]), _exponential(rates[1])
  return jnp.stack(
    [
      p.entropy(),
      p.kl_divergence(q),
      p.cross_entropy(q),
      p.moment_generating_function(0.5),
      p.hazard_function(30.0),
      p.log_hazard_function(30.0),
      p.quantile(0.75),
    ]
  )


def _formulas(rates):
  a, b = rates
  return jnp.stack(
    [
      1 - jnp.log(a),
      jnp.log(a / b) + b / a - 1,
      b / a - jnp.log(b),
      a / (a - 0.5),
      a,
      jnp.log(a),
      jnp.log(4.0) / a,
    ]
  )


class EdgesInArgumentsTest(absltest.TestCase):
  """Edges as arguments of jitted functions, whose integers are traced."""

  def setUp(self):
    super().setUp()
    self.edges = pm.EdgeRates([0, 1], (1, 2), jnp.asarray([1.0, 2.0]))

  def test_functions_take_them(self):
    found = jax.jit(lambda x: pm.phase_type.prob(1.5, [1.0, 0.0], x))(
      self.edges
    )
    expected = 2.0 * (jnp.exp(-1.5) - jnp.exp(-3.0))
    self.assertAlmostEqual(float(found), float(expected), places=14)

  def test_distributions_say_how(self):
    with self.assertRaisesRegex(TypeError, "sources are traced.*close over"):
      jax.jit(lambda x: pd.PhaseType([1.0, 0.0], x).log_prob(1.5))(self.edges)


class ContractUsesTest(absltest.TestCase):
  def test_compiled_and_vectorized(self):
    calls = []

    def both(rates):
      calls.append(rates)
      return _statistics(rates), jax.jacfwd(_statistics)(rates)

    run = jax.jit(jax.vmap(both))
    for rates in ([[2.0, 3.0], [1.0, 1.0]], [[0.75, 0.25], [5.0, 8.0]]):
      rates = jnp.asarray(rates)
      values, slopes = run(rates)
      onp.testing.assert_allclose(
        values, jax.vmap(_formulas)(rates), rtol=1e-12, atol=1e-14
      )
      onp.testing.assert_allclose(
        slopes, jax.vmap(jax.jacfwd(_formulas))(rates), rtol=1e-11, atol=1e-13
      )
    self.assertLen(calls, 1)  # New values are not compiled anew.

  def test_reverse(self):
    rates = jnp.asarray([2.0, 3.0])
    weights = jnp.arange(1.0, 8.0)
    found = jax.jit(jax.grad(lambda x: weights @ _statistics(x)))(rates)
    expected = jax.grad(lambda x: weights @ _formulas(x))(rates)
    onp.testing.assert_allclose(found, expected, rtol=1e-11)


if __name__ == "__main__":
  absltest.main()
