"""Warnings of NaN that the input did not have, and reasons of all methods."""

import math

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import inference
from phasic import math as pm
from phasic.math.model import nan_table
from phasic.math.model import value_rules
from tests.helpers import chains
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
elif MODE == "tf":
  import tensorflow as tf

# Methods that Erlang distributions do not have, or with other results than numbers.
_OTHERS = (
  *("covariance", "correlation", "probability_generating_function"),
  *("expected_sojourn_times", "expected_visits", "expected_jumps", "occupancy"),
  *("cross_entropy", "kl_divergence"),
)
_BY_ARGUMENT = {"": None, "k": 2}
_BY_RULE = {value_rules.PROBABILITY: 0.25, value_rules.LOG_PROBABILITY: -0.25}
# A value for each method that takes one.
METHODS = {
  name: _BY_ARGUMENT.get(method.argument, _BY_RULE.get(method.rule, 0.5))
  for name, method in nan_table.METHODS.items()
  if name not in _OTHERS
}


class NaNReasonsTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.require_kernel()

  def warned(self, call):
    """Returns the result of a call, and the text of its warnings."""
    found, caught = self.caught(call)
    return found, [str(warning.message) for warning in caught]

  def assert_warns(self, call, regex):
    """Asserts that a call returns NaN, and warns of it once."""
    found, messages = self.warned(call)
    self.assertTrue(onp.any(onp.isnan(self.host(found))))
    self.assertLen(messages, 1)
    self.assertRegex(messages[0], regex)

  def test_values(self):
    dist = pd.Erlang(2, 1.0)
    never = pd.PhaseType([0.0], [[-1.0]], prob_zero=1.0)
    for call, regex in (
      (
        lambda: dist.hazard_function(math.inf),
        r"^Erlang\.hazard_function is NaN at value = inf: .*must be finite",
      ),
      (
        lambda: dist.log_hazard_function([1.0, math.inf]),
        r"^Erlang\.log_hazard_function\[1\] is NaN at value = inf",
      ),
      (
        lambda: pd.Erlang(2, [[1.0], [2.0]]).hazard_function([1.0, math.inf]),
        r"hazard_function\[0, 1\] is NaN at value = inf: .*\(2 of 4 are NaN\)",
      ),
      (
        lambda: never.mean_residual_life(1.0),
        r"^PhaseType\.mean_residual_life is NaN at value = 1\.0: ",
      ),
    ):
      self.assert_warns(call, regex)

  def test_functions_of_arrays(self):
    start, edges = chains.ring()
    for call, regex in (
      (
        lambda: pm.phase_type.log_prob([1.0, 1e30], start, edges),
        r"^log_prob\[1\] is NaN: .*work limit; config\.set_work_limit",
      ),
      (
        lambda: pm.phase_type.hazard_function(math.inf, [1.0], [[-1.0]]),
        "^hazard_function is NaN: value: it must be finite",
      ),
    ):
      self.assert_warns(call, regex)
    for call in (
      lambda: pm.phase_type.log_prob(math.nan, [1.0], [[-1.0]]),
      lambda: pm.phase_type.mean([math.nan], [[-1.0]], prob_zero=0.0),
    ):
      found, messages = self.warned(call)
      self.assertTrue(onp.isnan(self.host(found)))
      self.assertNotIn("is NaN", " ".join(messages))

  def test_methods_of_families(self):
    graph = pg.Graph.from_transitions(
      lambda i: (
        [((i + 1) % 700, [1.0])] + [(pg.ABSORBED("x"), [1e-3])] * (i == 0)
      ),
      0,
      1,
    )
    dist = pd.PhaseType.from_graph(graph, [1.0])
    self.assert_warns(
      lambda: dist.cause_log_prob(1e30, "x"),
      r"cause_log_prob is NaN at value = 1e\+30: .*work limit",
    )
    epochs = pd.Epochs(graph, [[1.0], [2.0]], [1e30])
    self.assert_warns(
      lambda: epochs.log_prob(2e30),
      r"log_prob is NaN at value = 2e\+30: .*work",
    )

  def test_nan_of_the_input_is_silent(self):
    dist = pd.Erlang(2, 1.0)
    missing, messages = self.warned(lambda: pd.Erlang(2, [1.0, math.nan]))
    self.assertLen(messages, 1)  # The constructor has told of it.
    for call in (
      lambda: dist.log_prob(math.nan),
      lambda: dist.cdf([1.0, math.nan]),
      lambda: dist.quantile(math.nan),
      lambda: dist.hazard_function(math.nan),
      lambda: missing.log_prob(1.0),
      lambda: missing.mean(),
      lambda: missing.quantile(0.5),
      lambda: pd.ZeroInflated(missing, 0.5).mean(),
    ):
      found, messages = self.warned(call)
      self.assertTrue(onp.any(onp.isnan(self.host(found))))
      self.assertEqual(messages, [])

  def test_broken_rules_are_told_once(self):
    dist = pd.Erlang(2, 1.0)
    for call, regex in (
      (lambda: dist.quantile([0.5, 1.5]), "probability must be in"),
      (lambda: dist.laplace_transform(-1.0), r"u = -1\.0: it must be finite"),
      (lambda: pd.Erlang(2, -1.0).log_prob(1.0), "rate"),
      (lambda: dist.renewal_density(-1.0), r"value = -1\.0: it must be"),
    ):
      self.assert_warns(call, regex)

  def test_laws_that_are_made_of_others(self):
    # Nothing is known of a time that has ended for certain.
    over = pd.ResidualLife(pd.Hypoexponential([1e18, 2e18]), 1.0)
    for call in (
      over.as_phase_type,
      lambda: pd.minimum([pd.Erlang(1, 1.0), over]),
      lambda: pd.mixture([0.5, 0.5], [over, pd.Erlang(1, 1.0)]),
      lambda: pd.convolution([over, pd.Erlang(1, 1.0)]),
      lambda: pd.order_statistic(over, 2, 1),
    ):
      self.assert_warns(
        lambda call=call: call().cdf(1.0),
        r"^ResidualLife.as_phase_type\[0\] is NaN: .*work limit",
      )

  def test_steps_of_em(self):
    data = inference.Observations([0.446, 2.693])
    far = pd.Coxian([1.572], [1.05e11, 8.771e-06])
    self.assert_warns(
      lambda: inference.em_step(far, data).distribution.exit_rates,
      r"^em_step: exit_rates\[0\] is NaN, .*work limit",
    )
    # For each seen beyond the entry, e^5000 unseen ones were expected.
    late = inference.Observations([0.01], [math.inf], None, [0.005])
    self.assert_warns(
      lambda: (
        inference.em_step(pd.Coxian([], [1e6]), late).distribution.exit_rates
      ),
      r"^em_step: exit_rates\[0\] is NaN, ",
    )

  def test_finite_results_are_silent(self):
    dist = pd.Coxian([0.5], [1.0, 2.0])
    values = onp.asarray([-1.0, 0.0, 1e-300, 0.5, 700.0, math.inf])

    def everything():
      for method in ("log_prob", "prob", "cdf", "log_cdf"):
        getattr(dist, method)(values)
      dist.survival_function(values), dist.log_survival_function(values)
      dist.hazard_function(values[:-1]), dist.quantile([0.0, 0.5, 1.0])
      dist.mean(), dist.entropy(), dist.sample(3, seed=self.seed())

    self.assertEqual(self.warned(everything)[1], [])

  def seed(self):
    if MODE == "jax":
      return jax.random.key(0)
    else:
      return 0

  @test_case.of_bad_values
  def test_diagnose_knows_every_method(self):
    for method, value in METHODS.items():
      dist = pd.Erlang(2, [1.0, -1.0, 2.0])
      if method == "mode":
        dist = pd.Erlang(1, [1.0, -1.0, 2.0])
      with self.subTest(method):
        reasons = dist.diagnose(value, method)
        self.assertEqual(reasons.shape, (3,))
        self.assertEqual([reasons[0], reasons[2]], ["ok", "ok"])
        self.assertRegex(reasons[1], "^rate: ")

  @test_case.of_bad_values
  def test_reasons_of_arguments(self):
    dist = pd.Erlang(2, 1.0)
    for method, value, regex in (
      ("quantile", 1.5, r"^value: a probability must be in \[0, 1\]"),
      ("quantile", math.nan, "^value: is NaN"),
      ("laplace_transform", -1.0, "^u: it must be finite and >= 0"),
      ("hazard_function", math.inf, "^value: it must be finite"),
      ("renewal_density", -1.0, "^value: it must be finite and >= 0"),
    ):
      reasons = dist.diagnose([0.5, value], method)
      self.assertEqual(reasons[0], "ok", method)
      self.assertRegex(reasons[1], regex)
    for method, value in (("quantile", None), ("moment", None), ("mean", 1.0)):
      with self.assertRaisesRegex(ValueError, "^value is "):
        dist.diagnose(value, method)
    with self.assertRaisesRegex(ValueError, "^method is 'pdf'"):
      dist.diagnose(1.0, "pdf")

  def test_divergences_and_entropies(self):
    one = pd.Erlang(2, 1.0)
    caught = pd.PhaseType([1.0, 0.0], [[0.0, 1.0], [0.0, 0.0]], [1.0, 0.0])
    why = "the mean is inf: absorption may never come"
    for call, regex in (
      (caught.entropy, rf"^PhaseType\.entropy is NaN: {why}"),
      (lambda: caught.kl_divergence(one), rf"kl_divergence is NaN: {why}"),
      (
        lambda: pd.kl_divergence(one, caught),
        rf"^Erlang\.kl_divergence is NaN: other: {why}",
      ),
    ):
      self.assert_warns(call, regex)
    self.assertRegex(
      str(one.diagnose(caught, "cross_entropy")), "^other: the m"
    )
    _, messages = self.warned(lambda: one.kl_divergence(pd.Erlang(2, -1.0)))
    self.assertLen(messages, 1)  # The constructor has told of the rate.

  @test_case.of_bad_values
  def test_vectors(self):
    matrix = [[-2.0, 1.0], [0.0, -1.0]]
    dist = pd.MultivariatePhaseType([1.0, 0.0], matrix, onp.eye(2))
    found = dist.diagnose([[1.0, 2.0], [1.0, -2.0]], "laplace_transform")
    self.assertEqual(list(found), ["ok", "u: it must be finite and >= 0"])
    self.assertEqual(list(dist.diagnose(method="sample")), ["ok", "ok"])
    bad = dist.copy(rewards=[[1.0, 0.0], [0.0, -2.0]])
    why = "rewards[1, 1] = -2.0: rewards must be >= 0 and finite"
    self.assertEqual(list(bad.diagnose(method="mean")), ["ok", why])
    self.assertEqual(str(bad.diagnose([1.0, 1.0])), why)
    # Exits that are given count, and a diagonal beside them is not read.
    free = pd.MultivariatePhaseType(
      [1.0, 0.0], [[0.0, 1.0], [0.0, 0.0]], onp.eye(2), [0.0, 1e-300]
    )
    self.assertNotIn("diagonal", str(free.diagnose([1.0, 700.0])))
    caught = pd.MultivariatePhaseType(
      [1.0, 0.0], [[-2.0, 1.0], [0.0, 0.0]], onp.eye(2)
    )
    found = caught.diagnose(method="covariance")
    self.assertIn("not defined where a mean is inf", found[0, 1])

  @test_case.of_bad_values
  def test_results_with_dimensions_of_their_own(self):
    rates = onp.asarray([1.0, -1.0, 2.0])
    found = pd.Erlang(2, rates).diagnose(0.5, "occupancy")
    self.assertEqual(found.shape, (3, 2))
    self.assertEqual(list(found[0]), ["ok", "ok"])
    self.assertRegex(found[1, 0], "^rate: ")
    found = pm.phase_type.diagnose(
      [0.5, -0.5], [1.0, 0.0], [[-1.0, 1.0], [0.0, -1.0]], method="occupancy"
    )
    self.assertEqual(found[1, 1], "value: it must be finite and >= 0")
    with self.assertRaisesRegex(
      NotImplementedError, "Erlang has no correlation: diagnose takes the meth"
    ):
      pd.Erlang(2, 1.0).diagnose(method="correlation")

  def test_rows_of_data(self):
    dist = pd.PhaseType(*chains.ring())
    data = inference.Observations([1.0, 1e30, 2.0], [1.0, math.inf, 2.0])
    for call in (data.log_likelihood, data.log_likelihood_terms):
      self.assert_warns(
        lambda call=call: call(dist),
        r"observation \[1\], from 1e\+30 to inf, is NaN: .*work limit",
      )
    late = inference.Observations([2e30], [math.inf], entry=[1e30])
    self.assert_warns(
      lambda: late.log_likelihood(dist),
      r"observation \[0\], from 2e\+30 to inf, entered at 1e\+30, is NaN: ",
    )

  def test_traced_calls_are_silent(self):
    def hazard(t):
      return pd.Erlang(2, np.asarray(1.0, "float64")).hazard_function(t)

    t = np.asarray(math.inf, "float64")
    if MODE == "jax":
      hazard = jax.jit(hazard)
    elif MODE == "tf":
      hazard = tf.function(hazard)
    else:
      self.skipTest("NumPy traces nothing")
    found, messages = self.warned(lambda: hazard(t))
    self.assertTrue(onp.isnan(self.host(found)))
    self.assertEqual(messages, [])


if __name__ == "__main__":
  absltest.main()
