"""The parts of the seam that TensorFlow has its own way of."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf.internal import array_ops
from phasic.substrates.tf.internal import control_flow
from phasic.substrates.tf.internal import dtypes
from phasic.substrates.tf.internal import kernel_ops
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.internal import random
from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal import structures
from phasic.substrates.tf.math.calls import kernel_derivatives

MATRIX = onp.array([[-1.3, 1.0], [0.4, -2.2]])
TIMES = onp.array([0.1, 1.0])


def _traced(function, *args, shape=None):
  """The function in a graph, its arguments of unknown shape."""
  signature = [tf.TensorSpec(shape or [None] * onp.ndim(x)) for x in args]
  signature = [
    tf.TensorSpec(s.shape, onp.asarray(x).dtype)
    for s, x in zip(signature, args, strict=True)
  ]
  return tf.function(function, input_signature=signature)(*args)


class StaticTest(absltest.TestCase):
  def test_shapes(self):
    self.assertEqual(static.shape(onp.zeros((2, 3))), (2, 3))
    self.assertEqual(static.shape(tf.Variable([1.0])), (1,))
    self.assertEqual(static.shape(2.0), ())

    def unknown(x):
      shape = static.shape(x)
      self.assertEqual(static.rank(x), 2)
      self.assertTrue(all(tf.is_tensor(d) for d in shape))
      full = static.broadcast_shapes(shape, (4, 1, 3))
      self.assertEqual((full[0], full[2]), (4, 3))
      return full[1]

    self.assertEqual(_traced(unknown, onp.zeros((2, 3))), 2)
    self.assertEqual(_traced(unknown, onp.zeros((1, 3))), 1)

  def test_shapes_that_do_not_broadcast(self):
    with self.assertRaisesRegex(ValueError, r"\(2,\) and \(3,\)"):
      static.broadcast_shapes((2,), (3,))

  def test_concrete(self):
    onp.testing.assert_array_equal(static.concrete(tf.Variable([1.0])), [1.0])
    _traced(lambda x: self.assertIsNone(static.concrete(x)) or x, TIMES)

  def test_dtypes(self):
    for x in (tf.float32, "float32", onp.float32, tf.zeros(2)):
      self.assertEqual(static.dtype_name(x), "float32")
    self.assertEqual(static.finfo_eps(tf.float64), 2.0**-52)


class ChecksTest(absltest.TestCase):
  def test_check(self):
    x = tf.constant(TIMES)
    self.assertIs(array_ops.check(x > 0, "x: rule", x), x)
    with self.assertRaisesRegex(ValueError, "x: rule"):
      array_ops.check(x > 1, "x: rule", x)
    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "x: rule"):
      _traced(lambda x: array_ops.check(x > 1, "x: rule", x), TIMES)

  def test_check_tells_the_value(self):
    def checked(x):
      return array_ops.check(x < 2.5, "x: rule", x, x)

    for shape in (TIMES.shape, [None]):
      spec = [tf.TensorSpec(shape, tf.float64)]
      function = tf.function(checked, input_signature=spec)
      with self.assertRaisesRegex(
        tf.errors.InvalidArgumentError, r"x: rule\].*found.*\[3.25\]"
      ):
        function(onp.array([0.0] * (len(TIMES) - 1) + [3.25]))
      onp.testing.assert_array_equal(function(0.0 * TIMES), 0.0 * TIMES)
    self.assertEqual(function(onp.zeros(0)).shape, (0,))

  def test_empty_values_of_unknown_size(self):
    empty = onp.zeros((2, 0))
    dist = pd.PhaseType([0.75, 0.25], MATRIX)
    for method in (dist.log_prob, dist.cdf, dist.quantile):
      self.assertEqual(_traced(method, empty).shape, (2, 0))
    self.assertEqual(_traced(dist.cdf, onp.ones((2, 3))).shape, (2, 3))
    with kernel_ops.use_path("portable"):
      self.assertEqual(_traced(dist.prob, empty).shape, (2, 0))


class StructuresTest(absltest.TestCase):
  def test_common_dtype(self):
    common = dtypes.common_dtype
    self.assertEqual(common({"a": [1, 2], "b": tf.zeros(2)}), "float32")
    self.assertEqual(common({"a": [1, 2], "b": None}), "float64")
    self.assertEqual(common({"a": [tf.zeros(())]}), "float32")
    with self.assertRaisesRegex(TypeError, "a is float32 and b is float64"):
      common({"a": tf.zeros(2), "b": onp.zeros(2)})
    for bad in (tf.zeros(2, tf.float16), [True], [1j], ["x"]):
      with self.assertRaisesRegex(TypeError, "a (has dtype|holds text)"):
        common({"a": bad})

  def test_as_array(self):
    for x in ([1, 2], (tf.constant(1.0), 2.0), tf.Variable([1, 2])):
      got = structures.as_array(x, "float32")
      self.assertEqual(got.dtype, tf.float32)
      onp.testing.assert_array_equal(got, [1.0, 2.0])
    for rows in (
      [[1.0], [1.0, 2.0]],
      [tf.ones(1), tf.ones(2)],
      [tf.ones(1), 1.0],
    ):
      for convert in (
        lambda x: structures.as_array(x, "float32", "x"),
        tf.function(
          lambda x: structures.as_array(x, "float32", "x"), autograph=False
        ),
      ):
        with self.assertRaisesRegex(ValueError, "x is ragged: it must be"):
          convert(rows)
    with self.assertRaisesRegex(ValueError, "x is ragged: it must be"):
      structures.as_index_array([tf.ones(1, tf.int32), 1], "x")
    with self.assertRaisesRegex(TypeError, "^x has dtype bfloat16: it must be"):
      structures.as_array(tf.constant(1.0, tf.bfloat16), None, "x")
    ragged = tf.ragged.constant([[1.0], [1.0, 2.0]])
    with self.assertRaisesRegex(TypeError, "^x is RaggedTensor: .* dense"):
      structures.as_array(ragged, None, "x")
    with self.assertRaisesRegex(TypeError, "^x is SparseTensor: .* dense"):
      structures.as_array(tf.sparse.from_dense([1.0]), None, "x")


class RandomTest(parameterized.TestCase):
  @parameterized.parameters(3, -1, 2**70, onp.int64(5))
  def test_ints(self, seed):
    first = random.uniform(random.sanitize_seed(seed), (3,), "float64")
    again = random.uniform(random.sanitize_seed(seed), (3,), "float64")
    salted = random.sanitize_seed(seed, salt="a")
    onp.testing.assert_array_equal(first, again)
    self.assertNotAllEqual(first, random.uniform(salted, (3,), "float64"))

  def assertNotAllEqual(self, x, y):
    self.assertFalse(onp.array_equal(x, y))

  def test_pairs(self):
    for seed in ((1, 2), onp.array([1, 2]), tf.constant([1, 2])):
      onp.testing.assert_array_equal(random.sanitize_seed(seed), [1, 2])

  @parameterized.parameters(None, 1.5, True, "a", ((1, 2, 3),), ((1.0, 2.0),))
  def test_wrong_types(self, seed):
    with self.assertRaises(TypeError):
      random.sanitize_seed(seed)

  def test_seeds_differ(self):
    seed = random.sanitize_seed(1)
    seeds = [seed, *random.split_seed(seed, 3), random.fold_in(seed, 0)]
    seeds.append(random.fold_in(seed, 1))
    self.assertLen({tuple(s.numpy()) for s in seeds}, 6)

  def test_moments(self):
    seed, n = random.sanitize_seed(7), 20000
    uniform = random.uniform(seed, (n,), "float32")
    self.assertEqual(uniform.dtype, tf.float32)
    self.assertBetween(float(tf.reduce_mean(uniform)), 0.48, 0.52)
    exponential = random.exponential(seed, (n,), "float64")
    self.assertBetween(float(tf.reduce_mean(exponential)), 0.96, 1.04)


class ControlFlowTest(parameterized.TestCase):
  @parameterized.parameters(3, 100)
  def test_scan(self, steps):
    def scan(xs):
      def step(carry, x):
        total, count = carry
        return (total + x[0], count + 1), (total, None, x[1])

      init = (tf.constant(0.0, tf.float64), tf.constant(0))
      (total, count), (sums, none, ys) = control_flow.scan(
        step, init, (xs, 2 * xs)
      )
      self.assertIsNone(none)
      return total, count, sums, ys

    xs = onp.arange(1.0, steps + 1)
    for results in (
      scan(xs),
      tf.function(scan)(tf.constant(xs)),
      _traced(scan, xs),
    ):
      total, count, sums, ys = results
      self.assertEqual((total, count), (onp.sum(xs), steps))
      onp.testing.assert_array_equal(sums, onp.cumsum(xs) - xs)
      onp.testing.assert_array_equal(ys, 2 * xs)

  @parameterized.parameters(5, 80)
  def test_derivatives_of_scan(self, steps):
    def total(x):
      step = lambda c, _: (tf.sin(c * x) + 0.1 * c, c * x)
      carry, ys = control_flow.scan(step, x, None, steps)
      return carry + tf.reduce_sum(ys * ys)

    def second(x):
      with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
          inner.watch(x)
          value = total(x)
        gradient = inner.gradient(value, x)
      return gradient, outer.gradient(gradient, x)

    def forward(x):
      with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        value = total(x)
      return accumulator.jvp(value)

    x = tf.constant(0.7, tf.float64)
    gradient, curvature = second(x)
    onp.testing.assert_allclose(forward(x), gradient, rtol=1e-12)
    onp.testing.assert_allclose(tf.function(forward)(x), gradient, rtol=1e-12)
    onp.testing.assert_allclose(
      tf.function(second)(x), (gradient, curvature), rtol=1e-12
    )

  def test_cond_and_while_loop(self):
    def collatz(n):
      def body(carry):
        n, count = carry
        even = tf.equal(n % 2, 0)
        n = control_flow.cond(even, lambda n: n // 2, lambda n: 3 * n + 1, n)
        return n, count + 1

      return control_flow.while_loop(
        lambda carry: carry[0] > 1, body, (n, tf.constant(0))
      )[1]

    self.assertEqual(collatz(tf.constant(27)), 111)
    self.assertEqual(_traced(collatz, onp.int32(27)), 111)


class KernelOpsTest(absltest.TestCase):
  def test_paths_agree(self):
    dist = pd.PhaseType([0.75, 0.25], MATRIX)
    kernel = dist.log_prob(TIMES)
    with kernel_ops.use_path("portable"):
      self.assertEqual(kernel_ops.path(), "portable")
      onp.testing.assert_allclose(dist.log_prob(TIMES), kernel, rtol=1e-12)
    self.assertEqual(kernel_ops.path(), "kernel")

  def test_unknown_path(self):
    with self.assertRaisesRegex(ValueError, "gpu"):
      kernel_ops.set_path("gpu")

  def test_structure_errors(self):
    good = [onp.ones(2), MATRIX, onp.zeros(0), onp.zeros(0), TIMES]
    operands = [tf.constant(x) for x in good]
    bad = [*operands[:1], tf.zeros([3, 3], tf.float64), *operands[2:]]
    with self.assertRaises(tf.errors.InvalidArgumentError):
      kernel_ops.phase_type("cdf", bad, None)
    ranks = [*operands[:4], operands[4][None]]
    with self.assertRaises((ValueError, tf.errors.InvalidArgumentError)):
      tf.function(lambda: kernel_ops.phase_type("cdf", ranks, None))()

  def test_shape_inference(self):
    spec = [[None, 1, 2], [1, 5, 2, 2], [1, 1, 0], [1, 1, 0], [None, 1, None]]

    @tf.function(input_signature=[tf.TensorSpec(s, tf.float64) for s in spec])
    def compute(*operands):
      value = kernel_ops.phase_type("cdf", operands, None)
      self.assertEqual(value.shape.as_list(), [None, 5, None])
      _, bars = kernel_derivatives.vjp("cdf", operands, value, None)
      for bar, x in zip(bars, operands, strict=True):
        self.assertEqual(bar.shape.as_list(), x.shape.as_list())
      return value

    operands = [
      onp.full((3, 1, 2), 0.5),
      onp.broadcast_to(MATRIX, (1, 5, 2, 2)),
      onp.zeros((1, 1, 0)),
      onp.zeros((1, 1, 0)),
      onp.ones((3, 1, 4)),
    ]
    self.assertEqual(compute(*operands).shape, (3, 5, 4))

  def test_fourth_order_is_refused(self):
    dist = pd.PhaseType([1.0], [[-2.0]])

    def derivative(function):
      def compute(t):
        with tf.GradientTape() as tape:
          tape.watch(t)
          value = function(t)
        return tape.gradient(value, t)

      return compute

    function = lambda t: dist.prob(t)
    t = tf.constant([0.5], tf.float64)
    for order in range(1, 4):
      function = derivative(function)
      onp.testing.assert_allclose(
        function(t), (-2.0) ** order * 2 * onp.exp(-1.0)
      )
    with self.assertRaisesRegex(NotImplementedError, "order 4"):
      derivative(function)(t)

  def test_fourth_order_in_a_graph(self):
    # The gradient is built without knowing whether it is used.
    operands = [[1.0], [[-2.0]], onp.zeros(0), onp.zeros(0), [0.5]]
    group = [tf.constant(x, tf.float64) for x in operands]
    with self.assertRaises(tf.errors.InvalidArgumentError):
      tf.function(lambda: phase_type_op.forward(1, 4, [group] * 5))()


if __name__ == "__main__":
  absltest.main()
