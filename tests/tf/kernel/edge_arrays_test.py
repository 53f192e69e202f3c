"""The arrays of a sparse call: bad ones are refused, unknown ones allowed."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import kernel_ops
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.math.calls import kernel_derivatives
from tests.tf.kernel import sparse_model as model

ERRORS = (ValueError, TypeError, tf.errors.InvalidArgumentError)


def zeros(*shape):
  return tf.zeros(shape, tf.float64)


def ints(*shape):
  return tf.zeros(shape, tf.int32)


class EdgeArraysTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(
      kernel_ops.path(), "kernel", kernel_ops.unavailable_reason()
    )
    self.theta = tf.constant(model.THETA)

  @parameterized.parameters(
    (-1, 0),
    (model.PHASES, 0),
    (0, -1),
    (0, model.PHASES + 1),
    (2**31 - 1, -(2**31)),
  )
  def test_indices_out_of_range(self, source, target):
    indices = onp.array(model.INDICES)
    indices[:, 3] = source, target
    got = model.with_arrays(self.theta, indices=indices)
    self.assertTrue(onp.all(onp.isnan(got)), got)
    edges = indices, model.CONSTANTS, model.COEFFICIENTS
    codes = kernel_ops.status("log_density", model.operands(self.theta), edges)
    self.assertEqual(codes.shape, model.TIMES.shape)
    for code in codes:
      self.assertStartsWith(kernel_ops.status_message(code), "edges: ")

  def test_negative_rate(self):
    theta = self.theta - 100.0
    got = model.with_arrays(theta)
    self.assertTrue(onp.all(onp.isnan(got)), got)
    codes = kernel_ops.status("cdf", model.operands(theta), edges=model.edges())
    self.assertStartsWith(kernel_ops.status_message(codes[0]), "rates: ")

  def test_status_of_a_good_model(self):
    operands = model.operands(tf.constant(model.THETAS))
    codes = kernel_ops.status("cdf", operands, model.edges(batch_rank=1))
    onp.testing.assert_array_equal(codes, onp.zeros((2, 4), onp.int32))

  def test_status_of_traced_edges(self):
    def compute(constants):
      edges = model.INDICES, constants, model.COEFFICIENTS
      with self.assertRaisesRegex(ValueError, "call it eagerly"):
        kernel_ops.status("cdf", model.operands(model.THETA), edges)
      return constants

    tf.function(compute)(tf.constant(model.CONSTANTS))

  @parameterized.named_parameters(
    ("parameters", "rates: 4 numbers", lambda: {"theta": zeros(4)}),
    (
      "more_batch_dimensions",
      "rank 2, must be 3",
      lambda: {"theta": zeros(3, 3)},
    ),
    ("constants", "2 constants", lambda: {"constants": zeros(2)}),
    ("constants_rank", "edges: rank 2", lambda: {"constants": zeros(1, 16)}),
    ("coefficients", "of 2 edges", lambda: {"coefficients": zeros(2, 3)}),
    ("values_rank", "edges: rank 1", lambda: {"coefficients": zeros(16)}),
    ("indices", "edges: indices", lambda: {"indices": ints(3, 16)}),
    ("indices_rank", "edges: rank 3", lambda: {"indices": ints(2, 1, 16)}),
    ("fewer_indices", "16 constants", lambda: {"indices": ints(2, 15)}),
    (
      "values_dtype",
      "float",
      lambda: {"coefficients": tf.cast(zeros(16, 3), tf.float32)},
    ),
    (
      "indices_dtype",
      "int64",
      lambda: {"indices": tf.cast(ints(2, 16), tf.int64)},
    ),
  )
  def test_arrays_that_do_not_fit(self, message, change):
    arguments = {"theta": self.theta, **change()}
    call = lambda: model.with_arrays(**arguments)
    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
      call()
    with self.assertRaises(ERRORS):
      tf.function(call)()

  def test_exit_rates(self):
    operands = model.operands(self.theta)
    operands[2] = tf.ones([model.PHASES], tf.float64)
    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "exit_rates"):
      kernel_ops.phase_type("cdf", operands, None, model.edges())

  @parameterized.parameters(1, 2)
  def test_too_few_arrays(self, count):
    edges = model.edges()[:count]
    operands = model.operands(self.theta)
    with self.assertRaises(tf.errors.InvalidArgumentError):
      kernel_ops.phase_type("cdf", operands, None, edges)
    with self.assertRaises(ERRORS):
      tf.function(
        lambda: phase_type_op.adjoint(
          0, 1, [operands], tf.constant(model.TIMES), edges
        )
      )()

  def test_batches_that_do_not_broadcast(self):
    theta = tf.constant(model.THETAS)
    indices, constants, coefficients = model.edges(batch_rank=1)
    constants = tf.tile(constants, [3, 1])
    edges = indices, constants, coefficients
    call = lambda: kernel_ops.phase_type(
      "cdf", model.operands(theta), None, edges
    )
    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "broadcast"):
      call()
    with self.assertRaisesRegex(ValueError, "broadcast"):
      tf.function(call)()

  def test_shape_inference_sees_the_batch_of_edges(self):
    spec = tf.TensorSpec([None, 5, model.EDGES], tf.float64)

    @tf.function(input_signature=[spec])
    def compute(constants):
      indices, _, coefficients = model.edges(batch_rank=2)
      operands = model.operands(model.THETA[None, None])
      edges = indices, constants, coefficients
      result = kernel_ops.phase_type("cdf", operands, None, edges)
      self.assertEqual(result.shape.as_list(), [None, 5, 4])
      _, bars = kernel_derivatives.vjp("cdf", operands, result, None, edges)
      self.assertEqual(bars[1].shape.as_list(), [1, 1, 3])
      return result

    constants = onp.tile(model.CONSTANTS, (2, 5, 1))
    self.assertEqual(compute(constants).shape, (2, 5, 4))

  def test_portable_path(self):
    operands, edges = model.operands(self.theta), model.edges()

    def fallback(kind, alpha, theta, exits, atom, times, *arrays):
      self.assertEqual(kind, "cdf")
      self.assertEmpty(exits)
      self.assertEmpty(atom)
      for x, want in zip(arrays, edges, strict=True):
        self.assertIs(x, want)
      return tf.reduce_sum(alpha) * tf.reduce_sum(theta) * times

    with kernel_ops.use_path("portable"):
      got = kernel_ops.phase_type("cdf", operands, fallback, edges)
      onp.testing.assert_array_equal(got, 2.5 * model.TIMES)
      tangents = [tf.ones_like(x) for x in operands]
      slope = kernel_derivatives.jvp("cdf", operands, tangents, fallback, edges)
      # 8 phases, 3 parameters: 8 * 2.5 t + 3 t + 2.5.
      onp.testing.assert_allclose(slope, 23 * model.TIMES + 2.5)
      _, bars = kernel_derivatives.vjp(
        "cdf", operands, tf.ones([4], tf.float64), fallback, edges
      )
      onp.testing.assert_allclose(bars[1], onp.full(3, model.TIMES.sum()))


if __name__ == "__main__":
  absltest.main()
