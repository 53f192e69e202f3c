"""Common methods of all distributions, and errors for missing ones."""

import math
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.distributions.base import bijectors
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
_MATRIX = [[-2.0, 1.0], [0.5, -1.0]]


def _times(**options):
  return pd.PhaseType([0.3, 0.6], _MATRIX, **options)


def _steps():
  return pd.DiscretePhaseType([0.3, 0.6], [[0.5, 0.25], [0.125, 0.25]])


def _rewards():
  matrix = [[-2.0, 1.0], [0.0, -1.0]]
  return pd.MultivariatePhaseType([1.0, 0.0], matrix, onp.eye(2))


class MissingTest(test_case.TestCase):
  """Tests that errors name the missing method and the reason."""

  @parameterized.parameters(
    (_times, "mode", "several maxima"),
    (_times, "covariance", r"use variance\(\)"),
    (_steps, "mode", "several maxima"),
    (_steps, "experimental_default_event_space_bijector", "whole numbers"),
    (_rewards, "mode", "one maximum"),
    (_rewards, "entropy", "no formula for the joint distribution"),
  )
  def test_without_arguments(self, make, method, why):
    dist = make()
    pattern = f"{type(dist).__name__} has no {method}: .*{why}"
    with self.assertRaisesRegex(NotImplementedError, pattern):
      getattr(dist, method)()

  @parameterized.parameters(
    (_times, "probability_generating_function", 0.5, "not whole numbers"),
    (_rewards, "moment", 2, r"mixed_moment\(orders\)"),
    (_rewards, "quantile", 0.5, r"marginal\(r\) and projection\(w\)"),
    (_rewards, "cdf", [1.0, 1.0], "joint distribution"),
    (_rewards, "log_survival_function", [1.0, 1.0], "joint distribution"),
    (_rewards, "hazard_function", [1.0, 1.0], "joint distribution"),
    (_rewards, "moment_generating_function", 0.1, "projection"),
  )
  def test_with_an_argument(self, make, method, argument, why):
    with self.assertRaisesRegex(NotImplementedError, f"has no .*: .*{why}"):
      getattr(make(), method)(argument)

  def test_of_two(self):
    for method in ("kl_divergence", "cross_entropy"):
      with self.assertRaisesRegex(
        NotImplementedError, f"no {method} of PhaseType and DiscretePhaseType"
      ):
        getattr(_times(), method)(_steps())
    with self.assertRaisesRegex(NotImplementedError, "register_kl adds one"):
      _times().kl_divergence(_rewards())

  @test_case.of_bad_values
  def test_a_family_that_has_little(self):
    class Little(pd.Distribution):
      def __init__(self):
        super().__init__(
          {"validate_args": False, "allow_nan_stats": True, "name": "Little"}
        )

      @classmethod
      def _parameter_properties(cls):
        return {}

    dist = Little()
    for method in ("mean", "stddev", "covariance", "mode", "entropy"):
      with self.assertRaisesRegex(
        NotImplementedError, f"Little has no {method}"
      ):
        getattr(dist, method)()
    with self.assertRaisesRegex(NotImplementedError, "Little has no support"):
      _ = dist.support
    for method in (
      "log_prob",
      "unnormalized_log_prob",
      "hazard_function",
      "cumulative_hazard",
      "quantile",
      "quantile_log_survival",
      "quantile_log_cdf",
      "laplace_transform",
      "moment_generating_function",
      "moment",
    ):
      with self.assertRaisesRegex(NotImplementedError, "Little has no "):
        getattr(dist, method)(1)


class ReasonsTest(test_case.TestCase):
  """Tests reasons of families."""

  def test_transforms(self):
    erlang = pd.Erlang(2, 1.0)
    trials = pd.NegativeBinomialTrials(2, 0.5)
    for dist in (
      pd.MatrixWeibull(erlang, 2.0),
      pd.TruncatedPhaseType(erlang, 1.0, 2.0),
      pd.TruncatedPhaseType(trials, 2.0, 5.0),
    ):
      for method in ("laplace_transform", "moment_generating_function"):
        with self.assertRaisesRegex(NotImplementedError, "rates never change"):
          getattr(dist, method)(0.5)
    for dist, why in (
      (pd.MatrixWeibull(erlang, 2.0), "not whole numbers$"),
      (pd.TruncatedPhaseType(trials, 2.0, 5.0), "rates never change"),
      (erlang, r"laplace_transform\(-log\(z\)\)"),
    ):
      with self.assertRaisesRegex(NotImplementedError, why):
        dist.probability_generating_function(0.5)

  @test_case.of_bad_values
  def test_diagnoses_name_the_parameter(self):
    good, bad = pd.Erlang(2, 1.0), pd.Erlang(2, -1.0)
    for dist, reason in (
      (bad, "rate: it must be > 0"),
      (pd.Hyperexponential([0.5, 0.6], [1.0, 2.0]), "mixture_probs: .* sum 1"),
      (pd.ZeroInflated(good, 1.5), "prob_zero: "),
      (pd.ResidualLife(good, -1.0), "time: it must be >= 0"),
      (pd.Equilibrium(pd.Erlang(1, 0.0)), "distribution: its mean"),
      (pd.Equilibrium(bad), "rate: it must be > 0"),
      (pd.TruncatedPhaseType(bad, 1.0, 2.0), "rate: it must be > 0"),
    ):
      self.assertRegex(str(dist.diagnose(1.5)), reason)

  @test_case.of_bad_values
  def test_diagnoses(self):
    erlang = pd.Erlang(2, 1.0)
    found = pd.MatrixWeibull(erlang, 2.0).diagnose([1.0, math.nan, 1e-160])
    self.assertEqual(list(found), ["ok", "value: is NaN", "ok"])
    # The slow phase lasts until h(y) is out of range.
    slow = pd.MatrixWeibull(pd.Hyperexponential([0.5, 0.5], [1.0, 1e-290]), 2.0)
    found = slow.diagnose(1e155, "log_survival_function")
    self.assertRegex(str(found), "its time .* is not normal")
    found = pd.MatrixWeibull(erlang, [2.0, -1.0]).diagnose(1.0, "cdf")
    self.assertEqual(found.tolist(), ["ok", "concentration: it must be > 0"])
    found = pd.TruncatedPhaseType(erlang, 1.0, [2.0, 1.0]).diagnose(1.5)
    self.assertEqual(found[0], "ok")
    self.assertRegex(str(found[1]), "no mass is known")


class RegistryTest(test_case.TestCase):
  """Tests the registry of divergences."""

  def test_the_nearest_rule(self):
    class Near(pd.PhaseType):
      pass

    class Nearer(Near):
      pass

    @pd.register_kl(Near, pd.PhaseType)
    def rule(p, q):
      return np.asarray(p.mean() - q.mean())

    other = pd.PhaseType([1.0], [[-2.0]])
    self.assert_close(Nearer([1.0], [[-1.0]]).kl_divergence(other), 0.5)
    # The order of classes matters.
    found = pd.kl_divergence(other, Near([1.0], [[-1.0]]))
    self.assert_close(found, math.log(2) - 0.5)
    with self.assertRaisesRegex(ValueError, "Near and PhaseType is registered"):
      pd.register_kl(Near, pd.PhaseType)(rule)

  @test_case.of_bad_values
  def test_nan_may_be_refused(self):
    bad = pd.PhaseType([1.5], [[-1.0]], allow_nan_stats=False)
    good = pd.PhaseType([1.0], [[-1.0]], allow_nan_stats=False)
    for call in (
      bad.entropy,
      lambda: good.kl_divergence(bad),
      lambda: good.cross_entropy(bad),
      lambda: bad.moment(2),
    ):
      with self.assertRaisesRegex(ValueError, "is NaN, and allow_nan_stats"):
        call()

  def test_dtypes(self):
    narrow = pd.PhaseType(onp.ones(1, onp.float32), -onp.ones((1, 1), "f"))
    wide = pd.PhaseType(onp.ones(1), -onp.ones((1, 1)), name="wide")
    for method in ("kl_divergence", "cross_entropy"):
      with self.assertRaisesRegex(TypeError, "float32 and wide is float64"):
        getattr(narrow, method)(wide)


class ValuesTest(test_case.TestCase):
  """Tests samples, densities and supports."""

  def test_sample_and_log_prob(self):
    dists = [_times(), _steps(), _rewards()]
    if MODE == "jax":
      dists = dists[:1]  # Each distribution is compiled.
    for dist in dists:
      x, log_prob = dist.sample_and_log_prob((2, 3), seed=7)
      self.assert_close(x, self.host(dist.sample((2, 3), seed=7)), 0.0)
      self.assert_close(log_prob, self.host(dist.log_prob(x)), 0.0)
      self.assertEqual(onp.shape(self.host(log_prob)), (2, 3))

  def test_lost_draws_are_no_bad_arguments(self):
    rates = onp.asarray([[-1e13, 1e13], [1e13, -1e13]])
    dist = pd.PhaseType(
      onp.asarray([1.0, 0.0]),
      rates,
      onp.asarray([1e-7, 0.0]),
      validate_args=True,
    )
    with warnings.catch_warnings():
      warnings.simplefilter("ignore")
      results = dist.sample_and_log_prob(3, seed=1)
    for x in results:
      self.assertTrue(onp.isnan(self.host(x)).all())

  def test_unnormalized_log_prob(self):
    found = _times().unnormalized_log_prob([0.0, 1.0])
    self.assert_close(found, self.host(_times().log_prob([0.0, 1.0])), 0.0)

  def test_support(self):
    values = onp.asarray([-1.0, 0.0, 0.5, 2.0, math.inf, math.nan])
    found = self.host(_times().support.contains(values))
    self.assertEqual(found.tolist(), [False, True, True, True, False, False])
    found = self.host(_steps().support.contains(values))
    self.assertEqual(found.tolist(), [False, True, False, True, False, False])
    support = _rewards().support
    self.assertEqual(support, pd.Support("nonnegative", 1))
    with self.assertRaisesRegex(ValueError, "constraint is 'real': .*one of"):
      pd.Support("real")
    with self.assertRaisesRegex(ValueError, "event_ndims is 2: it must be 0"):
      pd.Support("nonnegative", 2)
    found = self.host(support.contains([[0.0, 1.0], [-1.0, 1.0]]))
    self.assertEqual(found.tolist(), [True, False])

  def test_event_space(self):
    bijector = _rewards().experimental_default_event_space_bijector()
    y = onp.asarray([[0.5, 2.0], [1.0, 4.0]])
    self.assert_close(bijector.forward(bijector.inverse(y)), y)
    found = bijector.inverse_log_det_jacobian(y)
    self.assert_close(found, [0.0, -2 * math.log(2)], 1e-14, 1e-15)


class BijectorTest(test_case.TestCase):
  """Tests bijectors between free and constrained parameters."""

  @parameterized.parameters(
    (bijectors.Exp(), ()),
    (bijectors.Exp(2), (3, 2)),
    (bijectors.Sigmoid(), ()),
    (bijectors.Sigmoid(1), (3,)),
    (bijectors.SoftmaxWithSlack(1), (4,)),
    (bijectors.SoftmaxWithSlack(2), (3, 3)),
    (bijectors.SoftmaxCentered(1), (3,)),
    (bijectors.Increasing(1), (3,)),
    (bijectors.Subgenerator(2), (3, 3)),
  )
  def test_round_trip_and_volume(self, bijector, event):
    state = onp.random.RandomState(5)
    x = 2 * state.normal(size=(2, *event))
    y = bijector.forward(x)
    self.assert_close(bijector.inverse(y), x, 1e-12)
    log_det = self.host(bijector.forward_log_det_jacobian(x))
    self.assertEqual(onp.shape(log_det), (2,))
    found = bijector.inverse_log_det_jacobian(y)
    self.assert_close(found, -log_det, 1e-11)
    # Central differences are far more accurate than the tolerance.
    size = x[0].size
    columns = []
    for step in 1e-5 * onp.eye(size):
      step = onp.reshape(step, event)
      ends = [bijector.forward(x[0] + sign * step) for sign in (1, -1)]
      columns.append((self.host(ends[0]) - self.host(ends[1])) / 2e-5)
    if isinstance(bijector, bijectors.SoftmaxCentered):
      columns = [column[:-1] for column in columns]
    matrix = onp.reshape(onp.stack(columns), (size, size))
    self.assert_close(onp.linalg.slogdet(matrix)[1], log_det[0], 1e-7, 1e-7)

  def test_far_from_zero(self):
    x = onp.asarray([-700.0, 0.0, 800.0])
    y = self.host(bijectors.Sigmoid().forward(x))
    self.assert_close(y, [math.exp(-700.0), 0.5, 1.0])
    found = bijectors.Sigmoid().forward_log_det_jacobian(x)
    self.assert_close(found, [-700.0, -math.log(4), -800.0])
    y = bijectors.SoftmaxWithSlack(1).forward([800.0, 0.0])
    self.assert_close(y, [1.0, 0.0])
    found = bijectors.SoftmaxWithSlack(1).forward_log_det_jacobian(
      [-800.0, 0.0]
    )
    self.assert_close(found, -800.0 - 3 * math.log(2))

  def test_of_parameters(self):
    state = onp.random.RandomState(3)
    for make in (_times, _steps, _rewards):
      properties = make().parameter_properties()
      arrays = {}
      for name in properties:
        if name in ("exit_rates", "exit_probs", "prob_zero"):
          continue
        prop = properties[name]
        x = state.normal(size=(2,) * prop.event_ndims)
        arrays[name] = prop.default_constraining_bijector().forward(x)
      dist = type(make())(**arrays, validate_args=True)
      self.assertTrue(bool(onp.all(onp.isfinite(self.host(dist.mean())))))
    with self.assertRaisesRegex(
      ValueError, "constraint is 'bound': it must be"
    ):
      pd.ParameterProperties(0, "bound")

  def test_derivatives(self):
    x = np.asarray(onp.asarray([[0.5, -1.0], [0.25, 2.0]]))
    matrix = bijectors.Subgenerator(2)
    for f, expected in (
      # Of exp(x_01) - exp(x_00) - exp(x_01).
      (lambda x: np.sum(matrix.forward(x)[0]), [[-math.exp(0.5), 0.0], [0, 0]]),
      (matrix.forward_log_det_jacobian, [[1.0, 1.0], [1.0, 1.0]]),
      (lambda x: matrix.inverse(matrix.forward(x))[0, 0], [[1.0, 0], [0, 0]]),
    ):
      _, slope = gradients.value_and_gradient(f, x)
      self.assert_close(slope, onp.asarray(expected), 1e-12, 1e-14)

  def test_float32(self):
    x = onp.zeros((2, 2), onp.float32)
    for bijector in (
      bijectors.Exp(),
      bijectors.Sigmoid(),
      bijectors.SoftmaxWithSlack(1),
      bijectors.Subgenerator(2),
    ):
      y = bijector.forward(x)
      for found in (
        y,
        bijector.inverse(y),
        bijector.forward_log_det_jacobian(x),
      ):
        self.assertEqual(static.dtype_name(found), "float32")


if __name__ == "__main__":
  absltest.main()
