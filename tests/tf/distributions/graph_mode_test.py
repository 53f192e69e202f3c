"""Sample shapes that are traced, and graphs outside of functions."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf.interop import tfp as adapter
from tests.generated.tf.helpers import conformance

_CALLS = {
  "sample": lambda dist: dist.sample(3, seed=(1, 2)),
  "log_prob": lambda dist: dist.log_prob(2.0),
  "quantile": lambda dist: dist.quantile(0.3),
  "variance": lambda dist: dist.variance(),
  "entropy": lambda dist: dist.entropy(),
}
_SIZE = tf.TensorSpec((), tf.int32)


class SampleShapesTest(parameterized.TestCase):
  @parameterized.product(
    family=("erlang", "truncated", "pareto", "trials"), wraps=(False, True)
  )
  def test_traced_sizes(self, family, wraps):
    dist = conformance.CASES[family].batched((2,))
    dist = adapter.wrap(dist) if wraps else dist
    draw = lambda shape: dist.sample(shape, seed=(1, 2))

    @tf.function(input_signature=[_SIZE])
    def draws(n):
      return draw(n), draw([n, 2]), draw(tf.stack([n, 2]))

    for n in (3, 0):
      found = draws(tf.constant(n))
      for x, shape in zip(found, ((n,), (n, 2), (n, 2)), strict=True):
        self.assertEqual(tuple(x.shape), (*shape, 2))
        if n > 0:
          onp.testing.assert_allclose(x, draw(shape), rtol=1e-12)
    self.assertEqual(draws.get_concrete_function().outputs[0].shape[1], 2)
    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "negative"):
      draws(tf.constant(-1))

  def test_known_sizes_stay_known(self):
    @tf.function(input_signature=[_SIZE])
    def draw(n):
      return pd.Erlang(2, 1.0).sample([n, tf.constant(2)], seed=1)

    shape = draw.get_concrete_function().output_shapes
    self.assertEqual(shape.as_list(), [None, 2])

  def test_refusals(self):
    def draw(shape):
      return pd.Erlang(2, 1.0).sample(shape, seed=1)

    for spec in (
      tf.TensorSpec((), tf.float64),
      tf.TensorSpec([2, 2], tf.int32),
      tf.TensorSpec([None], tf.int32),
    ):
      with self.assertRaisesRegex(TypeError, "sample_shape is .*integer"):
        tf.function(draw).get_concrete_function(spec)

  def test_paths_have_a_known_number(self):
    def draw(n):
      return pd.Erlang(2, 1.0).sample_paths(3, n, seed=1)

    with self.assertRaisesRegex(TypeError, "sample_shape is traced"):
      tf.function(draw).get_concrete_function(_SIZE)


class GraphsTest(parameterized.TestCase):
  """A `tf.Graph` that no function builds, where == of tensors is `is`."""

  @parameterized.parameters(
    "hyperexponential", "geometric_mixture", "truncated"
  )
  def test_as_in_eager_mode(self, family):
    case = conformance.CASES[family]
    dist = case.batched((2,))
    calls = {k: f for k, f in _CALLS.items() if k != "entropy" or case.moments}
    expected = {k: f(dist).numpy() for k, f in calls.items()}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
      for make in (lambda x: x, adapter.wrap):
        inside = make(case.batched((2,)))
        found = session.run({k: f(inside) for k, f in calls.items()})
        for name in calls:
          # The adapter makes other seeds.
          if name != "sample" or make is not adapter.wrap:
            onp.testing.assert_allclose(
              found[name], expected[name], rtol=1e-10, err_msg=name
            )

  def test_sizes_that_are_fed(self):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
      rate = tf.compat.v1.placeholder(tf.float64, [None])
      n = tf.compat.v1.placeholder(tf.int32, ())
      dist = pd.Erlang(3, rate)
      results = dist.sample(n, seed=1), dist.quantile(0.3), dist.mean()
      found = session.run(results, {rate: [1.0, 2.0, 4.0], n: 5})
    eager = pd.Erlang(3, [1.0, 2.0, 4.0])
    expected = eager.sample(5, seed=1), eager.quantile(0.3), eager.mean()
    for x, y in zip(found, expected, strict=True):
      onp.testing.assert_allclose(x, y, rtol=1e-12)


if __name__ == "__main__":
  absltest.main()
