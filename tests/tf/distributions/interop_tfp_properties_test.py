"""What TensorFlow Probability's property tests ask, of the adapter's classes.

Its wheels do not ship these tests, nor what they draw parameters with.
"""

from absl.testing import absltest
from absl.testing import parameterized
import hypothesis
from hypothesis import strategies
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf.interop import tfp as adapter
from tests.generated.tf.helpers import conformance

tfd = tfp.distributions

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


def _batch(family):
  """Builds a batch (3, 2) of a family, of parameters that broadcast to it."""
  first, *others = conformance.CASES[family].parameters
  varied = [conformance.varied(family, i) for i in range(6)]
  arrays = {k: np.asarray([x[k] for x in varied[:2]]) for k in others}
  if others:
    arrays[first] = np.asarray([[x[first]] for x in varied[:3]])
  else:
    arrays[first] = np.stack(
      np.split(np.asarray([x[first] for x in varied]), 3)
    )
  return conformance.CASES[family].build(**arrays)


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

  @parameterized.parameters(*conformance.CASES)
  def test_slices_of_distributions_that_contain_others(self, family):
    dist = _batch(family)
    wrapped = adapter.wrap(dist)
    self.assertEqual(tuple(wrapped.batch_shape), (3, 2))
    x = conformance.CASES[family].values[2]
    terms = dist.log_prob(x).numpy()
    joint = tfd.Independent(wrapped, 1)[None, 1:]
    self.assertEqual(tuple(joint.batch_shape), (1, 2))
    values = tf.constant([x, x], tf.float64)
    np.testing.assert_allclose(
      joint.log_prob(values), [terms[1:].sum(-1)], 1e-12
    )
    logits = np.log([0.25, 0.75])
    mixture = tfd.MixtureSameFamily(tfd.Categorical(logits), wrapped)
    np.testing.assert_allclose(
      mixture[::-2].log_prob(x), np.logaddexp(*(terms + logits).T)[::-2], 1e-12
    )

  def test_slices_in_functions_of_any_shape(self):
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def part(rate):
      joint = tfd.Independent(adapter.wrap(pd.Erlang(3, rate)), 0)
      return joint[1].log_prob(tf.constant(0.75, tf.float64))

    rate = np.array([[0.5, 1.0], [2.0, 4.0]])
    expected = pd.Erlang(3, rate[1]).log_prob(0.75)
    np.testing.assert_allclose(part(rate), expected, 1e-12)

  def test_indices_that_are_tensors(self):
    rate = np.array([[0.5, 1.0], [2.0, 4.0]])

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def part(index):
      dist = pd.Erlang(3, rate)[..., index]
      masked = tfd.Masked(adapter.wrap(pd.Erlang(3, rate)), True)[index]
      x = tf.constant(0.75, tf.float64)
      return dist.log_prob(x), masked.log_prob(x)

    expected = np.asarray(pd.Erlang(3, rate).log_prob(0.75))
    for index in (0, 1, -1):
      found = part(tf.constant(index))
      np.testing.assert_allclose(found[0], expected[:, index], 1e-12)
      np.testing.assert_allclose(found[1], expected[index], 1e-12)
    with self.assertRaises(tf.errors.InvalidArgumentError):
      part(tf.constant(2))

  def test_slices_depend_on_the_variables(self):
    rate = tf.Variable([0.5, 2.0], dtype=tf.float64)
    joint = tfd.Independent(adapter.wrap(pd.Erlang(3, rate)), 0)
    with tf.GradientTape() as tape:
      log_prob = joint[1].log_prob(tf.constant(0.75, tf.float64))
    # The derivative of 3 log(r) - r t in r.
    found = tf.convert_to_tensor(tape.gradient(log_prob, rate))
    np.testing.assert_allclose(found, [0.0, 3 / 2.0 - 0.75], 1e-12)

  def test_trainable_parameters_have_the_shapes_of_samples(self):
    make = tfp.experimental.util.make_trainable
    erlang = make(
      adapter.class_of(pd.Erlang), batch_and_event_shape=[2], concentration=3
    )
    self.assertEqual(tuple(erlang.rate.shape), (2,))
    with self.assertRaisesRegex(NotImplementedError, "number of phases"):
      make(adapter.class_of(pd.Hypoexponential), batch_and_event_shape=[2])

  def test_automatic_parameters_leave_derived_ones_out(self):
    make = tfp.experimental.util.make_trainable
    dist = make(
      adapter.class_of(pd.PhaseType),
      initial_probs=np.array([0.25, 0.5]),
      subgenerator=np.array([[-2.0, 1.0], [0.0, -3.0]]),
    )
    self.assertEmpty(dist.trainable_variables)
    np.testing.assert_allclose(dist.prob(0.0), 1 - 0.25 - 0.5, 1e-12)
    # From the first phase: exit by exp(-2 t), or a sum of both stages.
    t = 0.75
    first = np.exp(-2 * t) + 3 * (np.exp(-2 * t) - np.exp(-3 * t))
    expected = 0.25 * first + 0.5 * 3 * np.exp(-3 * t)
    np.testing.assert_allclose(dist.prob(t), expected, 1e-12)
    cut = make(
      adapter.class_of(pd.TruncatedPhaseType),
      distribution=adapter.wrap(pd.Erlang(1, 2.0)),
      low=np.float64(0.5),
    )
    self.assertEmpty(cut.trainable_variables)
    # The exponential distribution forgets its age.
    np.testing.assert_allclose(cut.prob(1.5), 2 * np.exp(-2.0), 1e-12)

  def test_shape_functions_have_a_named_argument(self):
    for family, expected in (
      ("ZeroInflated", (4, 3)),
      # One sample is a vector of three rewards.
      ("MultivariatePhaseType", (4,)),
    ):
      cls = adapter.class_of(getattr(pd, family))
      shape_fn = cls.parameter_properties()["prob_zero"].shape_fn
      self.assertEqual(shape_fn(sample_shape=(4, 3)), expected)

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
