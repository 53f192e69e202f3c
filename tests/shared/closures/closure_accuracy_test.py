"""Values and derivatives of closures, against formulas in many digits."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import closure_cases
from tests.helpers import test_case
from tests.oracle import family_oracle

CASES = closure_cases.CASES
_DIGITS = 200


class ClosureAccuracyTest(test_case.TestCase):
  """Tests relative errors of logarithms, also in tails."""

  @parameterized.parameters(*CASES)
  def test_values(self, name):
    case = CASES[name]
    dist = case.make()
    values = onp.asarray(case.values)
    for method, kind in (
      ("log_prob", "prob"),
      ("log_cdf", "cdf"),
      ("log_survival_function", "sf"),
    ):
      with self.subTest(method):
        found = getattr(dist, method)(values)
        self.assert_close(found, case.logs(kind), 1e-12, 1e-14)

  @parameterized.parameters(*CASES)
  def test_atoms(self, name):
    case = CASES[name]
    with mpmath.workdps(family_oracle.DIGITS):
      exact = float(case.exact().cdf(mpmath.mpf(0)))
    self.assert_close(case.make().cdf(0.0), exact, 1e-14)

  @parameterized.parameters(*CASES)
  def test_moments(self, name):
    case = CASES[name]
    with mpmath.workdps(family_oracle.DIGITS):
      law = case.exact()
      if law.mean is None:
        self.skipTest("the oracle knows no moments")
      mean, variance = float(law.mean), float(law.variance)
    dist = case.make()
    self.assert_close(dist.mean(), mean, 1e-13)
    self.assert_close(dist.variance(), variance, 1e-12)

  def test_moments_of_extremes(self):
    # The formula is inclusion-exclusion for exponential times.
    a, b, c = 0.5, 1.25, 40.0
    laws = [pd.Erlang(1, rate) for rate in (a, b, c)]
    least, most = pd.minimum(laws), pd.maximum(laws)
    self.assertEqual((least.num_phases, most.num_phases), (1, 7))
    self.assert_close(least.mean(), 1 / (a + b + c), 1e-14)
    signs = ((a, 1), (b, 1), (c, 1), (a + b, -1), (a + c, -1), (b + c, -1))
    signs = (*signs, (a + b + c, 1))
    mean = math.fsum(sign / rate for rate, sign in signs)
    second = math.fsum(2 * sign / rate**2 for rate, sign in signs)
    self.assert_close(most.mean(), mean, 1e-13)
    self.assert_close(most.variance(), second - mean**2, 1e-12)

  @parameterized.parameters((1,), (3,), (7,))
  def test_moments_of_order_statistics(self, k):
    # Spacings of exponential times are independent.
    found = pd.order_statistic(pd.Erlang(1, 2.0), 7, k)
    self.assertEqual(found.num_phases, k)
    rates = [2.0 * (7 - j) for j in range(k)]
    self.assert_close(found.mean(), math.fsum(1 / r for r in rates), 1e-14)
    exact = math.fsum(1 / r**2 for r in rates)
    self.assert_close(found.variance(), exact, 1e-13)

  def test_random_sums_of_steps(self):
    # Each step ends a term with probability p, and then the sum with r.
    p, r = 0.875, 0.125
    found = pd.random_sum(
      pd.NegativeBinomialTrials(1, r), pd.NegativeBinomialTrials(1, p)
    )
    counts = onp.asarray([1.0, 2.0, 9.0, 400.0])
    exact = (counts - 1.0) * math.log1p(-p * r) + math.log(p * r)
    self.assert_close(found.log_prob(counts), exact, 1e-13)
    self.assert_close(found.mean(), 1.0 / (p * r), 1e-14)


class DerivativesTest(test_case.TestCase):
  """Tests derivatives in the parameters of the parts."""

  def setUp(self):
    super().setUp()

  def test_steps_that_are_rarely_in_a_phase(self):
    # The first of two counts with probability q of a step has 1 - (1 - q)^2.
    q, count = 0.75, 3.0

    def log_survival(q):
      edges = pm.EdgeProbs([0], [1], q[None])
      law = pd.DiscretePhaseType([1.0], edges)
      return pd.minimum([law, law]).log_survival_function(count)

    value, slope = gradients.value_and_gradient(log_survival, np.asarray(q))
    self.assert_close(value, 2.0 * count * math.log1p(-q), 1e-14)
    self.assert_close(slope, -2.0 * count / (1.0 - q), 1e-13)

  @parameterized.product(
    name=list(CASES),
    method=[("log_prob", "prob"), ("log_survival_function", "sf")],
  )
  def test_parameters(self, name, method):
    case = CASES[name]
    value = float(case.values[len(case.values) // 2])
    names = list(case.parameters)

    def log(*arrays):
      dist = case.build(**dict(zip(names, arrays, strict=True)))
      return getattr(dist, method[0])(value)

    arrays = [
      np.asarray(onp.asarray(case.parameters[k], "float64")) for k in names
    ]
    _, found = gradients.value_and_gradient(log, *arrays)
    found = found if len(names) > 1 else (found,)
    for k, gradient in zip(names, found, strict=True):
      with self.subTest(k):
        exact = self._exact(case, k, method[1], value)
        self.assert_close(gradient, exact, 1e-9)

  def _exact(self, case, name, kind, value):
    """Computes the derivative of the exact logarithm in a parameter."""
    whole = case.parameters[name]

    def slope(i, at):
      def log(x):
        changed = x
        if i is not None:
          changed = [
            x if j == i else mpmath.mpf(w) for j, w in enumerate(whole)
          ]
        law = case.exact(**{name: changed})
        return mpmath.log(getattr(law, kind)(mpmath.mpf(value)))

      with mpmath.workdps(_DIGITS):
        return float(mpmath.diff(log, at))

    if not isinstance(whole, list):
      return onp.asarray(slope(None, whole))
    return onp.asarray([slope(i, w) for i, w in enumerate(whole)])


if __name__ == "__main__":
  absltest.main()
