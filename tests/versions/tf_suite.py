"""TensorFlow's substrate: what has to run with every supported version."""

import os
import tempfile
import unittest

import expected
import numpy as np
import tensorflow as tf

from phasic.substrates import tf as ph

_VERSION = tuple(int(n) for n in tf.__version__.split(".")[:2])
_JIT_COMPILE = (2, 21)


def _erlang(rate):
  return ph.distributions.PhaseType(
    tf.constant(expected.INITIAL),
    rate * tf.constant(expected.UNIT_SUBGENERATOR),
  )


def _value_and_slope(rate, times):
  with tf.GradientTape() as tape:
    tape.watch(rate)
    value = tf.reduce_sum(_erlang(rate).log_prob(times))
  return value, tape.gradient(value, rate)


class Model(tf.Module):
  def __init__(self):
    super().__init__()
    self.rate = tf.Variable(expected.RATE, dtype=tf.float64)

  @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
  def log_prob(self, times):
    return _erlang(self.rate).log_prob(times)


class TensorFlowSuite(unittest.TestCase):
  def setUp(self):
    self.times = tf.constant(expected.TIMES)
    self.rate = tf.constant(expected.RATE, tf.float64)
    self.value = expected.log_density(expected.RATE, expected.TIMES)
    self.slope = expected.slope(expected.RATE, expected.TIMES)

  def assert_close(self, actual, desired, rtol=1e-12):
    np.testing.assert_allclose(actual, desired, rtol=rtol)

  def test_path(self):
    self.assertEqual(ph.config.path(), expected.PATH)

  @unittest.skipIf(expected.PATH != "kernel", "there is no kernel")
  def test_graph_calls_the_kernel(self):
    graph = tf.function(_value_and_slope).get_concrete_function(
      self.rate, self.times
    )
    self.assertIn(
      "PhasicPhaseTypeAdjoint", {op.type for op in graph.graph.get_operations()}
    )

  def test_log_prob(self):
    self.assert_close(_erlang(self.rate).log_prob(self.times), self.value)

  def test_float32(self):
    dist = ph.distributions.Erlang(2, tf.constant(expected.RATE))
    found = dist.log_prob(tf.cast(self.times, tf.float32))
    self.assertEqual(found.dtype, tf.float32)
    self.assert_close(found, self.value, rtol=1e-5)

  def test_gradient(self):
    value, slope = _value_and_slope(self.rate, self.times)
    self.assert_close(value, self.value.sum())
    self.assert_close(slope, self.slope)

  def test_second_order(self):
    with tf.GradientTape() as tape:
      tape.watch(self.rate)
      _, slope = _value_and_slope(self.rate, self.times)
    self.assert_close(
      tape.gradient(slope, self.rate),
      expected.curvature(expected.RATE, expected.TIMES),
      1e-10,
    )

  def test_function(self):
    value, slope = tf.function(_value_and_slope)(self.rate, self.times)
    self.assert_close(value, self.value.sum())
    self.assert_close(slope, self.slope)

  def test_vectorized_map(self):
    rates = tf.constant([0.5, 1.5, 4.0], tf.float64)
    found = tf.vectorized_map(
      lambda rate: tf.reduce_sum(_erlang(rate).log_prob(self.times)), rates
    )
    self.assert_close(
      found,
      [
        expected.log_density(rate, expected.TIMES).sum()
        for rate in rates.numpy()
      ],
    )

  def test_loop(self):
    @tf.function
    def total(rate):
      result = tf.constant(0.0, tf.float64)
      for time in self.times:
        result += _erlang(rate).log_prob(time)
      return result

    with tf.GradientTape() as tape:
      tape.watch(self.rate)
      value = total(self.rate)
    self.assert_close(value, self.value.sum())
    self.assert_close(tape.gradient(value, self.rate), self.slope)

  def test_jit_compile(self):
    compiled = tf.function(_value_and_slope, jit_compile=True)
    if _VERSION < _JIT_COMPILE:
      with self.assertRaisesRegex(
        Exception, r"must be 2\.21 or later for jit_compile"
      ):
        compiled(self.rate, self.times)
      self.skipTest("jit_compile needs TensorFlow 2.21, and the error says so")
    value, slope = compiled(self.rate, self.times)
    self.assert_close(value, self.value.sum())
    self.assert_close(slope, self.slope)

  def test_saved_model(self):
    with tempfile.TemporaryDirectory() as folder:
      path = os.path.join(folder, "model")
      tf.saved_model.save(Model(), path)
      model = tf.saved_model.load(path)
    with tf.GradientTape() as tape:
      value = tf.reduce_sum(model.log_prob(self.times))
    self.assert_close(value, self.value.sum())
    self.assert_close(tape.gradient(value, model.rate), self.slope)

  def test_sample(self):
    draws = _erlang(self.rate).sample(2000, seed=1)
    self.assertLess(abs(np.mean(draws) - 2.0 / expected.RATE), 0.1)

  def test_graph(self):
    graph = ph.graphs.Graph.from_transitions(
      expected.machine(ph.graphs.ABSORBED), 0, params=("fail", "repair")
    )
    params = tf.constant([0.1, 2.0], tf.float64)
    with tf.GradientTape() as tape:
      tape.watch(params)
      dist = ph.distributions.PhaseType.from_graph(graph, params=params)
      mean = dist.mean()
    self.assert_close(mean, expected.machine_mean(0.1, 2.0))
    self.assert_close(
      tape.gradient(mean, params)[0], expected.machine_slope(0.1, 2.0), 1e-10
    )

  def test_bind(self):
    sine = ph.binding.bind(
      np.sin,
      jvp=lambda args, tangents: np.cos(args[0]) * tangents[0],
      vjp=lambda args, cotangent: (np.cos(args[0]) * cotangent,),
    )
    x = tf.range(3.0, dtype=tf.float64)

    @tf.function
    def gradient(x):
      with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(sine(x) ** 2)
      return tape.gradient(loss, x)

    self.assert_close(gradient(x), np.sin(2.0 * np.arange(3.0)))

  def test_fit(self):
    data = ph.inference.Observations.exact(
      tf.constant([1.0, 2.0, 3.0], tf.float64)
    )
    start = ph.distributions.Erlang(2, tf.constant(1.5, tf.float64))
    for fitter in (ph.inference.fit_mle, ph.inference.fit_em):
      fit = fitter(start, data)
      self.assert_close(fit.distribution.rate, 1.0, 1e-6)
