"""Tests chains that distributions keep where tapes, functions and variables are."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions as pd

# Distributions of a rate with the mean 3 / rate.
CASES = (
  ("number", lambda: pd.Erlang(3, 2.0), "rate"),
  ("array", lambda: pd.Erlang(3, onp.asarray(2.0)), "rate"),
  ("tensor", lambda: pd.Erlang(3, tf.constant(2.0, tf.float64)), "rate"),
)


class KeptChainsTest(parameterized.TestCase):
  @parameterized.named_parameters(*CASES)
  def test_tape_after_a_call(self, make, name):
    dist = make()
    rate = getattr(dist, name)
    for _ in range(2):
      self.assertAlmostEqual(float(dist.mean()), 1.5)
      with tf.GradientTape() as tape:
        tape.watch(rate)
        mean = dist.mean()
      self.assertAlmostEqual(float(tape.gradient(mean, rate)), -0.75)

  @parameterized.named_parameters(*CASES)
  def test_accumulator_after_a_call(self, make, name):
    dist = make()
    rate = getattr(dist, name)
    self.assertAlmostEqual(float(dist.variance()), 0.75)
    one = tf.ones_like(rate)
    with tf.autodiff.ForwardAccumulator(rate, one) as accumulator:
      mean = dist.mean()
    self.assertAlmostEqual(float(accumulator.jvp(mean)), -0.75)

  def test_tape_over_a_copy(self):
    dist = pd.Hypoexponential([1.0, 2.0])
    dist.mean()
    rates = dist.copy(name="other").rates
    with tf.GradientTape() as tape:
      tape.watch(rates)
      mean = dist.mean()
    onp.testing.assert_allclose(tape.gradient(mean, rates), [-1.0, -0.25])

  def test_tape_over_a_result(self):
    dist = pd.Erlang(3, 2.0)
    before = dist.mean()
    with tf.GradientTape() as tape:
      tape.watch(before)
      after = dist.mean()
    self.assertIsNone(tape.gradient(after, before))

  def test_variables(self):
    rate = tf.Variable(2.0, dtype=tf.float64)
    dist = pd.Erlang(3, rate)
    outer = pd.MatrixWeibull(pd.Erlang(1, rate), 0.5)
    for value in (2.0, 4.0, 0.5):
      rate.assign(value)
      self.assertAlmostEqual(float(dist.mean()), 3 / value)
      self.assertAlmostEqual(float(outer.mean()), 2 / value**2)

  def test_function_and_then_eager(self):
    for in_function_first in (True, False):
      dist = pd.Erlang(3, 2.0)
      traced = tf.function(lambda t, dist=dist: dist.log_prob(t) + dist.mean())
      calls = [traced, lambda t, dist=dist: dist.log_prob(t) + dist.mean()]
      calls = calls if in_function_first else calls[::-1]
      want = pd.Erlang(3, 2.0).log_prob(1.0) + 1.5
      for call in calls + calls:
        self.assertAlmostEqual(float(call(onp.float64(1.0))), float(want))
        # Another shape traces again.
        found = call(onp.asarray([1.0, 1.0]))
        onp.testing.assert_allclose(found, [want, want])

  def test_made_in_a_function(self):
    @tf.function
    def mean(rate):
      dist = pd.Erlang(3, rate)
      return dist.mean() + 0.0 * dist.log_prob(1.0)

    for rate in (2.0, 4.0):
      found = mean(tf.constant(rate, tf.float64))
      self.assertAlmostEqual(float(found), 3 / rate)


if __name__ == "__main__":
  absltest.main()
