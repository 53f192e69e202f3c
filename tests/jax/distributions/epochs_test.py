"""Epochs under jit, with the graph as an argument too."""

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions
from phasic.substrates.jax import graphs

jax.config.update("jax_enable_x64", True)


class EpochsTest(absltest.TestCase):
  def test_compiled_gradient(self):
    def value(rates, boundaries, graph):
      epochs = distributions.Epochs(graph, rates, boundaries)
      times = jnp.asarray([0.125, 0.75, 2.0])
      return jnp.sum(epochs.log_prob(times)) + epochs.mean()

    graph = graphs.models.kingman(3)
    arguments = jnp.asarray([[1.0], [0.5], [3.0]]), jnp.asarray([0.5, 1.0])
    traced = []

    @jax.jit
    def compiled(rates, boundaries, graph):
      traced.append(graph)
      return jax.value_and_grad(value, argnums=(0, 1))(rates, boundaries, graph)

    eager = value(*arguments, graph)
    found, gradient = compiled(*arguments, graph)
    onp.testing.assert_allclose(found, eager, rtol=1e-13)
    # A tangent along all of it, forward.
    tangents = jnp.asarray([[0.5], [-1.0], [2.0]]), jnp.asarray([0.25, -0.5])
    _, slope = jax.jvp(lambda *x: value(*x, graph), arguments, tangents)
    expected = sum(
      jnp.sum(g * v) for g, v in zip(gradient, tangents, strict=True)
    )
    onp.testing.assert_allclose(slope, expected, rtol=1e-12)
    other = graphs.Graph.from_transitions(
      lambda n: [(n - 1 if n > 2 else graphs.ABSORBED, {"coalescence": n})],
      3,
      ("coalescence",),
    )
    found, _ = compiled(*arguments, other)
    onp.testing.assert_allclose(found, value(*arguments, other), rtol=1e-13)
    self.assertLen(traced, 1)

  def test_samples_have_no_derivative(self):
    graph = graphs.models.kingman(3)

    def value(rates, boundaries):
      epochs = distributions.Epochs(graph, rates, boundaries)
      return jnp.sum(epochs.sample(3, seed=jax.random.key(0)))

    arguments = jnp.asarray([[1.0], [0.5]]), jnp.asarray([0.5])
    for argnum in (0, 1):
      with self.assertRaisesRegex(
        NotImplementedError, r"^samples of Epochs .*: differentiate quantile\(u"
      ):
        jax.grad(value, argnums=argnum)(*arguments)

  def test_epochs_are_a_pytree(self):
    recent, ancestral, merge = graphs.models.isolation_with_migration([2, 1])
    traced = []

    @jax.jit
    def mean(dist):
      traced.append(dist)
      return dist.mean()

    def make(rate, split):
      params = [{**given, "coalescence_1": rate}, [0.5]]
      return distributions.Epochs([recent, ancestral], params, split, [merge])

    names = recent.parameter_names
    given = dict.fromkeys(names, jnp.asarray(0.5))
    given.pop("coalescence_1", None)
    self.assertIn("coalescence_1", names)
    rate = jnp.asarray(2.0)
    for split in ([0.5], [1.5]):
      dist = make(rate, jnp.asarray(split))
      onp.testing.assert_allclose(mean(dist), dist.mean(), rtol=1e-13)
      leaves, structure = jax.tree.flatten(dist)
      other = jax.tree.unflatten(structure, leaves)
      self.assertEqual(repr(other), repr(dist))
      again = other.copy(boundaries=jnp.asarray([0.75]))
      expected = make(rate, jnp.asarray([0.75]))
      onp.testing.assert_array_equal(again.mean(), expected.mean())
    self.assertLen(traced, 1)
    splits = jnp.asarray([[0.5], [1.5]])
    batch = jax.vmap(make)(jnp.asarray([1.0, 2.0]), splits)
    self.assertEqual(batch.batch_shape, (2,))
    expected = [
      make(jnp.asarray(r), x).variance() for r, x in zip((1.0, 2.0), splits)
    ]
    onp.testing.assert_allclose(batch.variance(), expected, rtol=1e-12)


if __name__ == "__main__":
  absltest.main()
