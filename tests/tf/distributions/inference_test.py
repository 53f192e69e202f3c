"""`phasic.inference` under TensorFlow's tapes and functions."""

import math

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf import inference

_LOWER = tf.constant([0.5, 1.0, -1.0, 0.25, 0.0], tf.float64)
_UPPER = tf.constant([0.5, math.inf, 2.0, 0.375, 1.0], tf.float64)
_ENTRY = tf.constant([0.25, 0.5, -1.0, 0.125, -1.0], tf.float64)
_THETA = tf.constant([1.5, 2.0], tf.float64)


def _loss(theta, lower, upper, entry):
  data = inference.Observations(lower, upper, entry=entry)
  return -data.log_likelihood(pd.Hypoexponential(theta))


def _gradient(theta, lower, upper, entry):
  with tf.GradientTape() as tape:
    tape.watch(theta)
    value = _loss(theta, lower, upper, entry)
  return value, tape.gradient(value, theta)


class ObservationsTest(absltest.TestCase):
  def test_sizes_that_are_not_known_when_tracing(self):
    some = tf.TensorSpec([None], tf.float64)
    function = tf.function(
      _gradient,
      input_signature=[tf.TensorSpec([2], tf.float64), *[some] * 3],
    )
    for n in (5, 3):
      arguments = _THETA, _LOWER[:n], _UPPER[:n], _ENTRY[:n]
      for x, y in zip(function(*arguments), _gradient(*arguments), strict=True):
        onp.testing.assert_allclose(x, y, rtol=1e-14)

  def test_variables(self):
    rates = tf.Variable(_THETA)
    dist = pd.Hypoexponential(rates)
    data = inference.Observations(_LOWER, _UPPER, entry=_ENTRY)
    with tf.GradientTape() as tape:
      value = -data.log_likelihood(dist)
    found = tape.gradient(value, rates)
    _, expected = _gradient(_THETA, _LOWER, _UPPER, _ENTRY)
    onp.testing.assert_allclose(found, expected, rtol=1e-14)

  def test_data_are_constants_of_functions(self):
    data = inference.Observations(_LOWER, _UPPER, entry=_ENTRY)
    function = tf.function(
      lambda rates: data.log_likelihood(pd.Hypoexponential(rates))
    )
    expected = -_loss(_THETA, _LOWER, _UPPER, _ENTRY)
    onp.testing.assert_allclose(function(_THETA), expected, rtol=1e-14)

  def test_second_derivatives(self):
    # Of one exact and one right-censored exponential time.
    data = inference.Observations([2.0, 3.0], [2.0, math.inf])
    rate = tf.constant([1.5], tf.float64)
    with tf.GradientTape() as outer:
      outer.watch(rate)
      with tf.GradientTape() as inner:
        inner.watch(rate)
        value = data.log_likelihood(pd.Hypoexponential(rate))
      slope = inner.gradient(value, rate)
    found = outer.gradient(slope, rate)
    onp.testing.assert_allclose(found, [-1 / 1.5**2], rtol=1e-13)


if __name__ == "__main__":
  absltest.main()
