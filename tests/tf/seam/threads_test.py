"""Ops of the kernel on TensorFlow's inter-op threads."""

import faulthandler

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import config
from phasic.substrates.tf import math as pm

_NUM_CALLS = 24
_TIMES = onp.array([0.2, 1.0, 3.0])


def _log_density(rates):
  """Of exponential distributions: rates (b,), result (3, b)."""
  exits = rates[:, None]
  return pm.phase_type.log_prob(
    _TIMES[:, None], tf.ones([1], tf.float64), -exits[..., None], exits
  )


@tf.function
def _values_and_gradients(rates):
  """24 calls that do not depend on each other: rates (24, b)."""
  with tf.GradientTape() as tape:
    tape.watch(rates)
    values = [_log_density(r) for r in tf.unstack(rates)]
    total = tf.add_n([tf.reduce_sum(x) for x in values])
  return tf.stack(values), tape.gradient(total, rates)


class ThreadsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(config.path(), "kernel")
    before = config.num_threads()
    self.addCleanup(config.set_num_threads, before)
    # A hang ends the process, with all stacks, and that is a failure.
    faulthandler.dump_traceback_later(240, exit=True)
    self.addCleanup(faulthandler.cancel_dump_traceback_later)

  @parameterized.parameters(1, 2, 8)
  def test_many_ops_at_once(self, num_threads):
    config.set_num_threads(num_threads)
    self.assertEqual(config.num_threads(), num_threads)
    rng = onp.random.default_rng(num_threads)
    for _ in range(20):
      rates = rng.uniform(0.5, 4.0, (_NUM_CALLS, 40))
      values, gradients = _values_and_gradients(tf.constant(rates))
      times = _TIMES[:, None]
      expected = onp.log(rates)[:, None] - rates[:, None] * times
      onp.testing.assert_allclose(values, expected, rtol=0, atol=1e-13)
      slope = onp.sum(1 / rates[:, None] - times, axis=1)
      onp.testing.assert_allclose(gradients, slope, rtol=0, atol=1e-12)

  def test_thread_counts_give_the_same_bits(self):
    rates = tf.constant(onp.linspace(0.5, 4.0, 100))
    scale = tf.constant(1.5, tf.float64)

    def bits():
      with tf.GradientTape() as tape:
        tape.watch(scale)
        value = tf.reduce_sum(_log_density(scale * rates))
      return value.numpy().tobytes(), tape.gradient(value, scale).numpy()

    config.set_num_threads(1)
    expected = bits()
    for count in (2, 3, 8):
      config.set_num_threads(count)
      self.assertEqual(bits(), expected, count)

  def test_number_out_of_range(self):
    before = config.num_threads()
    with self.assertRaisesRegex(ValueError, "count is 0: it must be from 1"):
      config.set_num_threads(0)
    self.assertEqual(config.num_threads(), before)


if __name__ == "__main__":
  absltest.main()
