"""Moments of functions that grow like exponentials."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case
from tests.oracle import family_oracle as oracle

MODE = "numpy"
_BASES = ("exponential", "erlang", "mixture", "atom")
_LOG_LOGISTIC = [(base, k) for base in _BASES for k in (0.75, 1.0, 3.5)]
_LOG_NORMAL = [(base, k) for base in _BASES for k in (1.2, 2.0, 6.0)]
if MODE != "numpy":
  # Each is compiled, and all share one source.
  _BASES = _BASES[2:3]
  _LOG_LOGISTIC, _LOG_NORMAL = _LOG_LOGISTIC[6:7], _LOG_NORMAL[7:8]


def _of(name):
  """Returns a distribution, its density beyond zero, and its decay rate."""
  exact = [mpmath.mpf(r) for r in (4.25, 9.0)]
  if name == "exponential":
    return pd.Hypoexponential([4.25]), oracle.exponential(exact[0]), 4.25
  if name == "erlang":
    return pd.Erlang(3, 9.0), oracle.erlang(3, exact[1]), 9.0
  if name == "atom":
    law = oracle.mixture([0.75], [oracle.erlang(3, exact[1])])
    return pd.ZeroInflated(pd.Erlang(3, 9.0), 0.25), law, 9.0
  law = oracle.mixture([0.75, 0.25], [oracle.exponential(r) for r in exact])
  return pd.Hyperexponential([0.75, 0.25], [4.25, 9.0]), law, 4.25


def _expected(law, function):
  """Computes E g(X), g(0) = 0."""
  ends = [0, 1e-3, 0.1, 1, 4, 16, 64, 256, 1024, 4096]
  return mpmath.quad(lambda x: function(x) * law.prob(x), ends)


def _expected_variance(law, function, base):
  mean = _expected(law, function)
  found = _expected(law, lambda x: (function(x) - mean) ** 2)
  return float(found + (mean**2 / 4 if base == "atom" else 0))


class HeavyMomentsTest(test_case.TestCase):
  """Compares with integrals in many digits, and closed forms."""

  @parameterized.parameters(*((base,) for base in _BASES))
  def test_pareto(self, name):
    base, law, decay = _of(name)
    dist = pd.MatrixPareto(base, 2.0)
    for k in (1, 3, 4, 5, 9):
      expected = math.inf
      if k < decay:
        with mpmath.workdps(30):
          expected = float(
            _expected(law, lambda x, k=k: (2 * mpmath.expm1(x)) ** k)
          )
      self.assert_close(dist.moment(k), expected, 1e-11)

  @parameterized.parameters(*_LOG_LOGISTIC)
  def test_log_logistic(self, name, power):
    base, law, decay = _of(name)
    dist = pd.MatrixLogLogistic(base, 2.0, power)

    def value(x, k):
      return 2**k * mpmath.expm1(x) ** (k / mpmath.mpf(power))

    for k in (1, 2, 3, 5):
      expected = math.inf
      if k / power < decay:
        with mpmath.workdps(30):
          expected = float(_expected(law, lambda x, k=k: value(x, k)))
      self.assert_close(dist.moment(k), expected, 1e-11)
    variance = math.inf
    if 2 / power < decay:
      with mpmath.workdps(30):
        variance = _expected_variance(law, lambda x: value(x, 1), name)
    self.assert_close(dist.mean(), dist.moment(1), 1e-14)
    self.assert_close(dist.variance(), variance, 1e-11)
    self.assert_close(dist.stddev(), math.sqrt(variance), 1e-11)

  @parameterized.parameters(*_LOG_NORMAL)
  def test_log_normal(self, name, power):
    base, law, _ = _of(name)
    dist = pd.MatrixLogNormal(base, power)

    def value(x):
      return mpmath.expm1(x ** (1 / mpmath.mpf(power)))

    with mpmath.workdps(30):
      for k in (1, 2, 3, 6):
        expected = float(_expected(law, lambda x, k=k: value(x) ** k))
        self.assert_close(dist.moment(k), expected, 1e-11)
      variance = _expected_variance(law, value, name)
    self.assert_close(dist.mean(), dist.moment(1), 1e-14)
    self.assert_close(dist.variance(), variance, 1e-11)

  def test_near_the_index(self):
    # r B(q + 1, r - q) for one phase.
    base = pd.Hypoexponential([[3.0 + 1e-6], [3.0], [2.5], [1e3]])
    found = pd.MatrixPareto(base, 1.0).moment(3)
    with mpmath.workdps(30):
      expected = [
        float(mpmath.mpf(r) * mpmath.beta(4, mpmath.mpf(r) - 3))
        for r in (3.0 + 1e-6, 1e3)
      ]
    self.assert_close(found[0], expected[0], 1e-8)
    self.assert_close(found[1:], [math.inf, math.inf, expected[1]], 1e-11)

  @test_case.of_bad_values
  def test_that_there_are_none(self):
    base = pd.Erlang(2, 9.0)
    dist = pd.MatrixLogNormal(base, [0.5, 1.0, 2.0, -1.0])
    found = self.host(dist.mean())
    self.assertEqual(found[0], math.inf)
    self.assertTrue(onp.isnan(found[1]) and onp.isnan(found[3]))
    self.assertTrue(onp.isfinite(found[2]))
    bad = pd.MatrixLogLogistic(base, [1.0, -1.0, 1.0], [math.nan, 1.0, 1.0])
    self.assertEqual(
      onp.isnan(self.host(bad.mean())).tolist(), [True, True, False]
    )
    endless = pd.PhaseType([1.0, 0.0], [[-2.0, 1.0], [0.0, 0.0]])
    self.assert_close(pd.MatrixPareto(endless, 1.0).moment(3), math.inf)

  def test_scales(self):
    base = pd.Erlang(2, 9.0)
    one = self.host(pd.MatrixPareto(base, 1.0).moment(3))
    for scale in (1e-90, 1e90, 1e200):
      found = pd.MatrixPareto(base, scale).moment(3)
      expected = one * scale**2 * scale if scale < 1e100 else math.inf
      self.assert_close(found, expected, 1e-13)

  def test_single_precision(self):
    narrow = pd.Erlang(2, onp.float32(9.0))
    wide = pd.Erlang(2, 9.0)
    for cls, k in ((pd.MatrixPareto, 3), (pd.MatrixLogNormal, 2)):
      found = cls(narrow, onp.float32(2.0)).moment(k)
      self.assertEqual(self.host(found).dtype, onp.float32)
      self.assert_close(found, cls(wide, 2.0).moment(k), 1e-4)

  def test_derivatives(self):

    def mean(rate, power):
      return pd.MatrixLogLogistic(pd.Erlang(1, rate), 1.0, power).mean()

    _, found = gradients.value_and_gradient(
      mean, np.asarray(4.25), np.asarray(1.5)
    )
    with mpmath.workdps(30):

      def exact(rate, power):
        return rate * mpmath.beta(1 / power + 1, rate - 1 / power)

      for i, slope in enumerate(found):
        order = (1 - i, i)
        expected = mpmath.diff(exact, (4.25, 1.5), order)
        self.assert_close(slope, float(expected), 1e-9)


if __name__ == "__main__":
  absltest.main()
