"""The ways in which TensorFlow users use a function f(theta, t).

theta (..., 3) and t (n) give (..., n). Each takes f and returns what must be the
same for a native function as for plain array code.
"""

import tempfile

import numpy as onp
import tensorflow as tf

THETA = onp.array([1.0, 1.5, 0.8])
TIMES = onp.array([0.1, 0.5, 1.0, 2.0])
WEIGHTS = onp.array([1.0, 0.5, 2.0, -1.0])
DIRECTION = onp.array([0.3, -0.7, 1.1])
BATCH = onp.array([[1.0, 2.0, 3.0], [0.5, 0.25, 4.0]])


def _loss(f, t=TIMES):
  return lambda theta: tf.reduce_sum(tf.sin(f(theta, t)) * WEIGHTS)


def _gradient(function):
  def gradient(theta):
    with tf.GradientTape() as tape:
      tape.watch(theta)
      value = function(theta)
    return tape.gradient(value, theta)

  return gradient


def _jacobian(function, pfor=False):
  def jacobian(theta):
    with tf.GradientTape(persistent=True) as tape:
      tape.watch(theta)
      value = function(theta)
    return tape.jacobian(value, theta, experimental_use_pfor=pfor)

  return jacobian


def _contracted(gradient):
  """The gradient of a gradient along a direction."""
  return _gradient(lambda theta: tf.tensordot(gradient(theta), DIRECTION, 1))


def _along(function):
  def tangent(theta):
    direction = tf.constant(DIRECTION)
    with tf.autodiff.ForwardAccumulator(theta, direction) as accumulator:
      value = function(theta)
    return accumulator.jvp(value)

  return tangent


def _batch_jacobian(f):
  theta = tf.constant(BATCH)
  with tf.GradientTape() as tape:
    tape.watch(theta)
    value = f(theta, TIMES)
  return tape.batch_jacobian(value, theta)


def _while_loop(f):
  def total(theta):
    return tf.while_loop(
      lambda i, _: i < 3,
      lambda i, x: (i + 1, 0.5 * x + _loss(f)(theta + x * x)),
      (tf.constant(0), tf.constant(0.25, tf.float64)),
    )[1]

  return tf.function(_gradient(total))(tf.constant(THETA))


def _partial_shapes(f):
  signature = [
    tf.TensorSpec([2, None], tf.float64),
    tf.TensorSpec([None], tf.float64),
  ]

  @tf.function(input_signature=signature)
  def compute(theta, t):
    theta = tf.ensure_shape(theta, [None, 3])
    return _gradient(lambda x: tf.reduce_sum(tf.sin(f(x, t))))(theta)

  return compute(BATCH, TIMES)


def _unknown_batch(f):
  signature = [tf.TensorSpec([None, 3], tf.float64)]

  @tf.function(input_signature=signature)
  def compute(theta):
    return _along_batch(_gradient(_loss(f)))(theta)

  return compute(BATCH)


def _along_batch(function):
  def tangent(theta):
    with tf.autodiff.ForwardAccumulator(theta, 2.0 * theta) as accumulator:
      value = function(theta)
    return accumulator.jvp(value)

  return tangent


def _saved_model(f):
  module = tf.Module()
  module.theta = tf.Variable(THETA)
  module.value = tf.function(
    lambda t: f(module.theta, t),
    input_signature=[tf.TensorSpec([None], tf.float64)],
  )
  with tempfile.TemporaryDirectory() as directory:
    tf.saved_model.save(module, directory)
    loaded = tf.saved_model.load(directory)
    with tf.GradientTape() as tape:
      value = tf.reduce_sum(WEIGHTS * loaded.value(TIMES))
    return tape.gradient(value, loaded.theta)


def _variables(f):
  theta = tf.Variable(THETA * 2.0)
  function = tf.function(lambda: f(theta, TIMES))
  function()
  theta.assign(THETA)
  with tf.GradientTape() as tape:
    value = tf.reduce_sum(WEIGHTS * function())
  return tape.gradient(value, theta)


def _at(transform):
  """A use that is a function of theta."""
  return lambda f: transform(f)(tf.constant(THETA))


def _compiled(function):
  return tf.function(function, jit_compile=True)


_OF_THETA = lambda f: lambda theta: f(theta, TIMES)
_SECOND = lambda f: _jacobian(_gradient(_loss(f)))

USES = {
  "eager": _at(_OF_THETA),
  "function": _at(lambda f: tf.function(_OF_THETA(f))),
  "grad": _at(lambda f: _gradient(_loss(f))),
  "function_grad": _at(lambda f: tf.function(_gradient(_loss(f)))),
  "grad_of_both": lambda f: _jacobian(
    lambda t: f(tf.constant(THETA) * t[0], t)
  )(tf.constant(TIMES)),
  "jacobian_of_grad_pfor": _at(lambda f: _jacobian(_gradient(_loss(f)), True)),
  "jacobian_of_grad": _at(_SECOND),
  "function_jacobian_of_grad": _at(lambda f: tf.function(_SECOND(f))),
  "third_order": _at(lambda f: _contracted(_contracted(_gradient(_loss(f))))),
  "forward_eager": _at(lambda f: _along(_OF_THETA(f))),
  "forward_in_function": _at(lambda f: tf.function(_along(_OF_THETA(f)))),
  "forward_of_gradient": _at(lambda f: _along(_gradient(_loss(f)))),
  "forward_of_gradient_in_function": _at(
    lambda f: tf.function(_along(_gradient(_loss(f))))
  ),
  "gradient_of_forward": _at(
    lambda f: _gradient(lambda x: tf.reduce_sum(_along(_loss(f))(x)))
  ),
  "vectorized_map": lambda f: tf.vectorized_map(
    _OF_THETA(f), tf.constant(BATCH)
  ),
  "map_fn": lambda f: tf.map_fn(_OF_THETA(f), tf.constant(BATCH)),
  "batch": lambda f: _gradient(_loss(f))(tf.constant(BATCH)),
  "batch_jacobian": _batch_jacobian,
  "while_loop": _while_loop,
  "recompute_grad": _at(lambda f: _gradient(tf.recompute_grad(_loss(f)))),
  "partial_shapes": _partial_shapes,
  "unknown_batch": _unknown_batch,
  "saved_model": _saved_model,
  "variables": _variables,
  "jit_compile": _at(lambda f: _compiled(_OF_THETA(f))),
  "jit_compile_grad": _at(lambda f: _compiled(_gradient(_loss(f)))),
  "jit_compile_forward": _at(lambda f: _compiled(_along(_OF_THETA(f)))),
  "jit_compile_hvp": _at(lambda f: _compiled(_along(_gradient(_loss(f))))),
  "jit_compile_second": _at(
    lambda f: _compiled(_contracted(_gradient(_loss(f))))
  ),
  "gradient_of_jit_compile": _at(
    lambda f: _gradient(lambda x: tf.reduce_sum(_compiled(_OF_THETA(f))(x)))
  ),
}
