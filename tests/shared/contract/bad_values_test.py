"""Warnings about invalid values, once for concrete ones."""

import math
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
if MODE == "tf":
  import tensorflow as tf

_START = [1.0, 0.0]
_MATRIX = [[-2.0, 1.0], [0.0, -1.0]]
_EDGES = pm.EdgeRates([0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
# A matrix whose only exit, 2.2e-16, counts as a rounding error.
_CLOSED = [[-1.0, 1.0], [1.0, -1.0 - 2.0**-52]]
_STEPS = [[0.5, 0.25], [0.0, 0.5]]
# Probabilities rounded to float32, which sum to 1 + 1.5e-8 in float64.
_ROUNDED = onp.asarray(onp.asarray([0.1] * 10, onp.float32), onp.float64)
_CHAIN = onp.diag([-1.0] * 10) + onp.diag([1.0] * 9, 1)


def _line(discrete=False):
  """Builds a graph of two phases, with weights a and b."""
  edges = [(0, 1, {"a": 1.0}), (1, pg.ABSORBED, {"b": 1.0})]
  return pg.Graph.from_edges(edges, 0, params=("a", "b"), discrete=discrete)


def _erlang():
  return pd.Erlang(2, 1.0)


def _steps():
  return pd.DiscretePhaseType(_START, _STEPS)


def _rewards():
  return pd.MultivariatePhaseType(_START, _MATRIX, onp.eye(2))


# By name: what makes an object, or calls a function, and what the message has
# in it: the argument, the value and the rule.
CASES = {
  "off_diagonal": (
    lambda: pd.PhaseType(_START, [[-2.0, -1.0], [0.0, -1.0]]),
    ("subgenerator[0, 1]", "-1.0", "must be >= 0"),
  ),
  "row_sum": (
    lambda: pd.PhaseType(_START, [[-2.0, 3.0], [0.0, -1.0]]),
    ("row sum of subgenerator[0]", "1.0", "must be <= 0"),
  ),
  "rate_nan": (
    lambda: pd.PhaseType(_START, [[onp.nan, 1.0], [0.0, -1.0]]),
    ("subgenerator[0, 0]", "nan", "must be finite"),
  ),
  "rate_inf": (
    lambda: pd.PhaseType(_START, [[-onp.inf, 1.0], [0.0, -1.0]]),
    ("subgenerator[0, 0]", "-inf", "must be finite"),
  ),
  "mass": (
    lambda: pd.PhaseType([1.5, -0.5], _MATRIX),
    ("initial_probs[1]", "-0.5", "must be >= 0"),
  ),
  "masses": (
    lambda: pd.PhaseType([0.75, 0.5], _MATRIX),
    ("sum(initial_probs)", "1.25", "must be <= 1"),
  ),
  "a_batch": (
    lambda: pd.PhaseType([[1.0, 0.0], [2.0, 0.0]], _MATRIX),
    ("sum(initial_probs)[1]", "2.0", "must be <= 1"),
  ),
  "exit_rates": (
    lambda: pd.PhaseType(_START, _MATRIX, exit_rates=[1.0, -1.0]),
    ("exit_rates[1]", "-1.0", "must be >= 0"),
  ),
  "prob_zero": (
    lambda: pd.PhaseType(_START, _MATRIX, prob_zero=1.5),
    ("prob_zero", "1.5", "must be in [0, 1]"),
  ),
  "masses_and_prob_zero": (
    lambda: pd.PhaseType([0.9, 0.0], _MATRIX, prob_zero=0.3),
    ("sum(initial_probs) + prob_zero", "1.2", "must be 1"),
  ),
  "too_little_mass": (
    lambda: pd.DiscretePhaseType([0.5, 0.0], _STEPS, prob_zero=[0.5, 0.3]),
    ("sum(initial_probs) + prob_zero[1]", "0.8", "must be 1"),
  ),
  "masses_of_rewards": (
    lambda: pd.MultivariatePhaseType(
      [0.5, 0.0], _MATRIX, onp.eye(2), prob_zero=0.25
    ),
    ("sum(initial_probs) + prob_zero", "0.75", "must be 1"),
  ),
  "whole_generator": (
    lambda: pd.PhaseType(_START, [[-1.0, 1.0], [0.0, 0.0]]),
    ("phase 1 of subgenerator", "no phase exits", "leave out its row"),
  ),
  "lost_exits": (
    lambda: pd.PhaseType(_START, _CLOSED),
    ("largest exit of subgenerator", "e-16", "must be above 4 p eps"),
  ),
  "lost_exits_in_float32": (
    lambda: pd.PhaseType(
      onp.asarray(_START, onp.float32),
      onp.asarray([[-1.0000001, 1.0], [1.0, -1.0000001]], onp.float32),
    ),
    ("largest exit of subgenerator", "1.19", "give exit_rates"),
  ),
  "lost_exits_of_a_batch": (
    lambda: pd.PhaseType(_START, [_MATRIX, _CLOSED]),
    ("largest exit of subgenerator", "e-16", "give exit_rates"),
  ),
  "lost_exits_of_large_rates": (
    lambda: pd.PhaseType(_START, [[-3e9, 3e9], [1e9, -1e9 - 1e-7]]),
    ("largest exit of subgenerator", "e-07", "give exit_rates"),
  ),
  "lost_exits_of_rewards": (
    lambda: pd.MultivariatePhaseType(_START, _CLOSED, onp.eye(2)),
    ("largest exit of subgenerator", "e-16", "give exit_rates"),
  ),
  "lost_exits_of_steps": (
    lambda: pd.DiscretePhaseType(_START, [[0.5, 0.5 - 2.0**-53], [0.25, 0.75]]),
    ("largest exit of subtransition", "e-16", "give exit_probs"),
  ),
  "steps": (
    lambda: pd.DiscretePhaseType(_START, [[0.5, 0.75], [0.0, 0.5]]),
    ("row sum of subtransition[0]", "1.25", "must be <= 1"),
  ),
  "step": (
    lambda: pd.DiscretePhaseType(_START, [[0.5, -0.5], [0.0, 0.5]]),
    ("subtransition[0, 1]", "-0.5", "must be >= 0"),
  ),
  "steps_and_exits": (
    lambda: pd.DiscretePhaseType(_START, _STEPS, exit_probs=[0.5, 0.5]),
    ("row sum of subtransition and exit_probs[0]", "1.25", "must be 1"),
  ),
  "whole_steps": (
    lambda: pd.DiscretePhaseType(_START, [[0.5, 0.5], [0.0, 1.0]]),
    ("phase 1 of subtransition", "no phase exits", "leave out its row"),
  ),
  "erlang": (
    lambda: pd.Erlang(3, -1.0),
    ("rate", "-1.0", "must be > 0"),
  ),
  "erlang_nan": (
    lambda: pd.Erlang(3, [1.0, onp.nan]),
    ("rate[1]", "nan", "must be > 0"),
  ),
  "hyperexponential": (
    lambda: pd.Hyperexponential([0.5, 0.25], [1.0, 2.0]),
    ("sum(mixture_probs)", "0.75", "must be 1"),
  ),
  "hypoexponential": (
    lambda: pd.Hypoexponential([1.0, onp.inf]),
    ("rates[1]", "inf", "must be > 0 and finite"),
  ),
  "hyper_erlang": (
    lambda: pd.HyperErlang([0.5, 1.0], [1, 2], [1.0, 2.0]),
    ("sum(mixture_probs)", "1.5", "must be 1"),
  ),
  "coxian": (
    lambda: pd.Coxian([1.0], [-1.0, 2.0]),
    ("exit_rates[0]", "-1.0", "must be >= 0"),
  ),
  "acyclic": (
    lambda: pd.AcyclicPhaseType([0.5, 0.75], [1.0, 2.0]),
    ("sum(initial_probs)", "1.25", "must be <= 1"),
  ),
  "trials": (
    lambda: pd.NegativeBinomialTrials(3, 1.5),
    ("success_prob", "1.5", "must be in (0, 1]"),
  ),
  "geometric_mixture": (
    lambda: pd.GeometricMixture([0.5, 0.25], [0.5, 0.25]),
    ("sum(mixture_probs)", "0.75", "must be 1"),
  ),
  "sparse": (
    lambda: pd.PhaseType([1.0], pm.EdgeRates([0], [1], [-1.0])),
    ("subgenerator[0]", "-1.0", "must be >= 0"),
  ),
  "sparse_steps": (
    lambda: pd.DiscretePhaseType(
      [1.0], pm.EdgeProbs([0, 0], [0, 1], [0.75, 0.5])
    ),
    ("subtransition", "1.25", "must sum to <= 1"),
  ),
  "graph": (
    lambda: pd.PhaseType.from_graph(_line(), {"a": 1.0, "b": -1.0}),
    ("edge_values(params)[1]", "-1.0", "must be >= 0"),
  ),
  "graph_steps": (
    lambda: pd.DiscretePhaseType.from_graph(_line(True), [1.5, 0.5]),
    ("edge_values(params)", "1.5", "must sum to <= 1"),
  ),
  "epochs": (
    lambda: pd.Epochs(_line(), [[1.0, 1.0], [1.0, -1.0]], [1.0]),
    ("graphs[1].edge_values(params[1])[1]", "-1.0", "must be >= 0"),
  ),
  "rewards": (
    lambda: pd.MultivariatePhaseType(_START, _MATRIX, [[1.0], [-1.0]]),
    ("rewards[1, 0]", "-1.0", "must be >= 0"),
  ),
  "truncated": (
    lambda: pd.TruncatedPhaseType(_erlang(), 2.0, 1.0),
    ("high", "1.0", "must be a number > low"),
  ),
  "residual_life": (
    lambda: pd.ResidualLife(_erlang(), -1.0),
    ("time", "-1.0", "must be >= 0"),
  ),
  "zero_inflated": (
    lambda: pd.ZeroInflated(_erlang(), 1.5),
    ("prob_zero", "1.5", "must be in [0, 1]"),
  ),
  "weibull": (
    lambda: pd.MatrixWeibull(_erlang(), -1.0),
    ("concentration", "-1.0", "must be > 0"),
  ),
  "weibull_zero": (
    lambda: pd.MatrixWeibull(_erlang(), 0.0),
    ("concentration", "0.0", "must be > 0"),
  ),
  "failures": (
    lambda: pd.NegativeBinomialFailures(2, -0.5),
    ("NegativeBinomialFailures: success_prob", "-0.5", "must be in (0, 1]"),
  ),
  "mixture": (
    lambda: pd.mixture([0.5, 0.25], [_erlang(), _erlang()]),
    ("mixture: sum(probs)", "0.75", "must be 1"),
  ),
  "quantile": (
    lambda: _erlang().quantile(1.5),
    ("value", "1.5", "must be in [0, 1]"),
  ),
  "log_quantile": (
    lambda: _erlang().quantile_log_survival([-1.0, 0.5]),
    ("value[1]", "0.5", "must be <= 0"),
  ),
  "math_density": (
    lambda: pm.phase_type.log_prob(1.0, _START, [[-2.0, -1.0], [0.0, -1.0]]),
    ("subgenerator[0, 1]", "-1.0", "must be >= 0"),
  ),
  "math_mean": (
    lambda: pm.phase_type.mean(initial_probs=[1.25], subgenerator=[[-2.0]]),
    ("sum(initial_probs)", "1.25", "must be <= 1"),
  ),
  "math_steps": (
    lambda: pm.discrete_phase_type.cdf(1.0, _START, [[0.5, 0.75], [0.0, 0.5]]),
    ("row sum of subtransition[0]", "1.25", "must be <= 1"),
  ),
  "math_edges": (
    lambda: pm.phase_type.survival_function(
      1.0, [1.0], pm.EdgeRates([0], [1], [-1.0])
    ),
    ("edge_values[0]", "-1.0", "must be >= 0"),
  ),
  "math_exits": (
    lambda: pm.phase_type.cdf(1.0, [1.0], [[-1.0]], exit_rates=[-1.0]),
    ("exit_rates[0]", "-1.0", "must be >= 0"),
  ),
  "math_atom": (
    lambda: pm.phase_type.cdf(1.0, [1.0], [[-1.0]], prob_zero=-0.5),
    ("prob_zero", "-0.5", "must be in [0, 1]"),
  ),
  "zero_rate": (
    lambda: pd.Erlang(2, 0.0),
    ("rate", "0.0", "must be > 0"),
  ),
  "zero_last_exit": (
    lambda: pd.Coxian([1.0], [1.0, 0.0]),
    ("exit_rates[1]", "0.0", "must be > 0"),
  ),
  "zero_power": (
    lambda: pd.MatrixWeibull(_erlang(), 0.0),
    ("MatrixWeibull", "0.0", "must be > 0"),
  ),
  "zero_probability": (
    lambda: pd.NegativeBinomialTrials(2, 0.0),
    ("0.0", "must be in (0, 1]"),
  ),
  "math_weights": (
    lambda: pm.phase_type.expected_statistics(
      [1.0, 2.0], [1.0], [[-1.0]], weights=[1.0, -3.0]
    ),
    ("weights[1]", "-3.0", "a weight must be >= 0 and finite"),
  ),
  "math_epoch_weights": (
    lambda: pd.Epochs(_line(), [[1.0, 2.0]] * 2, [1.0]).expected_statistics(
      [1.0, 2.0], weights=[onp.inf, 1.0]
    ),
    ("weights[0]", "inf", "a weight must be >= 0 and finite"),
  ),
  "math_spectrum_counts": (
    lambda: pg.models.spectrum_log_likelihood([1.0, 1.5], [1.0, 1.0]),
    ("counts[1]", "1.5", "must be an integer >= 0"),
  ),
  "math_spectrum_lengths": (
    lambda: pg.models.spectrum_log_likelihood([1.0, 2.0], [-1.0, 1.0]),
    ("lengths[0]", "-1.0", "must be >= 0"),
  ),
  "math_spectrum_rate": (
    lambda: pg.models.spectrum_log_likelihood([1.0], [1.0], -0.5),
    ("mutation_rate", "-0.5", "must be >= 0"),
  ),
  "math_masses": (
    lambda: pm.phase_type.cdf(1.0, [1.0], [[-1.0]], prob_zero=0.5),
    ("sum(initial_probs) + prob_zero", "1.5", "must be 1"),
  ),
  "math_too_little_mass": (
    lambda: pm.phase_type.log_prob(1.0, [0.5, 0.0], _MATRIX, None, 0.25),
    ("sum(initial_probs) + prob_zero", "0.75", "must be 1"),
  ),
  "math_masses_of_edges": (
    lambda: pm.phase_type.cdf(1.0, onp.asarray(_START), _EDGES, prob_zero=0.5),
    ("sum(initial_probs) + prob_zero", "1.5", "must be 1"),
  ),
  "math_masses_of_steps": (
    lambda: pm.discrete_phase_type.cdf(1.0, [0.5, 0.75], _STEPS, prob_zero=0.0),
    ("sum(initial_probs)", "1.25", "must be <= 1"),
  ),
  "math_masses_of_a_batch": (
    lambda: pm.phase_type.mean(_START, _MATRIX, prob_zero=[0.0, 1e-9]),
    ("sum(initial_probs) + prob_zero[1]", "1.000000001", "must be 1"),
  ),
  "math_lost_exits": (
    lambda: pm.phase_type.log_prob(1.0, _START, _CLOSED),
    ("largest exit of subgenerator", "e-16", "must be above 4 p eps"),
  ),
  "math_quantile": (
    lambda: pm.phase_type.quantile(2.0, [1.0], [[-1.0]]),
    ("u", "2.0", "must be in [0, 1]"),
  ),
  "laplace": (
    lambda: _erlang().laplace_transform([0.5, -0.5]),
    ("u[1]", "-0.5", "must be finite and >= 0", "moment_generating_function"),
  ),
  "generating": (
    lambda: _steps().probability_generating_function(-0.5),
    ("z", "-0.5", "must be in [0, 1]"),
  ),
  "generating_above": (
    lambda: _steps().probability_generating_function(1.5),
    ("z", "1.5", "must be in [0, 1]", "moment_generating_function(log(z))"),
  ),
  "occupancy": (
    lambda: _erlang().occupancy([1.0, -1.0]),
    ("value[1]", "-1.0", "must be finite and >= 0"),
  ),
  "occupancy_steps": (
    lambda: _steps().occupancy(1.5),
    ("value", "1.5", "must be an integer >= 0"),
  ),
  "renewals": (
    lambda: _erlang().renewal_density(-1.0),
    ("value", "-1.0", "must be finite and >= 0"),
  ),
  "joint_laplace": (
    lambda: _rewards().laplace_transform([-1.0, 0.5]),
    ("arguments[0]", "-1.0", "must be finite and >= 0"),
  ),
  "projection": (
    lambda: _rewards().projection([1.0, -2.0]),
    ("weights[1]", "-2.0", "must be finite and >= 0"),
  ),
  "equilibrium": (
    lambda: pd.Equilibrium(pd.PhaseType(_START, [[-2.0, 1.0], [0.0, 0.0]])),
    ("Equilibrium: mean of distribution", "inf", "must be > 0 and finite"),
  ),
  "math_laplace": (
    lambda: pm.phase_type.laplace_transform(-0.5, _START, _MATRIX),
    ("u", "-0.5", "must be finite and >= 0"),
  ),
  "math_generating": (
    lambda: pm.discrete_phase_type.probability_generating_function(
      -0.5, _START, _STEPS
    ),
    ("z", "-0.5", "must be in [0, 1]"),
  ),
  "math_occupancy": (
    lambda: pm.phase_type.occupancy(-1.0, _START, _MATRIX),
    ("value", "-1.0", "must be finite and >= 0"),
  ),
  "math_joint_laplace": (
    lambda: pm.phase_type.joint_laplace_transform(
      [0.5, -1.0], onp.eye(2), _START, _MATRIX
    ),
    ("arguments[1]", "-1.0", "must be finite and >= 0"),
  ),
  "math_reward_transform": (
    lambda: pm.phase_type.reward_transform([1.0, -1.0], _START, _MATRIX),
    ("rewards[1]", "-1.0", "must be >= 0 and finite"),
  ),
  "math_rewards": (
    lambda: pm.phase_type.reward_moments(2, [1.0, -1.0], _START, _MATRIX),
    ("rewards[1]", "-1.0", "must be >= 0 and finite"),
  ),
}

# Calls whose results do not have the given parameters.
_CALLS = (
  "generating",
  "joint_laplace",
  "laplace",
  "log_quantile",
  "math",
  "mixture",
  "occupancy",
  "projection",
  "quantile",
  "renewals",
)


class BadValuesTest(test_case.TestCase):
  def _caught(self, function):
    with warnings.catch_warnings(record=True) as caught:
      warnings.simplefilter("always")
      found = function()
    own = [w for w in caught if issubclass(w.category, RuntimeWarning)]
    return found, own

  @parameterized.named_parameters(*((name, name) for name in CASES))
  def test_one_warning(self, name):
    make, parts = CASES[name]
    found, caught = self._caught(make)
    (warning,) = caught
    for part in parts:
      self.assertIn(part, str(warning.message))
    self.assertTrue(warning.filename.endswith("bad_values_test.py"))
    if isinstance(found, pd.Distribution):
      # Its methods do not warn again.
      _, again = self._caught(found.mean)
      self.assertEmpty(again)

  @parameterized.parameters(
    *(name for name in CASES if not name.startswith(_CALLS))
  )
  def test_checked_values_raise_the_same(self, name):
    make, parts = CASES[name]
    found, (warning,) = self._caught(make)
    with self.assertRaises(ValueError) as raised:
      found.copy(validate_args=True)
    self.assertIn(str(raised.exception), str(warning.message))
    self.assertIn(parts[-1], str(raised.exception))

  def test_sums_of_what_was_float32(self):
    exact = pd.PhaseType([0.1] * 10, _CHAIN)
    dist, (warning,) = self._caught(lambda: pd.PhaseType(_ROUNDED, _CHAIN))
    self.assertIn("initial_probs sums to 1.0000000149", str(warning.message))
    self.assert_close(dist.log_prob(2.0), exact.log_prob(2.0), rtol=1e-7)
    self.assert_close(np.sum(dist.initial_probs), 1.0)
    value, (_,) = self._caught(
      lambda: pm.phase_type.log_prob(2.0, _ROUNDED, _CHAIN)
    )
    self.assert_close(value, dist.log_prob(2.0))
    # A deficit is rounding too if all masses are float32 numbers.
    less = onp.asarray(onp.asarray([0.7, 0.2, 0.1], onp.float32), onp.float64)
    self.assertLess(onp.sum(less), 1.0 - 1e-9)
    dist, (_,) = self._caught(lambda: pd.PhaseType(less, _CHAIN[:3, :3]))
    self.assert_close(dist.prob_zero, 0.0)
    # Otherwise it is a mass at zero.
    dist, caught = self._caught(lambda: pd.PhaseType([1.0 - 1e-8], [[-1.0]]))
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
      dist, caught = self._caught(lambda make=make: make(_ROUNDED))
      self.assertNotEmpty(caught)
      self.assertIn("sums to 1.0000000149", str(caught[0].message))
      self.assert_close(dist.survival_function(value), exact, 1e-13)
    with self.assertRaisesRegex(ValueError, "this sum must be 1"):
      pd.mixture(_ROUNDED, laws, validate_args=True)
    # Sums that are further off are no rounding.
    dist, (warning,) = self._caught(lambda: pd.mixture([0.5, 0.51], laws[:2]))
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
      dist, (warning,) = self._caught(lambda make=make: make(masses, atom))
      self.assertIn("with prob_zero sums to 0.99999999", str(warning.message))
      self.assert_close(dist.cdf(1.0), exact, 1e-13)
    dist, (_,) = self._caught(
      lambda: pd.DiscretePhaseType(masses, _STEPS, prob_zero=atom)
    )
    self.assert_close(dist.cdf(0.0), atom / total, 1e-13)
    self.assert_close(dist.cdf(1e4), 1.0, 1e-13)

  def test_zeros_where_numbers_must_be_positive(self):
    one = _erlang()
    for make in (
      lambda: pd.Hyperexponential([0.5, 0.5], [1.0, 0.0]),
      lambda: pd.Hypoexponential([[1.0, 2.0], [1.0, 0.0]]),
      lambda: pd.HyperErlang([0.75, 0.25], (1, 2), [1.0, 0.0]),
      lambda: pd.AcyclicPhaseType([0.5, 0.5], [0.0, 1.0]),
      lambda: pd.GeometricMixture([0.5, 0.5], [1.0, 0.0]),
      lambda: pd.NegativeBinomialFailures(2, 0.0),
      lambda: pd.MatrixPareto(one, 0.0),
      lambda: pd.MatrixGompertz(one, 0.0),
      lambda: pd.MatrixLogNormal(one, 0.0),
      lambda: pd.MatrixLogLogistic(one, 1.0, 0.0),
      lambda: pd.MatrixWeibull(one, onp.asarray([1.0, 0.0])),
      lambda: pd.Erlang(2, onp.asarray([0.0, 1.0], onp.float32)),
    ):
      dist, (warning,) = self._caught(make)
      self.assertRegex(str(warning.message), r"= 0.0: .*(> 0|\(0, 1\])")
      with self.assertRaises(ValueError) as raised:
        dist.copy(validate_args=True)
      self.assertIn(str(raised.exception), str(warning.message))

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
    history = pd.Epochs(_line(), [[1.0, 2.0]] * 2, [1.0])
    found = history.expected_statistics([0.5, 2.0], weights=[1.0, -1.0])
    self.assertTrue(onp.all(onp.isnan(self.host(found[0].sojourns))))

  def test_matrices_of_what_was_float32(self):
    def rounded(x):
      return onp.asarray(onp.asarray(x, onp.float32), onp.float64)

    steps = rounded([[0.3, 0.3, 0.4], [0.1, 0.2, 0.1], [0.1, 0.1, 0.1]])
    self.assertGreater(onp.sum(steps[0]), 1.0 + 1e-9)
    dist, (warning,) = self._caught(
      lambda: pd.DiscretePhaseType([1.0, 0.0, 0.0], steps)
    )
    self.assertIn("subtransition sums to 1.00000002", str(warning.message))
    self.assertTrue(onp.isfinite(self.host(dist.mean())))
    rates = rounded([[-0.7, 0.1, 0.6], [0.1, -0.3, 0.1], [0.0, 0.0, -1.0]])
    self.assertGreater(onp.sum(rates[0]), 1e-9)
    dist, (warning,) = self._caught(
      lambda: pd.PhaseType([1.0, 0.0, 0.0], rates)
    )
    self.assertIn("a row of subgenerator sums to", str(warning.message))
    self.assertTrue(onp.isfinite(self.host(dist.log_prob(1.0))))
    exits = rounded([0.1, 0.7])
    between = rounded([[0.3, 0.6], [0.1, 0.2]])
    dist, (_,) = self._caught(
      lambda: pd.DiscretePhaseType([1.0, 0.0], between, exits)
    )
    self.assertTrue(onp.isfinite(self.host(dist.mean())))

  @test_case.of_bad_values
  def test_masses_that_do_not_sum_to_one_are_free_coordinates(self):
    found = pm.phase_type.cdf(1.0, [1.0], [[-1.0]], prob_zero=0.5)
    self.assert_close(found, 0.5 - onp.expm1(-1.0), 1e-14)
    dist = pd.PhaseType([1.0], [[-1.0]], prob_zero=0.5)
    self.assert_close(dist.log_prob(1.0), -1.0, 1e-14)

  def test_good_values(self):
    for make in (
      lambda: pd.PhaseType(_START, _MATRIX),
      lambda: pd.PhaseType([0.5, 0.25], _MATRIX),
      lambda: pd.PhaseType([0.5, 0.25], _MATRIX, prob_zero=0.25),
      lambda: pd.PhaseType([0.1] * 10, _CHAIN, prob_zero=0.0),
      lambda: pm.phase_type.cdf(1.0, [0.5, 0.25], _MATRIX, prob_zero=0.25),
      lambda: pm.phase_type.cdf(1.0, [0.1] * 10, _CHAIN, prob_zero=0.0),
      lambda: pm.phase_type.cdf(1.0, [0.5, 0.25], _EDGES, prob_zero=0.25),
      # Exits that are given may be small, and a sum may be exactly zero.
      lambda: pd.PhaseType(_START, _CLOSED, exit_rates=[1e-18, 1e-18]),
      lambda: pd.PhaseType(_START, [[-2.0, 2.0], [1.0, -1.0]]),
      lambda: pd.PhaseType(_START, [[-1.0, 1.0], [1.0, -1.0 - 1e-14]]),
      lambda: pd.DiscretePhaseType(_START, [[0.5, 0.5], [0.5, 0.5]]),
      lambda: pd.PhaseType([1.0], [[0.0]]),
      lambda: pd.PhaseType(_START, [[7.0, 1.0], [1.0, 7.0]], [1.0, 0.0]),
      lambda: pd.Erlang(3, 5e-324),
      lambda: pd.Coxian([1.0, 0.0], [0.0, 0.0, 1.0]),
      lambda: pd.DiscretePhaseType(_START, _STEPS),
      lambda: pd.TruncatedPhaseType(_erlang(), 1.0),
      lambda: pd.AcyclicPhaseType([1.0, 0.0], [2.0, 1.0]),
      lambda: pm.phase_type.mean(_START, _MATRIX),
      lambda: pm.phase_type.mean([1, 0], [[-2, 1], [0, -1]]),
      lambda: _erlang().quantile([0.0, 1.0, onp.nan]),
    ):
      _, caught = self._caught(make)
      self.assertEmpty(caught)

  def test_large_models_are_not_looked_at(self):
    count = 100_001
    _, caught = self._caught(lambda: pd.Erlang(2, onp.full(count, -1.0)))
    self.assertEmpty(caught)

  def test_traced_values_are_not_looked_at(self):
    if MODE == "jax":
      traced = jax.jit(lambda rate: pd.Erlang(2, rate).mean())
      found, caught = self._caught(lambda: traced(-1.0))
      self.assertEmpty(caught)
      self.assertTrue(onp.isnan(self.host(found)))
      # Values that only a derivative traces are known.
      slope = jax.grad(lambda rate: pd.Erlang(2, rate).mean())
      _, caught = self._caught(lambda: slope(-1.0))
      self.assertLen(caught, 1)
    if MODE == "tf":
      traced = tf.function(lambda rate: pd.Erlang(2, rate).mean())
      rate = tf.constant(-1.0, tf.float64)
      found, caught = self._caught(lambda: traced(rate))
      self.assertEmpty(caught)
      self.assertTrue(onp.isnan(self.host(found)))

  def test_traced_boundaries_that_do_not_increase(self):
    params = [[1.0, 1.0]] * 3

    def survival(boundaries):
      dist = pd.Epochs(_line(), params, boundaries)
      return dist.survival_function(np.asarray([0.5, 1.5, 3.0]))

    if MODE == "jax":
      found = jax.jit(survival)(np.asarray([2.0, 1.0]))
      self.assertTrue(onp.all(onp.isnan(self.host(found))))
    elif MODE == "tf":
      found = tf.function(survival)(np.asarray([2.0, 1.0]))
      self.assertTrue(onp.all(onp.isnan(self.host(found))))
    else:
      with self.assertRaisesRegex(ValueError, "increasing"):
        survival(np.asarray([2.0, 1.0]))

  @test_case.of_bad_values
  def test_statistics_are_diagnosed(self):
    dist = pd.PhaseType(_START, [[-2.0, -1.0], [0.0, -1.0]])
    for method in ("mean", "variance", "stddev", "median", "entropy", "sample"):
      self.assertIn("subgenerator", str(dist.diagnose(method=method)))
    rates = pd.Erlang(2, [1.0, -1.0])
    self.assertEqual(
      list(rates.diagnose(method="mean")),
      ["ok", "rate: it must be > 0 and finite"],
    )
    with self.assertRaisesRegex(ValueError, "value is 1.0: it must be None"):
      rates.diagnose(1.0, "mean")
    with self.assertRaisesRegex(ValueError, "value is None"):
      rates.diagnose()

  def test_checked_arguments_raise(self):
    steps, times = _steps(), _erlang()
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

  def test_a_derived_mass_at_zero_is_shown(self):
    dist = pd.PhaseType([0.5, 0.25], _MATRIX)
    self.assert_close(dist.prob_zero, 0.25)
    self.assert_close(pd.PhaseType(_START, _MATRIX).prob_zero, 0.0)


if __name__ == "__main__":
  absltest.main()
