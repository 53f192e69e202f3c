"""Values at the edge of their rules, and values that nobody looks at."""

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from tests.helpers import small_laws
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
if MODE == "tf":
  import tensorflow as tf

_CHAIN = onp.diag([-1.0] * 10) + onp.diag([1.0] * 9, 1)


class UnusualValuesTest(test_case.TestCase):
  def test_zeros_where_numbers_must_be_positive(self):
    one = small_laws.erlang()
    for make in (
      lambda: pd.Hyperexponential([0.5, 0.5], [1.0, 0.0]),
      lambda: pd.Hypoexponential([[1.0, 2.0], [1.0, 0.0]]),
      lambda: pd.HyperErlang([0.75, 0.25], (1, 2), [1.0, 0.0]),
      lambda: pd.AcyclicPhaseType([0.5, 0.5], [0.0, 1.0]),
      lambda: pd.GeometricMixture([0.5, 0.5], [1.0, 0.0]),
      lambda: pd.NegativeBinomialFailures(2, 0.0),
      lambda: pd.MatrixPareto(one, 0.0),
      lambda: pd.MatrixGompertz(one, 0.0),
      lambda: pd.MatrixLogNormal(one, 0.0),
      lambda: pd.MatrixLogLogistic(one, 1.0, 0.0),
      lambda: pd.MatrixWeibull(one, onp.asarray([1.0, 0.0])),
      lambda: pd.Erlang(2, onp.asarray([0.0, 1.0], onp.float32)),
    ):
      dist, (warning,) = self.caught(make)
      self.assertRegex(str(warning.message), r"= 0.0: .*(> 0|\(0, 1\])")
      with self.assertRaises(ValueError) as raised:
        dist.copy(validate_args=True)
      self.assertIn(str(raised.exception), str(warning.message))

  @test_case.of_bad_values
  def test_masses_that_do_not_sum_to_one_are_free_coordinates(self):
    found = pm.phase_type.cdf(1.0, [1.0], [[-1.0]], prob_zero=0.5)
    self.assert_close(found, 0.5 - onp.expm1(-1.0), 1e-14)
    dist = pd.PhaseType([1.0], [[-1.0]], prob_zero=0.5)
    self.assert_close(dist.log_prob(1.0), -1.0, 1e-14)

  def test_good_values(self):
    for make in (
      lambda: pd.PhaseType(small_laws.START, small_laws.MATRIX),
      lambda: pd.PhaseType([0.5, 0.25], small_laws.MATRIX),
      lambda: pd.PhaseType([0.5, 0.25], small_laws.MATRIX, prob_zero=0.25),
      lambda: pd.PhaseType([0.1] * 10, _CHAIN, prob_zero=0.0),
      lambda: pm.phase_type.cdf(
        1.0, [0.5, 0.25], small_laws.MATRIX, prob_zero=0.25
      ),
      lambda: pm.phase_type.cdf(1.0, [0.1] * 10, _CHAIN, prob_zero=0.0),
      lambda: pm.phase_type.cdf(
        1.0, [0.5, 0.25], small_laws.EDGES, prob_zero=0.25
      ),
      # Exits that are given may be small, and a sum may be exactly zero.
      lambda: pd.PhaseType(
        small_laws.START, small_laws.CLOSED, exit_rates=[1e-18, 1e-18]
      ),
      lambda: pd.PhaseType(small_laws.START, [[-2.0, 2.0], [1.0, -1.0]]),
      lambda: pd.PhaseType(
        small_laws.START, [[-1.0, 1.0], [1.0, -1.0 - 1e-14]]
      ),
      lambda: pd.DiscretePhaseType(small_laws.START, [[0.5, 0.5], [0.5, 0.5]]),
      lambda: pd.PhaseType([1.0], [[0.0]]),
      lambda: pd.PhaseType(
        small_laws.START, [[7.0, 1.0], [1.0, 7.0]], [1.0, 0.0]
      ),
      lambda: pd.Erlang(3, 5e-324),
      lambda: pd.Coxian([1.0, 0.0], [0.0, 0.0, 1.0]),
      lambda: pd.DiscretePhaseType(small_laws.START, small_laws.STEPS),
      lambda: pd.TruncatedPhaseType(small_laws.erlang(), 1.0),
      lambda: pd.AcyclicPhaseType([1.0, 0.0], [2.0, 1.0]),
      lambda: pm.phase_type.mean(small_laws.START, small_laws.MATRIX),
      lambda: pm.phase_type.mean([1, 0], [[-2, 1], [0, -1]]),
      lambda: small_laws.erlang().quantile([0.0, 1.0, onp.nan]),
    ):
      _, caught = self.caught(make)
      self.assertEmpty(caught)

  def test_large_models_are_not_looked_at(self):
    count = 100_001
    _, caught = self.caught(lambda: pd.Erlang(2, onp.full(count, -1.0)))
    self.assertEmpty(caught)

  def test_traced_values_are_not_looked_at(self):
    if MODE == "jax":
      traced = jax.jit(lambda rate: pd.Erlang(2, rate).mean())
      found, caught = self.caught(lambda: traced(-1.0))
      self.assertEmpty(caught)
      self.assertTrue(onp.isnan(self.host(found)))
      # Values that only a derivative traces are known.
      slope = jax.grad(lambda rate: pd.Erlang(2, rate).mean())
      _, caught = self.caught(lambda: slope(-1.0))
      self.assertLen(caught, 1)
    if MODE == "tf":
      traced = tf.function(lambda rate: pd.Erlang(2, rate).mean())
      rate = tf.constant(-1.0, tf.float64)
      found, caught = self.caught(lambda: traced(rate))
      self.assertEmpty(caught)
      self.assertTrue(onp.isnan(self.host(found)))

  def test_traced_boundaries_that_do_not_increase(self):
    params = [[1.0, 1.0]] * 3

    def survival(boundaries):
      dist = pd.Epochs(small_laws.line(), params, boundaries)
      return dist.survival_function(np.asarray([0.5, 1.5, 3.0]))

    if MODE == "jax":
      found = jax.jit(survival)(np.asarray([2.0, 1.0]))
      self.assertTrue(onp.all(onp.isnan(self.host(found))))
    elif MODE == "tf":
      found = tf.function(survival)(np.asarray([2.0, 1.0]))
      self.assertTrue(onp.all(onp.isnan(self.host(found))))
    else:
      with self.assertRaisesRegex(ValueError, "increasing"):
        survival(np.asarray([2.0, 1.0]))

  @test_case.of_bad_values
  def test_statistics_are_diagnosed(self):
    dist = pd.PhaseType(small_laws.START, [[-2.0, -1.0], [0.0, -1.0]])
    for method in ("mean", "variance", "stddev", "median", "entropy", "sample"):
      self.assertIn("subgenerator", str(dist.diagnose(method=method)))
    rates = pd.Erlang(2, [1.0, -1.0])
    self.assertEqual(
      list(rates.diagnose(method="mean")),
      ["ok", "rate: it must be > 0 and finite"],
    )
    with self.assertRaisesRegex(ValueError, "value is 1.0: it must be None"):
      rates.diagnose(1.0, "mean")
    with self.assertRaisesRegex(ValueError, "value is None"):
      rates.diagnose()

  def test_a_derived_mass_at_zero_is_shown(self):
    dist = pd.PhaseType([0.5, 0.25], small_laws.MATRIX)
    self.assert_close(dist.prob_zero, 0.25)
    self.assert_close(
      pd.PhaseType(small_laws.START, small_laws.MATRIX).prob_zero, 0.0
    )


if __name__ == "__main__":
  absltest.main()
