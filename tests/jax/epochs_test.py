"""Epochs under jit, with the graph as an argument too."""

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import graphs

jax.config.update("jax_enable_x64", True)


class EpochsTest(absltest.TestCase):
  def test_compiled_gradient(self):
    def value(rates, boundaries, graph):
      epochs = graphs.Epochs(graph, rates, boundaries)
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


if __name__ == "__main__":
  absltest.main()
