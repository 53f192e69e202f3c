"""Derivatives of the families, where there are formulas for them."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.internal import gradients
from tests import test_case

MODE = "numpy"

_DIGITS = 300


def _slope(function, x):
  """The derivative, of a function of many digits."""
  with mpmath.workdps(_DIGITS):
    return float(mpmath.diff(function, x))


class FamiliesDerivativesTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.skipTest("NumPy has no autodiff")

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

  def test_moments(self):
    rates = np.asarray(onp.asarray([2.0, 0.5]))
    _, found = gradients.value_and_gradient(
      lambda r: pd.Hypoexponential(r).mean(), rates
    )
    self.assert_close(found, [-0.25, -4.0], 1e-13)


if __name__ == "__main__":
  absltest.main()
