"""What TensorFlow Probability's property tests ask, of the adapter's classes.

Its wheels do not ship these tests, nor what they draw parameters with.
"""

from absl.testing import absltest
from absl.testing import parameterized
import hypothesis
from hypothesis import strategies
import numpy as np
import tensorflow as tf

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf.interop import tfp as adapter

_SETTINGS = hypothesis.settings(
  max_examples=10, deadline=None, derandomize=True, database=None
)
# Batch shapes of two parameters that broadcast, and slices of their result.
_SHAPES = strategies.sampled_from(
  [((), (2,)), ((2,), ()), ((3, 1), (2,)), ((3, 2), (1,)), ((1, 2), (3, 1))]
)
_SLICES = strategies.sampled_from(
  [(..., 0), (..., slice(None, None, -1)), (None, ..., 1), (..., slice(1, 2))]
)
_FAMILIES = {
  "Hyperexponential": lambda a, b: pd.Hyperexponential(
    np.stack([a / (1 + a), 1 / (1 + a)], -1), np.stack([b, 2 * b], -1)
  ),
  "Hypoexponential": lambda a, b: pd.Hypoexponential(
    np.stack(np.broadcast_arrays(a, b), -1)
  ),
  "MatrixWeibull": lambda a, b: pd.MatrixWeibull(pd.Erlang(2, a), b),
  "NegativeBinomialFailures": lambda a, b: pd.NegativeBinomialFailures(
    3, (a + 0 * b) / (1 + a)
  ),
}


class PropertiesTest(parameterized.TestCase):
  @parameterized.parameters(*_FAMILIES)
  def test_batches(self, family):
    @_SETTINGS
    @hypothesis.given(_SHAPES, _SLICES, strategies.integers(0, 2**31))
    def check(shapes, index, seed):
      state = np.random.RandomState(seed)
      a, b = (state.uniform(0.5, 2.0, size=shape) for shape in shapes)
      wrapped = adapter.wrap(_FAMILIES[family](a, b))
      batch = np.broadcast_shapes(*shapes)
      self.assertEqual(tuple(wrapped.batch_shape), batch)
      self.assertEqual(tuple(wrapped.batch_shape_tensor().numpy()), batch)
      x = tf.constant(2.0, tf.float64)
      log_prob = wrapped.log_prob(x).numpy()
      self.assertEqual(log_prob.shape, batch)
      np.testing.assert_allclose(wrapped.prob(x), np.exp(log_prob), 1e-12)
      full = _FAMILIES[family](*np.broadcast_arrays(a, b))
      np.testing.assert_allclose(full.log_prob(x), log_prob, 1e-12)
      part = wrapped[index]
      self.assertEqual(tuple(part.batch_shape), log_prob[index].shape)
      np.testing.assert_allclose(part.log_prob(x), log_prob[index], 1e-12)
      drawn = wrapped.sample(3, seed=(1, 2))
      self.assertEqual(tuple(drawn.shape), (3, *batch))
      self.assertEqual(wrapped.log_prob(drawn).shape, drawn.shape)
      parts = tf.nest.flatten(wrapped, expand_composites=True)
      again = tf.nest.pack_sequence_as(wrapped, parts, expand_composites=True)
      np.testing.assert_array_equal(again.log_prob(x), log_prob)

    check()

  def test_sizes_that_are_not_known(self):
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def shapes(rate):
      wrapped = adapter.wrap(pd.Erlang(3, rate))
      drawn = wrapped.sample(4, seed=(1, 2))
      return wrapped.batch_shape_tensor(), tf.shape(wrapped.log_prob(drawn))

    for shape in ((1, 1), (1, 2), (3, 2)):
      batch, terms = shapes(tf.ones(shape, tf.float64))
      self.assertEqual(tuple(batch.numpy()), shape)
      self.assertEqual(tuple(terms.numpy()), (4, *shape))


if __name__ == "__main__":
  absltest.main()
