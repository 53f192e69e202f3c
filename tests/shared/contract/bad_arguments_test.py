"""Methods and functions with invalid arguments warn once, and name themselves."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm
from tests.helpers import small_laws
from tests.helpers import test_case


def _steps():
  return pd.DiscretePhaseType(small_laws.START, small_laws.STEPS)


def _epochs():
  return pd.Epochs(small_laws.line(), [[1.0, 2.0]] * 2, [1.0])


def _totals():
  return pd.MultivariateEpochs(_epochs(), onp.eye(2))


def _rewards():
  return pd.MultivariatePhaseType(
    small_laws.START, small_laws.MATRIX, onp.eye(2)
  )


# By name: a call, and what the message has in it: the method or function, the
# argument, the value and the rule.

CASES = {
  "mixture": (
    lambda: pd.mixture([0.5, 0.25], [small_laws.erlang(), small_laws.erlang()]),
    ("mixture: sum(probs)", "0.75", "must be 1"),
  ),
  "quantile": (
    lambda: small_laws.erlang().quantile(1.5),
    ("Erlang.quantile: value", "1.5", "must be in [0, 1]"),
  ),
  "log_quantile": (
    lambda: small_laws.erlang().quantile_log_survival([-1.0, 0.5]),
    ("Erlang.quantile_log_survival: value[1]", "0.5", "must be <= 0"),
  ),
  "math_density": (
    lambda: pm.phase_type.log_prob(
      1.0, small_laws.START, [[-2.0, -1.0], [0.0, -1.0]]
    ),
    ("log_prob: subgenerator[0, 1]", "-1.0", "must be >= 0"),
  ),
  "math_mean": (
    lambda: pm.phase_type.mean(initial_probs=[1.25], subgenerator=[[-2.0]]),
    ("mean: sum(initial_probs)", "1.25", "must be <= 1"),
  ),
  "math_steps": (
    lambda: pm.discrete_phase_type.cdf(
      1.0, small_laws.START, [[0.5, 0.75], [0.0, 0.5]]
    ),
    ("cdf: row sum of subtransition[0]", "1.25", "must be <= 1"),
  ),
  "math_edges": (
    lambda: pm.phase_type.survival_function(
      1.0, [1.0], pm.EdgeRates([0], [1], [-1.0])
    ),
    ("survival_function: edge_values[0]", "-1.0", "must be >= 0"),
  ),
  "math_exits": (
    lambda: pm.phase_type.cdf(1.0, [1.0], [[-1.0]], exit_rates=[-1.0]),
    ("cdf: exit_rates[0]", "-1.0", "must be >= 0"),
  ),
  "math_atom": (
    lambda: pm.phase_type.cdf(1.0, [1.0], [[-1.0]], prob_zero=-0.5),
    ("cdf: prob_zero", "-0.5", "must be in [0, 1]"),
  ),
  "math_weights": (
    lambda: pm.phase_type.expected_statistics(
      [1.0, 2.0], [1.0], [[-1.0]], weights=[1.0, -3.0]
    ),
    (
      "expected_statistics: weights[1]",
      "-3.0",
      "a weight must be >= 0 and finite",
    ),
  ),
  "math_epoch_weights": (
    lambda: _epochs().expected_statistics([1.0, 2.0], weights=[onp.inf, 1.0]),
    (
      "Epochs.expected_statistics: weights[0]",
      "inf",
      "a weight must be >= 0 and finite",
    ),
  ),
  "math_spectrum_counts": (
    lambda: pg.models.spectrum_log_likelihood([1.0, 1.5], [1.0, 1.0]),
    ("spectrum_log_likelihood: counts[1]", "1.5", "must be an integer >= 0"),
  ),
  "math_spectrum_lengths": (
    lambda: pg.models.spectrum_log_likelihood([1.0, 2.0], [-1.0, 1.0]),
    ("spectrum_log_likelihood: lengths[0]", "-1.0", "must be >= 0"),
  ),
  "math_spectrum_rate": (
    lambda: pg.models.spectrum_log_likelihood([1.0], [1.0], -0.5),
    ("spectrum_log_likelihood: mutation_rate", "-0.5", "must be >= 0"),
  ),
  "math_masses": (
    lambda: pm.phase_type.cdf(1.0, [1.0], [[-1.0]], prob_zero=0.5),
    ("cdf: sum(initial_probs) + prob_zero", "1.5", "must be 1"),
  ),
  "math_too_little_mass": (
    lambda: pm.phase_type.log_prob(
      1.0, [0.5, 0.0], small_laws.MATRIX, None, 0.25
    ),
    ("log_prob: sum(initial_probs) + prob_zero", "0.75", "must be 1"),
  ),
  "math_masses_of_edges": (
    lambda: pm.phase_type.cdf(
      1.0, onp.asarray(small_laws.START), small_laws.EDGES, prob_zero=0.5
    ),
    ("cdf: sum(initial_probs) + prob_zero", "1.5", "must be 1"),
  ),
  "math_masses_of_steps": (
    lambda: pm.discrete_phase_type.cdf(
      1.0, [0.5, 0.75], small_laws.STEPS, prob_zero=0.0
    ),
    ("cdf: sum(initial_probs)", "1.25", "must be <= 1"),
  ),
  "math_masses_of_a_batch": (
    lambda: pm.phase_type.mean(
      small_laws.START, small_laws.MATRIX, prob_zero=[0.0, 1e-9]
    ),
    ("mean: sum(initial_probs) + prob_zero[1]", "1.000000001", "must be 1"),
  ),
  "math_lost_exits": (
    lambda: pm.phase_type.log_prob(1.0, small_laws.START, small_laws.CLOSED),
    ("log_prob: largest exit of subgenerator", "e-16", "must be above 4 p eps"),
  ),
  "math_quantile": (
    lambda: pm.phase_type.quantile(2.0, [1.0], [[-1.0]]),
    ("quantile: value", "2.0", "must be in [0, 1]"),
  ),
  "laplace": (
    lambda: small_laws.erlang().laplace_transform([0.5, -0.5]),
    (
      "Erlang.laplace_transform: u[1]",
      "-0.5",
      "must be finite and >= 0",
      "moment_generating_function",
    ),
  ),
  "generating": (
    lambda: _steps().probability_generating_function(-0.5),
    (
      "DiscretePhaseType.probability_generating_function: z",
      "-0.5",
      "must be in [0, 1]",
    ),
  ),
  "generating_above": (
    lambda: _steps().probability_generating_function(1.5),
    (
      "DiscretePhaseType.probability_generating_function: z",
      "1.5",
      "must be in [0, 1]",
      "moment_generating_function(log(z))",
    ),
  ),
  "occupancy": (
    lambda: small_laws.erlang().occupancy([1.0, -1.0]),
    ("Erlang.occupancy: value[1]", "-1.0", "must be finite and >= 0"),
  ),
  "occupancy_steps": (
    lambda: _steps().occupancy(1.5),
    ("DiscretePhaseType.occupancy: value", "1.5", "must be an integer >= 0"),
  ),
  "renewals": (
    lambda: small_laws.erlang().renewal_density(-1.0),
    ("Erlang.renewal_density: value", "-1.0", "must be finite and >= 0"),
  ),
  "joint_laplace": (
    lambda: _rewards().laplace_transform([-1.0, 0.5]),
    (
      "MultivariatePhaseType.laplace_transform: u[0]",
      "-1.0",
      "must be finite and >= 0",
    ),
  ),
  "projection": (
    lambda: _rewards().projection([1.0, -2.0]),
    (
      "MultivariatePhaseType.projection: weights[1]",
      "-2.0",
      "must be finite and >= 0",
    ),
  ),
  "rewards_of_counts": (
    lambda: _totals().joint_mark_probs([1, 1], [-1.0, 0.5]),
    ("MultivariateEpochs.joint_mark_probs: mark_rates[0]", "-1.0", "must be"),
  ),
  "epochs_occupancy": (
    lambda: _epochs().occupancy(-1.0),
    ("Epochs.occupancy: value", "-1.0", "must be finite and >= 0"),
  ),
  "epochs_sojourns": (
    lambda: _epochs().expected_sojourn_times(2.0, since=-1.0),
    ("Epochs.expected_sojourn_times: since", "-1.0", "must be finite and >= 0"),
  ),
  "epochs_totals": (
    lambda: _totals().expected_totals([1.0, onp.inf]),
    ("MultivariateEpochs.expected_totals: until[1]", "inf", "must be finite"),
  ),
  "math_laplace": (
    lambda: pm.phase_type.laplace_transform(
      -0.5, small_laws.START, small_laws.MATRIX
    ),
    ("laplace_transform: u", "-0.5", "must be finite and >= 0"),
  ),
  "math_generating": (
    lambda: pm.discrete_phase_type.probability_generating_function(
      -0.5, small_laws.START, small_laws.STEPS
    ),
    ("probability_generating_function: z", "-0.5", "must be in [0, 1]"),
  ),
  "math_occupancy": (
    lambda: pm.phase_type.occupancy(-1.0, small_laws.START, small_laws.MATRIX),
    ("occupancy: value", "-1.0", "must be finite and >= 0"),
  ),
  "math_joint_laplace": (
    lambda: pm.phase_type.joint_laplace_transform(
      [0.5, -1.0], onp.eye(2), small_laws.START, small_laws.MATRIX
    ),
    (
      "joint_laplace_transform: u[1]",
      "-1.0",
      "must be finite and >= 0",
    ),
  ),
  "math_reward_transform": (
    lambda: pm.phase_type.reward_transform(
      [1.0, -1.0], small_laws.START, small_laws.MATRIX
    ),
    ("reward_transform: rewards[1]", "-1.0", "must be >= 0 and finite"),
  ),
  "math_rewards": (
    lambda: pm.phase_type.reward_moments(
      2, [1.0, -1.0], small_laws.START, small_laws.MATRIX
    ),
    ("reward_moments: rewards[1]", "-1.0", "must be >= 0 and finite"),
  ),
}


class BadArgumentsTest(test_case.TestCase):
  @parameterized.named_parameters(*((name, name) for name in CASES))
  def test_one_warning(self, name):
    make, parts = CASES[name]
    found, caught = self.caught(make)
    (warning,) = caught
    self.assertStartsWith(str(warning.message), parts[0])
    for part in parts[1:]:
      self.assertIn(part, str(warning.message))
    self.assertTrue(warning.filename.endswith("bad_arguments_test.py"))
    if isinstance(found, pd.Distribution):
      # Its methods do not warn again.
      _, again = self.caught(found.mean)
      self.assertEmpty(again)

  def test_checked_arguments_raise(self):
    steps, times = _steps(), small_laws.erlang()
    for make, name in (
      (lambda d: d.copy(validate_args=True).laplace_transform(-0.5), "u"),
      (lambda d: d.copy(validate_args=True).occupancy(-0.5), "value"),
    ):
      for dist in (times, steps):
        with self.assertRaisesRegex(ValueError, f"{name} = -0.5: it must be"):
          make(dist)
    with self.assertRaisesRegex(ValueError, r"z = 1.5: it must be in \[0, 1\]"):
      steps.copy(validate_args=True).probability_generating_function(1.5)
    checked = _rewards().copy(validate_args=True)
    with self.assertRaisesRegex(ValueError, r"weights\[1\] = -1.0: it must be"):
      checked.projection([1.0, -1.0])

  @test_case.of_bad_values
  def test_results_of_bad_weights(self):
    def mean(weights):
      found = pm.phase_type.expected_statistics(
        [1.0, 3.0], [1.0], [[-1.0]], weights=weights
      )
      return self.host(found.sojourns)[0]

    # The sojourn of an exact value is the value.
    for weights, exact in (
      ([1.0, 2.0], 7.0),
      ([0.0, 2.0], 6.0),
      (None, 4.0),
      ([1.0, -3.0], math.nan),
      ([math.inf, 1.0], math.nan),
      ([math.nan, 1.0], math.nan),
    ):
      onp.testing.assert_allclose(mean(weights), exact, 1e-13)
    history = _epochs()
    found = history.expected_statistics([0.5, 2.0], weights=[1.0, -1.0])
    self.assertTrue(onp.all(onp.isnan(self.host(found[0].sojourns))))


if __name__ == "__main__":
  absltest.main()
