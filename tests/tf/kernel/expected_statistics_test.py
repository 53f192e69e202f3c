"""Expected statistics in graphs and under tapes."""

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import math
from phasic.substrates.tf.internal import kernel_ops

_PROBS = onp.array([0.5, 0.25, 0.25])
_MATRIX = onp.array([[-2.0, 1.5, 0.25], [0.125, -1.0, 0.875], [3.0, 0.0, -4.0]])
_TIMES = onp.array([0.1, 0.5, 2.0])


def _statistics(matrix):
  return math.phase_type.expected_statistics(_TIMES, _PROBS, matrix)


def _no_fallback(*arguments):
  raise AssertionError("the kernel can run")


class ExpectedStatisticsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(kernel_ops.unavailable_reason(), "")
    self.matrix = tf.constant(_MATRIX)

  def test_graph(self):
    graph = tf.function(_statistics)(self.matrix)
    for x, y in zip(graph, _statistics(self.matrix), strict=True):
      onp.testing.assert_array_equal(x, y)

  def test_shape_inference(self):
    spec = [[None, None, 3], [None, 2, 3, 3], [None]]

    @tf.function(input_signature=[tf.TensorSpec(s, tf.float64) for s in spec])
    def compute(alpha, matrix, times):
      given = math.phase_type.expected_statistics(times, alpha, matrix)
      self.assertEqual(given.starts.shape.as_list(), [None, 2, 3])
      self.assertEqual(given.jumps.shape.as_list(), [None, 2, 3, 3])
      self.assertEqual(given.atom.shape.as_list(), [None, 2])
      return given

    given = compute(
      onp.broadcast_to(_PROBS, (4, 1, 3)),
      onp.broadcast_to(_MATRIX, (1, 2, 3, 3)),
      _TIMES[:2],
    )
    self.assertEqual(given.exits.shape, (4, 2, 3))

  def test_shape_inference_of_edges(self):
    @tf.function(
      input_signature=[tf.TensorSpec([None, 2], tf.float64)], autograph=False
    )
    def compute(rates):
      edges = math.EdgeRates([0, 1], [1, 2], rates)
      given = math.phase_type.expected_statistics(
        [[1.0], [2.0]], onp.eye(2)[0], edges
      )
      self.assertEqual(given.jumps.shape.as_list(), [None, 2])
      return given.jumps

    onp.testing.assert_allclose(
      compute(onp.ones([3, 2])), onp.full([3, 2], 2.0), rtol=1e-14
    )

  def test_shape_inference_of_observations(self):
    @tf.function(
      input_signature=[tf.TensorSpec([None], tf.float64)] * 2, autograph=False
    )
    def compute(lower, upper):
      given = math.phase_type.expected_statistics(
        lower, _PROBS, _MATRIX, upper=upper
      )
      self.assertEqual(given.jumps.shape.as_list(), [3, 3])
      return given

    ends = onp.array([0.5, -1.0, 1.0]), onp.array([onp.inf, 2.0, 1.0])
    expected = math.phase_type.expected_statistics(
      ends[0], _PROBS, _MATRIX, upper=ends[1]
    )
    for x, y in zip(compute(*ends), expected, strict=True):
      onp.testing.assert_array_equal(x, y)

  def test_unknown_ranks(self):
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float64)] * 6)
    def compute(*operands):
      return kernel_ops.statistics(
        "log_density", operands[:5], operands[5], _no_fallback
      )

    given = compute(
      _PROBS, _MATRIX, onp.zeros(0), onp.zeros(0), _TIMES, onp.ones(3)
    )
    for x, y in zip(given, _statistics(self.matrix), strict=True):
      onp.testing.assert_array_equal(onp.ravel(x), onp.ravel(y))

  def test_structure_errors(self):
    operands = [_PROBS, _MATRIX, onp.zeros(0), onp.zeros(0), _TIMES]
    with self.assertRaises(tf.errors.InvalidArgumentError):
      kernel_ops.statistics("cdf", operands, onp.ones(2), _no_fallback)

  def test_derivatives_are_refused(self):
    with tf.GradientTape() as tape:
      tape.watch(self.matrix)
      jumps = _statistics(self.matrix).jumps
    with self.assertRaisesRegex(NotImplementedError, "have none"):
      tape.gradient(jumps, self.matrix)

  def test_derivatives_in_a_graph_are_not_numbers(self):
    @tf.function
    def gradient(matrix):
      with tf.GradientTape() as tape:
        tape.watch(matrix)
        jumps = tf.function(lambda x: _statistics(x).jumps)(matrix)
      return tape.gradient(jumps, matrix)

    self.assertTrue(onp.all(onp.isnan(gradient(self.matrix))))
    with tf.autodiff.ForwardAccumulator(
      self.matrix, tf.ones_like(self.matrix)
    ) as accumulator:
      jumps = _statistics(self.matrix).jumps
    self.assertTrue(onp.all(onp.isnan(accumulator.jvp(jumps))))

  def test_a_graph_with_another_derivative(self):
    @tf.function
    def both(matrix):
      value = tf.reduce_sum(math.phase_type.log_prob(_TIMES, _PROBS, matrix))
      return value, _statistics(matrix).jumps

    with tf.GradientTape() as tape:
      tape.watch(self.matrix)
      value, _ = both(self.matrix)
    self.assertTrue(onp.all(onp.isfinite(tape.gradient(value, self.matrix))))


if __name__ == "__main__":
  absltest.main()
