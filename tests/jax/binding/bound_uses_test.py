"""Bound Python functions in every use that JAX users make of a function."""

import os

# Before JAX starts: two devices, for the uses that share work among them.
os.environ["XLA_FLAGS"] = (
  os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
)

import faulthandler

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import binding
from tests.jax.uses import loop_uses
from tests.jax.uses import sharded_uses
from tests.jax.uses import uses
from tests.oracle import host_jets

jax.config.update("jax_enable_x64", True)

_WEIGHTS = onp.array([0.5, -1.0, 0.25])


def _decay(theta, t):
  """A sum of two decays, by NumPy or by dual numbers."""
  first = theta[0] * host_jets.exp(-1.0 * theta[1] * t)
  return first + 0.3 * host_jets.exp(theta[2] * t * -0.5)


def _linear(theta, t):
  return theta @ _WEIGHTS + t[::-1] * 0.5


def _product(theta, t):
  return (theta @ _WEIGHTS) * t


_FUNCTIONS = {
  "bind": (
    host_jets.bound(binding.bind, _decay, 3, "decay"),
    lambda theta, t: (
      theta[0] * jnp.exp(-theta[1] * t) + 0.3 * jnp.exp(-0.5 * theta[2] * t)
    ),
  ),
  "bind_multilinear": (
    binding.bind_multilinear(
      _product,
      transposes=[
        lambda t, c: _WEIGHTS * onp.sum(t * c),
        lambda theta, c: (theta @ _WEIGHTS) * c,
      ],
    ),
    _product,
  ),
  "bind_linear": (
    binding.bind_linear(
      _linear, transpose=lambda c: (_WEIGHTS * onp.sum(c), c[::-1] * 0.5)
    ),
    _linear,
  ),
}


# All uses of linear functions, too, whose rules are those of all maps; else
# some.
_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
_SOME = (3, 10, 12, 20, 22, 34, 39, 46, 47)


def _cases():
  for number, (name, run) in sorted(uses.USES.items()):
    for kind in _FUNCTIONS:
      if kind != "bind" and number not in _SOME and not _FULL:
        continue
      yield f"{number:02d}_{name}_{kind}", run, kind


class UsesTest(parameterized.TestCase):
  theta = onp.array([1.0, 1.5, 0.8])
  t = onp.array([0.1, 0.5, 1.0, 2.0])

  def setUp(self):
    super().setUp()
    self.assertGreaterEqual(len(jax.devices()), 2, "run this file on its own")
    faulthandler.dump_traceback_later(240, exit=True)
    self.addCleanup(faulthandler.cancel_dump_traceback_later)

  def test_all_uses_are_here(self):
    self.assertEqual(sorted(uses.USES), list(range(1, 57)))
    for module in (loop_uses, sharded_uses):  # importing them adds theirs
      self.assertTrue(
        any(run.__module__ == module.__name__ for _, run in uses.USES.values())
      )

  @parameterized.named_parameters(*_cases())
  def test_use(self, run, kind):
    arguments = jnp.asarray(self.theta), jnp.asarray(self.t)
    function, reference = _FUNCTIONS[kind]
    actual = run(function, *arguments)
    expected = run(reference, *arguments)
    jax.tree.map(self._assert_close, actual, expected)

  def _assert_close(self, actual, expected):
    self.assertEqual(actual.shape, expected.shape)
    self.assertEqual(actual.dtype, jnp.float64)
    onp.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-13)


if __name__ == "__main__":
  absltest.main()
