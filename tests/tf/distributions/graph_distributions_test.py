"""Distributions of graphs in TensorFlow: variables and functions."""

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions
from phasic.substrates.tf import graphs

ABSORBED = graphs.ABSORBED
TIMES = onp.asarray([0.25, 1.0, 3.0])


def chain(discrete=False):
  """Three states, each left for the next at rate a, for good at 0.5 b."""

  def transitions(k):
    yield (k + 1 if k < 2 else ABSORBED), {"a": 1.0}
    if k < 2:
      yield ABSORBED, {"b": 0.5}

  return graphs.Graph.from_transitions(
    transitions, 0, params=("a", "b"), discrete=discrete
  )


class VariablesTest(absltest.TestCase):
  def test_an_array(self):
    params = tf.Variable([1.5, 0.5], dtype=tf.float64)
    dist = distributions.PhaseType.from_graph(chain(), params)
    self.assertIsInstance(dist, tf.Module)
    self.assertLen(dist.trainable_variables, 1)
    self.assertIs(dist.params, params)
    traced = tf.function(dist.log_prob)
    for scale in (1.0, 2.0):
      params.assign([1.5 * scale, 0.5 * scale])
      want = distributions.PhaseType.from_graph(
        chain(), [1.5 * scale, 0.5 * scale]
      )
      onp.testing.assert_array_equal(dist.log_prob(TIMES), want.log_prob(TIMES))
      onp.testing.assert_array_equal(traced(TIMES), want.log_prob(TIMES))
      onp.testing.assert_array_equal(dist.mean(), want.mean())

  def test_a_tape_after_a_call(self):
    params = tf.constant([1.5, 0.5], tf.float64)
    dist = distributions.PhaseType.from_graph(chain(), params)
    mean, _ = dist.mean(), dist.variance()
    with tf.GradientTape() as tape:
      tape.watch(dist.params)
      again = dist.mean()
    slopes = tape.gradient(again, dist.params)
    self.assertEqual(float(again), float(mean))
    onp.testing.assert_allclose(
      tf.reduce_sum(slopes * params), -mean, rtol=1e-12
    )

  def test_sizes_that_are_not_known(self):
    graph = chain()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def mean(a):
      params = {"a": a, "b": 2.0 * a}
      return distributions.PhaseType.from_graph(graph, params).mean()

    a = tf.constant([1.0, 2.0], tf.float64)
    want = [distributions.PhaseType.from_graph(graph, [x, 2 * x]) for x in a]
    onp.testing.assert_allclose(mean(a), [x.mean() for x in want], rtol=1e-12)

  def test_names(self):
    a = tf.Variable(1.5, dtype=tf.float64)
    params = {"a": a, "b": [0.5, 1.0]}
    dist = distributions.PhaseType.from_graph(chain(), params)
    self.assertEqual(dist.batch_shape, (2,))
    self.assertEqual([v.ref() for v in dist.variables], [a.ref()])
    self.assertEqual(dist.copy(name="x").variables[0].ref(), a.ref())
    self.assertEqual(dist[0].batch_shape, ())
    with tf.GradientTape() as tape:
      value = tf.reduce_sum(dist.log_prob(1.0))
    got = tape.gradient(value, a)
    array = tf.constant([1.5, 0.5], tf.float64)
    with tf.GradientTape() as tape:
      tape.watch(array)
      batch = tf.stack([array, array * [1.0, 2.0]])
      other = distributions.PhaseType.from_graph(chain(), batch)
      value = tf.reduce_sum(other.log_prob(1.0))
    want = tape.gradient(value, array)[0]
    onp.testing.assert_allclose(got, want, rtol=1e-12)

  def test_edge_values(self):
    graph = chain()
    values = tf.Variable(graph.edge_values([1.5, 0.5]))
    dist = distributions.PhaseType.from_graph(graph, edge_values=values)
    self.assertLen(dist.variables, 1)
    want = distributions.PhaseType.from_graph(graph, [1.5, 0.5])
    onp.testing.assert_allclose(dist.cdf(TIMES), want.cdf(TIMES), rtol=1e-13)


class FunctionTest(absltest.TestCase):
  def test_parameters_of_unknown_size(self):
    for kind, discrete in (
      (distributions.PhaseType, False),
      (distributions.DiscretePhaseType, True),
    ):
      graph = chain(discrete)

      @tf.function(
        input_signature=[
          tf.TensorSpec([None, 2], tf.float64),
          tf.TensorSpec([None, 1], tf.float64),
        ]
      )
      def of(params, times, kind=kind, graph=graph):
        dist = kind.from_graph(graph, params)
        return dist.log_prob(times), dist.mean(), dist.cause_probs()

      params = onp.asarray([[0.25, 0.5], [0.5, 0.25]])
      times = onp.asarray([[1.0], [2.0], [5.0]])
      dist = kind.from_graph(graph, params)
      for got, want in zip(
        of(params, times),
        (dist.log_prob(times), dist.mean(), dist.cause_probs()),
        strict=True,
      ):
        onp.testing.assert_allclose(got, want, rtol=1e-13)

  def test_samples_repeat(self):
    dist = distributions.PhaseType.from_graph(chain(), [1.5, 0.5])
    sample = tf.function(lambda: dist.sample(5, seed=1))
    onp.testing.assert_array_equal(sample(), dist.sample(5, seed=1))

  def test_second_derivatives(self):
    graph = chain()
    params = tf.constant([1.5, 0.5], tf.float64)

    def total(params):
      log_probs, moments = graphs.log_prob_and_moments(graph, params, TIMES)
      return tf.reduce_sum(log_probs) + tf.reduce_sum(moments)

    @tf.function
    def hessian(params):
      with tf.GradientTape() as outer:
        outer.watch(params)
        with tf.GradientTape() as inner:
          inner.watch(params)
          value = total(params)
        gradient = inner.gradient(value, params)
      return outer.jacobian(gradient, params, experimental_use_pfor=False)

    found = hessian(params).numpy()
    onp.testing.assert_allclose(found, found.T, rtol=1e-10)
    with tf.autodiff.ForwardAccumulator(
      params, tf.constant([1.0, 0.0], tf.float64)
    ) as accumulator:
      with tf.GradientTape() as tape:
        tape.watch(params)
        value = total(params)
      gradient = tape.gradient(value, params)
    onp.testing.assert_allclose(accumulator.jvp(gradient), found[0], rtol=1e-10)

  def test_moments_in_forward_mode_in_a_function(self):
    """Tests the mean 1 / r and the variance 1 / r^2 of an exponential time."""
    rate = tf.constant([2.0, 5.0], tf.float64)

    @tf.function
    def along(rate, tangent):
      with tf.autodiff.ForwardAccumulator(rate, tangent) as accumulator:
        dist = distributions.PhaseType(
          tf.ones_like(rate)[:, None], -rate[:, None, None]
        )
        found = [dist.mean(), dist.variance()]
      return accumulator.jvp(found)

    mean, variance = along(rate, tf.ones_like(rate))
    onp.testing.assert_allclose(mean, -(rate**-2.0), rtol=1e-14)
    onp.testing.assert_allclose(variance, -2.0 * rate**-3.0, rtol=1e-14)


if __name__ == "__main__":
  absltest.main()
