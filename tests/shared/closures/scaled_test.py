"""The parameters and options of dist * factor, and its errors."""

from collections.abc import Mapping
import math
from typing import ClassVar

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
elif MODE == "tf":
  import tensorflow as tf

_FACTORS = onp.asarray([0.375, 7.3])


def _queue():
  """Returns a graph whose initial mass is a parameter."""
  start = {0: {"q": 1.0}, pg.ABSORBED: {1: 1.0, "q": -1.0}}
  return pg.Graph.from_edges([(0, pg.ABSORBED, 2.0)], start, params=("q",))


class Squared(pd.TransformedPhaseType):
  """The square of X."""

  def _forward(self, x):
    return x**2

  def _inverse(self, y):
    return np.sqrt(y)

  def _log_slope(self, y):
    return -np.log(2.0 * np.sqrt(y))


class ParametersTest(test_case.TestCase):
  """Tests which parameters the result has, and its derivatives."""

  def test_sums_of_rates_keep_parameters(self):
    graph = pg.models.kingman(3)
    dist = pd.PhaseType.from_graph(graph, [3.0]) * 2.0
    self.assert_close(dist.params, [1.5], 0.0)
    self.assertIsNone(dist.edge_values)
    named = pg.Graph.from_edges([(0, pg.ABSORBED, {"a": 2.0})], 0, params=["a"])
    dist = pd.PhaseType.from_graph(named, {"a": 3.0}) * onp.asarray([2.0, 4.0])
    self.assert_close(dist.params["a"], [1.5, 0.75], 0.0)
    history = pd.Epochs(graph, [[1.0], [0.5]], [3.0]) * 2.0
    self.assert_close(history.params[1], [0.25], 0.0)
    self.assert_close(history.boundaries, [6.0], 0.0)

  def test_edges_keep_their_coefficients(self):
    edges = pm.EdgeRates([0, 1], [1, 2], [2.0], [[3.0], [1.0]])
    kept = (pd.PhaseType([1.0, 0.0], edges) * 2.0).subgenerator
    self.assert_close(kept.parameters, [1.0], 0.0)
    self.assert_close(kept.coefficients, [[3.0], [1.0]], 0.0)

  def test_options_are_kept(self):
    options = {"validate_args": True, "allow_nan_stats": False, "name": "x"}
    dist = pd.Erlang(2, 1.0, **options) * 2.0
    self.assertTrue(dist.validate_args)
    self.assertFalse(dist.allow_nan_stats)
    self.assertEqual(dist.name, "x")

  def test_dtypes_and_kinds_of_factors(self):
    single = pd.Erlang(2, onp.float32(1.0))
    self.assertEqual((single * 2.0).dtype, "float32")
    for factor in (2, [2.0, 4.0], onp.float64(2.0), onp.asarray([2.0, 4.0])):
      for dist in (pd.Erlang(2, 1.0) * factor, factor * pd.Erlang(2, 1.0)):
        self.assert_close(dist.mean(), 2.0 * onp.asarray(factor), 1e-14)
    tensor = np.asarray([2.0, 4.0]) * pd.Erlang(2, 1.0)
    self.assertEqual(tensor.batch_shape, (2,))
    if MODE == "tf":
      # As no argument states a dtype, values do.
      value = tf.constant(1.0, tf.float32)
      self.assertEqual((pd.Erlang(2, 1.0) * 2.0).prob(value).dtype, tf.float32)

  def test_derivatives_of_erlang(self):
    # With y = r t / c the density is (y / c) r exp(-y), and its survival function
    # (1 + y) exp(-y), for two stages.
    rate, time, factor = 0.75, 3.0, 2.5
    y = rate * time / factor
    for method, by_factor, by_rate in (
      ("log_prob", (y - 2.0) / factor, (2.0 - y) / rate),
      ("survival_function", y * y * math.exp(-y) / factor, None),
    ):
      value, (slope, other) = gradients.value_and_gradient(
        lambda c, r, method=method: getattr(pd.Erlang(2, r) * c, method)(time),
        factor,
        rate,
      )
      self.assert_close(slope, by_factor, 1e-13)
      if by_rate is not None:
        self.assert_close(
          value, 2.0 * math.log(rate / factor) + math.log(time) - y
        )
        self.assert_close(other, by_rate, 1e-13)

  def test_traced(self):
    def log_prob(factor, rate):
      dist = pd.MatrixWeibull(pd.Erlang(2, rate, validate_args=True), 2.0)
      return (dist * factor).log_prob(1.0)

    expected = log_prob(_FACTORS, 0.5)
    if MODE == "jax":
      batched = jax.jit(jax.vmap(log_prob, in_axes=(0, None)))
      self.assert_close(batched(_FACTORS, 0.5), expected, 1e-14)
    elif MODE == "tf":
      arrays = (tf.constant(_FACTORS), tf.constant(0.5, tf.float64))
      self.assert_close(tf.function(log_prob)(*arrays), expected, 1e-14)


class ErrorsTest(test_case.TestCase):
  """Tests what may not multiply, and what may not be multiplied."""

  def test_messages(self):
    erlang, steps = pd.Erlang(2, 1.0), pd.NegativeBinomialTrials(3, 0.5)
    for make, error, message in (
      (lambda: erlang * erlang, TypeError, r"Erlang \* Erlang: .*random_sum"),
      (lambda: erlang * None, TypeError, "factor is None"),
      (lambda: "2" * erlang, TypeError, "factor holds text"),
      (lambda: steps * 2.0, TypeError, "NegativeBinomialTrials .* no unit"),
      (
        lambda: (steps + 1.0) * 2.0,
        TypeError,
        "NegativeBinomialTrials .* no unit",
      ),
      (
        lambda: pd.MatrixLogNormal(erlang, 2.0) * 2.0,
        TypeError,
        r"MatrixLogNormal \* factor: .*value / factor",
      ),
      (
        lambda: Squared(erlang) * 2.0,
        TypeError,
        r"Squared \* factor: .*declare _TIME_POWERS",
      ),
      (
        lambda: pd.Erlang(2, onp.ones(3)) * onp.ones(2),
        ValueError,
        r"factor has shape \(2,\)",
      ),
      (
        lambda: pd.Erlang(2, 1.0, validate_args=True) * [1.0, 0.0],
        ValueError,
        r"factor\[1\] = 0.0: it must be > 0 and finite",
      ),
      (
        lambda: pd.Epochs(_queue(), [[0.5]] * 2, [1.0]) * 2.0,
        TypeError,
        r"Epochs \* factor: initial masses",
      ),
    ):
      with self.subTest(message), self.assertRaisesRegex(error, message):
        make()

  def test_tables_of_users(self):
    class Root(Squared):
      _TIME_POWERS: ClassVar[Mapping[str, float]] = {"distribution": 0.5}

    # With X exponential of rate one, P(X^2 > t) = exp(-sqrt(t)).
    dist = Root(pd.Erlang(1, 1.0)) * 4.0
    self.assert_close(dist.survival_function(9.0), math.exp(-1.5), 1e-14)

  def test_bad_factors_give_nan(self):
    erlang = pd.Erlang(2, 1.0)
    wait = pd.PhaseType.from_graph(_queue(), [0.5])
    for factor in (-1.0, 0.0, math.nan, math.inf):
      for dist in (erlang, pd.MatrixPareto(erlang, 1.0), wait):
        scaled, caught = self.caught(lambda d=dist, c=factor: d * c)
        self.assertLen(caught, 1)
        self.assertRegex(str(caught[0].message), f"factor = {factor}: it must")
        value, caught = self.caught(lambda x=scaled: x.cdf(2.0))
        self.assertTrue(math.isnan(value))
        self.assertEmpty(caught)

  @test_case.of_bad_values
  def test_powers_beyond_the_range_of_numbers(self):
    dist = pd.MatrixWeibull(pd.Erlang(1, 1.0), 4.0) * 1e100
    self.assertTrue(math.isnan(dist.cdf(1.0)))


if __name__ == "__main__":
  absltest.main()
