"""Tests chains that distributions keep under transformations of JAX."""

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import graphs as pg

jax.config.update("jax_enable_x64", True)


class KeptChainsTest(absltest.TestCase):
  def test_jit_and_then_eager(self):
    for in_jit_first in (True, False):
      dist = pd.Erlang(3, 2.0)
      jitted = jax.jit(lambda t, dist=dist: dist.log_prob(t) + dist.mean())
      calls = [jitted, lambda t, dist=dist: dist.log_prob(t) + dist.mean()]
      calls = calls if in_jit_first else calls[::-1]
      want = float(pd.Erlang(3, 2.0).log_prob(1.0)) + 1.5
      for call in calls + calls:
        self.assertAlmostEqual(float(call(1.0)), want)
        onp.testing.assert_allclose(call(jnp.ones(2)), [want, want])

  def test_gradient_in_a_distribution_after_a_call(self):
    dist = pd.Erlang(3, 2.0)
    self.assertAlmostEqual(float(dist.mean()), 1.5)
    slope = jax.grad(lambda d: d.mean())(dist)
    self.assertAlmostEqual(float(slope.rate), -0.75)
    _, moved = jax.jvp(lambda d: d.mean(), (dist,), (dist,))
    self.assertAlmostEqual(float(moved), -1.5)

  def test_map_over_distributions(self):
    many = jax.vmap(lambda a: pd.Erlang(3, a))(jnp.asarray([1.0, 2.0]))
    onp.testing.assert_allclose(many.mean(), [3.0, 1.5])
    found = jax.vmap(lambda d: d.mean() + d.log_prob(1.0))(many)
    onp.testing.assert_allclose(found, many.mean() + many.log_prob(1.0))

  def test_doubled_leaves(self):
    dist = pd.Hypoexponential(jnp.asarray([1.0, 2.0]))
    self.assertAlmostEqual(float(dist.mean()), 1.5)
    doubled = jax.tree_util.tree_map(lambda x: 2.0 * x, dist)
    self.assertAlmostEqual(float(doubled.mean()), 0.75)
    self.assertAlmostEqual(float(dist.mean()), 1.5)

  def test_tracer_that_escapes(self):
    escaped = []

    @jax.jit
    def mean(rate):
      dist = pd.Erlang(3, rate)
      escaped.append(dist)
      return dist.mean()

    self.assertAlmostEqual(float(mean(2.0)), 1.5)
    with self.assertRaises(jax.errors.UnexpectedTracerError):
      escaped[0].mean().block_until_ready()

  def test_made_in_jit_of_known_values(self):
    made = []

    @jax.jit
    def value(t):
      if not made:
        made.append(pd.Erlang(3, 2.0))
      return made[0].log_prob(t) + made[0].mean()

    want = float(pd.Erlang(3, 2.0).log_prob(1.0)) + 1.5
    self.assertAlmostEqual(float(value(1.0)), want)

  def test_width_of_numbers(self):
    graph = pg.models.kingman(3)
    with jax.enable_x64(False):
      dist = pd.Epochs(graph, [[1.0], [0.5]], [1.0])
      narrow = float(dist.log_prob(1.5))
    wide = float(dist.log_prob(jnp.float32(1.5)))
    self.assertAlmostEqual(narrow, wide, places=5)

  def test_mesh(self):
    dist = pd.Erlang(3, 2.0)
    mesh = jax.make_mesh((1,), ("x",))
    with jax.set_mesh(mesh):
      within = float(dist.cdf(1.0))
    self.assertIsNone(dist._kept)
    self.assertAlmostEqual(within, float(dist.cdf(1.0)))

  def test_deleted_parameters(self):
    rates = jnp.asarray([1.0, 2.0])
    dist = pd.Hypoexponential(rates)
    self.assertAlmostEqual(float(dist.mean()), 1.5)
    dist.rates.delete()
    for method in (dist.mean, dist.copy):
      with self.assertRaises(RuntimeError):
        method()


if __name__ == "__main__":
  absltest.main()
