"""Our own ops in what TensorFlow compiles with XLA: the same numbers."""

import ctypes
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf import graphs
from phasic.substrates.tf.internal import xla_calls

RATE = tf.constant(1.3, tf.float64)
TIMES = tf.constant([0.1, 0.5, 1.0, 2.0], tf.float64)


def model(rate):
  matrix = [[-2.0 * rate, rate], [0.3 * rate, -rate]]
  return pd.PhaseType(
    tf.constant([0.6, 0.4], tf.float64),
    tf.stack([tf.stack(row) for row in matrix]),
  )


def log_prob(rate, times):
  return tf.reduce_sum(model(rate).log_prob(times))


def second_derivatives(rate, times):
  with tf.GradientTape() as outer:
    outer.watch([rate, times])
    with tf.GradientTape() as inner:
      inner.watch([rate, times])
      value = log_prob(rate, times)
    gradients = inner.gradient(value, [rate, times])
    mixed = gradients[0] ** 2 + tf.reduce_sum(gradients[1])
  return value, gradients, outer.gradient(mixed, [rate, times])


def forward_mode(rate, times):
  along = [tf.ones_like(rate), tf.ones_like(times)]
  with tf.autodiff.ForwardAccumulator([rate, times], along) as accumulator:
    value = log_prob(rate, times)
  return value, accumulator.jvp(value)


def moments(rate, times):
  with tf.GradientTape() as tape:
    tape.watch(rate)
    dist = model(rate)
    value = dist.mean() + dist.variance()
  return value, tape.gradient(value, rate)


def curvature(rate, times):
  with tf.GradientTape() as outer:
    outer.watch(rate)
    value, slope = moments(rate, times)
  return value, outer.gradient(slope, rate)


def quantile(rate, times):
  with tf.GradientTape() as tape:
    tape.watch(rate)
    value = model(rate).quantile(tf.constant(0.3, tf.float64))
  return value, tape.gradient(value, rate)


def graph(rate, times):
  def transitions(n):
    target = n - 1 if n > 2 else graphs.ABSORBED
    yield target, {"coal": n * (n - 1) / 2}

  kingman = graphs.Graph.from_transitions(
    transitions, initial=6, params=("coal",)
  )
  with tf.GradientTape() as tape:
    tape.watch(rate)
    dist = pd.PhaseType.from_graph(kingman, params={"coal": rate})
    value = tf.reduce_sum(dist.log_prob(times)) + dist.mean()
  return value, tape.gradient(value, rate)


def discrete(rate, times):
  with tf.GradientTape() as tape:
    tape.watch(rate)
    stay = rate / 3.0
    matrix = tf.stack([tf.stack([stay, 0.2 * rate]), tf.stack([0.1, stay])])
    dist = pd.DiscretePhaseType(tf.constant([0.5, 0.5], tf.float64), matrix)
    value = dist.log_prob(tf.constant([1.0, 4.0], tf.float64))
  return value, tape.gradient(value, rate)


_FUNCTIONS = {
  f.__name__: f
  for f in (
    log_prob,
    second_derivatives,
    forward_mode,
    moments,
    curvature,
    quantile,
    graph,
    discrete,
  )
}


class JitCompileTest(parameterized.TestCase):
  @parameterized.parameters(*_FUNCTIONS)
  def test_same_numbers(self, name):
    f = _FUNCTIONS[name]
    compiled = tf.function(f, jit_compile=True, autograph=False)
    self._assert_close(compiled(RATE, TIMES), f(RATE, TIMES))

  def test_sizes_known_when_it_runs(self):
    compiled = tf.function(
      second_derivatives,
      input_signature=[
        tf.TensorSpec([], tf.float64),
        tf.TensorSpec([None], tf.float64),
      ],
      jit_compile=True,
      autograph=False,
    )
    for count in (4, 2):
      self._assert_close(
        compiled(RATE, TIMES[:count]), second_derivatives(RATE, TIMES[:count])
      )

  def test_errors_come_through(self):
    f = tf.function(
      lambda rate: model(rate).log_prob(TIMES),
      jit_compile=True,
      autograph=False,
    )
    self.assertTrue(onp.all(onp.isnan(f(tf.constant(-1.0, tf.float64)))))
    self._assert_close(f(RATE), model(RATE).log_prob(TIMES))

  def test_tensorflow_that_is_too_old(self):
    """Its XLA refuses handlers for a newer one; the error names versions."""
    refuses = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(lambda _: 1)
    with (
      mock.patch.object(tf, "__version__", "2.20.0"),
      mock.patch.object(xla_calls, "_handlers", set()),
    ):
      with self.assertRaisesRegex(
        NotImplementedError,
        "^TensorFlow is 2.20.0, .*: it must be 2.21 or later for "
        "jit_compile=True; upgrade it, call phasic outside",
      ):
        xla_calls.register(refuses, xla_calls.OURS)
      with self.assertRaisesRegex(
        NotImplementedError,
        "^op mine: .* 2.20.0 refuses its handler: compile the library with",
      ):
        xla_calls.register(refuses, "mine")

  def _assert_close(self, actual, expected):
    tf.nest.map_structure(
      lambda x, y: onp.testing.assert_allclose(x, y, rtol=1e-11),
      actual,
      expected,
    )


if __name__ == "__main__":
  absltest.main()
