"""Mean, variance and moments of distributions truncated above."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from phasic.math.quadrature import numerical_distributions
from tests.helpers import test_case
from tests.oracle import family_oracle as oracle

MODE = "numpy"
_INTERVALS = [
  ("erlang", 0.0, 1.0),
  ("erlang", 30.0, 64.0),
  ("erlang", 0.0, 1e-6),
  ("erlang", 5.0, 5.0 + 2.0**-30),
  ("erlang", 0.0, 400.0),
  ("erlang_30", 0.0, 10.0),
  ("erlang_30", 30.0, 31.0),
  ("hyperexponential", 1.0, 500.0),
  ("hypoexponential", 0.25, 3.0),
  ("with_atom", 0.0, 2.0),
  ("with_atom", 0.5, 2.0),
]
_COUNTS = [
  ("trials", 3.0, 9.0),
  ("trials", 200.0, 210.0),
  ("trials", 7.0, 7.0),
  ("rare", 3.0, 5000.0),
  ("failures", 0.0, 4.0),
  ("failures", 2.0, 300.0),
]
if MODE != "numpy":
  _INTERVALS, _COUNTS = (
    _INTERVALS[:2],
    _COUNTS[:1],
  )  # All substrates share one source.


def _of(name):
  """Returns a distribution, and its exact density beyond zero."""
  rate, prob = mpmath.mpf(0.8), mpmath.mpf(0.3)
  if name == "erlang":
    return pd.Erlang(2, 0.8), oracle.erlang(2, rate)
  if name == "erlang_30":
    return pd.Erlang(30, 0.8), oracle.erlang(30, rate)
  if name == "hyperexponential":
    law = oracle.mixture(
      [0.75, 0.25], [oracle.exponential(mpmath.mpf(r)) for r in (3.0, 0.01)]
    )
    return pd.Hyperexponential([0.75, 0.25], [3.0, 0.01]), law
  if name == "hypoexponential":
    rates = [2.0, 0.5, 5.0]
    law = oracle.hypoexponential([mpmath.mpf(r) for r in rates])
    return pd.Hypoexponential(rates), law
  if name == "with_atom":
    law = oracle.mixture([0.75], [oracle.erlang(2, rate)])
    return pd.ZeroInflated(pd.Erlang(2, 0.8), 0.25), law
  if name == "trials":
    return (
      pd.NegativeBinomialTrials(3, 0.3),
      oracle.negative_binomial(3, prob, False),
    )
  if name == "rare":
    law = oracle.negative_binomial(3, mpmath.mpf(0.003), False)
    return pd.NegativeBinomialTrials(3, 0.003), law
  return (
    pd.NegativeBinomialFailures(4, 0.3),
    oracle.negative_binomial(4, prob, True),
  )


def _statistics(expect):
  """Computes mean, variance and moments of order three and five."""
  mean = expect(lambda x: x)
  return [
    float(x)
    for x in (
      mean,
      expect(lambda x: (x - mean) ** 2),
      expect(lambda x: x**3),
      expect(lambda x: x**5),
    )
  ]


def _found(dist):
  return [dist.mean(), dist.variance(), dist.moment(3), dist.moment(5)]


class TruncatedMomentsTest(test_case.TestCase):
  """Compares with integrals and sums in many digits."""

  @parameterized.parameters(*_INTERVALS)
  def test_times(self, name, low, high):
    with mpmath.workdps(40):
      base, law = _of(name)
      points = mpmath.linspace(low, high, 33)
      atom = mpmath.mpf(0.25) if name == "with_atom" and low == 0 else 0

      def integral(function):
        return mpmath.quad(lambda x: function(x) * law.prob(x), points)

      total = integral(lambda x: 1) + atom

      def expect(function):
        return (integral(function) + atom * function(mpmath.mpf(0))) / total

      expected = _statistics(expect)
    found = _found(pd.TruncatedPhaseType(base, low, high))
    for x, y in zip(found, expected, strict=True):
      self.assert_close(x, y, 1e-12)

  @parameterized.parameters(*_COUNTS)
  def test_counts(self, name, low, high):
    with mpmath.workdps(40):
      base, law = _of(name)
      counts = [mpmath.mpf(k) for k in range(int(low), int(high) + 1)]
      masses = [law.prob(k) for k in counts]
      total = mpmath.fsum(masses)

      def expect(function):
        return (
          mpmath.fsum(
            function(k) * x for k, x in zip(counts, masses, strict=True)
          )
          / total
        )

      expected = _statistics(expect)
    found = _found(pd.TruncatedPhaseType(base, low, high))
    for x, y in zip(found, expected, strict=True):
      self.assert_close(x, y, 1e-12, 1e-15 if low == high else 0.0)

  def test_one_count_alone(self):
    counts = onp.asarray([2.0, 3.0, 50.0])
    trials = pd.NegativeBinomialTrials(2, 0.5)
    dist = pd.TruncatedPhaseType(trials, counts, counts)
    self.assert_close(dist.mean(), counts, 1e-14)
    self.assert_close(dist.stddev(), onp.zeros(3), atol=1e-15)
    self.assertTrue(onp.all(self.host(dist.variance()) >= 0.0))

  @test_case.of_bad_values
  def test_batches(self):
    base = pd.Hypoexponential([2.0])
    dist = pd.TruncatedPhaseType(
      base, [0.0, 1.0, 1.0, 3.0, 0.0], [1.0, 2.0, math.inf, 2.0, 1e-200]
    )
    mean = 0.5 - 1.0 / math.expm1(2.0)
    expected = [mean, 1.0 + mean, 1.5, math.nan, 0.5e-200]
    self.assert_close(dist.mean(), expected, 1e-12)
    with mpmath.workdps(30):
      w = mpmath.mpf(1)
      variance = 0.25 - w * mpmath.exp(-2) / mpmath.expm1(-2) ** 2
    expected = [float(variance)] * 2 + [0.25, math.nan]
    self.assert_close(dist.variance()[:4], expected, 1e-12)
    self.assert_close(dist.stddev()[:4], onp.sqrt(onp.asarray(expected)), 1e-12)
    self.assert_close(dist.moment(1), dist.mean(), 1e-14)

  def test_single_precision(self):
    base = pd.Hypoexponential(onp.asarray([2.0, 0.5], onp.float32))
    narrow = pd.TruncatedPhaseType(base, onp.float32(0.5), onp.float32(2.0))
    wide = pd.TruncatedPhaseType(pd.Hypoexponential([2.0, 0.5]), 0.5, 2.0)
    for x, y in zip(_found(narrow), _found(wide), strict=True):
      self.assertEqual(self.host(x).dtype, onp.float32)
      self.assert_close(x, y, 1e-5)

  def test_derivatives(self):

    def total(rate, low, high):
      base = pd.Erlang(1, rate)
      dist = pd.TruncatedPhaseType(base, low, high)
      return dist.mean() + 3.0 * dist.variance()

    _, found = gradients.value_and_gradient(
      total, np.asarray(0.75), np.asarray(0.5), np.asarray(2.5)
    )

    def exact(rate, low, high):
      x = rate * (high - low)
      mean = low + 1 / rate - (high - low) / mpmath.expm1(x)
      part = (high - low) ** 2 * mpmath.exp(x) / mpmath.expm1(x) ** 2
      return mean + 3 * (1 / rate**2 - part)

    with mpmath.workdps(40):
      for i, slope in enumerate(found):
        order = tuple(int(i == j) for j in range(3))
        expected = mpmath.diff(exact, (0.75, 0.5, 2.5), order)
        self.assert_close(slope, float(expected), 1e-10)


class TrapTest(test_case.TestCase):
  def test_derivatives_of_chains_that_may_not_end(self):
    # What ends does so at an exponential time of rate 2 r.
    rate, length = 0.7, 1.5

    def mean(rate):
      rows = [np.stack([-2.0 * rate, rate]), np.zeros_like(rate) * onp.ones(2)]
      dist = pd.PhaseType([1.0, 0.0], np.stack(rows))
      return pd.TruncatedPhaseType(dist, 0.5, 0.5 + length).mean()

    left = math.exp(-2.0 * rate * length)
    found, slope = gradients.value_and_gradient(mean, np.asarray(rate))
    exact = 0.5 + 0.5 / rate - length * left / (1.0 - left)
    self.assert_close(found, exact, 1e-13)
    exact = 2.0 * length**2 * left / (1.0 - left) ** 2 - 0.5 / rate**2
    self.assert_close(slope, exact, 1e-12)


class LatestTimesTest(test_case.TestCase):
  def test_rates_of_a_matrix_count_at_most_twice(self):
    # All phases lead to the last one, and each is left at rate one.
    rates = onp.zeros((9, 9))
    rates[:, 8] = 1.0
    start, exits = onp.full(9, 1.0 / 9.0), onp.eye(9)[8]
    matrix = np.asarray(rates - onp.eye(9) * [*[1.0] * 8, 2.0])
    found = numerical_distributions.latest(
      (np.asarray(start), matrix, exits, None)
    )
    most = numerical_distributions.MOST
    self.assertBetween(float(self.host(found)), most / 2.0, most)


if __name__ == "__main__":
  absltest.main()
