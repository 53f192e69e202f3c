"""Modes of transformed variables with unimodal densities."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
# By name: the class, h, and values of its parameters.
_KINDS = {
  "weibull": (
    pd.MatrixWeibull,
    lambda y, k: y**k,
    [(0.4,), (1.0,), (1.7,), (50.0,)],
  ),
  "pareto": (
    pd.MatrixPareto,
    lambda y, c: mpmath.log1p(y / c),
    [(0.5,), (1e100,)],
  ),
  "gompertz": (
    pd.MatrixGompertz,
    lambda y, b: mpmath.expm1(b * y) / b,
    [(1e-3,), (0.25,), (1.5,), (40.0,)],
  ),
  "log_normal": (
    pd.MatrixLogNormal,
    lambda y, k: mpmath.log1p(y) ** k,
    [(0.4,), (1.0,), (1.7,), (30.0,)],
  ),
  "log_logistic": (
    pd.MatrixLogLogistic,
    lambda y, c, k: mpmath.log1p((y / c) ** k),
    [(2.0, 0.4), (1e-50, 1.0), (2.0, 1.0), (1.0, 2.25), (1.0, 100.0)],
  ),
}
_CASES = [
  (name, values, count, rate)
  for name, (_, _, choices) in _KINDS.items()
  for values in choices
  for count, rate in ((1, 1.5), (2, 0.3), (3, 40.0), (30, 1e-3))
]
if MODE != "numpy":
  _CASES = _CASES[1::9]  # Each is compiled, and all share one source.


def _mode(inverse, count, rate):
  """Computes the mode, by bisection in the scale of log y."""
  with mpmath.workdps(150):

    def slope_of(function, u):
      step = mpmath.mpf(10) ** -30
      return (function(u + step) - function(u - step)) / (2 * step)

    def time(u):
      return inverse(mpmath.exp(u))

    def log_density(u):
      speed = slope_of(time, u) * mpmath.exp(-u)
      x = time(u)
      return (count - 1) * mpmath.log(x) - rate * x + mpmath.log(speed)

    def slope(u):
      return slope_of(log_density, u)

    low, high = mpmath.mpf(-150), mpmath.mpf(0)
    while slope(high) > 0:
      high = 2 * high + 1
    if slope(low) <= 0:
      return 0.0
    for _ in range(70):
      middle = (low + high) / 2
      low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return float(mpmath.exp(low))


class TransformedModesTest(test_case.TestCase):
  """Tests modes of transformed Erlang variables, and decreasing densities."""

  @parameterized.parameters(*_CASES)
  def test_stages(self, name, values, count, rate):
    cls, inverse, _ = _KINDS[name]
    dist = cls(pd.Erlang(count, rate), *values)
    with mpmath.workdps(60):
      exact = [mpmath.mpf(x) for x in values]
      expected = _mode(lambda y: inverse(y, *exact), count, mpmath.mpf(rate))
    self.assert_close(dist.mode(), expected, 1e-12)

  def test_one_phase(self):
    # Weibull's, and Burr's of type XII.
    for base in (
      pd.Hypoexponential([0.5]),
      pd.Hyperexponential([1.0], [0.5]),
    ):
      dist = pd.MatrixWeibull(base, [0.5, 1.0, 3.0])
      expected = [0.0, 0.0, (2 / 1.5) ** (1 / 3)]
      self.assert_close(dist.mode(), expected, 1e-14)
      dist = pd.MatrixLogLogistic(base, 2.0, [0.5, 1.0, 3.0])
      expected = [0.0, 0.0, 2.0 * (2 / 2.5) ** (1 / 3)]
      self.assert_close(dist.mode(), expected, 1e-13)

  @test_case.of_bad_values
  def test_falling_densities(self):
    base = pd.Hyperexponential([[0.5, 0.5], [0.5, 0.6]], [1.0, 2.0])
    for dist in (
      pd.MatrixWeibull(base, [0.5, 1.0]),
      pd.MatrixPareto(base, 2.0),
      pd.MatrixLogNormal(base, [0.5, 1.0]),
      pd.MatrixLogLogistic(base, 2.0, [0.5, 1.0]),
    ):
      self.assert_close(dist.mode(), [0.0, math.nan])
    with self.assertRaisesRegex(NotImplementedError, "one maximum"):
      pd.MatrixGompertz(base, 0.5).mode()

  @test_case.of_bad_values
  def test_bad_values_and_dtypes(self):
    base = pd.Erlang(3, [1.0, -1.0, 1.0, math.nan])
    bad = onp.asarray([2.0, 2.0, -2.0, 2.0])
    for dist in (
      pd.MatrixWeibull(base, bad),
      pd.MatrixPareto(base, bad),
      pd.MatrixGompertz(base, bad),
      pd.MatrixLogNormal(base, bad),
      pd.MatrixLogLogistic(base, 1.0, bad),
    ):
      found = onp.isnan(self.host(dist.mode()))
      self.assertEqual(found.tolist(), [False, True, True, True])
    single = pd.Erlang(3, onp.float32(1.5))
    for cls in (pd.MatrixLogNormal, pd.MatrixWeibull):
      narrow = cls(single, onp.float32(2.0)).mode()
      self.assertEqual(self.host(narrow).dtype, onp.float32)
      wide = cls(pd.Erlang(3, 1.5), 2.0).mode()
      self.assert_close(narrow, wide, 1e-6)

  @parameterized.parameters("weibull", "gompertz", "log_normal", "log_logistic")
  def test_derivatives(self, name):
    cls, inverse, _ = _KINDS[name]
    scale = (1.0,) if name == "log_logistic" else ()

    def mode(rate, k):
      return cls(pd.Erlang(3, rate), *scale, k).mode()

    _, found = gradients.value_and_gradient(
      mode, np.asarray(0.75), np.asarray(1.5)
    )
    step = 1e-4
    for i, slope in enumerate(found):
      ends = []
      for sign in (-1, 1):
        rate, k = 0.75 + (i == 0) * sign * step, 1.5 + (i == 1) * sign * step
        ends.append(
          _mode(lambda y, k=k: inverse(y, *scale, mpmath.mpf(k)), 3, rate)
        )
      # The error of a central difference is the square of its step.
      self.assert_close(slope, (ends[1] - ends[0]) / (2 * step), 1e-6)


class BurrTest(test_case.TestCase):
  def test_modes_near_zero(self):
    # Survival is (1 + (y / s)^c)^-r, of which the mode is known.
    rate, scale = 0.75, 2.0
    for power in (1.0 + 2.0**-26, 1.0 + 2.0**-18, 3.0):
      dist = pd.MatrixLogLogistic(pd.Erlang(1, rate), scale, power)
      ratio = (power - 1.0) / (power * rate + 1.0)
      self.assert_close(dist.mode(), scale * ratio ** (1.0 / power), 1e-8)


if __name__ == "__main__":
  absltest.main()
