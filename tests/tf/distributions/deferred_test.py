"""Deferred tensors of TensorFlow Probability as parameters."""

import math
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf
import tensorflow_probability as tfp
import tf_keras

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf import graphs
from phasic.substrates.tf import math as pm
from phasic.substrates.tf.interop import tfp as adapter
from tests.generated.tf.helpers import conformance

tfb = tfp.bijectors
tfd = tfp.distributions
TIMES = tf.constant([0.5, 1.0, 2.5], tf.float64)


def _constant(x):
  return tf.constant(x, tf.float64)


def _variable(x):
  return tf.Variable(x, dtype=tf.float64)


def _deferred(x):
  return tfp.util.DeferredTensor(_variable(x), lambda v: v * 1.0)


def _positive(x):
  return tfp.util.TransformedVariable(
    tf.constant(x, tf.float64), tfb.Softplus(), dtype=tf.float64
  )


def _graph():
  edges = [(0, 1, {"a": 2.0}), (1, graphs.ABSORBED, {"b": 1.0})]
  return graphs.Graph.from_edges(edges, 0, params=("a", "b"))


# Distributions of a parameter of two rates, which are scaled by its value.
_OF_RATES = {
  "edges": lambda x: pd.PhaseType([1.0, 0.0], pm.EdgeRates([0, 1], [1, 2], x)),
  "graph": lambda x: pd.PhaseType.from_graph(_graph(), x),
  "copy": lambda x: pd.Hypoexponential([1.0, 2.0]).copy(rates=x),
  "zero_inflated": lambda x: pd.ZeroInflated(pd.Hypoexponential(x), 0.25),
  "weibull": lambda x: pd.MatrixWeibull(pd.Hypoexponential(x), 1.5),
  "epoch": lambda x: pd.Epochs(_graph(), [x, [1.0, 1.0]], [0.75]),
}


def _of_names(a, b):
  return pd.PhaseType.from_graph(_graph(), {"a": a, "b": b})


class FamiliesTest(parameterized.TestCase):
  @parameterized.parameters(*conformance.CASES)
  def test_is_read_like_a_variable(self, family):
    case = conformance.CASES[family]
    found = []
    for make in (_variable, _deferred):
      given = {name: make(x) for name, x in case.parameters.items()}
      dist = case.build(**given)
      own = [getattr(x, "pretransformed_input", x) for x in given.values()]
      listed = {x.ref() for x in dist.trainable_variables}
      self.assertEqual(listed, {x.ref() for x in own})
      wrapped = adapter.wrap(dist)
      self.assertLen(wrapped.trainable_variables, len(own))
      value = tf.constant(case.values[-2:], tf.float64)
      with tf.GradientTape() as tape:
        log_prob = dist.log_prob(value)
        sliced = dist[None].log_prob(value)
      gradients = tape.gradient(log_prob, own)
      same = dist.copy().log_prob(value)
      found.append([log_prob, sliced, same, dist.mean(), *gradients])
    for first, second in zip(*found, strict=True):
      onp.testing.assert_array_equal(first, second)


class UsesTest(parameterized.TestCase):
  @parameterized.parameters(*_OF_RATES)
  def test_changes_are_seen(self, name):
    rates = _positive([2.0, 3.0])
    dist = _OF_RATES[name](rates)
    (variable,) = dist.trainable_variables
    self.assertIs(variable, rates.pretransformed_input)
    before = dist.log_prob(TIMES).numpy()
    traced = tf.function(dist.log_prob).get_concrete_function(TIMES)
    onp.testing.assert_array_equal(traced(TIMES), before)
    new = tf.constant([1.0, 0.5], tf.float64)
    rates.assign(new)
    expected = _OF_RATES[name](rates[...]).log_prob(TIMES)
    self.assertGreater(onp.max(onp.abs(expected - before)), 0.01)
    for found in (
      dist.log_prob(TIMES),
      traced(TIMES),
      dist.copy().log_prob(TIMES),
    ):
      onp.testing.assert_allclose(found, expected, rtol=1e-13)

  def test_parameters_by_name(self):
    a, b = _positive(2.0), _positive(3.0)
    dist = _of_names(a, b)
    self.assertLen(dist.trainable_variables, 2)
    a.assign(tf.constant(0.5, tf.float64))
    exact = pd.Hypoexponential([1.0, 3.0]).log_prob(TIMES)
    onp.testing.assert_allclose(dist.log_prob(TIMES), exact, rtol=1e-12)

  def test_epochs_of_one_variable(self):
    rates = _positive([[2.0, 3.0], [1.0, 1.0]])
    dist = pd.Epochs(_graph(), rates, [0.75])
    self.assertLen(dist.trainable_variables, 1)
    rates.assign(tf.ones((2, 2), tf.float64))
    exact = pd.Hypoexponential([2.0, 1.0]).log_prob(TIMES)
    onp.testing.assert_allclose(dist.log_prob(TIMES), exact, rtol=1e-12)

  def test_vectors(self):
    rewards = _positive([[1.0], [2.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0], [[-1, 1], [0, -1]], rewards)
    self.assertLen(dist.trainable_variables, 1)
    rewards.assign(2.0 * rewards[...])
    onp.testing.assert_allclose(dist.mean(), [6.0], rtol=1e-12)

  def test_slices_are_differentiated(self):
    rates = _positive([2.0, 3.0])
    dist = pd.Erlang(2, rates)
    with tf.GradientTape() as tape:
      value = dist[1].mean()
    (slope,) = tape.gradient(value, dist.trainable_variables)
    # The derivative of softplus at x is 1 - exp(-softplus(x)).
    exact = [0.0, -2.0 / 9.0 * (1.0 - onp.exp(-3.0))]
    onp.testing.assert_allclose(slope, exact, rtol=1e-12)

  def test_text_and_checks(self):
    rate = _positive(2.0)
    dist = pd.Erlang(2, rate, validate_args=True)
    self.assertIn("batch_shape=(), event_shape=(), dtype=float64", repr(dist))
    self.assertIs(dist.rate, rate)
    bad = tfp.util.DeferredTensor(_variable(1.0), lambda x: -x)
    with self.assertRaisesRegex(ValueError, "rate"):
      pd.Erlang(2, bad, validate_args=True)
    single = tfp.util.TransformedVariable(2.0, tfb.Exp())
    with self.assertRaisesRegex(TypeError, "float64.*float32"):
      pd.ZeroInflated(pd.Erlang(2, rate), single)

  def test_matrices_are_refused_as_before(self):
    # A linear operator is a module with a shape that is not an array.
    operator = tf.linalg.LinearOperatorDiag(tf.constant([-1.0, -2.0]))
    with self.assertRaises((TypeError, ValueError)):
      pd.PhaseType([1.0, 0.0], operator)


class TrainingTest(parameterized.TestCase):
  @parameterized.parameters(False, True)
  def test_maximum_likelihood(self, wraps):
    rate = _positive(0.5)
    dist = pd.Erlang(3, rate)
    dist = adapter.wrap(dist) if wraps else dist
    # Gradient steps reach the optimum, 3 / mean.
    for _ in range(60):
      with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(dist.log_prob(TIMES))
      (slope,) = tape.gradient(loss, dist.trainable_variables)
      dist.trainable_variables[0].assign_sub(0.5 * slope)
    exact = 3.0 / onp.mean(TIMES)
    onp.testing.assert_allclose(rate[...], exact, rtol=1e-6)

  def test_surrogate_posterior(self):
    # The posterior of the rate of exponential times is a Gamma distribution of
    # shape 8, which an Erlang distribution with 8 stages is, too.
    times = _constant([0.3, 0.9, 1.2, 0.4, 0.7, 2.0])
    total = float(tf.reduce_sum(times))

    def log_prob(rate):
      prior = tfd.Gamma(_constant(2.0), _constant(1.0)).log_prob(rate)
      return prior + 6.0 * tf.math.log(rate) - rate * total

    evidence = math.lgamma(8.0) - 8.0 * math.log(1.0 + total)
    losses = []
    for dist in (
      adapter.wrap(pd.Erlang(8, _positive(3.0))),
      tfd.Gamma(_constant(8.0), _positive(3.0)),
    ):
      traced = tfp.vi.fit_surrogate_posterior(
        log_prob,
        dist,
        optimizer=tf_keras.optimizers.Adam(0.1),
        num_steps=150,
        sample_size=20,
        seed=(1, 2),
      )
      losses.append(onp.mean(traced[-50:]))
    onp.testing.assert_allclose(losses, -evidence, rtol=0.01)

  def test_checkpoints(self):
    dist = pd.Erlang(3, _positive(0.5))
    path = tf.train.Checkpoint(dist=dist).save(
      self.create_tempdir().full_path + "/of"
    )
    other = pd.Erlang(3, _positive(2.0))
    tf.train.Checkpoint(dist=other).restore(path).assert_consumed()
    onp.testing.assert_allclose(other.mean(), 6.0, rtol=1e-12)


class FrozenTest(absltest.TestCase):
  """What is made of a distribution takes the current values of its variables."""

  def setUp(self):
    super().setUp()
    self.rate, self.rates = _variable(2.0), _variable([2.0, 5.0])

  def _makers(self):
    # Each makes the exponential distribution of the rate, or of the first one.
    one, many = pd.Erlang(1, self.rate), pd.Erlang(1, self.rates)
    zero = pd.ZeroInflated(one, 0.0)
    always = pd.NegativeBinomialTrials(1, 1.0)
    edges = pd.PhaseType([1.0, 0.0], pm.EdgeRates([0, 1], [2, 2], self.rates))
    rewards = pd.MultivariatePhaseType(
      [1.0, 0.0], pm.EdgeRates([0, 1], [2, 2], self.rates), [[1.0], [1.0]]
    )
    line = graphs.Graph.from_edges([(0, graphs.ABSORBED, [1.0])], 0, 1)
    return {
      "convolution": lambda: pd.convolution([one]),
      "minimum": lambda: pd.minimum([edges]),
      "maximum": lambda: pd.maximum([zero]),
      "mixture": lambda: pd.mixture([0.5, 0.5], [one, one]),
      "order_statistic": lambda: pd.order_statistic(one, 1, 1),
      "random_sum": lambda: pd.random_sum(always, zero),
      "as_phase_type": lambda: one.as_phase_type(),
      "as_phase_type of edges": lambda: edges.as_phase_type(),
      "slice": lambda: many[0],
      "slice of wrapped": lambda: pd.MatrixWeibull(many, 1.0)[0],
      "marginal": lambda: rewards.marginal(0),
      "projection": lambda: rewards.projection([1.0]),
      "piecewise_constant": lambda: pd.piecewise_constant(
        line, lambda _: self.rates[:1], [1.0]
      ),
    }

  def _caught(self, function):
    with warnings.catch_warnings(record=True) as caught:
      warnings.simplefilter("always")
      found = function()
    own = [w for w in caught if "variables" in str(w.message)]
    return found, own

  def test_it_is_said(self):
    for name, make in self._makers().items():
      with self.subTest(name):
        dist, caught = self._caught(make)
        # A function of time may return tensors, which have forgotten theirs.
        if name != "piecewise_constant":
          (warning,) = caught
          self.assertIn("takes the current values of", str(warning.message))
          self.assertTrue(warning.filename.endswith("deferred_test.py"))
        self.rate.assign(3.0)
        self.rates.assign([3.0, 5.0])
        self.assertAlmostEqual(float(dist.mean()), 0.5, places=12)
        self.rate.assign(2.0)
        self.rates.assign([2.0, 5.0])
    _, (warning,) = self._caught(
      lambda: pd.piecewise_constant(
        graphs.Graph.from_edges([(0, graphs.ABSORBED, [1.0] * 2)], 0, 2),
        lambda _: self.rates,
        [1.0],
      )
    )
    self.assertIn("piecewise_constant takes the current", str(warning.message))

  def test_tapes_and_functions_follow(self):
    for name, make in self._makers().items():
      with self.subTest(name):

        def slope(make=make):
          with tf.GradientTape() as tape:
            value = make().log_prob(1.5)
          found = tape.gradient(value, [self.rate, self.rates])
          (own,) = [x for x in found if x is not None]
          return tf.reshape(own, [-1])[0]

        calls = [(slope, 2.0), (slope, 4.0)]
        if name in ("convolution", "slice", "marginal"):
          traced = tf.function(slope, autograph=False)
          calls += [(traced, 2.0), (traced, 4.0)]
        for function, rate in calls:
          self.rate.assign(rate)
          self.rates.assign([rate, 5.0])
          found, caught = self._caught(function)
          self.assertEmpty(caught)
          # d (log r - 1.5 r) / d r
          self.assertAlmostEqual(float(found), 1.0 / rate - 1.5, places=10)

  def test_no_variables(self):
    one = pd.Erlang(1, [2.0, 3.0])
    for make in (
      lambda: pd.convolution([one, one]),
      one.as_phase_type,
      lambda: one[0],
      lambda: pd.Epochs(
        graphs.models.kingman(2), [[1.0], [2.0]], [1.0]
      ).expected_sojourn_times(),
      lambda: pd.Coxian(self.rates[:1], self.rates).subgenerator,
      lambda: pd.Coxian(tf.Variable(self.rates[:1]), self.rates).subgenerator,
      lambda: pd.Erlang(2, self.rate).mean(),
    ):
      _, caught = self._caught(make)
      self.assertEmpty(caught)


if __name__ == "__main__":
  absltest.main()
