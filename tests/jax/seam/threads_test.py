"""Calls of the kernel share XLA's threads: no hang, right values, same bits."""

import concurrent.futures
import faulthandler

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import config
from phasic.substrates.jax import math as pm

jax.config.update("jax_enable_x64", True)

_NUM_CALLS = 24
_NUM_MODELS = 32
_PHASES = 3
_TIMES = onp.array([0.2, 1.0, 3.0])


def _log_density(rates, times):
  """Of Erlang distributions: rates (b,), times (n, 1); result (n, b)."""
  start = jnp.zeros(_PHASES).at[0].set(1.0)
  chain = jnp.eye(_PHASES, k=1)
  last = jnp.zeros(_PHASES).at[-1].set(1.0)
  return pm.phase_type.log_prob(
    times, start, rates[:, None, None] * chain, rates[:, None] * last
  )


def _closed_form(rates, times):
  """The same, and its derivative by the rates, by NumPy."""
  value = (
    _PHASES * onp.log(rates)
    + (_PHASES - 1) * onp.log(times)
    - rates * times
    - onp.log(2.0)  # (3 - 1)!
  )
  return value, _PHASES / rates - times


def _program(rates):
  """Calls that do not depend on each other: rates (24, 32)."""
  return [_log_density(r, _TIMES[:, None]) for r in rates]


@jax.jit
def _values_and_gradients(rates):
  gradients = jax.grad(lambda r: sum(jnp.sum(x) for x in _program(r)))(rates)
  return _program(rates), gradients


class ThreadsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(config.path(), "kernel")
    before = config.num_threads()
    self.addCleanup(config.set_num_threads, before)
    # A hang ends the process, with all stacks, and that is a failure.
    faulthandler.dump_traceback_later(240, exit=True)
    self.addCleanup(faulthandler.cancel_dump_traceback_later)

  def _check(self, rates, results):
    values, gradients = results
    for r, value, gradient in zip(rates, values, gradients, strict=True):
      expected, slope = _closed_form(r, _TIMES[:, None])
      onp.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)
      onp.testing.assert_allclose(gradient, slope.sum(axis=0), atol=1e-11)

  @parameterized.parameters(2, 8)
  def test_many_calls_from_many_threads(self, num_threads):
    config.set_num_threads(num_threads)

    def caller(seed):
      rng = onp.random.default_rng(seed)
      for _ in range(20):
        rates = rng.uniform(0.5, 4.0, (_NUM_CALLS, _NUM_MODELS))
        self._check(rates, jax.tree.map(onp.asarray, _call(rates)))
      return seed

    _call = _values_and_gradients
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      self.assertEqual(list(pool.map(caller, range(8))), list(range(8)))

  def test_thread_counts_give_the_same_bits(self):
    rates = onp.random.default_rng(3).uniform(0.5, 4.0, 100)
    times = onp.linspace(0.1, 5.0, 7)[:, None]

    @jax.jit
    def shared(scale):  # One scale for all models: their sum.
      return jnp.sum(_log_density(scale * rates, times))

    @jax.jit
    def mapped(scales):
      return jax.vmap(jax.value_and_grad(shared))(scales)

    scales = onp.array([0.5, 1.0, 2.0])
    config.set_num_threads(1)
    expected = [onp.asarray(x).tobytes() for x in mapped(scales)]
    for count in (2, 3, 8):
      config.set_num_threads(count)
      actual = [onp.asarray(x).tobytes() for x in mapped(scales)]
      self.assertEqual(actual, expected, count)


if __name__ == "__main__":
  absltest.main()
