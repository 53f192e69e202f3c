"""Derivatives of the families in their parameters and in the value."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.internal import gradients
from tests import family_cases
from tests import test_case

MODE = "numpy"

CASES = family_cases.CASES
# What is in whole numbers has no derivative, and the time of a truncated law
# is a bound.
FIXED = {
  "residual_trials": ("time",),
  "truncated_trials": ("low", "high"),
}
NAMES = [name for name in CASES if name != "erlang_1000"]
if MODE == "jax":
  NAMES = ["hyper_erlang", "failures", "residual_life", "truncated", "weibull"]
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

  @parameterized.product(
    name=NAMES,
    method=[("log_prob", "prob"), ("log_survival_function", "sf")],
  )
  def test_parameters(self, name, method):
    case = CASES[name]
    value = float(case.values[len(case.values) // 2])
    names = [k for k in case.parameters if k not in FIXED.get(name, ())]
    fixed = {k: case.parameters[k] for k in case.parameters if k not in names}

    def log(*arrays):
      dist = case.build(**dict(zip(names, arrays, strict=True)), **fixed)
      return getattr(dist, method[0])(value)

    arrays = [
      np.asarray(onp.asarray(case.parameters[k], "float64")) for k in names
    ]
    _, found = gradients.value_and_gradient(log, *arrays)
    found = found if len(names) > 1 else (found,)
    for k, gradient in zip(names, found, strict=True):
      with self.subTest(k):
        self.assert_close(
          gradient, self._exact(case, k, method[1], value), 1e-9
        )

  def _exact(self, case, name, kind, value):
    """The derivative of the law's logarithm in a parameter."""
    whole = case.parameters[name]

    def log(x, i=None):
      changed = x
      if i is not None:
        changed = [x if j == i else mpmath.mpf(w) for j, w in enumerate(whole)]
      law = case.exact(**{name: changed})
      return mpmath.log(getattr(law, kind)(mpmath.mpf(value)))

    if not isinstance(whole, list):
      return onp.asarray(_slope(log, whole))
    return onp.asarray(
      [_slope(lambda x, i=i: log(x, i), w) for i, w in enumerate(whole)]
    )

  @parameterized.parameters("coxian", "log_logistic", "residual_life")
  def test_values(self, name):
    case = CASES[name]
    value = float(case.values[len(case.values) // 2])
    dist = case.make()
    _, found = gradients.value_and_gradient(
      dist.log_prob, np.asarray(onp.asarray(value))
    )
    law = case.exact()
    self.assert_close(
      found, _slope(lambda t: mpmath.log(law.prob(t)), value), 1e-10
    )

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
