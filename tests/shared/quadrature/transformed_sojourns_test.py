"""Times in phases under a changed clock, against exponential integrals."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from tests.helpers import test_case

_RATES = (10.0, 6.0, 3.0, 1.0)


def _stages(rates):
  """Returns the generator of stages that follow each other, at given rates."""
  return onp.diag(-onp.asarray(rates)) + onp.diag(rates[:-1], 1)


def _exact(growth):
  """Computes the times in stages at rates that grow, with many digits.

  The probability of a stage is a sum of exponentials exp(-r x), and the integral
  of exp(-r x) / (1 + b x) is exp(r / b) E_1(r / b) / b.
  """
  rates = [mpmath.mpf(rate) for rate in _RATES]
  found = []
  with mpmath.workdps(50):
    b = mpmath.mpf(growth)
    for i in range(len(rates)):
      total = mpmath.mpf(0)
      for j in range(i + 1):
        factor = mpmath.fprod(rates[:i]) / mpmath.fprod(
          rates[m] - rates[j] for m in range(i + 1) if m != j
        )
        own = rates[j] / b
        total += factor * mpmath.exp(own) * mpmath.e1(own) / b
      found.append(float(total))
  return found


class TransformedSojournsTest(test_case.TestCase):
  """Tests expected times in phases of transformed distributions."""

  @parameterized.parameters(1e-3, 0.5, 3.0, 1e4)
  def test_rates_that_grow(self, growth):
    stages = pd.PhaseType([1.0, 0.0, 0.0, 0.0], _stages(_RATES))
    dist = pd.MatrixGompertz(stages, growth)
    found = dist.expected_sojourn_times()
    self.assert_close(found, _exact(growth), 1e-12)
    self.assert_close(onp.sum(self.host(found)), dist.mean(), 1e-12)

  def test_a_power(self):
    # E of the time in the only phase is that of a Weibull variable.
    dist = pd.MatrixWeibull(pd.PhaseType([1.0], [[-2.0]]), 1.7)
    exact = math.gamma(1.0 + 1.0 / 1.7) * 2.0 ** (-1.0 / 1.7)
    self.assert_close(dist.expected_sojourn_times(), [exact], 1e-11)

  def test_derivatives(self):
    # With exit rate r and growth b the time is a function of r / b, over b.
    def value(x):
      dist = pd.MatrixGompertz(pd.PhaseType([1.0], -x[:1, None]), x[1])
      return np.sum(dist.expected_sojourn_times())

    found, slopes = pm.value_and_gradient(value, np.asarray([1.5, 0.7]))
    with mpmath.workdps(40):
      r, b = mpmath.mpf(1.5), mpmath.mpf("0.7")
      exact = mpmath.exp(r / b) * mpmath.e1(r / b) / b
      # The derivative of exp(u) E_1(u) is itself, less 1 / u.
      inner = (exact * b - b / r) / b
      in_rate, in_growth = inner / b, -exact / b - inner * r / b**2
    self.assert_close(found, float(exact), 1e-12)
    self.assert_close(slopes, [float(in_rate), float(in_growth)], 1e-11)

  def test_batches(self):
    chains = pd.PhaseType(
      [1.0, 0.0], onp.stack([_stages((2.0, 1.0)), _stages((3.0, 0.5))])
    )
    dist = pd.MatrixGompertz(chains, onp.asarray([0.5, 2.0]))
    found = self.host(dist.expected_sojourn_times())
    self.assertEqual(found.shape, (2, 2))
    self.assert_close(found[1], dist[1].expected_sojourn_times(), 1e-13)

  def test_single_precision(self):
    stages = pd.PhaseType(
      onp.asarray([1.0, 0.0, 0.0, 0.0], onp.float32),
      _stages(_RATES).astype(onp.float32),
    )
    dist = pd.MatrixGompertz(stages, onp.asarray(3.0, onp.float32))
    self.assert_close(dist.expected_sojourn_times(), _exact(3.0), 1e-5)

  def test_what_cannot_be_computed(self):
    trap = pd.PhaseType([1.0, 0.0], [[-1.0, 0.5], [0.0, 0.0]])
    found = pd.MatrixGompertz(trap, 1.0).expected_sojourn_times()
    self.assertTrue(onp.all(onp.isnan(self.host(found))))
    with self.assertRaisesRegex(NotImplementedError, "grows so fast"):
      pd.MatrixPareto(
        pd.PhaseType([1.0], [[-2.0]]), 0.5
      ).expected_sojourn_times()


if __name__ == "__main__":
  absltest.main()
