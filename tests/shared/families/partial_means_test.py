"""Limited expected values and mean residual lives of all families."""

import functools
import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic.math.calls import gradients
from tests.helpers import family_cases
from tests.helpers import test_case
from tests.oracle import family_oracle as oracle

_EXPONENT = 2.5
# Integrals of tails are divided at these distances from their start.
_STEPS = tuple(2.0**k for k in range(-14, 7))


def _epochs():
  """Returns an exponential time whose rate changes twice."""
  one = pg.Graph.from_edges([("on", pg.ABSORBED, [1.0])], "on", 1)
  return pd.Epochs(one, [[2.0], [0.25], [1.0]], [0.5, 3.0])


def _epoch_survival(t):
  """Computes P(X > t) of `_epochs`."""
  parts = ((0.0, 0.5, 2.0), (0.5, 3.0, 0.25), (3.0, mpmath.inf, 1.0))
  return mpmath.exp(
    -sum(rate * max(0, min(t, end) - start) for start, end, rate in parts)
  )


@functools.cache
def _exact(survival, value, ends):
  """Computes E min(X, t), and E[X - t | X > t], as integrals."""
  with mpmath.workdps(40):
    value = mpmath.mpf(value)
    before = [*(e for e in ends if e < value), value]
    if ends[-1] <= value:
      return float(value), math.nan
    near = [value + step for step in _STEPS if value + step < ends[-1]]
    after = sorted({value, *near, *(e for e in ends if e > value)})
    limited = mpmath.quad(survival, before) if value > 0 else mpmath.mpf(0)
    beyond = mpmath.quad(survival, after)
    return float(limited), float(beyond / survival(value))


class PartialMeansTest(test_case.TestCase):
  """Tests both means against integrals of the survival function in mpmath."""

  @parameterized.parameters("weibull", "gompertz", "pareto", "log_normal")
  def test_matrix_families(self, name):
    case = family_cases.CASES[name]
    law = case.exact()
    # The survival function underflows in mpmath where it is exp(-exp(y)).
    last = 40.0 if name == "gompertz" else mpmath.inf
    ends = (0, 0.125, 1, 8, last)
    times = (0.0, 0.3, 2.0, 20.0)
    with mpmath.workdps(40):
      exact = [_exact(law.sf, t, ends) for t in times]
    dist = case.make()
    limited, left = onp.transpose(exact)
    self.assert_close(dist.limited_expected_value(times), limited, 1e-11)
    self.assert_close(dist.mean_residual_life(times), left, 1e-9)

  def test_a_power_law_in_closed_form(self):
    times = onp.asarray([0.0, 1e-9, 1.0, 1e5, 1e100])
    dist = pd.MatrixPareto(pd.Erlang(1, _EXPONENT), 2.0)
    left = (2.0 + times) / (_EXPONENT - 1.0)
    self.assert_close(dist.mean_residual_life(times), left, 1e-12)
    # Below index one there is no mean, and yet a limited one.
    heavy = pd.MatrixPareto(pd.Erlang(1, 0.75), 2.0)
    self.assertTrue(math.isinf(heavy.mean_residual_life(1.0)))
    exact = 8.0 * onp.expm1(0.25 * onp.log1p(times[:4] / 2.0))
    self.assert_close(heavy.limited_expected_value(times[:4]), exact, 1e-11)

  def test_far_in_a_tail(self):
    # Sqrt(X) of an exponential X: a normal tail, by Mills' ratio.
    dist = pd.MatrixWeibull(pd.Erlang(1, 1.0), 2.0)

    def exact(t):
      ends = [0, 1 / t, 9 / t, 99 / t, mpmath.inf]
      return mpmath.quad(lambda u: mpmath.exp(-2 * t * u - u * u), ends)

    with mpmath.workdps(60):
      left = [float(exact(mpmath.mpf(t))) for t in (1.0, 30.0, 1e4)]
    found = dist.mean_residual_life([1.0, 30.0, 1e4])
    self.assert_close(found, onp.asarray(left), 1e-9)

  @parameterized.parameters(
    (0.0, 2.0, (0.0, 0.5, 1.75, 2.0, 3.0)),
    (0.5, 2.0, (0.0, 0.25, 0.5, 1.0, 1.75, 2.0, 3.0)),
    (30.0, 64.0, (0.0, 30.0, 30.5, 63.0)),
    (0.5, math.inf, (0.25, 1.0, 40.0)),
  )
  def test_truncated_times(self, low, high, times):
    dist = pd.TruncatedPhaseType(pd.Erlang(2, 0.75), low, high)
    base = oracle.erlang(2, mpmath.mpf(0.75))
    end = mpmath.mpf(high)

    def survival(t):
      if t < low:
        return mpmath.mpf(1)
      last = 0 if high == math.inf else base.sf(end)
      return (base.sf(t) - last) / (base.sf(mpmath.mpf(low)) - last)

    ends = tuple(dict.fromkeys((0, low, high)))
    exact = []
    for t in times:
      limited, left = _exact(survival, min(t, high), ends)
      exact.append((limited, left if t < high else math.nan))
    with mpmath.workdps(40):
      mean = float(low + mpmath.quad(survival, [low, end]))
    limited, left = onp.transpose(exact)
    limited = onp.where(onp.asarray(times) >= high, mean, limited)
    self.assert_close(dist.limited_expected_value(times), limited, 1e-12)
    found = self.host(dist.mean_residual_life(times))
    good = onp.isfinite(left)
    self.assert_close(found[good], left[good], 1e-11)
    self.assertTrue(onp.all(onp.isnan(found[~good])))

  def test_truncated_counts(self):
    dist = pd.TruncatedPhaseType(pd.NegativeBinomialTrials(3, 0.25), 4.0, 9.0)
    probs = onp.asarray(dist.prob(onp.arange(12.0)))
    counts = onp.arange(12.0)
    for k in (0.0, 3.0, 4.0, 6.0, 8.0, 9.0, 11.0):
      limited = probs @ onp.minimum(counts, k)
      self.assert_close(dist.limited_expected_value(k), limited, 1e-13)
      if k < 9.0:
        later = counts > k
        left = (probs[later] @ (counts[later] - k)) / probs[later].sum()
        self.assert_close(dist.mean_residual_life(k), left, 1e-12)

  def test_epochs(self):
    times = (0.0, 0.25, 0.5, 1.0, 3.0, 4.0, 20.0)
    ends = (0, 0.5, 3.0, mpmath.inf)
    exact = [_exact(_epoch_survival, t, ends) for t in times]
    limited, left = onp.transpose(exact)
    dist = _epochs()
    self.assert_close(dist.limited_expected_value(times), limited, 1e-12)
    self.assert_close(dist.mean_residual_life(times), left, 1e-12)
    found, _ = self.caught(lambda: dist.mean_residual_life(math.inf))
    self.assertTrue(math.isnan(found))

  def test_derivatives_in_the_limit(self):
    # The slope of E min(X, t) is P(X > t); that of E[X - t | X > t] is its
    # product with the hazard, less one.
    for dist in (
      pd.MatrixWeibull(pd.Erlang(2, 0.75), 1.7),
      pd.MatrixPareto(pd.Erlang(2, 3.0), 1.5),
      pd.TruncatedPhaseType(pd.Erlang(2, 0.75), 0.5, 4.0),
      _epochs(),
      _epochs() + 0.75,
    ):
      with self.subTest(type(dist).__name__):
        t = 2.25
        _, slope = gradients.value_and_gradient(dist.limited_expected_value, t)
        self.assert_close(slope, dist.survival_function(t), 1e-9)
        left, slope = gradients.value_and_gradient(dist.mean_residual_life, t)
        self.assert_close(slope, dist.hazard_function(t) * left - 1.0, 1e-8)

  @parameterized.parameters(
    lambda: pd.MatrixPareto(pd.Erlang(2, 3.0), 2.0),
    lambda: pd.MatrixWeibull(pd.Erlang(2, 1.0), 1.5),
    lambda: pd.MatrixLogNormal(pd.Erlang(2, 1.0), 2.5),
    lambda: pd.Erlang(2, 1.0),
    _epochs,
  )
  def test_derivatives_at_zero(self, make):
    dist = make()
    _, slope = gradients.value_and_gradient(dist.limited_expected_value, 0.0)
    self.assert_close(slope, 1.0, 1e-12)
    left, slope = gradients.value_and_gradient(dist.mean_residual_life, 0.0)
    self.assert_close(slope, dist.hazard_function(0.0) * left - 1.0, 1e-9)

  def test_derivatives_at_boundaries(self):
    dist, t = _epochs(), 0.5
    _, slope = gradients.value_and_gradient(dist.limited_expected_value, t)
    self.assert_close(slope, dist.survival_function(t), 1e-13)
    # The hazard is the one that follows.
    left, slope = gradients.value_and_gradient(dist.mean_residual_life, t)
    self.assert_close(slope, 0.25 * left - 1.0, 1e-12)

  def test_steep_and_late_changes_of_time(self):
    # g' is infinite at zero, and h(y) overflows.
    base = pd.ZeroInflated(pd.Hyperexponential([0.5, 0.5], [1.6, 0.3]), 0.25)
    dist = pd.MatrixWeibull(base, 3.25)

    def survival(y):
      x = y**3.25
      return 0.375 * (mpmath.exp(-1.6 * x) + mpmath.exp(-mpmath.mpf(0.3) * x))

    with mpmath.workdps(40):
      exact = mpmath.quad(survival, [0, 0.25, 0.5, 1, 2, 3.125])
    self.assert_close(dist.limited_expected_value(3.125), float(exact), 1e-11)
    dist = pd.MatrixGompertz(pd.Erlang(2, 1.0), 0.5)
    late = dist.limited_expected_value([60.0, 1e10])
    self.assert_close(late, onp.broadcast_to(self.host(dist.mean()), 2), 1e-12)

  def test_a_change_of_time_of_the_user(self):
    class Square(pd.TransformedPhaseType):
      _GROWS_SLOWLY = True

      def _forward(self, x):
        return x**2

      def _inverse(self, y):
        return np.sqrt(y)

      def _log_slope(self, y):
        return -np.log(2.0 * np.sqrt(y))

    dist = Square(pd.Erlang(1, 1.0))
    self.assert_close(dist.mean(), 2.0, 1e-9)
    # The integral of exp(-sqrt(y)), until 4 and from 4 on.
    exact = 2.0 - 6.0 * math.exp(-2.0)
    self.assert_close(dist.limited_expected_value(4.0), exact, 1e-11)
    self.assert_close(dist.mean_residual_life(4.0), 6.0, 1e-9)

  def test_derivatives_in_parameters(self):
    # With index a and scale c: (c + t) / (a - 1).
    def left(a, c):
      return pd.MatrixPareto(pd.Erlang(1, a), c).mean_residual_life(3.0)

    _, slopes = gradients.value_and_gradient(left, _EXPONENT, 2.0)
    self.assert_close(slopes[0], -5.0 / 1.5**2, 1e-9)
    self.assert_close(slopes[1], 1.0 / 1.5, 1e-9)

    # E min(X, t) of an exponential time with a delay.
    def limited(rate, delay):
      return (pd.Erlang(1, rate) + delay).limited_expected_value(3.0)

    _, slopes = gradients.value_and_gradient(limited, 0.5, 1.0)
    self.assert_close(slopes[0], math.exp(-1.0) * (2 / 0.5 + 4) - 4.0, 1e-12)
    self.assert_close(slopes[1], 1.0 - math.exp(-1.0), 1e-12)


if __name__ == "__main__":
  absltest.main()
