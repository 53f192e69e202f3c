"""Observations, particles and laws that several devices share."""

import os

# Before JAX starts: four devices.
os.environ["XLA_FLAGS"] = (
  os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
)

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
from jax.sharding import AxisType
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
import numpy as onp

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import inference
from phasic.substrates.jax.internal import sharding

jax.config.update("jax_enable_x64", True)


def _mesh(axis_type=AxisType.Auto):
  return jax.make_mesh((4,), ("data",), (axis_type,), devices=jax.devices()[:4])


def _log_likelihood(log_rate, data):
  """Of exponential times, by our kernel."""
  rate = jnp.exp(log_rate)
  return data.log_likelihood(pd.PhaseType([1.0], -rate[..., None, None]))


def _data(size):
  times = onp.linspace(0.1, 3.0, size)
  observed = onp.arange(size) % 3 > 0
  return inference.Observations.right_censored(times, observed)


def _expected(log_rate, size):
  """The same and its slope, in closed form."""
  times = onp.linspace(0.1, 3.0, size)
  events = onp.sum(onp.arange(size) % 3 > 0)
  exposure = onp.exp(log_rate) * onp.sum(times)
  return events * log_rate - exposure, events - exposure


class ShardingTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertGreaterEqual(len(jax.devices()), 4, "run this file on its own")

  @parameterized.parameters(AxisType.Auto, AxisType.Explicit)
  def test_observations_on_a_mesh_that_is_not_current(self, axis_type):
    placed = jax.device_put(
      _data(12), NamedSharding(_mesh(axis_type), P("data"))
    )
    found = jax.jit(jax.value_and_grad(_log_likelihood))(0.3, placed)
    onp.testing.assert_allclose(found, _expected(0.3, 12), rtol=1e-13)

  @parameterized.parameters(AxisType.Auto, AxisType.Explicit)
  def test_particles(self, axis_type):
    mesh = _mesh(axis_type)
    log_rates = onp.linspace(-1.0, 1.0, 8)
    expected = _expected(log_rates, 12)
    both = jax.vmap(jax.value_and_grad(_log_likelihood), (0, None))
    shared = sharding.shard_batches(both, mesh, in_axes=(0, None))
    found = shared(log_rates, _data(12))
    onp.testing.assert_allclose(found, expected, rtol=1e-13)
    with jax.set_mesh(mesh):
      placed = jax.device_put(log_rates, NamedSharding(mesh, P("data")))
      found = jax.jit(both)(placed, _data(12))
      onp.testing.assert_allclose(found, expected, rtol=1e-13)

  def test_what_cannot_be_split_is_told(self):
    def part(log_rate, data):
      return _log_likelihood(log_rate, data)[None]

    split = sharding.shard_batches(part, _mesh(), in_axes=(None, 0))
    rule = r"argument 1 has an array of shape \(13,\): .* of the 4 devices"
    with self.assertRaisesRegex(ValueError, rule):
      split(0.3, _data(13))
    with self.assertRaisesRegex(ValueError, r"argument 0 .* shape \(\): "):
      sharding.shard_batches(part, _mesh(), in_axes=0)(0.3, _data(12))
    with self.assertRaisesRegex(ValueError, "in_axes has 2 entries.*1 arg"):
      split(0.3)
    with self.assertRaisesRegex(ValueError, "f returns a scalar"):
      sharding.shard_batches(_log_likelihood, _mesh(), in_axes=(None, 0))(
        0.3, _data(12)
      )
    with self.assertRaisesRegex(ValueError, r"axis_name is 'x': it must be"):
      sharding.shard_batches(part, _mesh(), axis_name="x")


if __name__ == "__main__":
  absltest.main()
