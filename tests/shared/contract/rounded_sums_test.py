"""Sums of probabilities and rates that are off by the rounding of float32."""

import math

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.math.model import chain
from tests.helpers import test_case

MODE = "numpy"

_STEPS = [[0.5, 0.25], [0.0, 0.5]]
# Probabilities rounded to float32, which sum to 1 + 1.5e-8 in float64.
_ROUNDED = onp.asarray(onp.asarray([0.1] * 10, onp.float32), onp.float64)
_CHAIN = onp.diag([-1.0] * 10) + onp.diag([1.0] * 9, 1)


class RoundedSumsTest(test_case.TestCase):
  def test_sums_of_what_was_float32(self):
    exact = pd.PhaseType([0.1] * 10, _CHAIN)
    dist, (warning,) = self.caught(lambda: pd.PhaseType(_ROUNDED, _CHAIN))
    self.assertIn("initial_probs sums to 1.0000000149", str(warning.message))
    self.assert_close(dist.log_prob(2.0), exact.log_prob(2.0), rtol=1e-7)
    self.assert_close(np.sum(dist.initial_probs), 1.0)
    value, (_,) = self.caught(
      lambda: pm.phase_type.log_prob(2.0, _ROUNDED, _CHAIN)
    )
    self.assert_close(value, dist.log_prob(2.0))
    # A deficit is rounding too if all masses are float32 numbers.
    less = onp.asarray(onp.asarray([0.7, 0.2, 0.1], onp.float32), onp.float64)
    self.assertLess(onp.sum(less), 1.0 - 1e-9)
    dist, (_,) = self.caught(lambda: pd.PhaseType(less, _CHAIN[:3, :3]))
    self.assert_close(dist.prob_zero, 0.0)
    # Otherwise it is a mass at zero.
    dist, caught = self.caught(lambda: pd.PhaseType([1.0 - 1e-8], [[-1.0]]))
    self.assertEmpty(caught)
    self.assert_close(dist.prob_zero, 1e-8, rtol=1e-7)

  def test_probabilities_of_what_was_float32(self):
    rates = onp.arange(1.0, 11.0)
    total = math.fsum(_ROUNDED)
    self.assertGreater(total, 1.0 + 1e-9)
    left = math.fsum(_ROUNDED * onp.exp(-0.5 * rates)) / total
    steps = math.fsum(_ROUNDED * 0.5**rates) / total
    laws = [pd.Erlang(1, rate) for rate in rates]
    cases = [
      (lambda q: pd.Hyperexponential(q, rates), 0.5, left),
      (lambda q: pd.HyperErlang(q, (1,) * 10, rates), 0.5, left),
      (lambda q: pd.mixture(q, laws), 0.5, left),
      (lambda q: pd.mixture([0.5, 0.5], [pd.mixture(q, laws)] * 2), 0.5, left),
      (lambda q: pd.mixture([q, q[::-1]], laws)[0], 0.5, left),
      (lambda q: pd.PhaseType(q, onp.diag(-rates)), 0.5, left),
      (
        lambda q: pd.GeometricMixture(q, 1.0 - 0.5 ** (rates / 2.0)),
        2.0,
        steps,
      ),
    ]
    if MODE == "jax":  # Each is compiled.
      cases = cases[2:4]
    for make, value, exact in cases:
      dist, caught = self.caught(lambda make=make: make(_ROUNDED))
      self.assertNotEmpty(caught)
      self.assertIn("sums to 1.0000000149", str(caught[0].message))
      self.assert_close(dist.survival_function(value), exact, 1e-13)
    with self.assertRaisesRegex(ValueError, "this sum must be 1"):
      pd.mixture(_ROUNDED, laws, validate_args=True)
    # Sums that are further off are no rounding.
    dist, (warning,) = self.caught(lambda: pd.mixture([0.5, 0.51], laws[:2]))
    self.assertIn("mixture: sum(probs) = 1.01", str(warning.message))
    self.assertTrue(onp.isnan(self.host(dist.cdf(1.0))))

  def test_masses_beside_one_at_zero_that_were_float32(self):
    masses, atom = (
      onp.float32([0.7, 0.2]).astype(float),
      float(onp.float32(0.1)),
    )
    total = math.fsum([*masses, atom])
    self.assertGreater(abs(total - 1.0), 1e-9)
    exact = (atom + math.fsum(masses * -onp.expm1([-1.0, -2.0]))) / total
    for make in (
      lambda *x: pd.PhaseType(x[0], [[-1.0, 0.0], [0.0, -2.0]], prob_zero=x[1]),
      lambda *x: pd.MultivariatePhaseType(
        x[0], [[-1.0, 0.0], [0.0, -2.0]], [[1.0], [1.0]], prob_zero=x[1]
      ).marginal(0),
    ):
      dist, (warning,) = self.caught(lambda make=make: make(masses, atom))
      self.assertIn("with prob_zero sums to 0.99999999", str(warning.message))
      self.assert_close(dist.cdf(1.0), exact, 1e-13)
    dist, (_,) = self.caught(
      lambda: pd.DiscretePhaseType(masses, _STEPS, prob_zero=atom)
    )
    self.assert_close(dist.cdf(0.0), atom / total, 1e-13)
    self.assert_close(dist.cdf(1e4), 1.0, 1e-13)

  def test_matrices_of_what_was_float32(self):
    def rounded(x):
      return onp.asarray(onp.asarray(x, onp.float32), onp.float64)

    steps = rounded([[0.3, 0.3, 0.4], [0.1, 0.2, 0.1], [0.1, 0.1, 0.1]])
    self.assertGreater(onp.sum(steps[0]), 1.0 + 1e-9)
    dist, (warning,) = self.caught(
      lambda: pd.DiscretePhaseType([1.0, 0.0, 0.0], steps)
    )
    self.assertIn("subtransition sums to 1.00000002", str(warning.message))
    self.assertTrue(onp.isfinite(self.host(dist.mean())))
    rates = rounded([[-0.7, 0.1, 0.6], [0.1, -0.3, 0.1], [0.0, 0.0, -1.0]])
    self.assertGreater(onp.sum(rates[0]), 1e-9)
    dist, (warning,) = self.caught(lambda: pd.PhaseType([1.0, 0.0, 0.0], rates))
    self.assertIn("a row of subgenerator sums to", str(warning.message))
    self.assertTrue(onp.isfinite(self.host(dist.log_prob(1.0))))
    exits = rounded([0.1, 0.7])
    between = rounded([[0.3, 0.6], [0.1, 0.2]])
    dist, (_,) = self.caught(
      lambda: pd.DiscretePhaseType([1.0, 0.0], between, exits)
    )
    self.assertTrue(onp.isfinite(self.host(dist.mean())))


class ProperMassesTest(test_case.TestCase):
  def test_models_of_a_batch_are_checked_alone(self):
    masses = np.asarray(onp.asarray([[0.5, 0.25], [0.5, 0.5]]))
    found = chain.proper_masses(masses, np.asarray(onp.full(2, 0.25)))
    self.assert_close(found, [[0.5, 0.25], [onp.nan, onp.nan]])


if __name__ == "__main__":
  absltest.main()
