"""Derivatives in the structure of a sparse model: an error or NaN."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import kernel_ops
from phasic.substrates.tf.math.calls import kernel_derivatives
from tests.tf.kernel import sparse_model as model


class EdgeDerivativesTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(
      kernel_ops.path(), "kernel", kernel_ops.unavailable_reason()
    )
    self.theta = tf.constant(model.THETA)
    _, self.constants, self.coefficients = model.edges()

  def assertMissing(self, x):
    """NaN, not a number and not nothing."""
    self.assertIsNotNone(x)
    self.assertTrue(onp.all(onp.isnan(x)), x)

  @parameterized.parameters("constants", "coefficients")
  def test_eagerly(self, name):
    x = getattr(self, name)
    with tf.GradientTape() as tape:
      tape.watch(x)
      result = model.with_arrays(self.theta, **{name: x})
    with self.assertRaisesRegex(NotImplementedError, "coefficients or const"):
      tape.gradient(result, x)

  def test_eagerly_in_a_gradient(self):
    with tf.GradientTape() as tape:
      tape.watch(self.constants)
      _, bars = kernel_derivatives.vjp(
        "cdf",
        model.operands(self.theta),
        tf.ones([4], tf.float64),
        None,
        (model.INDICES, self.constants, self.coefficients),
      )
    with self.assertRaisesRegex(NotImplementedError, "coefficients or const"):
      tape.gradient(bars[1], self.constants)

  def test_stop_gradient(self):
    x = self.constants
    with tf.GradientTape() as tape:
      tape.watch([self.theta, x])
      result = model.with_arrays(self.theta, tf.stop_gradient(x))
      total = tf.reduce_sum(result) * tf.reduce_sum(x)
    slope, other = tape.gradient(total, [self.theta, x])
    self.assertTrue(onp.all(onp.isfinite(slope)))
    onp.testing.assert_allclose(other, tf.fill(x.shape, tf.reduce_sum(result)))

  @parameterized.parameters("constants", "coefficients")
  def test_in_a_graph(self, name):
    x = getattr(self, name)
    function = tf.function(
      lambda theta, x: model.with_arrays(theta, **{name: x})
    )

    def compute(theta, x):
      with tf.GradientTape() as tape:
        tape.watch([theta, x])
        result = function(theta, x)
      return tape.gradient(result, [theta, x])

    with tf.GradientTape() as tape:
      tape.watch(self.theta)
      result = model.with_arrays(self.theta)
    want = tape.gradient(result, self.theta)
    for run in (compute, tf.function(compute)):
      slope, missing = run(self.theta, x)
      onp.testing.assert_allclose(slope, want, rtol=1e-13)
      self.assertEqual(missing.shape, x.shape)
      self.assertMissing(missing)

  def test_in_a_graph_by_another_way_too(self):
    # None for the kernel's part would leave the other part: a wrong number.
    @tf.function
    def compute(x):
      with tf.GradientTape() as tape:
        tape.watch(x)
        result = model.with_arrays(self.theta, x)
        total = tf.reduce_sum(result) + tf.reduce_sum(x)
      return tape.gradient(total, x)

    self.assertMissing(compute(self.constants))

  def test_cotangents_that_cancel(self):
    @tf.function
    def compute(x):
      with tf.GradientTape() as tape:
        tape.watch(x)
        first, second, *_ = tf.unstack(model.with_arrays(self.theta, x))
        total = first - second
      return tape.gradient(total, x)

    self.assertMissing(compute(self.constants))

  @parameterized.parameters("constants", "coefficients")
  def test_forward_mode(self, name):
    x = getattr(self, name)
    # Ones of both signs: the sum of the tangents is zero.
    signs = onp.where(onp.arange(x.shape.num_elements()) % 2, -1.0, 1.0)
    tangent = tf.constant(onp.reshape(signs, x.shape))

    def compute(x):
      with tf.autodiff.ForwardAccumulator(x, tangent) as accumulator:
        result = model.with_arrays(self.theta, **{name: x})
      return accumulator.jvp(result)

    self.assertMissing(compute(x))
    self.assertMissing(tf.function(compute)(x))

  def test_forward_mode_in_parameters_alone(self):
    operands = model.operands(self.theta)

    def compute(theta, constants, coefficients):
      edges = model.INDICES, constants, coefficients
      with tf.autodiff.ForwardAccumulator(
        theta, tf.constant(model.DIRECTION)
      ) as accumulator:
        five = [operands[0], theta, *operands[2:]]
        result = kernel_ops.phase_type("cdf", five, None, edges)
      return accumulator.jvp(result)

    tangents = [tf.zeros_like(x) for x in operands]
    tangents[1] = tf.constant(model.DIRECTION)
    want = kernel_derivatives.jvp(
      "cdf", operands, tangents, None, model.edges()
    )
    arguments = self.theta, self.constants, self.coefficients
    onp.testing.assert_array_equal(compute(*arguments), want)
    onp.testing.assert_array_equal(tf.function(compute)(*arguments), want)

  def test_second_order_in_a_graph(self):
    def compute(theta, x):
      with tf.GradientTape(persistent=True) as outer:
        outer.watch([theta, x])
        with tf.GradientTape(persistent=True) as tape:
          tape.watch([theta, x])
          total = tf.reduce_sum(model.with_arrays(theta, x))
        slope = tape.gradient(total, theta)
        missing = tape.gradient(total, x)
      return (
        outer.gradient(slope, theta),
        outer.gradient(slope, x),
        outer.gradient(missing, theta),
        outer.gradient(missing, x),
      )

    curvature, *missing = tf.function(compute)(self.theta, self.constants)
    self.assertTrue(onp.all(onp.isfinite(curvature)))
    for x in missing:
      self.assertMissing(x)

  def test_variables(self):
    constants = tf.Variable(self.constants, trainable=False)
    with tf.GradientTape() as tape:
      tape.watch(self.theta)
      result = model.with_arrays(self.theta, constants)
    self.assertTrue(onp.all(onp.isfinite(tape.gradient(result, self.theta))))

  def test_absent_arrays(self):
    absent = tf.zeros([0], tf.float64)
    with tf.GradientTape() as tape:
      tape.watch(absent)
      result = model.with_arrays(self.theta, absent)
    self.assertEqual(tape.gradient(result, absent).shape, (0,))


if __name__ == "__main__":
  absltest.main()
