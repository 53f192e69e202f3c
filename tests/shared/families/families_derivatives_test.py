"""Derivatives of the families, against formulas."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

_DIGITS = 300
_INF, _NAN = math.inf, math.nan


def _slope(function, x):
  """Computes the derivative of a function with many digits."""
  with mpmath.workdps(_DIGITS):
    return float(mpmath.diff(function, x))


_OF_RATE = {
  "weibull": lambda rate: pd.MatrixWeibull(pd.Erlang(1, rate), 1.0),
  "steep": lambda rate: pd.MatrixWeibull(pd.Erlang(1, rate), 1.5),
  "log_logistic": lambda rate: pd.MatrixLogLogistic(
    pd.Erlang(1, rate), 2.0, 1.0
  ),
  "gompertz": lambda rate: pd.MatrixGompertz(pd.Erlang(1, rate), 0.5),
  "truncated": lambda rate: pd.TruncatedPhaseType(pd.Erlang(1, rate), 0.5, 3.0),
}


class FamiliesDerivativesTest(test_case.TestCase):
  def setUp(self):
    super().setUp()

  def test_second_derivatives(self):
    def slope(rate):
      return gradients.value_and_gradient(
        lambda r: pd.Erlang(3, r).log_prob(2.0), rate
      )[1]

    _, found = gradients.value_and_gradient(slope, np.asarray(onp.asarray(1.7)))
    self.assert_close(found, -3 / 1.7**2, 1e-12)

  def test_samples(self):
    # An exponential time of rate r is one of rate one, divided by r.
    def sample(rate):
      base = pd.Hypoexponential(rate[None])
      return pd.MatrixWeibull(base, 2.0).sample(4, seed=3)

    rate = np.asarray(onp.asarray(1.7))
    x, found = gradients.value_and_gradient(sample, rate)
    self.assert_close(found, onp.sum(self.host(x)) * (-0.5 / 1.7), 1e-11)

  @parameterized.parameters(
    ("weibull", -0.5), ("gompertz", -2.5), ("truncated", 0.25), ("truncated", 4)
  )
  def test_nothing_outside_of_the_support(self, family, time):
    # log 0 has no derivative, like a phase-type density below zero.
    def log_prob(rate, time):
      return _OF_RATE[family](rate).log_prob(time)

    at = [np.asarray(onp.asarray(x)) for x in (1.7, float(time))]
    value, slopes = gradients.value_and_gradient(log_prob, *at)
    self.assertEqual(float(value), -onp.inf)
    ones, zeros = [np.ones_like(x) for x in at], [np.zeros_like(x) for x in at]
    for i, slope in enumerate(slopes):
      along = [*zeros[:i], ones[i], *zeros[i + 1 :]]
      _, forward = gradients.jvp(log_prob, at, along)
      self.assertTrue(onp.isnan(float(slope)), i)
      self.assertTrue(onp.isnan(float(forward)), i)

  @parameterized.parameters(
    ("gompertz", 1.7), ("weibull", 1.7), ("log_logistic", 0.85), ("steep", 0.0)
  )
  def test_at_the_end_of_the_support(self, family, density):
    def cdf(rate, time):
      return _OF_RATE[family](rate).cdf(time)

    for time, rate, wanted in ((-1.0, 1.7, 0.0), (0.0, 1.7, density)):
      at = [np.asarray(onp.asarray(x)) for x in (rate, time)]
      _, slopes = gradients.value_and_gradient(cdf, *at)
      self.assert_close(slopes[1], wanted, 1e-14)
      self.assert_close(slopes[0], 0.0, 1e-14)

  @parameterized.parameters(
    (0.0, None, 0.25), (0.5, None, 0.75), (0.5, 3.0, 0.25), (0.5, 3.0, 0.75)
  )
  def test_quantiles(self, low, high, u):
    def quantile(rate):
      base = pd.Hypoexponential(rate[None])
      return pd.TruncatedPhaseType(base, low, high).quantile(u)

    def exact(rate):
      last = 0 if high is None else mpmath.exp(-rate * high)
      left = (1 - u) * mpmath.exp(-rate * low) + u * last
      return -mpmath.log(left) / rate

    x, found = gradients.value_and_gradient(
      quantile, np.asarray(onp.asarray(1.7))
    )
    self.assert_close(x, float(exact(1.7)), 1e-13)
    self.assert_close(found, _slope(exact, 1.7), 1e-10)

  @parameterized.parameters(1.0, 0.02, 1e-3, 1e-9, 1e-15, 1e-30)
  def test_slow_growth(self, growth):
    # Near the exponential law, whose rate does not grow.
    def survival(b):
      return -3 * mpmath.expm1(b * 1.5) / b

    def quantile(b):
      return mpmath.log1p(-b * mpmath.log(mpmath.mpf(0.25)) / 3) / b

    def dist(b):
      return pd.MatrixGompertz(pd.Erlang(1, 3.0), b)

    b = np.asarray(onp.asarray(growth))
    for function, exact in (
      (lambda b: dist(b).log_survival_function(1.5), survival),
      (lambda b: dist(b).quantile(0.75), quantile),
    ):
      value, slope = gradients.value_and_gradient(function, b)
      self.assert_close(value, float(exact(mpmath.mpf(growth))), 1e-12)
      # The slope at zero, or where digits are left.
      near = mpmath.mpf(max(growth, 1e-20))
      self.assert_close(slope, _slope(exact, near), 1e-12)

  @parameterized.parameters(
    (pd.MatrixWeibull, 2.0, 1e200),
    (pd.MatrixGompertz, 0.5, 3e3),
    (pd.MatrixGompertz, 0.5, 100.0),
  )
  def test_nothing_is_left(self, family, parameter, late):
    x = np.asarray(onp.asarray(parameter))
    for name, expected in (("survival_function", 0.0), ("cdf", 1.0)):
      value, slope = gradients.value_and_gradient(
        lambda x, name=name: getattr(family(pd.Erlang(2, 1.0), x), name)(late),
        x,
      )
      self.assert_close(value, expected)
      self.assert_close(slope, 0.0)

  @parameterized.parameters(
    # With n stages before the end the cdf grows like C y^(n k).
    (1, 0.5, _INF),
    (1, 0.999, _INF),
    (1, 1.0, 3.0),
    (1, 1.5, 0.0),
    (2, 0.75, 0.0),
    (2, 1.0, 0.0),
    (2, 2.0, 0.0),
    (3, 0.75, 0.0),
    # Here the slope is 4.5, and inf: it is not computed.
    (2, 0.5, _NAN),
    (2, 0.25, _NAN),
  )
  def test_slopes_at_zero(self, stages, k, expected):
    for dist in (
      pd.MatrixWeibull(pd.Erlang(stages, 3.0), k),
      pd.MatrixLogLogistic(pd.Erlang(stages, 3.0), 1.0, k),
      pd.MatrixLogNormal(pd.Erlang(stages, 3.0), k),
    ):
      zero = np.asarray(onp.asarray(0.0))
      for method, sign in (("cdf", 1.0), ("survival_function", -1.0)):
        value, slope = gradients.value_and_gradient(getattr(dist, method), zero)
        self.assert_close(value, 0.5 - 0.5 * sign)
        self.assert_close(slope, sign * expected, 1e-14)
      # Others of a batch are not changed, nor are those in parameters.
      times = np.asarray(onp.asarray([0.0, 0.5, 2.0]))
      _, slopes = gradients.value_and_gradient(
        lambda t, dist=dist: np.sum(dist.cdf(t)), times
      )
      self.assert_close(self.host(slopes)[1:], dist.prob(times[1:]), 1e-12)

  @parameterized.parameters(0.5, 1.0, 2.0)
  def test_quantiles_of_zero_have_no_slope(self, k):
    # As those of X have none. With an atom they are constant.
    whole, zero = pd.Erlang(2, 3.0), np.asarray(onp.asarray(0.0))
    inflated = pd.ZeroInflated(whole, 0.25)
    for base, expected in ((whole, _NAN), (inflated, 0.0)):
      dist = pd.MatrixWeibull(base, k)
      for method in ("quantile", "quantile_log_survival"):
        for function in (getattr(base, method), getattr(dist, method)):
          value, slope = gradients.value_and_gradient(function, zero)
          self.assert_close(value, 0.0)
          self.assert_close(slope, expected)
      self.assert_close(dist.quantile([0.0, 1.0]), [0.0, _INF])

  def test_densities_at_zero(self):
    for k, expected in ((0.25, _NAN), (0.5, _NAN), (0.75, 0.0), (1.5, 0.0)):
      for dist in (
        pd.MatrixWeibull(pd.Erlang(2, 3.0), k),
        pd.MatrixLogLogistic(pd.Erlang(2, 3.0), 1.0, k),
        pd.MatrixLogNormal(pd.Erlang(2, 3.0), k),
      ):
        self.assert_close(dist.prob(0.0), expected)
        self.assert_close(dist.hazard_function(0.0), expected)
        self.assert_close(dist.prob([0.0, _INF]), [expected, 0.0])

  @parameterized.parameters(0.5, 1.0, 2.0)
  def test_slopes_in_parameters_at_zero(self, k):
    def value(rate, k):
      dist = pd.MatrixWeibull(pd.Erlang(1, rate), k)
      return dist.cdf(0.0) + dist.survival_function(0.0) + dist.quantile(0.0)

    x = [np.asarray(onp.asarray(v)) for v in (3.0, k)]
    _, slopes = gradients.value_and_gradient(value, *x)
    self.assert_close(slopes, [0.0, 0.0])

  def test_moments(self):
    rates = np.asarray(onp.asarray([2.0, 0.5]))
    _, found = gradients.value_and_gradient(
      lambda r: pd.Hypoexponential(r).mean(), rates
    )
    self.assert_close(found, [-0.25, -4.0], 1e-13)


if __name__ == "__main__":
  absltest.main()
