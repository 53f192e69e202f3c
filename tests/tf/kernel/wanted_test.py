"""A tape gets the gradients that it asks for, with the same bits."""

import itertools

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import math
from phasic.substrates.tf.internal import kernel_ops
from phasic.substrates.tf.internal import op_library

_PROBS = onp.array([0.5, 0.25, 0.125])
_MATRIX = onp.array([[0.0, 1.5, 0.25], [0.125, 0.0, 0.875], [3.0, 0.0, 0.0]])
_TIMES = onp.array([0.1, 0.5, 2.0])
_EXITS = onp.array([0.25, 0.0, 1.0])
_ATOM = onp.array(0.125)


def _log_density(arguments):
  probs, matrix, times, exits, atom = arguments
  return math.phase_type.log_prob(times, probs, matrix, exits, atom)


class WantedTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(kernel_ops.unavailable_reason(), "")
    self.arguments = [
      tf.constant(x) for x in (_PROBS, _MATRIX, _TIMES, _EXITS, _ATOM)
    ]

  def _gradients(self, chosen):
    with tf.GradientTape() as tape:
      tape.watch([self.arguments[i] for i in chosen])
      value = _log_density(self.arguments)
    return tape.gradient(value, [self.arguments[i] for i in chosen])

  def _masks_of(self, call):
    """The masks of all adjoint calls that Python makes."""
    masks = []
    ops = op_library.native_ops()
    original = ops.phasic_phase_type_adjoint

    def spy(**arguments):
      masks.append(arguments["wanted"])
      return original(**arguments)

    ops.phasic_phase_type_adjoint = spy
    try:
      call()
    finally:
      ops.phasic_phase_type_adjoint = original
    return masks

  def test_only_what_is_watched_is_asked_for(self):
    self.assertEqual(self._masks_of(lambda: self._gradients([1])), [2])
    self.assertEqual(self._masks_of(lambda: self._gradients([2])), [16])
    self.assertEqual(self._masks_of(lambda: self._gradients([0, 3])), [5])

  def test_same_bits(self):
    full = self._gradients(range(5))
    for count in range(1, 5):
      for chosen in itertools.combinations(range(5), count):
        for i, gradient in zip(chosen, self._gradients(chosen), strict=True):
          onp.testing.assert_array_equal(gradient, full[i])

  def test_same_bits_in_a_graph(self):
    full = self._gradients(range(5))
    for i in range(5):
      [gradient] = tf.function(self._gradients)([i])
      onp.testing.assert_array_equal(gradient, full[i])

  def test_second_order(self):
    def hessian(chosen):
      # Of the sum over times in the first of those chosen.
      with tf.GradientTape() as outer:
        outer.watch(self.arguments[chosen[0]])
        gradient = tf.reduce_sum(self._gradients(chosen)[0] ** 2)
      return outer.gradient(gradient, self.arguments[chosen[0]])

    for first in range(5):
      others = [i for i in range(5) if i != first]
      alone = hessian([first])
      onp.testing.assert_array_equal(alone, hessian([first, *others]))
      self.assertTrue(onp.all(onp.isfinite(alone)))

  def test_forward_mode_over_a_part(self):
    x = self.arguments[1]
    direction = tf.constant(onp.array(_MATRIX > 0, onp.float64))
    with tf.autodiff.ForwardAccumulator(x, direction) as accumulator:
      [part] = self._gradients([1])
    with tf.autodiff.ForwardAccumulator(x, direction) as everything:
      full = self._gradients(range(5))[1]
    onp.testing.assert_array_equal(accumulator.jvp(part), everything.jvp(full))

  def test_unwanted_ones_are_no_numbers(self):
    absent = tf.zeros([0], tf.float64)
    operands = [*self.arguments[:2], self.arguments[3], absent, _TIMES]
    bars = op_library.native_ops().phasic_phase_type_adjoint(
      inputs=[*operands, tf.ones([3], tf.float64)],
      edge_indices=[],
      edge_values=[],
      kinds=[],
      kind=0,
      order=1,
      wanted=2,
    )
    self.assertTrue(onp.all(onp.isfinite(bars[1])))
    for i in (0, 2, 3, 4):
      self.assertEqual(bars[i].shape, operands[i].shape)
      self.assertTrue(onp.all(onp.isnan(bars[i])))


if __name__ == "__main__":
  absltest.main()
