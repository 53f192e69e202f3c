"""PhaseType.log_prob in every use that JAX users make of a function."""

import os

# Before JAX starts: two devices, for the uses that share work among them.
os.environ["XLA_FLAGS"] = (
  os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
)

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions
from phasic.substrates.jax.internal import kernel_ops
from tests.jax.uses import loop_uses
from tests.jax.uses import sharded_uses
from tests.jax.uses import uses

jax.config.update("jax_enable_x64", True)


def model(theta):
  """A cycle of three phases that can be left from the last one."""
  cycle = jnp.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.7, 0.0, -1.0]])
  return theta / jnp.sum(theta), theta[:, None] * cycle


def native(theta, t):
  """The log density as the library computes it."""
  return distributions.PhaseType(*model(theta)).log_prob(t)


@jax.jit
def reference(theta, t):
  """The same by uniformization at rate 4, with 80 terms."""
  initial_probs, subgenerator = model(theta)
  exits = -jnp.sum(subgenerator, axis=1)

  def step(v, _):
    return v + v @ subgenerator / 4.0, v @ exits

  k = jnp.arange(80.0)
  _, densities = jax.lax.scan(step, initial_probs, k)
  x = 4.0 * t[..., None]
  log_weights = k * jnp.log(x) - x - jax.scipy.special.gammaln(k + 1.0)
  return jnp.log(jnp.exp(log_weights) @ densities)


def _cases():
  for number, (name, run) in sorted(uses.USES.items()):
    yield f"{number:02d}_{name}", run


class UsesTest(parameterized.TestCase):
  theta = onp.array([1.0, 1.5, 0.8])
  t = onp.array([0.1, 0.5, 1.0, 2.0])

  def setUp(self):
    super().setUp()
    reason = kernel_ops.unavailable_reason()
    self.assertEqual(reason, "")
    self.assertGreaterEqual(len(jax.devices()), 2, "run this file on its own")

  def test_all_uses_are_here(self):
    self.assertEqual(sorted(uses.USES), list(range(1, 57)))
    for module in (loop_uses, sharded_uses):  # importing them adds theirs
      self.assertTrue(
        any(run.__module__ == module.__name__ for _, run in uses.USES.values())
      )

  @parameterized.named_parameters(*_cases())
  def test_use(self, run):
    arguments = jnp.asarray(self.theta), jnp.asarray(self.t)
    with kernel_ops.use_path("kernel"):
      actual = run(native, *arguments)
    expected = run(reference, *arguments)
    jax.tree.map(self._assert_close, actual, expected)

  def _assert_close(self, actual, expected):
    self.assertEqual(actual.shape, expected.shape)
    self.assertEqual(actual.dtype, jnp.float64)
    onp.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-11)


if __name__ == "__main__":
  absltest.main()
