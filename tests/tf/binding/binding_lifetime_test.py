"""Bound Python functions in TensorFlow: how long they are kept."""

import gc
import weakref

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import binding


def _nonlinear():
  weights = onp.array([2.0, -3.0])

  def f(x):
    return weights * x

  op = binding.bind(
    f,
    jvp=lambda args, d: weights * d[0],
    vjp=lambda args, c: (weights * c,),
    abstract=lambda x: x,
  )
  return op, weakref.ref(f)


def _linear():
  weights = onp.array([2.0, -3.0])

  def f(x):
    return weights * x

  return binding.bind_linear(f, transpose=lambda c: weights * c), weakref.ref(f)


def _taped(op):
  x = tf.constant([1.0, 5.0], tf.float64)
  tape = tf.GradientTape(persistent=True)
  with tape:
    tape.watch(x)
    y = op(x)
  return tape, x, y


class LifetimeTest(parameterized.TestCase):
  @parameterized.parameters(_nonlinear, _linear)
  def test_eager_calls_keep_nothing(self, make):
    op, function = make()
    op(onp.array([1.0, 2.0]))
    _taped(op)
    del op
    gc.collect()
    self.assertIsNone(function())

  @parameterized.parameters(_nonlinear, _linear)
  def test_tapes_keep_what_they_need(self, make):
    op, function = make()
    tape, x, y = _taped(op)
    del op
    gc.collect()
    for _ in range(2):
      onp.testing.assert_array_equal(tape.gradient(y, x), [2.0, -3.0])
    del tape, x, y
    gc.collect()
    self.assertIsNone(function())

  @parameterized.product(make=(_nonlinear, _linear), jit_compile=(False, True))
  def test_programs_keep_their_functions(self, make, jit_compile):
    op, function = make()
    x = tf.constant([1.0, 5.0], tf.float64)
    op(x)  # The rule is there before the graph is.
    program = tf.function(op, jit_compile=jit_compile)
    program(x)
    del op
    gc.collect()
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = program(x)
    onp.testing.assert_array_equal(tape.gradient(y, x), [2.0, -3.0])
    self.assertIsNotNone(function())


if __name__ == "__main__":
  absltest.main()
