"""JAX's substrate: what has to run with every supported version."""

import unittest

import expected
import jax
import jax.numpy as jnp
import numpy as np

from phasic.substrates import jax as ph

jax.config.update("jax_enable_x64", True)


def _erlang(rate):
  return ph.distributions.PhaseType(
    jnp.asarray(expected.INITIAL),
    rate * jnp.asarray(expected.UNIT_SUBGENERATOR),
  )


def _log_likelihood(rate, times):
  return jnp.sum(_erlang(rate).log_prob(times))


class JaxSuite(unittest.TestCase):
  def setUp(self):
    self.times = jnp.asarray(expected.TIMES)
    self.value = expected.log_density(expected.RATE, expected.TIMES)
    self.slope = expected.slope(expected.RATE, expected.TIMES)

  def assert_close(self, actual, desired, rtol=1e-12):
    np.testing.assert_allclose(actual, desired, rtol=rtol)

  def test_path(self):
    self.assertEqual(ph.config.path(), expected.PATH)

  @unittest.skipIf(expected.PATH != "kernel", "there is no kernel")
  def test_program_calls_the_kernel(self):
    program = jax.jit(jax.grad(_log_likelihood)).lower(1.5, self.times)
    text = program.as_text()
    self.assertIn("phasic_phase_type_adjoint", text)

  def test_log_prob(self):
    self.assert_close(_erlang(expected.RATE).log_prob(self.times), self.value)

  def test_float32(self):
    dist = ph.distributions.Erlang(2, jnp.float32(expected.RATE))
    found = dist.log_prob(self.times.astype(jnp.float32))
    self.assertEqual(found.dtype, jnp.float32)
    self.assert_close(found, self.value, rtol=1e-5)

  def test_jit(self):
    found = jax.jit(_log_likelihood)(expected.RATE, self.times)
    self.assert_close(found, self.value.sum())

  def test_gradient(self):
    found = jax.grad(_log_likelihood)(expected.RATE, self.times)
    self.assert_close(found, self.slope)

  def test_hessian(self):
    found = jax.jit(jax.hessian(_log_likelihood))(expected.RATE, self.times)
    self.assert_close(
      found, expected.curvature(expected.RATE, expected.TIMES), 1e-10
    )

  def test_vmap(self):
    rates = jnp.array([0.5, 1.5, 4.0])
    found = jax.vmap(jax.grad(_log_likelihood), (0, None))(rates, self.times)
    self.assert_close(
      found, [expected.slope(rate, expected.TIMES) for rate in rates]
    )

  def test_scan(self):
    def total(rate):
      def step(carry, time):
        return carry + _erlang(rate).log_prob(time), None

      return jax.lax.scan(step, jnp.zeros(()), self.times)[0]

    value, slope = jax.jit(jax.value_and_grad(total))(expected.RATE)
    self.assert_close(value, self.value.sum())
    self.assert_close(slope, self.slope)
    self.assert_close(
      jax.hessian(total)(expected.RATE),
      expected.curvature(expected.RATE, expected.TIMES),
      1e-10,
    )

  def test_sample(self):
    draws = _erlang(expected.RATE).sample(2000, seed=jax.random.key(1))
    self.assertLess(abs(draws.mean() - 2.0 / expected.RATE), 0.1)

  def test_graph(self):
    graph = ph.graphs.Graph.from_transitions(
      expected.machine(ph.graphs.ABSORBED), 0, params=("fail", "repair")
    )

    def mean(params):
      dist = ph.distributions.PhaseType.from_graph(graph, params=params)
      return dist.mean()

    params = jnp.array([0.1, 2.0])
    self.assert_close(jax.jit(mean)(params), expected.machine_mean(0.1, 2.0))
    self.assert_close(
      jax.grad(mean)(params)[0], expected.machine_slope(0.1, 2.0), 1e-10
    )

  def test_bind(self):
    sine = ph.binding.bind(
      np.sin,
      jvp=lambda args, tangents: np.cos(args[0]) * tangents[0],
      vjp=lambda args, cotangent: (np.cos(args[0]) * cotangent,),
    )
    x = jnp.arange(3.0)
    found = jax.jit(jax.grad(lambda x: jnp.sum(sine(x) ** 2)))(x)
    self.assert_close(found, np.sin(2.0 * np.arange(3.0)))

  def test_export(self):
    exported = ph.export(jax.value_and_grad(_log_likelihood))(
      jax.ShapeDtypeStruct((), jnp.float64),
      jax.ShapeDtypeStruct((4,), jnp.float64),
    )
    program = jax.export.deserialize(exported.serialize())
    value, slope = program.call(jnp.float64(expected.RATE), self.times)
    self.assert_close(value, self.value.sum())
    self.assert_close(slope, self.slope)

  def test_fit(self):
    data = ph.inference.Observations.exact(jnp.array([1.0, 2.0, 3.0]))
    for fitter in (ph.inference.fit_mle, ph.inference.fit_em):
      fit = fitter(ph.distributions.Erlang(2, 1.5), data)
      self.assert_close(fit.distribution.rate, 1.0, 1e-6)
