"""Modes of unimodal distributions."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
_RATES = (
  (1.0, 2.0),
  (1e6, 1.0),
  (2.0, 0.3, 2.0, 5.0),
  (1.0, 1.0 + 2.0**-50, 1.0 - 2.0**-30),
  (1e-3, 1.0, 1e3, 50.0),
  (1e-200, 1e-201, 3e-200),
  # Rates times times exceed the kernel's range.
  (1e200, 1.0, 2.0),
  (1e30, 1e20, 1e10, 1.0, 3.0, 1e-30),
  (1e200, 1.0),
)
_COUNTS = (1, 2, 30, 1000)
if MODE == "jax":
  _RATES = (*_RATES[:2], (1e200, 1.0, 2.0))  # Each distribution is compiled.
  _COUNTS = _COUNTS[:2]


def _mode_of_stages(rates):
  """Computes the mode by partial fractions and bisection."""
  with mpmath.workdps(60 * len(rates) + 100):
    apart = mpmath.mpf(10) ** -40
    rates = [mpmath.mpf(r) * (1 + i * apart) for i, r in enumerate(rates)]
    weights = [
      mpmath.fprod(x / (x - rate) for x in rates if x is not rate)
      for rate in rates
    ]
    low, high = 1 / max(rates) / 2, 3 * sum(1 / rate for rate in rates)
    for _ in range(150):
      middle = mpmath.sqrt(low * high)
      slope = sum(
        -w * rate**2 * mpmath.exp(-rate * middle)
        for w, rate in zip(weights, rates, strict=True)
      )
      low, high = (middle, high) if slope > 0 else (low, middle)
    return float(low)


class ModesTest(test_case.TestCase):
  """Compares with closed forms, SciPy and many digits."""

  @parameterized.parameters(*((rates,) for rates in _RATES))
  def test_hypoexponential(self, rates):
    found = pd.Hypoexponential(rates).mode()
    self.assert_close(found, _mode_of_stages(rates), 1e-13)

  def test_equal_stages(self):
    # Values of an Erlang distribution.
    for count in _COUNTS:
      rates = onp.full(count, 2.5)
      expected = (count - 1) / 2.5
      self.assert_close(pd.Hypoexponential(rates).mode(), expected, 1e-12)
      self.assert_close(pd.Erlang(count, 2.5).mode(), expected, 1e-15)

  @test_case.of_bad_values
  def test_batches_dtypes_and_bad_values(self):
    rates = [[1.0, 2.0], [1.0, -2.0], [math.nan, 1.0], [1.0, math.inf]]
    expected = [math.log(2.0), math.nan, math.nan, math.nan]
    self.assert_close(pd.Hypoexponential(rates).mode(), expected)
    narrow = pd.Hypoexponential(onp.asarray([1.0, 2.0], onp.float32))
    self.assertEqual(narrow.mode().dtype, narrow.mean().dtype)
    self.assert_close(narrow.mode(), math.log(2.0), 1e-6)
    found = pd.Erlang(3, [0.5, 0.0, -1.0, math.inf]).mode()
    self.assert_close(found, [4.0, math.nan, math.nan, math.nan])
    bad = pd.Erlang(3, -1.0, allow_nan_stats=False)
    with self.assertRaisesRegex(ValueError, "mode is NaN"):
      bad.mode()

  @test_case.of_bad_values
  def test_falling_densities(self):
    dist = pd.Hyperexponential([[0.5, 0.5], [0.5, 0.6]], [1.0, 2.0])
    self.assert_close(dist.mode(), [0.0, math.nan])
    dist = pd.GeometricMixture([0.5, 0.5], [[0.5, 0.125], [0.5, 0.0]])
    self.assert_close(dist.mode(), [1.0, math.nan])
    left = pd.ResidualLife(pd.Hyperexponential([0.5, 0.5], [1.0, 2.0]), 3.0)
    self.assert_close(left.mode(), 0.0)
    left = pd.ResidualLife(pd.GeometricMixture([0.5, 0.5], [0.5, 0.125]), 3.0)
    self.assert_close(left.mode(), 1.0)

  @parameterized.parameters((1, 0.3), (3, 0.3), (4, 0.55), (7, 0.01), (2, 1.0))
  def test_negative_binomial(self, count, prob):
    counts = onp.arange(2000.0)
    expected = onp.argmax(stats.nbinom(count, prob).pmf(counts))
    self.assert_close(
      pd.NegativeBinomialFailures(count, prob).mode(), float(expected)
    )
    self.assert_close(
      pd.NegativeBinomialTrials(count, prob).mode(), float(expected + count)
    )

  @test_case.of_bad_values
  def test_the_larger_one_of_two(self):
    dist = pd.NegativeBinomialFailures(3, 0.5)
    self.assert_close(dist.prob(1.0), self.host(dist.prob(2.0)), 1e-14)
    self.assert_close(dist.mode(), 2.0)
    bad = pd.NegativeBinomialFailures(3, [0.0, 1.5, math.nan])
    self.assert_close(bad.mode(), onp.full(3, math.nan))

  @test_case.of_bad_values
  def test_parts_of_densities(self):
    erlang = pd.Erlang(4, 1.0)
    left = pd.ResidualLife(erlang, [0.0, 1.0, 5.0, -1.0])
    self.assert_close(left.mode(), [3.0, 2.0, 0.0, math.nan], 1e-14)
    cut = pd.TruncatedPhaseType(
      erlang, [0.0, 4.0, 0.0, 5.0], [9.0, 9.0, 2.0, 5.0]
    )
    # An interval of one point has no mass.
    self.assert_close(cut.mode(), [3.0, 4.0, 2.0, math.nan], 1e-14)
    trials = pd.NegativeBinomialTrials(3, 0.25)  # Its mode is nine.
    left = pd.ResidualLife(trials, [2.0, 20.0])
    self.assert_close(left.mode(), [7.0, 1.0])
    cut = pd.TruncatedPhaseType(trials, [0.0, 11.0, 0.0], [99.0, 99.0, 7.0])
    self.assert_close(cut.mode(), [9.0, 11.0, 7.0])

  @parameterized.parameters(
    (lambda: pd.HyperErlang([0.5, 0.5], (1, 5), [1.0, 1.0]), "several maxima"),
    (lambda: pd.Coxian([1.0], [1.0, 1.0]), "several maxima"),
    (lambda: pd.ZeroInflated(pd.Erlang(2, 1.0), 0.5), "another one beyond"),
    (
      lambda: pd.MatrixWeibull(pd.Coxian([1.0], [1.0, 1.0]), 1.0),
      "one maximum",
    ),
    (lambda: pd.MatrixPareto(pd.Hypoexponential([1.0, 2.0]), 1.0), "Erlang"),
    (
      lambda: pd.MatrixWeibull(
        pd.Hyperexponential([0.5, 0.5], [1.0, 2.0]), [1.0, 2.0]
      ),
      "does not grow",
    ),
  )
  def test_where_it_is_not_known(self, make, why):
    dist = make()
    name = type(dist).__name__
    with self.assertRaisesRegex(NotImplementedError, f"{name} has no .*{why}"):
      dist.mode()

  def test_derivatives(self):

    def mode(rates):
      return pd.Hypoexponential(rates).mode()

    a, b = 3.0, 0.5
    value, slope = gradients.value_and_gradient(mode, np.asarray([a, b]))
    log = math.log(a / b)
    self.assert_close(value, log / (a - b))
    of_a = 1 / (a * (a - b)) - log / (a - b) ** 2
    of_b = -1 / (b * (a - b)) + log / (a - b) ** 2
    self.assert_close(slope, [of_a, of_b], 1e-12)
    # Of equal rates, whose sum has the mode (p - 1) / r.
    _, slope = gradients.value_and_gradient(mode, np.asarray([2.0, 2.0]))
    self.assert_close(slope, [-0.125, -0.125], 1e-12)

  def test_second_derivatives(self):
    if MODE != "jax":
      self.skipTest("one autodiff is enough")

    def mode(a):
      return pd.Hypoexponential(np.stack([a, np.asarray(0.5)])).mode()

    def slope(a):
      return gradients.value_and_gradient(mode, a)[1]

    _, found = gradients.value_and_gradient(slope, np.asarray(3.0))
    with mpmath.workdps(40):
      expected = mpmath.diff(lambda a: mpmath.log(2 * a) / (a - 0.5), 3, 2)
    self.assert_close(found, float(expected), 1e-10)


if __name__ == "__main__":
  absltest.main()
