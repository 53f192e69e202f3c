"""Twenty ways to use `PhaseType.log_prob` in TensorFlow, each exact.

For batches the reference is differentiated by TensorFlow; see `cyclic_model`.
"""

import functools
import tempfile

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import kernel_ops
from tests.tf.kernel import cyclic_model as model


def loss(theta, t=model.TIMES, function=model.f):
  return tf.reduce_sum(model.WEIGHTS * function(theta, t))


def gradient(function, theta):
  with tf.GradientTape() as tape:
    tape.watch(theta)
    value = function(theta)
  return tape.gradient(value, theta)


def along(function, theta, direction=model.DIRECTION):
  """The derivative along a direction, by ForwardAccumulator."""
  with tf.autodiff.ForwardAccumulator(
    theta, tf.constant(direction)
  ) as accumulator:
    value = function(theta)
  return accumulator.jvp(value)


def _value():
  return model.f(tf.constant(model.THETA), model.TIMES), model.expected(0)


def _function():
  return tf.function(model.f)(
    tf.constant(model.THETA), model.TIMES
  ), model.expected(0)


def _grad():
  return gradient(
    loss, tf.constant(model.THETA)
  ), model.WEIGHTS @ model.expected(1)


def _second_order(pfor):
  function = lambda theta: gradient(loss, theta)
  hessian = model.jacobian(function, tf.constant(model.THETA), pfor)
  return hessian, onp.einsum("n,nij->ij", model.WEIGHTS, model.expected(2))


def _third_order():
  inner = lambda theta: gradient(loss, theta)
  function = lambda theta: model.jacobian(inner, theta)
  third = model.jacobian(function, tf.constant(model.THETA))
  return third, onp.einsum("n,nijk->ijk", model.WEIGHTS, model.expected(3))


def _forward():
  got = along(
    lambda theta: model.f(theta, model.TIMES),
    tf.constant(model.THETA),
  )
  return got, model.expected(1) @ model.DIRECTION


def _forward_in_function():
  function = lambda theta: along(lambda x: model.f(x, model.TIMES), theta)
  return tf.function(function)(tf.constant(model.THETA)), model.expected(
    1
  ) @ model.DIRECTION


def _forward_of_gradient():
  function = lambda theta: along(lambda x: gradient(loss, x), theta)
  want = onp.einsum(
    "n,nij,j->i",
    model.WEIGHTS,
    model.expected(2),
    model.DIRECTION,
  )
  results = [
    function(tf.constant(model.THETA)),
    tf.function(function)(model.THETA),
  ]
  return tf.stack(results), onp.stack([want, want])


def _vectorized_map():
  got = tf.vectorized_map(
    lambda theta: model.f(theta, model.TIMES),
    tf.constant(model.BATCH),
  )
  return got, model.reference(model.BATCH, model.TIMES)


def _map_fn():
  got = tf.map_fn(
    lambda theta: model.f(theta, model.TIMES),
    tf.constant(model.BATCH),
  )
  return got, model.reference(model.BATCH, model.TIMES)


def _batch():
  theta = tf.constant(model.BATCH)
  got = gradient(lambda x: loss(x), theta)
  want = gradient(lambda x: loss(x, function=model.reference), theta)
  return tf.concat([model.f(theta, model.TIMES), got], -1), tf.concat(
    [model.reference(theta, model.TIMES), want], -1
  )


def _batch_jacobian():
  def compute(function):
    theta = tf.constant(model.BATCH)
    with tf.GradientTape() as tape:
      tape.watch(theta)
      value = function(theta, model.TIMES)
    return tape.batch_jacobian(value, theta)

  return compute(model.f), compute(model.reference)


def _float32():
  theta = tf.constant(model.THETA, tf.float32)
  times = tf.constant(model.TIMES, tf.float32)
  weights = tf.constant(model.WEIGHTS, tf.float32)
  function = lambda x: tf.reduce_sum(weights * model.f(x, times))
  got = tf.concat([model.f(theta, times), gradient(function, theta)], 0)
  assert got.dtype == tf.float32
  return got, onp.concatenate(
    [model.expected(0), model.WEIGHTS @ model.expected(1)]
  )


def _while_loop():
  def compute(function):
    def total(theta):
      _, result = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, x: (i + 1, 0.5 * x + loss(theta + x * x, function=function)),
        (tf.constant(0), tf.constant(0.25, tf.float64)),
      )
      return result

    return tf.function(lambda theta: gradient(total, theta))(
      tf.constant(model.THETA)
    )

  return compute(model.f), compute(model.reference)


def _recompute_grad():
  function = tf.recompute_grad(lambda theta: model.f(theta, model.TIMES))
  got = gradient(
    lambda theta: tf.reduce_sum(model.WEIGHTS * function(theta)),
    tf.constant(model.THETA),
  )
  return got, model.WEIGHTS @ model.expected(1)


def _partial_shapes():
  spec = [
    tf.TensorSpec([2, None], tf.float64),
    tf.TensorSpec([None, 4], "float64"),
  ]

  @tf.function(input_signature=spec)
  def compute(theta, t):
    theta = tf.ensure_shape(theta, [None, 3])
    return gradient(lambda x: loss(x, t), theta)

  want = gradient(
    lambda x: loss(x, function=model.reference),
    tf.constant(model.BATCH),
  )
  return compute(model.BATCH, [model.TIMES]), want


def _unknown_batch():
  spec = [tf.TensorSpec([None, 3], "float64"), tf.TensorSpec([None], "float64")]

  @tf.function(input_signature=spec)
  def compute(theta, t):
    return gradient(lambda x: tf.reduce_sum(model.f(x, t) ** 2), theta)

  want = gradient(
    lambda x: tf.reduce_sum(model.reference(x, model.TIMES) ** 2),
    tf.constant(model.BATCH),
  )
  return compute(model.BATCH, model.TIMES), want


def _saved_model(directory):
  module = tf.Module()
  module.theta = tf.Variable(model.THETA)
  module.log_prob = tf.function(
    lambda t: model.f(module.theta, t),
    input_signature=[tf.TensorSpec([None], "float64")],
  )
  tf.saved_model.save(module, directory)
  loaded = tf.saved_model.load(directory)
  with tf.GradientTape() as tape:
    value = tf.reduce_sum(model.WEIGHTS * loaded.log_prob(model.TIMES))
  return tape.gradient(value, loaded.theta), model.WEIGHTS @ model.expected(1)


def _variables():
  theta = tf.Variable(model.THETA * 2)
  function = tf.function(lambda: model.f(theta, model.TIMES))
  function()
  theta.assign(model.THETA)
  with tf.GradientTape() as tape:
    value = tf.reduce_sum(model.WEIGHTS * function())
  return tape.gradient(value, theta), model.WEIGHTS @ model.expected(1)


class UsesTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(
      kernel_ops.path(), "kernel", kernel_ops.unavailable_reason()
    )

  @parameterized.named_parameters(
    ("eager", _value),
    ("function", _function),
    ("grad", _grad),
    ("jacobian_of_grad_pfor", functools.partial(_second_order, True)),
    ("jacobian_of_grad", functools.partial(_second_order, False)),
    ("third_order", _third_order),
    ("forward_eager", _forward),
    ("forward_in_function", _forward_in_function),
    ("forward_of_gradient", _forward_of_gradient),
    ("vectorized_map", _vectorized_map),
    ("map_fn", _map_fn),
    ("batch", _batch),
    ("batch_jacobian", _batch_jacobian),
    ("while_loop", _while_loop),
    ("recompute_grad", _recompute_grad),
    ("partial_shapes", _partial_shapes),
    ("unknown_batch", _unknown_batch),
    ("variables", _variables),
  )
  def test_use(self, use):
    got, want = use()
    onp.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)

  def test_float32(self):
    got, want = _float32()
    onp.testing.assert_allclose(got, want, rtol=1e-5)

  def test_saved_model(self):
    with tempfile.TemporaryDirectory() as directory:
      got, want = _saved_model(directory)
    onp.testing.assert_allclose(got, want, rtol=1e-11)


if __name__ == "__main__":
  absltest.main()
