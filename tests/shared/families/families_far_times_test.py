"""Transformed times that are far from one, and statistics of them."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
_VALUES = (1e-290, 1e-20, 1e-3, 3.0, 40.0, 1e20, 1e300)


def _gompertz(b):
  return lambda y: mpmath.expm1(b * y) / b


def _pareto(c):
  return lambda y: mpmath.log1p(y / c)


def _log_logistic(c, k):
  return lambda y: mpmath.log1p((y / c) ** k)


# Families, parameters, h, and values with an h(y) that is a number.
CASES = (
  (pd.MatrixGompertz, (1e-200,), _gompertz, (1e-290, 1e-20, 3.0, 1e3)),
  (pd.MatrixGompertz, (1e-20,), _gompertz, (1e-290, 1e-20, 3.0, 1e3)),
  (pd.MatrixGompertz, (1e300,), _gompertz, (1e-300, 6.9e-298, 7.2e-298)),
  (pd.MatrixPareto, (1e-200,), _pareto, _VALUES),
  (pd.MatrixPareto, (1e200,), _pareto, (1e20, 1e200, 1e300)),
  (pd.MatrixLogLogistic, (1e-200, 1.5), _log_logistic, (1e-300, *_VALUES[1:])),
  (pd.MatrixLogLogistic, (1e200, 0.5), _log_logistic, _VALUES),
)
if MODE == "jax":
  CASES = CASES[2:4]


def _logs(inverse, value):
  """Computes log f, log P(X > y) and log P(X <= y) of two stages."""
  with mpmath.workdps(700):
    y = mpmath.mpf(value)
    x = inverse(y)
    survival = (1 + x) * mpmath.exp(-x)
    density = x * mpmath.exp(-x) * mpmath.diff(inverse, y, h=y * 1e-200)
    logs = [mpmath.log(z) for z in (density, survival, 1 - survival)]
    return [float(z) for z in logs]


class FarTimesTest(test_case.TestCase):
  """Tests that no intermediate result overflows."""

  @parameterized.parameters(*CASES)
  def test_values(self, family, parameters, law, values):
    dist = family(pd.Erlang(2, 1.0), *parameters)
    inverse = law(*(mpmath.mpf(x) for x in parameters))
    expected = onp.asarray([_logs(inverse, y) for y in values])
    values = onp.asarray(values)
    self.assert_close(dist.log_prob(values), expected[:, 0], 1e-12)
    found = dist.log_survival_function(values)
    self.assert_close(found, expected[:, 1], 1e-12, 1e-14)
    self.assert_close(dist.log_cdf(values), expected[:, 2], 1e-12, 1e-14)
    # Round trips need digits in the distribution function.
    inner = (expected[:, 2] < -1e-3) & (expected[:, 2] > -700.0)
    if onp.any(inner):
      found = dist.quantile_log_cdf(expected[inner, 2])
      self.assert_close(found, values[inner], 1e-9)

  def test_nothing_is_left(self):
    values = onp.asarray([1e2, 1e10, 1e100, 1e300, math.inf])
    base = pd.Erlang(2, 1.0)
    for dist in (pd.MatrixWeibull(base, 2.0), pd.MatrixGompertz(base, 0.5)):
      self.assert_close(dist.cdf(values), onp.ones(5))
      self.assert_close(dist.survival_function(values), onp.zeros(5))
      self.assert_close(dist.log_cdf(values), onp.zeros(5))
      found = self.host(dist.log_survival_function(values))
      self.assertEqual(found[3], -math.inf)
      self.assertEqual(found[4], -math.inf)

  def test_something_is_left(self):
    # h(y) overflows, but a phase lasts longer.
    base = pd.Hyperexponential([0.5, 0.5], [1.0, 1e-290])
    dist = pd.MatrixWeibull(base, 2.0)
    self.assert_close(dist.cdf([1e3, 1e155]), [0.5, math.nan], 1e-12)
    self.assert_close(dist.log_survival_function(1e155), math.nan)
    self.assert_close(dist.log_prob(1e155), math.nan)
    self.assert_close(dist.hazard_function(1e155), math.nan)

  def _check_logs(self, dist, values, logs):
    """Checks all methods, given log f, log P(X > y) and log P(X <= y)."""
    log_prob, log_survival, log_cdf = logs
    self.assert_close(dist.log_prob(values), log_prob, 1e-12)
    self.assert_close(dist.prob(values), onp.exp(log_prob), 1e-11)
    self.assert_close(dist.log_cdf(values), log_cdf, 1e-12, 4e-16)
    self.assert_close(dist.cdf(values), onp.exp(log_cdf), 1e-11)
    survival = onp.exp(log_survival)
    self.assert_close(dist.survival_function(values), survival, 1e-12)
    found = dist.log_survival_function(values)
    self.assert_close(found, log_survival, 1e-12)
    self.assert_close(dist.cumulative_hazard(values), -log_survival, 1e-12)

  @parameterized.parameters(
    (1, 1.0, 5.0), (1, 0.25, 3.0), (3, 2.0, 4.0), (2, 1e-5, 9.0), (2, 1e9, 2.5)
  )
  def test_times_that_underflow(self, count, rate, power):
    # With x = r y^k the density of n stages is k x^n / (y (n - 1)!) then.
    y = onp.asarray([1e-300, 1e-200, 1e-130])
    log_x = math.log(rate) + power * onp.log(y)
    log_prob = math.log(power) + count * log_x - onp.log(y)
    log_prob -= math.lgamma(count)
    log_cdf = count * log_x - math.lgamma(count + 1)
    dist = pd.MatrixWeibull(pd.Erlang(count, rate), power)
    self._check_logs(dist, y, (log_prob, 0.0 * y, log_cdf))
    self.assert_close(dist.log_hazard_function(y), log_prob, 1e-12)
    # Of the others h is a power of y near zero.
    for other in (
      pd.MatrixLogLogistic(pd.Erlang(count, rate), 1.0, power),
      pd.MatrixLogNormal(pd.Erlang(count, rate), power),
    ):
      self._check_logs(other, y, (log_prob, 0.0 * y, log_cdf))

  def test_times_that_underflow_beside_an_atom(self):
    base = pd.ZeroInflated(pd.Hypoexponential([1.0, 3.0]), 0.25)
    y = onp.asarray([1e-300, 1e-100])
    ones = onp.ones(2)
    log_prob = math.log(0.75 * 3 * 4) + 7.0 * onp.log(y)
    logs = (log_prob, math.log(0.75) * ones, math.log(0.25) * ones)
    self._check_logs(pd.MatrixWeibull(base, 4.0), y, logs)

  @parameterized.parameters((1, 1.0), (3, 2.0), (2, 0.5))
  def test_times_that_are_too_late(self, count, rate):
    b = 0.5
    dist = pd.MatrixGompertz(pd.Erlang(count, rate), b)
    y = onp.asarray([60.0, 90.0, 200.0, 1200.0, 1500.0])
    with mpmath.workdps(700):
      x = [rate * mpmath.expm1(mpmath.mpf(b) * float(v)) / b for v in y]
      sums = [sum(z**i / mpmath.factorial(i) for i in range(count)) for z in x]
      log_survival = [mpmath.log(s) - z for s, z in zip(sums, x, strict=True)]
      log_prob = [
        (count - 1) * mpmath.log(z) - z - mpmath.loggamma(count) for z in x
      ]
      log_prob = onp.asarray([float(z) for z in log_prob])
      log_prob += math.log(rate) + b * y
      log_survival = onp.asarray([float(z) for z in log_survival])
    self.assertEqual(log_survival[-1], -math.inf)
    self._check_logs(dist, y, (log_prob, log_survival, 0.0 * y))
    log_hazard = math.log(rate) + b * y
    self.assert_close(dist.log_hazard_function(y), log_hazard, 1e-12)

  def test_times_that_are_too_late_without_an_end(self):
    # The second phase, which nobody enters, has the exit.
    rates = [[0.0, 0.0], [3.0, 0.0]]
    base = pd.PhaseType([1.0, 0.0], rates, exit_rates=[0.0, 1.0])
    dist = pd.MatrixGompertz(base, 2.0)
    y = onp.asarray([1.0, 40.0, 90.0, onp.nan])
    for method, value in (
      ("prob", 0.0),
      ("log_prob", -onp.inf),
      ("cdf", 0.0),
      ("survival_function", 1.0),
      ("log_survival_function", 0.0),
    ):
      with self.subTest(method):
        expected = onp.asarray([value, value, value, onp.nan])
        self.assert_close(getattr(dist, method)(y), expected, 4e-16, 4e-16)

  def test_single_precision_at_times_out_of_range(self):
    single = lambda x: onp.asarray(x, onp.float32)
    base = pd.Erlang(2, single(1.5))
    y = single([0.0, 1e-30, 0.3, 5.0, 1e3, 1e30, math.inf, math.nan, -1.0])
    for law in (pd.MatrixWeibull, pd.MatrixGompertz, pd.MatrixPareto):
      dist, wide = law(base, single(1.25)), law(pd.Erlang(2, 1.5), 1.25)
      for method in ("cdf", "survival_function", "log_survival_function"):
        with self.subTest(f"{law.__name__}.{method}"):
          found = getattr(dist, method)(y)
          self.assertEqual(self.host(found).dtype, onp.float32)
          expected = getattr(wide, method)(onp.asarray(y, float))
          self.assert_close(found, single(expected), 1e-5, 1e-6)

  def test_derivatives_where_times_are_out_of_range(self):
    rate, power = onp.asarray(2.0), onp.asarray(5.0)

    def weibull(method, value):
      def compute(rate, power, value):
        dist = pd.MatrixWeibull(pd.Erlang(1, rate), power)
        return getattr(dist, method)(value)

      arguments = rate, power, onp.asarray(value)
      return gradients.value_and_gradient(compute, *arguments)[1]

    # log f = log(r k) + (k - 1) log y - r y^k and log P(X > y) = -r y^k.
    for y in (1e-80, 1e10, 1e40):
      z = y**5.0
      log = math.log(y)
      expected = 0.5 - z, 0.2 + log - 2 * z * log, 4 / y - 10 * z / y
      for found, truth in zip(weibull("log_prob", y), expected, strict=True):
        self.assert_close(found, truth, 1e-12)
    expected = 0.5, 0.2 + math.log(1e-80), 4e80
    found = weibull("log_hazard_function", 1e-80)
    for slope, truth in zip(found, expected, strict=True):
      self.assert_close(slope, truth, 1e-12)
    z = 1e10**5.0
    expected = -z, -2 * z * math.log(1e10), -10 * z / 1e10
    found = weibull("log_survival_function", 1e10)
    for slope, truth in zip(found, expected, strict=True):
      self.assert_close(slope, truth, 1e-12)
    # The distribution function underflows, but not all of its slopes would.
    for slope in weibull("cdf", 1e-80):
      self.assert_close(slope, math.nan)

  @parameterized.parameters(1e-80, 1e30)
  def test_out_of_range_in_a_batch(self, y):
    base = pd.Erlang(2, onp.asarray([1.0, 2.0]))
    powers = onp.asarray([[1.0], [6.0]])
    found = self.host(pd.MatrixWeibull(base, powers).log_prob(y))
    self.assertEqual(onp.shape(found), (2, 2))
    for i, power in enumerate((1.0, 6.0)):
      for j, rate in enumerate((1.0, 2.0)):
        log_x = math.log(rate) + power * math.log(y)
        expected = math.log(power) + 2 * log_x - math.log(y) - math.exp(log_x)
        self.assert_close(found[i, j], expected, 1e-12)


class ParetoMomentsTest(test_case.TestCase):
  """Tests moments of small and large times."""

  @parameterized.parameters(
    (1, 3.0), (2, 1e6), (3, 1e12), (5, 2.5), (4, 1e100), (3, 1e200)
  )
  def test_erlang(self, count, rate):
    dist = pd.MatrixPareto(pd.Erlang(count, rate), 1.5)
    with mpmath.workdps(900):
      c, r = mpmath.mpf(1.5), mpmath.mpf(rate)
      first = (r / (r - 1)) ** count
      variance = c**2 * ((r / (r - 2)) ** count - first**2)
      root = float(mpmath.sqrt(variance))
      mean, variance = float(c * (first - 1)), float(variance)
    self.assert_close(dist.mean(), mean, 1e-13)
    self.assert_close(dist.variance(), variance, 1e-12)
    self.assert_close(dist.stddev(), root, 1e-12)

  def test_atom_and_mixture(self):
    base = pd.Hyperexponential([0.5, 0.5], [3.0, 10.0])
    dist = pd.MatrixPareto(pd.ZeroInflated(base, 0.25), [2.0, 1e-100])
    first = 0.25 + 0.375 * (3 / 2 + 10 / 9)
    second = 0.25 + 0.375 * (3 + 10 / 8)
    scale = onp.asarray([2.0, 1e-100])
    self.assert_close(dist.mean(), scale * (first - 1), 1e-13)
    expected = scale**2 * (second - first**2)
    self.assert_close(dist.variance(), expected, 1e-12)

  def test_bounds(self):
    rates = onp.asarray([1.0, 1.5, 2.0, 4.0])
    dist = pd.MatrixPareto(pd.Erlang(1, rates), 3.0)
    self.assert_close(dist.mean(), [math.inf, 6.0, 3.0, 1.0], 1e-13)
    expected = [math.inf, math.inf, math.inf, 2.0]
    self.assert_close(dist.variance(), expected, 1e-12)
    self.assert_close(dist.stddev(), onp.sqrt(expected), 1e-12)

  def test_moments_that_are_too_large_are_unknown(self):
    base, small = pd.Erlang(40, 1.0), 2.0**-26
    found = base.moment_generating_function([0.5, 1.0 - small])
    self.assert_close(found, [2.0**40, math.nan], 1e-13)
    far = pd.MatrixPareto(pd.Erlang(40, 1.0 + small), 1.0)
    self.assert_close(far.mean(), math.nan)

  def test_derivatives(self):
    rate = onp.asarray(4.0)

    def mean(rate):
      return pd.MatrixPareto(pd.Erlang(2, rate), 1.5).mean()

    def variance(rate):
      return pd.MatrixPareto(pd.Erlang(2, rate), 1.5).variance()

    _, slope = gradients.value_and_gradient(mean, rate)
    self.assert_close(slope, -1.5 * 2 * 4.0 / 3.0**3, 1e-12)
    _, slope = gradients.value_and_gradient(variance, rate)
    # Of (r / (r - 2))^2 - (r / (r - 1))^4.
    expected = -4 * 4.0 / 2.0**3 + 4 * 4.0**3 / 3.0**5
    self.assert_close(slope, 1.5**2 * expected, 1e-11)


if __name__ == "__main__":
  absltest.main()
