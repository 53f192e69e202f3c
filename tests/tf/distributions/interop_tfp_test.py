"""The adapter to TensorFlow Probability, inside its own machinery."""

import importlib
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf import graphs
from phasic.substrates.tf import math
from phasic.substrates.tf.interop import tfp as adapter

tfb = tfp.bijectors
tfd = tfp.distributions


def _constant(x):
  return tf.constant(x, tf.float64)


def _erlang():
  return adapter.wrap(pd.Erlang(3, _constant([2.0, 3.0])))


def _gamma():
  return tfd.Gamma(_constant(3.0), _constant([2.0, 3.0]))


_MAKERS = {
  "PhaseType": lambda: pd.PhaseType(
    [[1.0, 0.0], [0.5, 0.25]], [[-2.0, 1.0], [0.5, -1.0]]
  ),
  "Erlang": lambda: pd.Erlang(3, [2.0, 3.0]),
  "HyperErlang": lambda: pd.HyperErlang(
    [[0.5, 0.5], [0.25, 0.75]], (1, 2), [1.0, 3.0]
  ),
  "AcyclicPhaseType": lambda: pd.AcyclicPhaseType(
    [0.5, 0.5], [[1.0, 3.0], [2.0, 2.5]]
  ),
  "Coxian": lambda: pd.Coxian([[1.5], [0.5]], [0.1, 2.0]),
  "Hyperexponential": lambda: pd.Hyperexponential(
    [[0.5, 0.5], [0.25, 0.75]], [1.0, 3.0]
  ),
  "DiscretePhaseType": lambda: pd.DiscretePhaseType(
    [[0.5, 0.25], [0.5, 0.5]], [[0.5, 0.25], [0.125, 0.5]]
  ),
  "Edges": lambda: pd.PhaseType(
    [[1.0, 0.0], [0.5, 0.25]],
    math.EdgeRates([0, 0, 1, 1], [1, 2, 0, 2], [1.0, 1.0, 0.5, 0.5]),
  ),
  "EdgesOfSteps": lambda: pd.DiscretePhaseType(
    [[0.5, 0.25], [0.5, 0.5]], math.EdgeProbs([0, 1], [1, 2], [0.25, 0.5])
  ),
  "MatrixPareto": lambda: pd.MatrixPareto(pd.Erlang(2, [2.0, 3.0]), 1.0),
  "ResidualLife": lambda: pd.ResidualLife(pd.Erlang(2, [2.0, 3.0]), 1.0),
}
_COUNTS = ("DiscretePhaseType",)
# A distribution made of another one takes the parameters of that one, and edges
# have no bijector as a matrix has.
_TRAINABLE = set(_MAKERS) - {
  *("MatrixPareto", "ResidualLife", "Edges", "EdgesOfSteps")
}


class MethodsTest(parameterized.TestCase):
  def test_values_of_a_gamma(self):
    wrapped, expected = _erlang(), _gamma()
    x = _constant(0.75)
    for name in (
      *("log_prob", "prob", "cdf", "log_cdf"),
      *("survival_function", "log_survival_function"),
    ):
      with self.subTest(name):
        np.testing.assert_allclose(
          getattr(wrapped, name)(x), getattr(expected, name)(x), rtol=1e-12
        )
    for name in ("mean", "variance", "stddev", "entropy"):
      with self.subTest(name):
        np.testing.assert_allclose(
          getattr(wrapped, name)(), getattr(expected, name)(), rtol=1e-12
        )
    np.testing.assert_allclose(
      wrapped.quantile(_constant(0.25)), expected.quantile(_constant(0.25))
    )
    np.testing.assert_allclose(
      wrapped.kl_divergence(adapter.wrap(pd.Erlang(3, 1.0))),
      expected.kl_divergence(tfd.Gamma(_constant(3.0), _constant(1.0))),
    )

  @parameterized.parameters(*_MAKERS)
  def test_properties(self, name):
    dist = _MAKERS[name]()
    wrapped = adapter.wrap(dist)
    x = _constant(2.0)
    expected = dist.log_prob(x).numpy()
    self.assertEqual(tuple(wrapped.batch_shape), (2,))
    np.testing.assert_array_equal(wrapped.batch_shape_tensor(), (2,))
    self.assertEqual(tuple(wrapped.event_shape), ())
    self.assertIs(wrapped.dtype, tf.float64)
    self.assertEqual(tuple(wrapped.sample((3, 4), seed=1).shape), (3, 4, 2))
    np.testing.assert_array_equal(wrapped.copy().log_prob(x), expected)
    np.testing.assert_array_equal(wrapped[1].log_prob(x), expected[1])
    parts = tf.nest.flatten(wrapped, expand_composites=True)
    again = tf.nest.pack_sequence_as(wrapped, parts, expand_composites=True)
    np.testing.assert_array_equal(again.log_prob(x), expected)

  @parameterized.parameters(*(name for name in _MAKERS if name in _TRAINABLE))
  def test_bijectors_give_valid_parameters(self, name):
    wrapped = adapter.wrap(_MAKERS[name]())
    values = {}
    for key, prop in wrapped.parameter_properties().items():
      if wrapped.parameters[key] is None:
        continue
      bijector = prop.default_constraining_bijector_fn()
      shape = bijector.inverse_event_shape(wrapped.parameters[key].shape)
      free = tf.random.stateless_normal(shape, (1, len(key)), dtype=tf.float64)
      values[key] = bijector.forward(free)
      np.testing.assert_allclose(
        bijector.inverse(tf.identity(values[key])), free, rtol=1e-9, atol=1e-9
      )
      ndims = bijector.forward_min_event_ndims
      det = bijector.forward_log_det_jacobian(free, ndims)
      self.assertTrue(np.all(np.isfinite(det)))
    checked = wrapped.copy(**values, validate_args=True)
    x = 2.0 if name in _COUNTS else 0.7
    self.assertTrue(np.all(np.isfinite(checked.log_prob(_constant(x)))))

  def test_bijectors_in_functions(self):
    wrapped = adapter.wrap(pd.PhaseType([1.0, 0.0], [[-2.0, 1.0], [0.0, -1.0]]))
    properties = type(wrapped).parameter_properties()
    own = properties["subgenerator"].default_constraining_bijector_fn()
    x = tf.zeros((2, 2), tf.float64)
    found = tf.function(lambda bijector: bijector.forward(x))(own)
    np.testing.assert_array_equal(found, own.forward(x))
    properties = type(adapter.wrap(pd.Erlang(2, 1.0))).parameter_properties()
    rate = properties["rate"].default_constraining_bijector_fn()
    self.assertIsInstance(rate, tfp.bijectors.Exp)

  def test_no_bijector_onto_unlike_intervals(self):
    bounds = 1.0, [3.0, float("inf")]
    dist = adapter.wrap(pd.TruncatedPhaseType(pd.Erlang(2, 1.0), *bounds))
    with self.assertRaisesRegex(NotImplementedError, "some upper bounds"):
      dist.experimental_default_event_space_bijector()

  def test_variables(self):
    rate = tf.Variable(2.0, dtype=tf.float64)
    wrapped = adapter.wrap(pd.Erlang(3, rate))
    self.assertLen(wrapped.trainable_variables, 1)
    with tf.GradientTape() as tape:
      drawn = wrapped.sample(seed=1)
    np.testing.assert_allclose(tape.gradient(drawn, rate), -drawn / 2.0, 1e-10)
    rate.assign(4.0)
    np.testing.assert_allclose(wrapped.mean(), 0.75)


class CompositeTensorTest(absltest.TestCase):
  def test_goes_through_functions(self):
    traces = []

    @tf.function
    def pass_through(dist, x):
      traces.append(None)
      return dist, dist.log_prob(x)

    x = _constant(0.5)
    for rate in (2.0, 3.0):
      wrapped = adapter.wrap(pd.Erlang(3, _constant(rate)))
      back, found = pass_through(wrapped, x)
      self.assertIs(type(back), type(wrapped))
      exact = tfd.Gamma(_constant(3.0), _constant(rate)).log_prob(x)
      np.testing.assert_allclose(found, exact, rtol=1e-12)
      np.testing.assert_allclose(back.log_prob(x), exact, rtol=1e-12)
    self.assertLen(traces, 1)

  def test_distributions_of_graphs_are_arguments(self):
    edges = [(0, 1, {"a": 2.0}), (1, graphs.ABSORBED, 0.5)]
    one, other = (
      graphs.Graph.from_edges(edges, 0, params=("a",)) for _ in range(2)
    )
    traces = []

    @tf.function
    def pass_through(dist, x):
      traces.append(None)
      return dist, dist.log_prob(x)

    x = _constant(0.5)
    makers = (
      lambda graph, a: pd.PhaseType.from_graph(graph, {"a": _constant(a)}),
      lambda graph, a: pd.GraphPhaseType(graph, _constant([a])),
      lambda graph, a: pd.Epochs(
        graph, [_constant([a]), _constant([a])], _constant([0.25])
      ),
      lambda graph, a: pd.Epochs(
        [graph, other], [_constant([a]), _constant([a])], _constant([0.25])
      ),
    )
    for count, make in enumerate(makers):
      for graph, a in ((one, 1.5), (one, 2.5), (other, 2.5)):
        wrapped = adapter.wrap(make(graph, a))
        back, found = pass_through(wrapped, x)
        exact = pd.Hypoexponential([2.0 * a, 0.5]).log_prob(x)
        np.testing.assert_allclose(found, exact, rtol=1e-12)
        np.testing.assert_allclose(back.log_prob(x), exact, rtol=1e-12)
        np.testing.assert_allclose(
          wrapped.copy(name="other").log_prob(x), exact, rtol=1e-12
        )
      # Once for each graph.
      self.assertLen(traces, 2 * (count + 1))

  def test_graphs_are_closed_over(self):
    edges = [(0, 1, {"a": 2.0}), (1, graphs.ABSORBED, 0.5)]
    graph = graphs.Graph.from_edges(edges, 0, params=("a",))

    @tf.function
    def log_prob(a):
      dist = adapter.wrap(pd.PhaseType.from_graph(graph, {"a": a}))
      return dist.log_prob(_constant(0.5))

    exact = pd.Hypoexponential([3.0, 0.5]).log_prob(_constant(0.5))
    np.testing.assert_allclose(log_prob(_constant(1.5)), exact, rtol=1e-12)


class CompositionTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.base = _erlang()
    self.x = _constant([0.5, 1.5])
    self.terms = _gamma().log_prob(self.x)

  def test_independent_and_sample(self):
    joint = tfd.Independent(self.base, 1)
    np.testing.assert_allclose(
      joint.log_prob(self.x), tf.reduce_sum(self.terms)
    )
    drawn = tfd.Sample(self.base, 4).sample(seed=1)
    self.assertEqual(tuple(drawn.shape), (2, 4))

  def test_mixture(self):
    weights = _constant([0.25, 0.75])
    mixture = tfd.MixtureSameFamily(tfd.Categorical(probs=weights), self.base)
    exact = tf.reduce_sum(weights * _gamma().prob(_constant(1.0)))
    np.testing.assert_allclose(mixture.prob(_constant(1.0)), exact)
    self.assertEqual(tuple(mixture.sample(3, seed=1).shape), (3,))

  def test_transformed(self):
    logs = tfd.TransformedDistribution(self.base, tfb.Log())
    np.testing.assert_allclose(
      logs.log_prob(tf.math.log(self.x)), self.terms + tf.math.log(self.x)
    )

  def test_transformed_counts_keep_their_probabilities(self):
    counts = pd.DiscretePhaseType(_constant([1.0]), [[0.25]])
    doubled = tfd.TransformedDistribution(
      adapter.wrap(counts), tfb.Scale(_constant(2.0))
    )
    np.testing.assert_allclose(doubled.prob(_constant(4.0)), 0.1875, 1e-6)

  def test_joint(self):
    prior = tfd.Gamma(_constant(2.0), _constant(1.0))
    sequential = tfd.JointDistributionSequential(
      [prior, lambda r: tfd.Sample(adapter.wrap(pd.Erlang(3, r)), 4)]
    )
    rate, times = sequential.sample(seed=1)
    exact = prior.log_prob(rate) + tf.reduce_sum(
      tfd.Gamma(_constant(3.0), rate).log_prob(times)
    )
    np.testing.assert_allclose(sequential.log_prob(rate, times), exact)

    def coroutine():
      rate = yield tfd.Gamma(_constant(2.0), _constant(1.0), name="r")
      yield adapter.wrap(pd.Erlang(3, rate, name="x"))

    automatic = tfd.JointDistributionCoroutineAutoBatched(coroutine)
    drawn = automatic.sample(4, seed=1)
    self.assertEqual(tuple(automatic.log_prob(drawn).shape), (4,))


class InferenceTest(absltest.TestCase):
  def test_hamiltonian_monte_carlo(self):
    times = _constant([1.0, 2.0, 1.5, 0.5])
    model = tfd.JointDistributionSequential(
      [
        tfd.Gamma(_constant(2.0), _constant(1.0)),
        lambda r: tfd.Sample(adapter.wrap(pd.Erlang(3, r)), 4),
      ]
    )
    pinned = model.experimental_pin(None, times)
    kernel = tfp.mcmc.TransformedTransitionKernel(
      tfp.mcmc.HamiltonianMonteCarlo(
        pinned.unnormalized_log_prob,
        step_size=_constant(0.15),
        num_leapfrog_steps=4,
      ),
      pinned.experimental_default_event_space_bijector(),
    )

    @tf.function(autograph=False)
    def run():
      return tfp.mcmc.sample_chain(
        600,
        current_state=[_constant(2.0)],
        kernel=kernel,
        num_burnin_steps=100,
        trace_fn=None,
        seed=(1, 2),
      )

    (found,) = run()
    np.testing.assert_allclose(np.mean(found), 14.0 / 6.0, rtol=0.08)
    np.testing.assert_allclose(np.std(found), 14.0**0.5 / 6.0, rtol=0.25)


class ImportTest(absltest.TestCase):
  def test_missing_package_is_named(self):
    name = adapter.__name__
    with mock.patch.dict(sys.modules, {"tensorflow_probability": None}):
      del sys.modules[name]
      with self.assertRaisesRegex(ImportError, r"phasic-substrates\[tfp\]"):
        importlib.import_module(name)


if __name__ == "__main__":
  absltest.main()
