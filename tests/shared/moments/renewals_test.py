"""Renewals, residual lives and limited values, against formulas and sums."""

import fractions
import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
_DIGITS = 60
ERLANG = ((1, 0.5), (2, 3.0), (3, 1.0), (7, 2.0))
if MODE == "jax":
  ERLANG = ERLANG[2:3]
TIMES = (0.0, 1e-290, 1e-10, 0.25, 2.0, 30.0, 400.0)


def _renewals_of_erlang(k, rate, t):
  """Computes the renewal density, as a sum of Erlang densities."""
  with mpmath.workdps(_DIGITS):
    x, r = mpmath.mpf(t) * rate, mpmath.mpf(rate)
    first = int(k - 1)
    term = r * x**first * mpmath.exp(-x) / mpmath.factorial(first)
    total, n = mpmath.mpf(0), first
    while n < 40 + 4 * x:
      total += term
      for i in range(n + 1, n + k + 1):
        term *= x / i
      n += k
    return total


def _limited_of_erlang(k, rate, t):
  with mpmath.workdps(_DIGITS):
    x = mpmath.mpf(rate) * t
    below = mpmath.gammainc(k + 1, 0, x, regularized=True)
    above = mpmath.gammainc(k, x, mpmath.inf, regularized=True)
    return k / mpmath.mpf(rate) * below + t * above


def _residual_of_erlang(k, rate, t):
  with mpmath.workdps(_DIGITS):
    x = mpmath.mpf(rate) * t
    later = mpmath.gammainc(k + 1, x, mpmath.inf)
    above = mpmath.gammainc(k, x, mpmath.inf)
    return later / above / rate - t


def _rows(function, values, *arguments):
  return onp.asarray([float(function(*arguments, t)) for t in values])


class RenewalsTest(test_case.TestCase):
  """Tests relative errors of values."""

  @parameterized.parameters(*ERLANG)
  def test_erlang(self, k, rate):
    dist, values = pd.Erlang(k, rate), onp.asarray(TIMES)
    exact = _rows(_renewals_of_erlang, TIMES, k, rate)
    self.assert_close(dist.renewal_density(values), exact, 1e-12)
    exact = _rows(_limited_of_erlang, TIMES, k, rate)
    self.assert_close(dist.limited_expected_value(values), exact, 1e-12)
    later = (*TIMES, 3e4)
    exact = _rows(_residual_of_erlang, later, k, rate)
    found = dist.mean_residual_life(onp.asarray(later))
    self.assert_close(found[:-1], exact[:-1], 1e-12)
    # P(X > t) is about exp(-90000).
    self.assert_close(found[-1], exact[-1], 1e-10)

  @parameterized.parameters((2, 1.0), (3, 0.5), (7, 2.0))
  def test_residual_lives_far_out(self, k, rate):
    # Given X > t the number of stages done is j with weight (r t)^j / j!.
    times = (1e3, 1e6, 1e9, 1e12, 1e15)
    exact = []
    for t in times:
      weights = [
        fractions.Fraction(rate) ** j
        * fractions.Fraction(t) ** j
        / math.factorial(j)
        for j in range(k)
      ]
      left = sum((k - j) * w for j, w in enumerate(weights))
      exact.append(float(left / sum(weights) / fractions.Fraction(rate)))
    found = pd.Erlang(k, rate).mean_residual_life(onp.asarray(times))
    self.assert_close(found, exact, 1e-12)

  def test_slopes_of_residual_lives_far_out(self):
    # Of 1 / r + 1 / (r (1 + r t)) at r = 1.
    for time in (1e3, 1e8):
      _, slope = gradients.value_and_gradient(
        lambda rate, time=time: pd.Erlang(2, rate).mean_residual_life(time),
        onp.asarray(1.0),
      )
      exact = -1.0 - (1.0 + 2.0 * time) / (1.0 + time) ** 2
      self.assert_close(slope, exact, 1e-6)
    _, slope = gradients.value_and_gradient(
      lambda rate: pd.Erlang(2, rate).mean_residual_life(1e12),
      onp.asarray(1.0),
    )
    self.assert_close(slope, math.nan)

  def test_residual_lives_of_other_laws_far_out(self):
    # The slowest rate is left, or what leads to it.
    times = onp.asarray([1e4, 1e8, 1e12])
    for dist, exact in (
      (pd.Hyperexponential([0.5, 0.5], [0.25, 4.0]), 4.0),
      (pd.Hypoexponential([4.0, 0.5]), 2.0),
      # The weights of the phases are 1 and 0.5 / 3.5.
      (pd.Hypoexponential([0.5, 4.0]), (2.25 + 0.25 / 7) / (1.0 + 1 / 7)),
      (pd.Coxian([0.5], [0.5, 0.25]), 4.0),
      (pd.ZeroInflated(pd.Erlang(1, 0.5), 0.25), 2.0),
      (pd.MultivariatePhaseType([1.0], [[-2.0]], [[1.0]]).marginal(0), 0.5),
    ):
      self.assert_close(dist.mean_residual_life(times), [exact] * 3, 1e-12)
    # Both trials of two: with p = 1/4 the weights after n are q and n p.
    counts = onp.asarray([1e3, 1e6, 1e9])
    trials = pd.NegativeBinomialTrials(2, 0.25)
    exact = (8.0 * 0.75 + 4.0 * counts * 0.25) / (0.75 + 0.25 * counts)
    self.assert_close(trials.mean_residual_life(counts), exact, 1e-12)

  def test_atoms(self):
    base = pd.Erlang(3, 1.0)
    dist, values = pd.ZeroInflated(base, 0.75), onp.asarray(TIMES)
    self.assert_close(
      dist.renewal_density(values), base.renewal_density(values), 1e-13
    )
    self.assert_close(
      dist.mean_residual_life(values), base.mean_residual_life(values), 1e-13
    )
    self.assert_close(
      dist.limited_expected_value(values),
      0.25 * self.host(base.limited_expected_value(values)),
      1e-13,
    )
    excess = pd.Equilibrium(dist)
    self.assert_close(excess.cdf(0.0), 0.0)
    self.assert_close(excess.mean(), pd.Equilibrium(base).mean(), 1e-13)

  def test_steps(self):
    # Exact values are rational numbers.
    exact = _Steps([(3, 8), (1, 8)], [(1, 4), (1, 8)], [(1, 2), (1, 4)])
    dist = pd.DiscretePhaseType(
      [0.375, 0.125], [[0.25, 0.125], [0.5, 0.25]], prob_zero=0.5
    )
    values = onp.arange(40.0)
    counts = range(40)
    self.assert_close(
      dist.renewal_density(values), [exact.renewal(n) for n in counts], 1e-13
    )
    self.assert_close(
      dist.limited_expected_value(values),
      [exact.limited(n) for n in counts],
      1e-13,
    )
    self.assert_close(
      dist.mean_residual_life(values),
      [exact.residual(n) for n in counts],
      1e-13,
    )
    excess = pd.Equilibrium(dist)
    self.assert_close(
      excess.prob(values),
      [0.0, *(exact.excess(n) for n in counts[1:])],
      1e-13,
    )

  def test_steps_by_edges(self):
    dist = pd.NegativeBinomialTrials(2, 0.25)
    dense = dist.as_phase_type()
    values = onp.asarray([0.0, 1.0, 2.0, 17.0, 400.0])
    for method in (
      "renewal_density",
      "limited_expected_value",
      "mean_residual_life",
    ):
      found = getattr(dist, method)(values)
      self.assert_close(found, getattr(dense, method)(values), 1e-12)
    # Both trials end almost certainly.
    dist = pd.DiscretePhaseType(
      [1.0], pm.EdgeProbs([0, 0], [0, 1], [1e-20, 1.0])
    )
    self.assert_close(dist.mean_residual_life(9.0), 1.0, 1e-13)

  def test_excess(self):
    dist = pd.Hyperexponential([0.25, 0.75], [0.5, 4.0])
    excess = pd.Equilibrium(dist)
    values = onp.asarray([0.0, 1e-3, 2.0, 90.0])
    exact = self.host(dist.survival_function(values)) / 0.6875
    self.assert_close(excess.prob(values), exact, 1e-13)
    self.assert_close(excess.mean(), dist.moment(2) / (2 * 0.6875), 1e-13)
    self.assertEqual((excess.batch_shape, excess.dtype), ((), "float64"))
    self.assertIs(excess.reparameterization_type, pd.FULLY_REPARAMETERIZED)
    batch = pd.Equilibrium(pd.Erlang(2, onp.asarray([[1.0], [2.0]])))
    self.assertEqual(batch.batch_shape, (2, 1))
    self.assert_close(batch[1].mean(), [0.75], 1e-14)
    self.assertEqual(batch.copy(name="x").name, "x")
    with self.assertRaisesRegex(TypeError, "must be of phase type"):
      pd.Equilibrium(1.0)

  def test_two_phases(self):
    # The renewal density of two exponential times is known.
    p, r = (0.25, 0.75), (0.5, 4.0)
    dist = pd.Hyperexponential(p, r).as_phase_type()
    speed = p[0] * r[1] + p[1] * r[0]
    more = p[0] * p[1] * (r[0] - r[1]) ** 2 / speed
    t = onp.asarray(TIMES)
    exact = r[0] * r[1] / speed + more * onp.exp(-speed * t)
    self.assert_close(dist.renewal_density(t), exact, 1e-13)

  @test_case.of_bad_values
  def test_traps(self):
    # Half of the mass is never absorbed.
    dist = pd.PhaseType([1.0, 0.0], [[-1.0, 0.5], [0.0, 0.0]])
    values = onp.asarray([0.0, 1.0, 100.0, 1e5])
    ended = -onp.expm1(-values)
    exact = 0.5 * ended + 0.5 * values
    self.assert_close(dist.limited_expected_value(values), exact, 1e-13)
    self.assert_close(dist.mean_residual_life(values), [math.inf] * 4)
    exact = 0.5 * onp.exp(-0.5 * values[:3])
    self.assert_close(dist.renewal_density(values[:3]), exact, 1e-13)
    self.assert_close(pd.Equilibrium(dist).cdf(1.0), math.nan)

  @test_case.of_bad_values
  def test_what_cannot_be(self):
    values = onp.asarray([-1.0, math.inf, math.nan, 0.5])
    methods = ("renewal_density", "mean_residual_life")
    methods = (*methods, "limited_expected_value")
    bad = pd.PhaseType([0.5], [[1.0]], prob_zero=0.5)
    for method in methods:
      found = self.host(getattr(pd.Erlang(2, 1.0), method)(values))
      self.assertEqual(onp.isnan(found).tolist(), [True, True, True, False])
      found = getattr(pd.NegativeBinomialTrials(1, 0.5), method)(values)
      self.assertTrue(onp.all(onp.isnan(self.host(found))))
      self.assert_close(getattr(bad, method)(1.0), math.nan)
      with self.assertRaisesRegex(ValueError, r"value = -1\.0"):
        getattr(pd.Erlang(1, 1.0, validate_args=True), method)(-1.0)
      with self.assertRaisesRegex(ValueError, "broadcast"):
        getattr(pd.Erlang(1, onp.ones(2)), method)(onp.ones(3))
    none = pd.PhaseType([0.0], [[-1.0]], prob_zero=1.0)
    self.assert_close(none.renewal_density(1.0), math.nan)
    self.assert_close(none.mean_residual_life(1.0), math.nan)
    self.assert_close(none.limited_expected_value(1.0), 0.0)

  def test_batches(self):
    rates = onp.asarray([[1.0], [3.0]])
    values = onp.asarray([0.5, 2.0, 9.0])
    dist = pd.Erlang(2, rates)
    for method in ("renewal_density", "limited_expected_value"):
      found = self.host(getattr(dist, method)(values))
      self.assertEqual(found.shape, (2, 3))
      alone = getattr(pd.Erlang(2, 3.0), method)(values)
      self.assert_close(found[1], alone, 1e-13)

  def test_times_of_all_sizes(self):
    # Small results are proportional to their times, also in a call with times
    # that are 1e280 times as long.
    dist = pd.Erlang(2, 1e-100)
    values = onp.asarray([1e-180, 1e-30, 1e100])
    exact = _rows(_limited_of_erlang, values, 2, 1e-100)
    self.assert_close(dist.limited_expected_value(values), exact, 1e-12)
    exact = _rows(_renewals_of_erlang, values, 2, 1e-100)
    self.assert_close(dist.renewal_density(values[1:]), exact[1:], 1e-12)
    # A result that underflows is NaN, not zero.
    values = onp.asarray([1e-250, 1e100])
    for method in ("limited_expected_value", "renewal_density"):
      found = self.host(getattr(dist, method)(values))
      self.assertEqual(onp.isnan(found).tolist(), [True, False])

  def test_too_many_pairs(self):
    p = 5000
    phases = onp.arange(p)
    edges = pm.EdgeRates(phases, onp.full(p, p), onp.ones(p))
    dist = pd.PhaseType(onp.full(p, 1.0 / p), edges)
    with self.assertRaisesRegex(
      ValueError, "5000 phases, and 5000 of them lead to"
    ):
      dist.renewal_density(1.0)
    self.assert_close(dist.limited_expected_value(60.0), 1.0, 1e-12)


class DerivativesTest(test_case.TestCase):
  """Tests derivatives in rates and times."""

  def setUp(self):
    super().setUp()

  @parameterized.parameters(
    ("renewal_density", _renewals_of_erlang),
    ("limited_expected_value", _limited_of_erlang),
    ("mean_residual_life", _residual_of_erlang),
  )
  def test_erlang(self, method, exact):
    def value(rate, t):
      return getattr(pd.Erlang(3, rate), method)(t)

    _, found = gradients.value_and_gradient(
      value, np.asarray(0.75), np.asarray(2.5)
    )
    with mpmath.workdps(40):
      slopes = (
        mpmath.diff(lambda r: exact(3, r, mpmath.mpf(2.5)), 0.75),
        mpmath.diff(lambda t: exact(3, mpmath.mpf(0.75), t), 2.5),
      )
    for gradient, slope in zip(found, slopes, strict=True):
      self.assert_close(gradient, float(slope), 1e-10)

  def test_excess(self):
    # The mean of the excess is E[X^2] / (2 E[X]).
    def mean(rates):
      return pd.Equilibrium(pd.Hypoexponential(rates)).mean()

    _, found = gradients.value_and_gradient(mean, np.asarray([2.0, 0.5]))
    first, second, both = 0.5, 2.0, 2.5

    def slope(x, y):
      # With means x and y it is (x^2 + x y + y^2) / (x + y); dx/dr = -x^2.
      top = x * x + x * y + y * y
      return -x * x * ((2 * x + y) * both - top) / both**2

    self.assert_close(
      found, [slope(first, second), slope(second, first)], 1e-12
    )


class _Steps:
  """A chain of two phases in rational numbers."""

  def __init__(self, start, *rows):
    self.start = [fractions.Fraction(*x) for x in start]
    self.matrix = [[fractions.Fraction(*x) for x in row] for row in rows]

  def _survival(self, n):
    masses = self.start
    for _ in range(n):
      masses = [
        sum(m * row[j] for m, row in zip(masses, self.matrix, strict=True))
        for j in range(2)
      ]
    return sum(masses)

  def _mean_beyond(self, n):
    """Computes the sum of P(N > k) over k >= n, by a linear system."""
    (a, b), (c, d) = self.matrix
    det = (1 - a) * (1 - d) - b * c
    times = (1 - d + b) / det, (1 - a + c) / det
    masses = self.start
    for _ in range(n):
      masses = [
        sum(m * row[j] for m, row in zip(masses, self.matrix, strict=True))
        for j in range(2)
      ]
    return masses[0] * times[0] + masses[1] * times[1]

  def renewal(self, n):
    total = sum(self.start)
    masses = [
      (self._survival(k - 1) - self._survival(k)) / total
      for k in range(1, n + 1)
    ]
    found = [fractions.Fraction(1)]
    for k in range(1, n + 1):
      found.append(sum(masses[j - 1] * found[k - j] for j in range(1, k + 1)))
    return float(found[n])

  def limited(self, n):
    return float(sum((self._survival(k) for k in range(n)), start=0))

  def residual(self, n):
    return float(self._mean_beyond(n) / self._survival(n))

  def excess(self, n):
    return float(self._survival(n - 1) / self._mean_beyond(0))


if __name__ == "__main__":
  absltest.main()
