"""Values and derivatives of sparse models: those of the subgenerator."""

import functools
import tempfile

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import kernel_ops
from phasic.substrates.tf.math.calls import kernel_derivatives
from tests.tf.kernel import sparse_model as model

WEIGHTS = onp.array([1.0, 0.5, -2.0, 0.25])
SIZES = {"float32": 1e-5, "float64": 1e-12}


def loss(function, theta, kind="log_density"):
  return tf.reduce_sum(tf.cast(WEIGHTS, theta.dtype) * function(kind, theta))


def gradient(function, x):
  with tf.GradientTape() as tape:
    tape.watch(x)
    value = function(x)
  return tape.gradient(value, x)


def along(function, x):
  direction = tf.cast(model.DIRECTION, x.dtype)
  with tf.autodiff.ForwardAccumulator(x, direction) as accumulator:
    value = function(x)
  return accumulator.jvp(value)


def hessian(function, x):
  with tf.GradientTape() as tape:
    tape.watch(x)
    slope = gradient(function, x)
  return tape.jacobian(slope, x)


def third(function, x):
  return gradient(lambda x: along(lambda y: gradient(function, y), x), x)


class EdgesTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(
      kernel_ops.path(), "kernel", kernel_ops.unavailable_reason()
    )

  def assertSameNumbers(self, got, want, dtype="float64"):
    got, want = onp.asarray(got), onp.asarray(want)
    self.assertEqual(got.dtype, dtype)
    self.assertTrue(onp.all(onp.isfinite(want)), want)
    scale = onp.max(onp.abs(want))
    self.assertGreater(scale, 1e-3)
    onp.testing.assert_allclose(got, want, rtol=0, atol=SIZES[dtype] * scale)

  @parameterized.product(kind=kernel_ops.KINDS, dtype=list(SIZES))
  def test_values(self, kind, dtype):
    for theta in (model.THETA, model.THETAS):
      theta = tf.constant(theta, dtype)
      got = onp.asarray(model.sparse(kind, theta))
      self.assertEqual(got.shape, (*theta.shape[:-1], len(model.TIMES)))
      self.assertEqual(got.dtype, dtype)
      self.assertFalse(onp.any(onp.isnan(got)))
      onp.testing.assert_array_equal(got, model.dense(kind, theta))

  def test_parameters_that_are_the_rates(self):
    rates = model.CONSTANTS + model.COEFFICIENTS @ model.THETA
    none = tf.zeros([0], tf.float64), tf.zeros([model.EDGES, 0], tf.float64)
    value = lambda rates: kernel_ops.phase_type(
      "log_cdf", model.operands(rates), None, (model.INDICES, *none)
    )
    got = value(tf.constant(rates))
    want = model.sparse("log_cdf", model.THETA)
    onp.testing.assert_array_equal(got, want)
    # The derivatives in parameters follow from those in rates.
    slopes = gradient(lambda x: tf.reduce_sum(value(x)[:3]), tf.constant(rates))
    want = gradient(
      lambda x: tf.reduce_sum(model.sparse("log_cdf", x)[:3]),
      tf.constant(model.THETA),
    )
    self.assertSameNumbers(slopes.numpy() @ model.COEFFICIENTS, want)

  @parameterized.product(
    kind=["log_density", "density", "survival", "cdf"], dtype=list(SIZES)
  )
  def test_gradients(self, kind, dtype):
    for theta in (model.THETA, model.THETAS):
      theta = tf.constant(theta, dtype)
      got, want = [
        gradient(lambda x, f=f: loss(f, x, kind), theta)
        for f in (model.sparse, model.dense)
      ]
      self.assertSameNumbers(got, want, dtype)

  @parameterized.parameters("initial_probs", "times")
  def test_gradients_in_the_other_operands(self, name):
    x = getattr(model, name.upper())[:8]
    x = tf.constant(x if name == "initial_probs" else x[:3])
    got, want = [
      gradient(
        lambda x, f=f: tf.reduce_sum(f("density", model.THETA, **{name: x})), x
      )
      for f in (model.sparse, model.dense)
    ]
    self.assertSameNumbers(got, want)

  @parameterized.product(
    derivative=[along, hessian, third], traced=[False, True], dtype=list(SIZES)
  )
  def test_other_derivatives(self, derivative, traced, dtype):
    theta = tf.constant(model.THETA, dtype)
    results = []
    for f in (model.sparse, model.dense):
      compute = functools.partial(derivative, functools.partial(loss, f))
      results.append((tf.function(compute) if traced else compute)(theta))
    self.assertSameNumbers(*results, dtype)

  def test_forward_mode_twice(self):
    theta = tf.constant(model.THETA)
    got, want = [
      along(lambda x, f=f: along(functools.partial(loss, f), x), theta)
      for f in (model.sparse, model.dense)
    ]
    self.assertSameNumbers(got, want)

  def test_explicit_derivatives(self):
    theta, edges = tf.constant(model.THETA), model.edges()
    five = model.operands(theta)
    tangents = [tf.zeros_like(x) for x in five]
    tangents[1] = tf.constant(model.DIRECTION)
    slope = kernel_derivatives.jvp("density", five, tangents, None, edges)
    dense = functools.partial(model.dense, "density")
    self.assertSameNumbers(slope, along(dense, theta))
    value, bars = kernel_derivatives.vjp(
      "density", five, tf.constant(WEIGHTS), None, edges
    )
    onp.testing.assert_array_equal(value, dense(theta))
    want = gradient(lambda x: loss(model.dense, x, "density"), theta)
    self.assertSameNumbers(bars[1], want)
    for bar, x in zip(bars, five, strict=True):
      self.assertEqual(bar.shape, x.shape)

  def test_unknown_sizes(self):
    none = lambda *shape: tf.TensorSpec(shape, tf.float64)
    signature = [
      [none(None, None)] * 5,
      [
        tf.TensorSpec([None, 2, None], tf.int32),
        none(None, None),
        none(None, None, None),
      ],
    ]

    @tf.function(input_signature=signature)
    def compute(five, edges):
      with tf.GradientTape() as tape:
        tape.watch(five[1])
        value = kernel_ops.phase_type("log_density", five, None, edges)
        self.assertEqual(value.shape.as_list(), [None, None])
        total = tf.reduce_sum(tf.constant(WEIGHTS) * value)
      return value, tape.gradient(total, five[1])

    theta = tf.constant(model.THETAS)
    value, slope = compute(
      model.operands(theta), list(model.edges(batch_rank=1))
    )
    onp.testing.assert_array_equal(value, model.dense("log_density", theta))
    want = gradient(functools.partial(loss, model.dense), theta)
    self.assertSameNumbers(slope, want)

  def test_unknown_ranks(self):
    theta = tf.constant(model.THETA)
    alpha, _, *rest = model.operands(theta)

    def compute(theta, constants):
      edges = model.INDICES, constants, model.COEFFICIENTS
      value = kernel_ops.phase_type("cdf", [alpha, theta, *rest], None, edges)
      self.assertIsNone(value.shape.rank)
      return value

    specs = [tf.TensorSpec(None, tf.float64)] * 2
    got = tf.function(compute, input_signature=specs)(theta, model.CONSTANTS)
    onp.testing.assert_array_equal(got, model.dense("cdf", theta))

  def test_loops_and_branches(self):
    def total(f, theta):
      step = lambda x: 0.5 * x + loss(f, theta + 0.125 * tf.sin(x))
      body = lambda i, x: (i + 1, step(x))
      start = tf.constant(0), tf.constant(0.25, tf.float64)
      _, x = tf.while_loop(lambda i, _: i < 3, body, start)
      return tf.cond(x > 1e9, lambda: x, lambda: x + loss(f, theta))

    theta = tf.constant(model.THETA)
    got, want = [
      tf.function(functools.partial(gradient, functools.partial(total, f)))(
        theta
      )
      for f in (model.sparse, model.dense)
    ]
    self.assertSameNumbers(got, want)

  @parameterized.parameters(True, False)
  def test_mapped(self, vectorized):
    mapped = tf.vectorized_map if vectorized else tf.map_fn
    thetas = tf.constant(model.THETAS)
    got = mapped(functools.partial(model.sparse, "log_density"), thetas)
    onp.testing.assert_array_equal(got, model.dense("log_density", thetas))

  def test_saved_model(self):
    module = tf.Module()
    module.theta = tf.Variable(model.THETA)
    module.edges = model.edges()
    module.log_density = tf.function(
      lambda times: kernel_ops.phase_type(
        "log_density",
        model.operands(module.theta, times=times),
        None,
        module.edges,
      ),
      input_signature=[tf.TensorSpec([None], tf.float64)],
    )
    with tempfile.TemporaryDirectory() as directory:
      tf.saved_model.save(module, directory)
      loaded = tf.saved_model.load(directory)
    with tf.GradientTape() as tape:
      value = loaded.log_density(model.TIMES)
      total = tf.reduce_sum(WEIGHTS * value)
    want = model.dense("log_density", model.THETA)
    onp.testing.assert_array_equal(value, want)
    want = gradient(
      functools.partial(loss, model.dense), tf.constant(model.THETA)
    )
    self.assertSameNumbers(tape.gradient(total, loaded.theta), want)


if __name__ == "__main__":
  absltest.main()
