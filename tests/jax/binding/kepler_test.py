"""The example Kepler in JAX: derivatives, devices, export."""

import os

# Before JAX starts: two devices.
os.environ["XLA_FLAGS"] = (
  os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
)

import subprocess
import sys
import tempfile

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import mpmath
import numpy as onp

from phasic.substrates import jax as ph
from tests.native_ops import libraries

libraries.kepler()

from kepler import library  # noqa: E402
from kepler.jax import kepler  # noqa: E402

jax.config.update("jax_enable_x64", True)

_LOADER = """
import sys
sys.path[:] = {path!r}
import jax
jax.config.update("jax_enable_x64", True)
import phasic.substrates.jax
{more}
data = open(sys.argv[1], "rb").read()
print("RESULT", *jax.export.deserialize(data).call(*map(float, sys.argv[2:])))
"""
_BIND_KEPLER = """
from phasic.substrates.jax import binding
binding.bind_native({path!r}, "kepler")
"""


def _derivative(mean, eccentricity, start, order):
  """A derivative of sin E to 40 digits, through E as a function of M and e."""

  def sine(m, e):
    x = mpmath.mpf(start)
    for _ in range(200):
      change = (x - e * mpmath.sin(x) - m) / (1 - e * mpmath.cos(x))
      x -= change
      if abs(change) < mpmath.mpf(10) ** (5 - mpmath.mp.dps) * abs(x):
        break
    return mpmath.sin(x)

  with mpmath.workdps(120):
    point = (mpmath.mpf(mean), mpmath.mpf(eccentricity))
    return +mpmath.diff(sine, point, order, h=mpmath.mpf(10) ** -30)


class KeplerTest(parameterized.TestCase):
  def test_writes_what_it_must(self):
    kepler.check(jnp.linspace(-3.0, 3.0, 5)[:, None], jnp.array([0.1, 0.9]))
    kepler.check(1.0, 0.5)

  @parameterized.parameters(0.0, 0.3, 0.9, 0.99)
  def test_derivatives_to_the_third(self, eccentricity):
    """In both arguments, against derivatives of 40 digits."""

    def sine(m, e):
      return kepler(m, e)[0]

    first = jax.grad(sine, (0, 1))
    by_m = jax.jit(
      lambda m, e: jnp.stack(
        [
          *first(m, e),
          jax.grad(jax.grad(sine))(m, e),
          jax.jacfwd(jax.grad(sine), 1)(m, e),
          jax.jacfwd(jax.jacrev(jax.grad(sine)))(m, e),
          jax.grad(jax.jacfwd(jax.jacfwd(sine, 1), 1), 0)(m, e),
        ]
      )
    )
    orders = [(1, 0), (0, 1), (2, 0), (1, 1), (3, 0), (1, 2)]
    for mean in (1e-4, 0.01, 0.4, 2.0, -3.0):
      actual = by_m(mean, eccentricity)
      start = float(jnp.arctan2(*kepler(mean, eccentricity)))
      for value, order in zip(map(float, actual), orders, strict=True):
        true = float(_derivative(mean, eccentricity, start, order))
        self.assertLessEqual(
          abs(value - true), 1e-13 * abs(true), (mean, order)
        )

  @parameterized.parameters((1.0, -0.1), (1.0, 1.0), (onp.nan, 0.1))
  def test_outside_of_the_domain_is_nan(self, mean, eccentricity):
    value = jax.jit(kepler)(mean, eccentricity)
    slopes = jax.grad(lambda m, e: kepler(m, e)[0], (0, 1))(mean, eccentricity)
    self.assertTrue(onp.all(onp.isnan([*value, *slopes])))

  def test_the_same_bits_as_in_numpy(self):
    from kepler.numpy import kepler as in_numpy

    mean = onp.linspace(-3.0, 3.0, 50)
    expected = in_numpy(mean, 0.7)
    for f in (kepler, jax.jit(kepler), jax.vmap(kepler, (0, None))):
      onp.testing.assert_array_equal(f(mean, 0.7), expected)

  def test_batches_are_not_gathered(self):
    mesh = jax.make_mesh((2,), ("batch",))
    split = jax.NamedSharding(mesh, jax.P("batch"))
    mean = jnp.linspace(-3.0, 3.0, 8)
    sharded = ph.shard_batches(
      lambda m, e: kepler(m, e)[0], mesh, in_axes=(0, None)
    )

    def loss(f):
      return lambda m, e: jnp.sum(jnp.sin(f(m, e)))

    gradient = jax.jit(jax.grad(loss(sharded), (0, 1)))
    compiled = gradient.lower(jax.device_put(mean, split), 0.5).compile()
    self.assertNotIn("all-gather", compiled.as_text())
    actual = gradient(jax.device_put(mean, split), 0.5)
    expected = jax.grad(loss(lambda m, e: kepler(m, e)[0]), (0, 1))(mean, 0.5)
    for x, y in zip(actual, expected, strict=True):
      onp.testing.assert_allclose(x, y, rtol=1e-13)

  def test_our_own_batches_are_not_gathered(self):
    mesh = jax.make_mesh((2,), ("batch",))
    times = jnp.linspace(0.5, 4.0, 8)

    def log_prob(rate, times):
      return ph.distributions.Erlang(2, rate).log_prob(times)

    sharded = ph.shard_batches(log_prob, mesh, in_axes=(None, 0))
    gradient = jax.jit(jax.grad(lambda r, t: jnp.sum(sharded(r, t))))
    placed = jax.device_put(times, jax.NamedSharding(mesh, jax.P("batch")))
    text = gradient.lower(1.5, placed).compile().as_text()
    self.assertNotIn("all-gather", text)
    expected = jax.grad(lambda r: jnp.sum(log_prob(r, times)))(1.5)
    onp.testing.assert_allclose(gradient(1.5, placed), expected, rtol=1e-13)

  def test_axes_that_cannot_be_split(self):
    mesh = jax.make_mesh((2,), ("batch",))
    with self.assertRaisesRegex(ValueError, "entries must be 0 or None"):
      ph.shard_batches(kepler, mesh, in_axes=(1, None))(jnp.ones(2), 0.5)

  def test_float32_without_x64(self):
    with jax.enable_x64(False):
      value, slope = jax.value_and_grad(lambda m: kepler(m, 0.5)[0])(1.0)
    self.assertEqual((value.dtype, slope.dtype), ("float32", "float32"))
    self.assertAlmostEqual(value, 0.997402, places=6)


class ExportTest(parameterized.TestCase):
  def _call(self, exported, more, *arguments):
    """What another process prints that loads an exported program."""
    with tempfile.NamedTemporaryFile() as file:
      file.write(exported.serialize())
      file.flush()
      code = _LOADER.format(path=sys.path, more=more)
      return subprocess.run(
        [sys.executable, "-c", code, file.name, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
      )

  def test_kepler_in_another_process(self):
    gradient = jax.grad(lambda m, e: kepler(m, e)[0], (0, 1))
    exported = ph.export(gradient)(1.0, 0.5)
    more = _BIND_KEPLER.format(path=str(library.PATH))
    done = self._call(exported, more, 1.0, 0.5)
    self.assertEqual(done.returncode, 0, done.stderr)
    actual = [float(x) for x in done.stdout.split()[1:]]
    onp.testing.assert_array_equal(actual, gradient(1.0, 0.5))
    done = self._call(exported, "", 1.0, 0.5)
    self.assertNotEqual(done.returncode, 0)
    self.assertIn("phasic_op_kepler", done.stderr)

  def test_our_own_in_another_process(self):
    def log_prob(rate, t):
      return ph.distributions.Erlang(2, rate).log_prob(t)

    gradient = jax.grad(log_prob, (0, 1))
    done = self._call(ph.export(gradient)(1.5, 2.0), "", 1.5, 2.0)
    self.assertEqual(done.returncode, 0, done.stderr)
    actual = [float(x) for x in done.stdout.split()[1:]]
    onp.testing.assert_array_equal(actual, gradient(1.5, 2.0))

  def test_symbolic_batches(self):
    gradient = jax.vmap(jax.grad(lambda m, e: kepler(m, e)[0]), (0, None))
    (size,) = jax.export.symbolic_shape("b")
    exported = ph.export(jax.jit(gradient))(
      jax.ShapeDtypeStruct((size,), jnp.float64),
      jax.ShapeDtypeStruct((), jnp.float64),
    )
    again = jax.export.deserialize(exported.serialize())
    for count in (1, 5):
      mean = jnp.linspace(-1.0, 1.0, count)
      onp.testing.assert_array_equal(again.call(mean, 0.3), gradient(mean, 0.3))

  def test_ahead_of_time(self):
    compiled = jax.jit(jax.grad(lambda m, e: kepler(m, e)[1])).lower(1.0, 0.5)
    self.assertEqual(
      compiled.compile()(1.0, 0.5), jax.grad(lambda m: kepler(m, 0.5)[1])(1.0)
    )


if __name__ == "__main__":
  absltest.main()
