"""Distributions with invalid parameters warn once, and raise if checked."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from tests.helpers import small_laws
from tests.helpers import test_case

# By name: what makes an object, and what the message has in it: the argument,
# the value and the rule.

CASES = {
  "off_diagonal": (
    lambda: pd.PhaseType(small_laws.START, [[-2.0, -1.0], [0.0, -1.0]]),
    ("subgenerator[0, 1]", "-1.0", "must be >= 0"),
  ),
  "row_sum": (
    lambda: pd.PhaseType(small_laws.START, [[-2.0, 3.0], [0.0, -1.0]]),
    ("row sum of subgenerator[0]", "1.0", "must be <= 0"),
  ),
  "rate_nan": (
    lambda: pd.PhaseType(small_laws.START, [[onp.nan, 1.0], [0.0, -1.0]]),
    ("subgenerator[0, 0]", "nan", "must be finite"),
  ),
  "rate_inf": (
    lambda: pd.PhaseType(small_laws.START, [[-onp.inf, 1.0], [0.0, -1.0]]),
    ("subgenerator[0, 0]", "-inf", "must be finite"),
  ),
  "mass": (
    lambda: pd.PhaseType([1.5, -0.5], small_laws.MATRIX),
    ("initial_probs[1]", "-0.5", "must be >= 0"),
  ),
  "masses": (
    lambda: pd.PhaseType([0.75, 0.5], small_laws.MATRIX),
    ("sum(initial_probs)", "1.25", "must be <= 1"),
  ),
  "a_batch": (
    lambda: pd.PhaseType([[1.0, 0.0], [2.0, 0.0]], small_laws.MATRIX),
    ("sum(initial_probs)[1]", "2.0", "must be <= 1"),
  ),
  "exit_rates": (
    lambda: pd.PhaseType(
      small_laws.START, small_laws.MATRIX, exit_rates=[1.0, -1.0]
    ),
    ("exit_rates[1]", "-1.0", "must be >= 0"),
  ),
  "prob_zero": (
    lambda: pd.PhaseType(small_laws.START, small_laws.MATRIX, prob_zero=1.5),
    ("prob_zero", "1.5", "must be in [0, 1]"),
  ),
  "masses_and_prob_zero": (
    lambda: pd.PhaseType([0.9, 0.0], small_laws.MATRIX, prob_zero=0.3),
    ("sum(initial_probs) + prob_zero", "1.2", "must be 1"),
  ),
  "too_little_mass": (
    lambda: pd.DiscretePhaseType(
      [0.5, 0.0], small_laws.STEPS, prob_zero=[0.5, 0.3]
    ),
    ("sum(initial_probs) + prob_zero[1]", "0.8", "must be 1"),
  ),
  "masses_of_rewards": (
    lambda: pd.MultivariatePhaseType(
      [0.5, 0.0], small_laws.MATRIX, onp.eye(2), prob_zero=0.25
    ),
    ("sum(initial_probs) + prob_zero", "0.75", "must be 1"),
  ),
  "whole_generator": (
    lambda: pd.PhaseType(small_laws.START, [[-1.0, 1.0], [0.0, 0.0]]),
    ("phase 1 of subgenerator", "no phase exits", "leave out its row"),
  ),
  "lost_exits": (
    lambda: pd.PhaseType(small_laws.START, small_laws.CLOSED),
    ("largest exit of subgenerator", "e-16", "must be above 4 p eps"),
  ),
  "lost_exits_in_float32": (
    lambda: pd.PhaseType(
      onp.asarray(small_laws.START, onp.float32),
      onp.asarray([[-1.0000001, 1.0], [1.0, -1.0000001]], onp.float32),
    ),
    ("largest exit of subgenerator", "1.19", "pass them as exit_rates"),
  ),
  "lost_exits_of_a_batch": (
    lambda: pd.PhaseType(
      small_laws.START, [small_laws.MATRIX, small_laws.CLOSED]
    ),
    ("largest exit of subgenerator", "e-16", "pass them as exit_rates"),
  ),
  "lost_exits_of_large_rates": (
    lambda: pd.PhaseType(small_laws.START, [[-3e9, 3e9], [1e9, -1e9 - 1e-7]]),
    ("largest exit of subgenerator", "e-07", "pass them as exit_rates"),
  ),
  "lost_exits_of_rewards": (
    lambda: pd.MultivariatePhaseType(
      small_laws.START, small_laws.CLOSED, onp.eye(2)
    ),
    ("largest exit of subgenerator", "e-16", "pass them as exit_rates"),
  ),
  "lost_exits_of_steps": (
    lambda: pd.DiscretePhaseType(
      small_laws.START, [[0.5, 0.5 - 2.0**-53], [0.25, 0.75]]
    ),
    ("largest exit of subtransition", "e-16", "pass them as exit_probs"),
  ),
  "steps": (
    lambda: pd.DiscretePhaseType(small_laws.START, [[0.5, 0.75], [0.0, 0.5]]),
    ("row sum of subtransition[0]", "1.25", "must be <= 1"),
  ),
  "step": (
    lambda: pd.DiscretePhaseType(small_laws.START, [[0.5, -0.5], [0.0, 0.5]]),
    ("subtransition[0, 1]", "-0.5", "must be >= 0"),
  ),
  "steps_and_exits": (
    lambda: pd.DiscretePhaseType(
      small_laws.START, small_laws.STEPS, exit_probs=[0.5, 0.5]
    ),
    ("row sum of subtransition and exit_probs[0]", "1.25", "must be 1"),
  ),
  "whole_steps": (
    lambda: pd.DiscretePhaseType(small_laws.START, [[0.5, 0.5], [0.0, 1.0]]),
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
    lambda: pd.PhaseType.from_graph(small_laws.line(), {"a": 1.0, "b": -1.0}),
    ("edge_values(params)[1]", "-1.0", "must be >= 0"),
  ),
  "graph_steps": (
    lambda: pd.DiscretePhaseType.from_graph(small_laws.line(True), [1.5, 0.5]),
    ("edge_values(params)", "1.5", "must sum to <= 1"),
  ),
  "epochs": (
    lambda: pd.Epochs(small_laws.line(), [[1.0, 1.0], [1.0, -1.0]], [1.0]),
    ("graphs[1].edge_values(params[1])[1]", "-1.0", "must be >= 0"),
  ),
  "rewards": (
    lambda: pd.MultivariatePhaseType(
      small_laws.START, small_laws.MATRIX, [[1.0], [-1.0]]
    ),
    ("rewards[1, 0]", "-1.0", "must be >= 0"),
  ),
  "truncated": (
    lambda: pd.TruncatedPhaseType(small_laws.erlang(), 2.0, 1.0),
    ("high", "1.0", "must be a number > low"),
  ),
  "residual_life": (
    lambda: pd.ResidualLife(small_laws.erlang(), -1.0),
    ("time", "-1.0", "must be >= 0"),
  ),
  "zero_inflated": (
    lambda: pd.ZeroInflated(small_laws.erlang(), 1.5),
    ("prob_zero", "1.5", "must be in [0, 1]"),
  ),
  "weibull": (
    lambda: pd.MatrixWeibull(small_laws.erlang(), -1.0),
    ("concentration", "-1.0", "must be > 0"),
  ),
  "weibull_zero": (
    lambda: pd.MatrixWeibull(small_laws.erlang(), 0.0),
    ("concentration", "0.0", "must be > 0"),
  ),
  "failures": (
    lambda: pd.NegativeBinomialFailures(2, -0.5),
    ("NegativeBinomialFailures: success_prob", "-0.5", "must be in (0, 1]"),
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
    lambda: pd.MatrixWeibull(small_laws.erlang(), 0.0),
    ("MatrixWeibull", "0.0", "must be > 0"),
  ),
  "zero_probability": (
    lambda: pd.NegativeBinomialTrials(2, 0.0),
    ("0.0", "must be in (0, 1]"),
  ),
  "equilibrium": (
    lambda: pd.Equilibrium(
      pd.PhaseType(small_laws.START, [[-2.0, 1.0], [0.0, 0.0]])
    ),
    ("Equilibrium: mean of distribution", "inf", "must be > 0 and finite"),
  ),
}


class BadValuesTest(test_case.TestCase):
  @parameterized.named_parameters(*((name, name) for name in CASES))
  def test_one_warning(self, name):
    make, parts = CASES[name]
    found, caught = self.caught(make)
    (warning,) = caught
    for part in parts:
      self.assertIn(part, str(warning.message))
    self.assertTrue(warning.filename.endswith("bad_values_test.py"))
    # Its methods do not warn again.
    _, again = self.caught(found.mean)
    self.assertEmpty(again)

  @parameterized.parameters(*CASES)
  def test_checked_values_raise_the_same(self, name):
    make, parts = CASES[name]
    found, (warning,) = self.caught(make)
    with self.assertRaises(ValueError) as raised:
      found.copy(validate_args=True)
    self.assertIn(str(raised.exception), str(warning.message))
    self.assertIn(parts[-1], str(raised.exception))


if __name__ == "__main__":
  absltest.main()
