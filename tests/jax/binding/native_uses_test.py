"""Native ops in every use that JAX users make of a function."""

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

from phasic.substrates.jax import binding
from tests.jax.uses import loop_uses
from tests.jax.uses import sharded_uses
from tests.jax.uses import uses
from tests.native_ops import libraries

libraries.kepler()

from kepler.jax import kepler  # noqa: E402

jax.config.update("jax_enable_x64", True)

# All uses run in the full sweep, these ones always.
_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
_KEPLER = (1, 4, 8, 9, 17, 22, 26, 34, 36, 39, 46, 51, 54)
_CUBE_USES = (9, 22, 39)
# Derivatives of the third order are for rules: the library has two.
_THIRD_ORDER = (14, 15)


def _orbit(theta, t):
  """The mean anomalies and the eccentricity of an orbit."""
  return theta[0] * t + 0.1 * theta[1], 0.4 * jnp.tanh(theta[2])


def _of_kepler(theta, t):
  sin_E, cos_E = kepler(*_orbit(theta, t))
  return sin_E * theta[1] + cos_E


@jax.jit
def _kepler_reference(theta, t):
  mean, e = _orbit(theta, t)
  x = mean + e * jnp.sin(mean)
  for _ in range(7):
    x = x - (x - e * jnp.sin(x) - mean) / (1 - e * jnp.cos(x))
  return jnp.sin(x) * theta[1] + jnp.cos(x)


_CUBE = binding.bind_native(
  libraries.ops(),
  "test_cube",
  forward=["test_cube_jvp", "test_cube_jvp2"],
  adjoint=["test_cube_vjp", "test_cube_vjp2"],
)


def _of_cube(theta, t):
  y, total = _CUBE(t + theta[0], theta[1])
  return y * theta[2] + total


def _cube_reference(theta, t):
  x = t + theta[0]
  return x**3 * theta[1] * theta[2] + x + theta[1]


def _cases():
  for number, (name, run) in sorted(uses.USES.items()):
    if _FULL or number in _KEPLER:
      yield f"kepler_{number:02d}_{name}", run, _of_kepler, _kepler_reference
    if (_FULL or number in _CUBE_USES) and number not in _THIRD_ORDER:
      yield f"cube_{number:02d}_{name}", run, _of_cube, _cube_reference


class NativeUsesTest(parameterized.TestCase):
  theta = onp.array([1.0, 1.5, 0.8])
  t = onp.array([0.1, 0.5, 1.0, 2.0])

  def test_all_uses_are_here(self):
    self.assertEqual(sorted(uses.USES), list(range(1, 57)))
    for module in (loop_uses, sharded_uses):  # importing them adds theirs
      self.assertTrue(
        any(run.__module__ == module.__name__ for _, run in uses.USES.values())
      )
    self.assertGreaterEqual(len(jax.devices()), 2, "run this file on its own")

  @parameterized.named_parameters(*_cases())
  def test_use(self, run, f, reference):
    arguments = jnp.asarray(self.theta), jnp.asarray(self.t)
    actual, expected = run(f, *arguments), run(reference, *arguments)
    jax.tree.map(self._assert_close, actual, expected)

  @parameterized.parameters((14,), (15,))
  def test_above_the_native_orders(self, number):
    arguments = jnp.asarray(self.theta), jnp.asarray(self.t)
    with self.assertRaisesRegex(NotImplementedError, "test_cube.*order 3"):
      uses.USES[number][1](_of_cube, *arguments)

  def _assert_close(self, actual, expected):
    self.assertEqual(actual.shape, expected.shape)
    self.assertEqual(actual.dtype, jnp.float64)
    onp.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)


if __name__ == "__main__":
  absltest.main()
