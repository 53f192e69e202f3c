"""Which path calls take where JAX's default backend is a GPU."""

from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import config
from phasic.substrates.jax import math as pm

_TIMES = onp.array([0.5, 2.0])


def _log_prob(rate):
  """Computes log densities of an exponential distribution."""
  return pm.phase_type.log_prob(_TIMES, jnp.ones(1), -rate * jnp.eye(1))


def _calls_kernel():
  """Returns whether a new program calls the kernel."""
  program = jax.jit(lambda rate: _log_prob(rate)).lower(1.5)
  return "phasic_phase_type_forward" in program.as_text()


class PlacingTest(parameterized.TestCase):
  """Tests the choice of the path, with a GPU that is a mock."""

  def setUp(self):
    super().setUp()
    self.assertEqual(config.path(), "kernel")
    self.enter_context(
      mock.patch.object(jax, "default_backend", return_value="gpu")
    )

  def test_portable_by_default(self):
    self.assertEqual(config.path(), "portable")
    self.assertFalse(_calls_kernel())

  @parameterized.parameters("name", "device")
  def test_kernel_if_the_default_device_is_a_cpu(self, given):
    cpu = jax.devices("cpu")[0]
    with jax.default_device("cpu" if given == "name" else cpu):
      self.assertEqual(config.path(), "kernel")
      self.assertEqual(config.precision(), "float64")
      self.assertTrue(_calls_kernel())
      value = _log_prob(1.5)
    self.assertEqual(config.path(), "portable")
    onp.testing.assert_allclose(value, onp.log(1.5) - 1.5 * _TIMES, rtol=1e-6)

  def test_a_jitted_function_is_traced_for_each_device(self):
    function = jax.jit(lambda rate: _log_prob(rate))
    self.assertNotIn("phasic_phase_type", function.lower(1.5).as_text())
    with jax.default_device(jax.devices("cpu")[0]):
      self.assertIn("phasic_phase_type", function.lower(1.5).as_text())

  def test_chosen_kernel_runs_where_a_program_is_placed_on_a_cpu(self):
    with config.use_path("kernel"):
      self.assertTrue(_calls_kernel())


if __name__ == "__main__":
  absltest.main()
