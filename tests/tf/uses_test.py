"""Twenty ways to use `PhaseType.log_prob` in TensorFlow, each exact.

The function is f(theta, t): a cyclic model with three phases and three
parameters, at four times. The reference is the matrix exponential in plain
TensorFlow, differentiated by nested tapes.
"""

import functools
import tempfile

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates import tf as ph
from phasic.substrates.tf.internal import kernel_ops

ALPHA = onp.array([0.5, 0.3, 0.2])
EXITS = onp.array([0.3, 0.2, 0.7])
THETA = onp.array([1.0, 2.0, 3.0])
TIMES = onp.array([0.1, 0.5, 1.0, 2.0])
WEIGHTS = onp.array([1.0, 0.5, 2.0, -1.0])
DIRECTION = onp.array([0.3, -0.7, 1.1])
BATCH = onp.array([[1.0, 2.0, 3.0], [0.5, 0.25, 4.0]])


def subgenerator(theta):
  """Rates round a cycle of three phases, (..., 3, 3)."""
  a, b, c = tf.unstack(tf.convert_to_tensor(theta), axis=-1)
  exits = [tf.cast(s, a.dtype) for s in EXITS]
  zero = tf.zeros_like(a)
  rows = [
    tf.stack([-(a + exits[0]), a, zero], -1),
    tf.stack([zero, -(b + exits[1]), b], -1),
    tf.stack([c, zero, -(c + exits[2])], -1),
  ]
  return tf.stack(rows, -2)


def f(theta, t):
  """theta (..., 3) and t (..., n) to log densities (..., n)."""
  matrix = subgenerator(theta)[..., None, :, :]
  alpha = tf.constant(ALPHA, matrix.dtype)
  return ph.distributions.PhaseType(alpha, matrix).log_prob(t)


def expm(matrix):
  """Matrix exponential by scaling, Taylor's series and squaring."""
  matrix = matrix / 64
  term = power = tf.eye(3, dtype=matrix.dtype)
  for k in range(1, 20):
    term = term @ matrix / k
    power = power + term
  for _ in range(6):
    power = power @ power
  return power


def reference(theta, t):
  """The same by the matrix exponential."""
  matrix = subgenerator(theta)[..., None, :, :]
  power = expm(matrix * tf.convert_to_tensor(t)[..., None, None])
  exits = -tf.reduce_sum(matrix, -1)
  return tf.math.log(
    tf.einsum("i,...ij,...j->...", tf.constant(ALPHA), power, exits)
  )


def jacobian(function, theta, pfor=False):
  """The Jacobian of a function of one array."""
  with tf.GradientTape(persistent=True) as tape:
    tape.watch(theta)
    value = function(theta)
  return tape.jacobian(value, theta, experimental_use_pfor=pfor)


@functools.cache
def expected(order):
  """Derivatives of the reference, (4, 3, ..., 3), at THETA."""
  function = lambda theta: reference(theta, tf.constant(TIMES))
  for _ in range(order):
    function = functools.partial(jacobian, function, pfor=True)
  return function(tf.constant(THETA)).numpy()


def loss(theta, t=TIMES, function=f):
  return tf.reduce_sum(WEIGHTS * function(theta, t))


def gradient(function, theta):
  with tf.GradientTape() as tape:
    tape.watch(theta)
    value = function(theta)
  return tape.gradient(value, theta)


def along(function, theta, direction=DIRECTION):
  """The derivative along a direction, by ForwardAccumulator."""
  with tf.autodiff.ForwardAccumulator(
    theta, tf.constant(direction)
  ) as accumulator:
    value = function(theta)
  return accumulator.jvp(value)


def _value():
  return f(tf.constant(THETA), TIMES), expected(0)


def _function():
  return tf.function(f)(tf.constant(THETA), TIMES), expected(0)


def _grad():
  return gradient(loss, tf.constant(THETA)), WEIGHTS @ expected(1)


def _second_order(pfor):
  function = lambda theta: gradient(loss, theta)
  hessian = jacobian(function, tf.constant(THETA), pfor)
  return hessian, onp.einsum("n,nij->ij", WEIGHTS, expected(2))


def _third_order():
  inner = lambda theta: gradient(loss, theta)
  function = lambda theta: jacobian(inner, theta)
  third = jacobian(function, tf.constant(THETA))
  return third, onp.einsum("n,nijk->ijk", WEIGHTS, expected(3))


def _forward():
  got = along(lambda theta: f(theta, TIMES), tf.constant(THETA))
  return got, expected(1) @ DIRECTION


def _forward_in_function():
  function = lambda theta: along(lambda x: f(x, TIMES), theta)
  return tf.function(function)(tf.constant(THETA)), expected(1) @ DIRECTION


def _forward_of_gradient():
  function = lambda theta: along(lambda x: gradient(loss, x), theta)
  want = onp.einsum("n,nij,j->i", WEIGHTS, expected(2), DIRECTION)
  results = [function(tf.constant(THETA)), tf.function(function)(THETA)]
  return tf.stack(results), onp.stack([want, want])


def _vectorized_map():
  got = tf.vectorized_map(lambda theta: f(theta, TIMES), tf.constant(BATCH))
  return got, reference(BATCH, TIMES)


def _map_fn():
  got = tf.map_fn(lambda theta: f(theta, TIMES), tf.constant(BATCH))
  return got, reference(BATCH, TIMES)


def _batch():
  theta = tf.constant(BATCH)
  got = gradient(lambda x: loss(x), theta)
  want = gradient(lambda x: loss(x, function=reference), theta)
  return tf.concat([f(theta, TIMES), got], -1), tf.concat(
    [reference(theta, TIMES), want], -1
  )


def _batch_jacobian():
  def compute(function):
    theta = tf.constant(BATCH)
    with tf.GradientTape() as tape:
      tape.watch(theta)
      value = function(theta, TIMES)
    return tape.batch_jacobian(value, theta)

  return compute(f), compute(reference)


def _float32():
  theta = tf.constant(THETA, tf.float32)
  times = tf.constant(TIMES, tf.float32)
  weights = tf.constant(WEIGHTS, tf.float32)
  function = lambda x: tf.reduce_sum(weights * f(x, times))
  got = tf.concat([f(theta, times), gradient(function, theta)], 0)
  assert got.dtype == tf.float32
  return got, onp.concatenate([expected(0), WEIGHTS @ expected(1)])


def _while_loop():
  def compute(function):
    def total(theta):
      _, result = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, x: (i + 1, 0.5 * x + loss(theta + x * x, function=function)),
        (tf.constant(0), tf.constant(0.25, tf.float64)),
      )
      return result

    return tf.function(lambda theta: gradient(total, theta))(tf.constant(THETA))

  return compute(f), compute(reference)


def _recompute_grad():
  function = tf.recompute_grad(lambda theta: f(theta, TIMES))
  got = gradient(
    lambda theta: tf.reduce_sum(WEIGHTS * function(theta)), tf.constant(THETA)
  )
  return got, WEIGHTS @ expected(1)


def _partial_shapes():
  spec = [
    tf.TensorSpec([2, None], tf.float64),
    tf.TensorSpec([None, 4], "float64"),
  ]

  @tf.function(input_signature=spec)
  def compute(theta, t):
    theta = tf.ensure_shape(theta, [None, 3])
    return gradient(lambda x: loss(x, t), theta)

  want = gradient(lambda x: loss(x, function=reference), tf.constant(BATCH))
  return compute(BATCH, [TIMES]), want


def _unknown_batch():
  spec = [tf.TensorSpec([None, 3], "float64"), tf.TensorSpec([None], "float64")]

  @tf.function(input_signature=spec)
  def compute(theta, t):
    return gradient(lambda x: tf.reduce_sum(f(x, t) ** 2), theta)

  want = gradient(
    lambda x: tf.reduce_sum(reference(x, TIMES) ** 2), tf.constant(BATCH)
  )
  return compute(BATCH, TIMES), want


def _saved_model(directory):
  module = tf.Module()
  module.theta = tf.Variable(THETA)
  module.log_prob = tf.function(
    lambda t: f(module.theta, t),
    input_signature=[tf.TensorSpec([None], "float64")],
  )
  tf.saved_model.save(module, directory)
  loaded = tf.saved_model.load(directory)
  with tf.GradientTape() as tape:
    value = tf.reduce_sum(WEIGHTS * loaded.log_prob(TIMES))
  return tape.gradient(value, loaded.theta), WEIGHTS @ expected(1)


def _variables():
  theta = tf.Variable(THETA * 2)
  function = tf.function(lambda: f(theta, TIMES))
  function()
  theta.assign(THETA)
  with tf.GradientTape() as tape:
    value = tf.reduce_sum(WEIGHTS * function())
  return tape.gradient(value, theta), WEIGHTS @ expected(1)


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
