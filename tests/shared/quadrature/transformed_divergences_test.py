"""Derivatives of divergences of transformed variables."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

_KINDS = {
  "MatrixGompertz": 1,
  "MatrixLogLogistic": 2,
  "MatrixLogNormal": 1,
  "MatrixPareto": 1,
  "MatrixWeibull": 1,
}


def _divergence(kind):
  """Returns KL(p, q) as a function of the own parameters of p and of q."""

  def compute(x):
    n = _KINDS[kind]
    p, q = (
      getattr(pd, kind)(pd.Erlang(2, np.asarray(onp.asarray(rate))), *own)
      for rate, own in (
        (2.0, [x[i] for i in range(n)]),
        (3.0, [x[n + i] for i in range(n)]),
      )
    )
    return p.kl_divergence(q)

  return compute


class EqualParametersTest(test_case.TestCase):
  """Tests p and q with one function g, where the value needs only the times."""

  @parameterized.parameters(*_KINDS)
  def test_derivatives_are_quotients_of_differences(self, kind):
    compute, step = _divergence(kind), 1e-4
    at = onp.tile([1.5, 2.25][: _KINDS[kind]], 2)
    value, found = gradients.value_and_gradient(compute, np.asarray(at))
    same = pd.Erlang(2, 2.0).kl_divergence(pd.Erlang(2, 3.0))
    self.assert_close(value, same, 1e-12)
    for i, moved in enumerate(step * onp.eye(len(at))):
      above, below = (
        self.host(compute(np.asarray(at + sign * moved))) for sign in (1, -1)
      )
      self.assert_close(found[i], (above - below) / (2 * step), 1e-5)

  def test_weibull_distributions(self):
    power, rates = 1.5, (2.0, 3.0)

    def compute(x):
      p, q = (
        pd.MatrixWeibull(pd.Erlang(1, np.asarray(onp.asarray(rate))), x[i])
        for i, rate in enumerate(rates)
      )
      return p.kl_divergence(q)

    # KL is log(k r) - log(l s) + (k - l) E log X + s E X^l - 1 for p with the
    # power k and the rate r, and q with l and s.
    _, found = gradients.value_and_gradient(
      compute, np.asarray(onp.asarray([power, power]))
    )
    log_rate = math.log(rates[0])
    digamma_of_two = 1 - onp.euler_gamma
    slope = -1 + onp.euler_gamma + log_rate
    slope += rates[1] / rates[0] * (digamma_of_two - log_rate)
    slope /= power
    self.assert_close(found, [-slope, slope], 1e-9)


class ReasonsTest(test_case.TestCase):
  @test_case.of_bad_values
  def test_nothing_is_wrong_with_the_other_distribution(self):
    near, far = pd.Erlang(2, 1.0), pd.Erlang(2, 1e200)
    with self.assertWarnsRegex(RuntimeWarning, "is NaN: it is not finite, the"):
      near.kl_divergence(far)


if __name__ == "__main__":
  absltest.main()
