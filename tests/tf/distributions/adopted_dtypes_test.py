"""Distributions of Python numbers adopt float32 of the values that they meet."""

import copy
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf import graphs
from phasic.substrates.tf import inference
from phasic.substrates.tf.interop import tfp as adapter

_PAIR = graphs.models.kingman(2)
_CONSTANT = graphs.Graph.from_edges([(0, graphs.ABSORBED, 2.0)], 0)
_TIMES = (0.75, 2.5)


def _erlang():
  return pd.Erlang(3, 2.0)


_CASES = {
  "erlang": _erlang,
  "integers": lambda: pd.Hypoexponential([1, 2]),
  "index_array": lambda: pd.Hypoexponential(onp.asarray([1, 2])),
  "coxian": lambda: pd.Coxian([2.0], [0.25, 1.0]),
  "from_probs": lambda: pd.Coxian.from_probs([2.0, 1.0], [0.5]),
  "matrix": lambda: pd.PhaseType([0.25, 0.75], [[-2.0, 1.0], [0.5, -1.5]]),
  "as_phase_type": lambda: _erlang().as_phase_type(),
  "named": lambda: pd.GraphPhaseType(_PAIR, {"coalescence": 1.5}),
  "constant_graph": lambda: pd.PhaseType.from_graph(_CONSTANT),
  "weibull": lambda: pd.MatrixWeibull(_erlang(), 1.5),
  "truncated": lambda: pd.TruncatedPhaseType(_erlang(), 0.5, 9.0),
  "zero_inflated": lambda: pd.ZeroInflated(_erlang(), 0.25),
  "twice_wrapped": lambda: pd.MatrixWeibull(pd.ZeroInflated(_erlang(), 0.2), 2),
  "residual": lambda: pd.ResidualLife(_erlang(), 1.0),
  "equilibrium": lambda: pd.Equilibrium(_erlang()),
  "epochs": lambda: pd.Epochs(_PAIR, [[1.0], [2.0]], [1.0]),
  "sum": lambda: pd.convolution([_erlang(), pd.Erlang(1, 1.0)]),
  "minimum": lambda: pd.minimum([_erlang(), pd.Erlang(1, 1.0)]),
  "mixture": lambda: pd.mixture([0.25, 0.75], [_erlang(), pd.Erlang(1, 1.0)]),
  "order_statistic": lambda: pd.order_statistic(_erlang(), 3, 2),
  "slice": lambda: pd.Erlang(3, [2.0, 3.0])[0],
  "copy": lambda: _erlang().copy(rate=1.5),
  "deep_copy": lambda: copy.deepcopy(_erlang()),
  "pickled": lambda: pickle.loads(pickle.dumps(_erlang())),
  "marginal": lambda: pd.MultivariatePhaseType(
    [1.0, 0.0], [[-1.0, 1.0], [0.0, -2.0]], [[1.0, 2.0], [1.0, 0.5]]
  ).marginal(0),
}
_METHODS = ("log_prob", "cdf", "log_survival_function", "hazard_function")


class AdoptedTest(parameterized.TestCase):
  @parameterized.parameters(*_CASES)
  def test_values(self, name):
    dist = _CASES[name]()
    wide = tf.constant(_TIMES, tf.float64)
    narrow = tf.constant(_TIMES)
    for method in _METHODS:
      call = getattr(dist, method)
      expected = call(wide)
      self.assertEqual(expected.dtype, tf.float64)
      for value in (narrow, tf.Variable(narrow), onp.float32(_TIMES)):
        found = call(value)
        self.assertEqual(found.dtype, tf.float32)
        onp.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-6)
      # The chain in float32 is not used for what follows.
      onp.testing.assert_array_equal(call(wide), expected)
    self.assertEqual(dist.quantile(tf.constant(0.5)).dtype, tf.float32)
    self.assertEqual(dist.dtype, "float64")
    for x in (dist.mean(), dist.sample(seed=1), dist.quantile(0.5)):
      self.assertEqual(x.dtype, tf.float64)

  def test_it_is_what_parameters_of_float32_give(self):
    value = tf.constant(_TIMES)
    stated = pd.Erlang(3, tf.constant(2.0))
    for method in _METHODS:
      onp.testing.assert_array_equal(
        getattr(_erlang(), method)(value), getattr(stated, method)(value)
      )

  def test_lists_and_discrete_values(self):
    found = _erlang().log_prob([tf.constant(1.0), 2.0])
    self.assertEqual(found.dtype, tf.float32)
    counts = pd.DiscretePhaseType([1.0], [[0.5]], validate_args=True)
    onp.testing.assert_array_equal(
      counts.prob(tf.constant([1.0, 2.0])), onp.float32([0.5, 0.25])
    )
    self.assertEqual(counts.prob([1, 2]).dtype, tf.float64)

  def test_joint_values(self):
    rewards = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]])
    found = rewards.laplace_transform(tf.constant([0.5, 0.25]))
    self.assertEqual(found.dtype, tf.float32)
    self.assertAlmostEqual(float(found), 0.5, places=6)

  def test_functions_and_gradients(self):
    for dist in (_erlang(), _CASES["weibull"](), _CASES["sum"]()):
      slopes = []
      for dtype in (tf.float32, tf.float64):
        value = tf.constant(_TIMES, dtype)
        dist.log_prob(value)  # What is kept must not hide the rate.
        with tf.GradientTape() as tape:
          tape.watch(value)
          result = dist.log_prob(value)
        slopes.append(tape.gradient(result, value))
        self.assertEqual(slopes[-1].dtype, dtype)
        compiled = tf.function(dist.log_prob)(value)
        onp.testing.assert_array_equal(compiled, result)
      onp.testing.assert_allclose(*slopes, rtol=1e-5)
    dist = _erlang()
    with tf.GradientTape() as tape:
      tape.watch(dist.rate)
      result = dist.log_prob(tf.constant(1.0))
    # d log f / d rate = 3 / rate - t.
    self.assertAlmostEqual(float(tape.gradient(result, dist.rate)), 0.5, 6)

  def test_observations(self):
    data = inference.Observations.right_censored(
      tf.constant(_TIMES), onp.asarray([1, 0])
    )
    wide = inference.Observations.right_censored(_TIMES, onp.asarray([1, 0]))
    for name in ("erlang", "epochs", "sum"):
      dist = _CASES[name]()
      found = data.log_likelihood(dist)
      self.assertEqual(found.dtype, tf.float32)
      expected = wide.log_likelihood(dist)
      onp.testing.assert_allclose(found, expected, rtol=1e-6)
    fit = inference.fit_mle(pd.Erlang(1, 1.0), data)
    self.assertEqual(fit.distribution.dtype, "float64")
    onp.testing.assert_allclose(fit.distribution.rate, 1 / 3.25, rtol=1e-6)

  def test_it_is_kept_apart(self):
    dist = _erlang()
    dist.log_prob(tf.constant(1.0))
    self.assertEqual(dist.submodules, ())
    self.assertEqual(dist.variables, ())
    self.assertEqual(pickle.loads(pickle.dumps(dist)).dtype, "float64")


class StatedTest(parameterized.TestCase):
  @parameterized.parameters(
    lambda two: pd.Erlang(3, two),
    lambda two: pd.Erlang(3, tf.Variable(two)),
    lambda two: pd.Coxian([2.0], [two, 1.0]),
    lambda two: pd.GraphPhaseType(_PAIR, {"coalescence": two}),
    lambda two: pd.ZeroInflated(pd.Erlang(3, two), 0.25),
    lambda two: pd.MatrixWeibull(pd.Erlang(3, 1.0), two),
    lambda two: pd.convolution([pd.Erlang(3, 1.0), pd.Erlang(1, two)]),
    lambda two: pd.mixture([two / 4, two / 4], [pd.Erlang(3, 1.0)] * 2),
    lambda two: pd.Epochs(_PAIR, [[1.0], [2.0]], [two]),
    lambda two: pd.Erlang(3, 1.0).copy(rate=two),
  )
  def test_stated_dtypes_stay_errors(self, make):
    dist = make(tf.constant(2.0, tf.float64))
    with self.assertRaisesRegex(TypeError, "float32 and .* float64"):
      dist.log_prob(tf.constant(1.0))

  def test_other_distributions_are_not_values(self):
    narrow = pd.Erlang(3, tf.constant(2.0))
    for call in (
      lambda: pd.Erlang(3, 1.0).kl_divergence(narrow),
      lambda: pd.convolution([pd.Erlang(3, 1.0), narrow]),
      lambda: pd.ZeroInflated(pd.Erlang(3, 1.0), tf.constant(0.5)),
    ):
      with self.assertRaisesRegex(TypeError, "float32|float64"):
        call()

  def test_wrappers_state_their_dtype(self):
    # A distribution of TensorFlow Probability has one dtype.
    wrapped = adapter.wrap(_erlang())
    self.assertEqual(wrapped.dtype, tf.float64)
    with self.assertRaisesRegex(TypeError, "float32 and rate is float64"):
      wrapped.log_prob(tf.constant(1.0))


if __name__ == "__main__":
  absltest.main()
