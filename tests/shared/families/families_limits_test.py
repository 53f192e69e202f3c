"""Limits of families."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import special
from scipy import stats

from phasic import distributions as pd
from tests.helpers import test_case


class EdgesTest(test_case.TestCase):
  def test_coxian_from_probs(self):
    rates, probs = onp.asarray([2.0, 1.0, 4.0]), onp.asarray([0.25, 0.5])
    dist = pd.Coxian.from_probs(rates, probs, name="stay")
    self.assertEqual(dist.name, "stay")
    self.assert_close(dist.progression_rates, [0.5, 0.5])
    self.assert_close(dist.exit_rates, [1.5, 0.5, 4.0])
    self.assert_close(
      pd.Coxian([2.0, 1.0], [1.0, 0.5, 0.25]).subgenerator,
      [[-3.0, 2.0, 0.0], [0.0, -1.5, 1.0], [0.0, 0.0, -0.25]],
    )
    single = pd.Coxian.from_probs([2.0], [])
    self.assert_close(single.mean(), 0.5)
    batch = pd.Coxian.from_probs(rates, onp.stack([probs, probs]))
    self.assertEqual(batch.batch_shape, (2,))
    with self.assertRaisesRegex(ValueError, "continuation_probs"):
      pd.Coxian.from_probs(rates, rates)

  @parameterized.parameters(
    ("MatrixWeibull", (-1.0,)),
    ("MatrixPareto", (-3.0,)),
    ("MatrixGompertz", (-3.0,)),
    ("MatrixLogNormal", (-2.0,)),
    ("MatrixLogLogistic", (3.0, -2.0)),
    ("MatrixWeibull", (math.inf,)),
    ("MatrixPareto", (math.inf,)),
    ("MatrixLogLogistic", (math.inf, 2.0)),
  )
  @test_case.of_bad_values
  def test_parameters_out_of_range_give_nan(self, family, arguments):
    dist = getattr(pd, family)(pd.Erlang(2, 1.0), *arguments)
    for method in ("cdf", "log_prob", "log_survival_function"):
      found = self.host(getattr(dist, method)(onp.asarray([0.5, 2.0])))
      self.assertTrue(onp.all(onp.isnan(found)), method)
    self.assertTrue(onp.isnan(self.host(dist.quantile(0.3))))

  @parameterized.parameters(
    (lambda **o: pd.Hyperexponential([0.5, 0.5], [1.0, 0.0], **o), 0.5),
    (lambda **o: pd.Hypoexponential([1.0, 0.0], **o), 1.0),
    (lambda **o: pd.Erlang(2, 0.0, **o), 1.0),
    (lambda **o: pd.HyperErlang([0.75, 0.25], (1, 2), [1.0, 0.0], **o), 0.25),
    (lambda **o: pd.Coxian([1.0], [1.0, 0.0], **o), 0.5),
    (lambda **o: pd.AcyclicPhaseType([0.5, 0.5], [0.0, 1.0], **o), 0.5),
    (lambda **o: pd.NegativeBinomialTrials(2, 0.0, **o), 1.0),
    (lambda **o: pd.NegativeBinomialFailures(2, 0.0, **o), 1.0),
    (lambda **o: pd.GeometricMixture([0.5, 0.5], [1.0, 0.0], **o), 0.5),
  )
  @test_case.of_bad_values
  def test_what_never_ends(self, build, left):
    # A rate of zero is the limit of small rates.
    dist = build()
    self.assert_close(dist.mean(), math.inf)
    self.assert_close(dist.survival_function([1e3, 1e6]), [left] * 2, 1e-13)
    self.assert_close(dist.cdf(1e6), 1.0 - left, 1e-13)
    self.assert_close(dist.quantile(1.0 - left / 2), math.inf)
    with self.assertRaisesRegex(ValueError, "= 0.0"):
      build(validate_args=True)

  def test_the_least_number_of_failures_is_zero(self):
    dist = pd.NegativeBinomialFailures(2, 0.3)
    self.assert_close(dist.quantile(onp.asarray([0.0, 0.05])), [0.0, 0.0])
    self.assert_close(dist.quantile_log_cdf(-math.inf), 0.0)
    self.assert_close(dist.quantile_log_survival(0.0), 0.0)

  def test_erlang_of_rates_from_tiny_to_huge(self):
    rates = onp.asarray([1e-200, 1.0, 1e200])
    dist = pd.Erlang(5, rates)
    self.assert_close(dist.mean(), 5 / rates, 1e-14)
    expected = stats.gamma.logsf(4.0, 5)
    self.assert_close(
      dist.log_survival_function(4.0 / rates), onp.full(3, expected), 1e-12
    )

  def test_negative_binomial_with_powers_that_underflow(self):
    dist = pd.NegativeBinomialFailures(1000, 1e-10)
    counts = onp.asarray([0.0, 1.0, 5.0])
    expected = stats.nbinom(1000, 1e-10).logpmf(counts)
    self.assert_close(dist.log_prob(counts), expected, 1e-12)

  @parameterized.parameters(
    (pd.MatrixWeibull, (2.0,), 0.0),
    (pd.MatrixWeibull, (1.0,), 3.0),
    (pd.MatrixWeibull, (0.5,), math.inf),
    (pd.MatrixPareto, (2.0,), 1.5),
    (pd.MatrixGompertz, (2.0,), 3.0),
    (pd.MatrixLogNormal, (1.0,), 3.0),
    (pd.MatrixLogLogistic, (2.0, 1.0), 1.5),
  )
  def test_densities_at_zero(self, family, arguments, expected):
    base = pd.Hypoexponential([3.0])
    self.assert_close(family(base, *arguments).prob(0.0), expected, 1e-14)
    inflated = family(pd.ZeroInflated(base, 0.25), *arguments)
    self.assert_close(inflated.prob(0.0), 0.25, 1e-14)
    self.assert_close(inflated.cdf(0.0), 0.25, 1e-14)
    # The hazard at zero is the limit from the right.
    self.assert_close(inflated.hazard_function(0.0), expected, 1e-14)

  def test_hazards_far_in_the_tail(self):
    dist = pd.MatrixWeibull(pd.Erlang(1, 2.0), 3.0)
    self.assert_close(dist.hazard_function(300.0), 2.0 * 3.0 * 300.0**2, 1e-13)
    counts = pd.NegativeBinomialFailures(1, 1e-10)
    self.assert_close(counts.hazard_function(1e9), 1e-10, 1e-9)

  def test_times_near_the_smallest_normal_number(self):
    dist = pd.MatrixWeibull(pd.Erlang(2, 1.0), 2.0)
    values = onp.asarray([1e-150, 1e-160])
    expected = math.log(2.0) + 3.0 * onp.log(values)
    self.assert_close(dist.log_prob(values), expected, 1e-14)
    least = onp.finfo(onp.float64).tiny
    plain = pd.MatrixWeibull(pd.Erlang(1, 2.0), 1.0)
    self.assert_close(plain.log_prob(least), math.log(2.0), 1e-14)

  def test_an_atom_that_is_truncated(self):
    base = pd.ZeroInflated(pd.Hypoexponential([1.0]), 0.5)
    whole = pd.TruncatedPhaseType(base, 0.0, math.log(2.0))
    self.assert_close(whole.cdf([0.0, math.log(2.0)]), [2 / 3, 1.0], 1e-14)
    beyond = pd.TruncatedPhaseType(base, 0.5)
    self.assert_close(beyond.log_survival_function(1.5), -1.0, 1e-13)
    self.assert_close(beyond.cdf([0.0, 0.25, 0.5]), [0.0, 0.0, 0.0])

  def test_moments_without_an_upper_bound(self):
    rates = onp.asarray([2.0, 2.0])
    dist = pd.TruncatedPhaseType(pd.Hypoexponential(rates[:1]), [0.0, 3.0])
    self.assert_close(dist.mean(), [0.5, 3.5], 1e-13)
    self.assert_close(dist.stddev(), onp.full(2, 0.5), 1e-13)
    trials = pd.TruncatedPhaseType(pd.NegativeBinomialTrials(1, 0.25), [1, 3])
    self.assert_close(trials.mean(), [4.0, 6.0], 1e-13)
    self.assert_close(trials.variance(), onp.full(2, 12.0), 1e-13)

  def test_moments_of_transformed_times(self):
    power = onp.asarray([[0.4], [1.0], [3.0]])
    dist = pd.MatrixWeibull(pd.Erlang(2, [1.0, 2.0]), power)
    scale = onp.asarray([1.0, 0.5]) ** (1 / power)
    mean = special.gamma(2 + 1 / power) * scale
    second = special.gamma(2 + 2 / power) * scale**2
    self.assert_close(dist.mean(), mean, 1e-9)
    self.assert_close(dist.variance(), second - mean**2, 1e-9)
    self.assert_close(dist.stddev(), onp.sqrt(second - mean**2), 1e-9)
    rates = onp.asarray([0.1, 2.0])
    gompertz = pd.MatrixGompertz(pd.Erlang(1, rates), 0.5)
    mean = onp.exp(rates / 0.5) * special.exp1(rates / 0.5) / 0.5
    self.assert_close(gompertz.mean(), mean, 1e-9)
    single = pd.MatrixWeibull(pd.Erlang(1, onp.float32(1.0)), 2.0)
    self.assert_close(single.mean(), math.gamma(1.5), 1e-5)
    inflated = pd.MatrixWeibull(pd.ZeroInflated(pd.Erlang(1, 1.0), 0.25), 1.0)
    self.assert_close(inflated.variance(), 1.5 - 0.75**2, 1e-9)

  def test_moments_that_cannot_be_seen_are_unknown(self):
    dist = pd.MatrixWeibull(pd.Erlang(1, 1.0), 0.02)
    self.assert_close(dist.mean(), math.nan)

  def test_moments_of_heavy_tails(self):
    rates = onp.asarray([0.5, 1.5, 4.0])
    dist = pd.MatrixPareto(pd.Erlang(1, rates), 3.0)
    self.assert_close(dist.mean(), [math.inf, 6.0, 1.0], 1e-13)
    self.assert_close(dist.variance()[1:], [math.inf, 2.0], 1e-12)

  def test_a_narrow_interval_far_out(self):
    dist = pd.TruncatedPhaseType(pd.Hypoexponential([1.0]), 600.0, 600.0 + 1e-9)
    width = (600.0 + 1e-9) - 600.0
    mass = -math.expm1(-width)
    self.assert_close(dist.log_prob(600.0), -math.log(mass), 1e-12)

  def test_the_residual_life_of_an_exponential_time(self):
    dist = pd.ResidualLife(pd.Hypoexponential([2.0]), [0.0, 1.0, 300.0])
    self.assert_close(dist.mean(), onp.full(3, 0.5), 1e-13)
    late = pd.ResidualLife(pd.Hypoexponential([2.0]), 1e9)
    self.assert_close(late.log_prob(1.0), math.log(2.0) - 2.0, 1e-13)
    self.assert_close(late.mean(), 0.5, 1e-13)
    # The residual life of an absorbed chain is undefined.
    gone = pd.ResidualLife(pd.DiscretePhaseType([1.0], [[0.0]]), 1.0)
    self.assert_close(gone.log_prob(1.0), math.nan)


if __name__ == "__main__":
  absltest.main()
