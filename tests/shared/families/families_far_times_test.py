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
      # The time is too large for the kernel, except at infinity.
      self.assertTrue(onp.isnan(found[3]))
      self.assertEqual(found[4], -math.inf)

  def test_something_is_left(self):
    # h(y) overflows, but a phase lasts longer.
    base = pd.Hyperexponential([0.5, 0.5], [1.0, 1e-290])
    dist = pd.MatrixWeibull(base, 2.0)
    self.assert_close(dist.cdf([1e3, 1e155]), [0.5, math.nan], 1e-12)


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
