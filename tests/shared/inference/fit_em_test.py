"""The EM algorithm: increasing likelihoods, and fits."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import hypothesis
from hypothesis import strategies
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from phasic.graphs import ABSORBED
from phasic.graphs import Graph
from tests.helpers import fit_data
from tests.helpers import test_case

MODE = "numpy"

_EXAMPLES = 10
if MODE == "jax":  # Each shape is compiled for seconds.
  _EXAMPLES = 2
if MODE == "tf":  # Steps run op by op, without compilation.
  _EXAMPLES = 3
_SETTINGS = hypothesis.settings(
  max_examples=_EXAMPLES, deadline=None, derandomize=True
)
_STEPS = 8


def _chain(state):
  """Builds a chain of three phases with zero rates and masses."""
  rates = state.exponential(size=(3, 3)) * (state.uniform(size=(3, 3)) < 0.6)
  exits = state.exponential(size=3) * [1.0, state.uniform() < 0.5, 1.0]
  rates[1, 2] = rates[0, 1] = 1.0
  rates = rates - onp.diag(onp.diag(rates))
  alpha = state.dirichlet([1.0, 1.0, 1.0]) * [1.0, 1.0, state.uniform() < 0.5]
  return alpha / onp.sum(alpha), rates, exits


def _phase_type(state):
  alpha, rates, exits = _chain(state)
  matrix = rates - onp.diag(onp.sum(rates, axis=1) + exits)
  return pd.PhaseType(0.9 * alpha, matrix, exits, 0.1)


def _discrete(state):
  alpha, rates, exits = _chain(state)
  total = (onp.sum(rates, axis=1) + exits) / state.uniform(0.5, 1.0, 3)
  steps = rates / total[:, None]
  left = exits / total
  steps = steps + onp.diag(1.0 - onp.sum(steps, axis=1) - left)
  return pd.DiscretePhaseType(alpha, steps, left)


def _graph(state):
  edges = [
    (0, 1, {"a": 1.0, "b": -0.25, 1: 0.5}),
    (1, ABSORBED, {"b": 1.0}),
    (0, ABSORBED, {"a": 0.5}),
  ]
  start = {0: {"q": 1.0}, 1: {1: 1.0, "q": -1.0}}
  graph = Graph.from_edges(edges, start, params=("a", "b", "q"))
  return pd.PhaseType.from_graph(graph, state.uniform(0.25, 0.75, 3))


_LAWS = {
  "general": _phase_type,
  "discrete": _discrete,
  "acyclic": lambda state: pd.AcyclicPhaseType(
    state.dirichlet([1.0] * 4), onp.sort(state.exponential(size=4) + 0.01)
  ),
  "coxian": lambda state: pd.Coxian(
    state.exponential(size=2), state.exponential(size=3)
  ),
  "hyper-erlang": lambda state: pd.HyperErlang(
    state.dirichlet([1.0, 1.0]), (1, 3), state.exponential(size=2) + 0.01
  ),
  "graph": _graph,
}
if MODE == "jax":
  _LAWS = {name: _LAWS[name] for name in ("general", "acyclic")}


def _observations(state, discrete):
  """Builds eight values, some censored and some truncated."""
  values = state.gamma(2.0, 2.0, 8) + 0.01
  if discrete:
    values = onp.ceil(values)
  kind = state.randint(0, 4, 8)
  lower = onp.where(kind == 1, onp.floor(values), values)
  upper = onp.where(kind == 1, onp.floor(values) + 1.0, values)
  upper = onp.where(kind == 2, math.inf, upper)
  lower = onp.where(kind == 3, -1.0, lower)
  entry = onp.floor(values) - 1.0
  entry = onp.where(state.uniform(size=8) < 0.5, entry, -1.0)
  return inference.Observations(lower, upper, state.randint(0, 3, 8), entry)


def _zeros(dist, host):
  """Returns which entries of the parameters are zero, by name."""
  return {
    name: host(x) == 0.0
    for name, x in dist._arrays().items()
    if x is not None and name != "params"
  }


class StepsTest(test_case.TestCase):
  """Tests properties of any step."""

  @parameterized.parameters(*_LAWS)
  def test_no_step_loses(self, name):
    self.require_kernel()

    @_SETTINGS
    @hypothesis.given(strategies.integers(0, 2**31 - 1))
    def check(seed):
      state = onp.random.RandomState(seed)
      dist = _LAWS[name](state)
      data = _observations(state, name == "discrete")
      terms = self.host(data.log_likelihood_terms(dist))
      hypothesis.assume(onp.all(onp.isfinite(terms)))
      zeros = _zeros(dist, self.host)
      # Tolerances for rounding of logarithms and of sums.
      rounding = 1e-12 * (8.0 + onp.sum(onp.abs(terms)))
      before = -math.inf
      for _ in range(_STEPS):
        dist, log_likelihood = inference.em_step(dist, data)
        log_likelihood = float(self.host(log_likelihood))
        self.assertGreaterEqual(log_likelihood, before - rounding)
        before = log_likelihood
        for part, still in _zeros(dist, self.host).items():
          self.assertTrue(onp.all(still[zeros[part]]), part)

    check()


class FitTest(test_case.TestCase):
  """Tests fits and their messages."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def test_agrees_with_maximum_likelihood(self):
    cut = onp.where(fit_data.TIMES > 2.5, math.inf, fit_data.TIMES)
    lower = onp.floor(2.0 * fit_data.TIMES) / 2.0
    entry = onp.where(fit_data.TIMES > 1.0, 0.5, -1.0)
    sets = [
      inference.Observations(fit_data.TIMES, cut),
      inference.Observations(lower, lower + 0.5),
      inference.Observations(fit_data.TIMES, entry=entry),
    ]
    # From here both methods reach the same interior optimum.
    start = pd.HyperErlang([0.5, 0.5], (1, 3), [1.0, 2.0])
    for data in sets:
      fit = inference.fit_em(start, data)
      alone = inference.fit_em(start, data, second_order=False)
      other = inference.fit_mle(start, data)
      self.assertLessEqual(alone.log_likelihood, fit.log_likelihood + 1e-9)
      self.assertAlmostEqual(
        fit.log_likelihood, other.log_likelihood, delta=1e-8
      )
      self.assertStartsWith(fit.record.method, "EM, then")
      self.assert_close(
        data.log_likelihood(fit.distribution), fit.log_likelihood, 1e-12
      )

  def test_long_runs_get_to_the_top(self):
    # Each EM step maximizes the likelihood of an Erlang rate.
    data = inference.Observations(fit_data.TIMES)
    fit = inference.fit_em(pd.Erlang(3, 7.0), data, second_order=False)
    self.assert_close(fit.distribution.rate, 3.0 / onp.mean(fit_data.TIMES))
    self.assertTrue(fit.record.converged)
    self.assertLess(len(fit.record.log_likelihoods), 6)

  def test_record_and_progress(self):
    data = inference.Observations(fit_data.TIMES)
    told = []
    fit = inference.fit_em(
      pd.Hyperexponential([0.25, 0.75], [0.5, 2.0]),
      data,
      max_steps=5,
      starts=(),
      num_starts=2,
      second_order=False,
      progress=lambda count, log_likelihood: told.append(
        (count, log_likelihood)
      ),
    )
    log_likelihoods = fit.record.log_likelihoods
    self.assertLen(log_likelihoods, 6)
    self.assertEqual(max(fit.record.reached), fit.log_likelihood)
    self.assertLen(fit.record.reached, 2)
    self.assertTrue(onp.all(onp.diff(log_likelihoods) >= -1e-12))
    self.assertEqual([count for count, _ in told], list(range(12)))
    self.assertFalse(fit.record.converged)
    self.assertIn("max_steps = 5", fit.record.message)
    self.assertEqual(fit.record.method, "EM")

  def test_zeros_are_structure(self):
    start = pd.PhaseType(
      [1.0, 0.0], [[-2.0, 2.0], [0.0, -1.0]], [0.0, 1.0], validate_args=True
    )
    fit = inference.fit_em(
      start, inference.Observations(fit_data.TIMES), max_steps=20
    )
    found = self.host(fit.distribution.subgenerator)
    self.assertEqual(found[1, 0], 0.0)
    self.assert_close(fit.distribution.initial_probs, [1.0, 0.0])
    self.assertTrue(fit.distribution.validate_args)

  def test_nothing_is_left_to_fit(self):
    # All values are one step, which EM finds in one iteration.
    data = inference.Observations([1.0, 1.0, 1.0])
    fit = inference.fit_em(pd.DiscretePhaseType([1.0], [[0.5]]), data)
    self.assertEqual(float(fit.log_likelihood), 0.0)
    self.assert_close(fit.distribution.subtransition, [[0.0]])
    self.assertEqual(fit.record.method, "EM")
    # Two entries share a sum.
    self.assertEqual(fit.num_parameters, 1)

  def test_what_em_keeps_is_no_parameter(self):
    data = inference.Observations(fit_data.TIMES)
    for dist, count in (
      (pd.MatrixWeibull(pd.Erlang(1, 1.0), 1.5), 1),
      (pd.ZeroInflated(pd.Erlang(1, 1.0), 0.0), 1),
      (pd.TruncatedPhaseType(pd.Hypoexponential([1.0, 2.0]), 0.0, 9.0), 2),
      (pd.AcyclicPhaseType([0.5, 0.5], [1.0, 1.0]), 3),
    ):
      fit = inference.fit_em(dist, data, max_steps=2, second_order=False)
      self.assertEqual(fit.num_parameters, count)
      self.assertAlmostEqual(fit.aic, 2.0 * count - 2.0 * fit.log_likelihood)

  def test_equal_rates_may_part(self):
    if MODE == "jax":
      self.skipTest("compiles for seconds")
    data = inference.Observations(fit_data.TIMES)
    fit = inference.fit_em(
      pd.AcyclicPhaseType([0.25, 0.75], [1.0, 1.0]),
      data,
      max_steps=20,
      second_order=False,
    )
    names = set(fit.statuses)
    self.assertContainsSubset(["rates[0]", "rates[1] - rates[0]"], names)
    where = fit.uncertainty.inner
    again = where.distribution_at(where.entries)
    self.assert_close(data.log_likelihood(again), fit.log_likelihood, 1e-12)

  def test_parameters_of_other_laws_are_fitted_after(self):
    data = inference.Observations([0.5, 1.0, 2.0, 2.5, 3.1, 0.7])
    start = pd.MatrixWeibull(pd.Erlang(1, 1.0), 1.5)
    fit = inference.fit_em(start, data)
    self.assertEqual(fit.fixed, ())
    self.assertTrue(fit.record.converged)

  def test_what_cannot_be_fitted(self):
    start = pd.Erlang(2, 1.0)
    with self.assertRaisesRegex(ValueError, "right-censored"):
      inference.fit_em(start, inference.Observations([1.0], [math.inf]))
    with self.assertRaisesRegex(ValueError, "no mass there"):
      inference.fit_em(start, inference.Observations([0.0, 1.0]))
    with self.assertRaisesRegex(ValueError, "observation 1 is zero, and the"):
      inference.fit_em(start, inference.Observations([1.0, -1.0], [1.0, 0.0]))
    with self.assertRaisesRegex(ValueError, "batch"):
      inference.fit_em(
        pd.Erlang(2, onp.asarray([1.0, 2.0])), inference.Observations([1.0])
      )
    with self.assertRaisesRegex(TypeError, "fit_mle fits"):
      inference.fit_em(pd.Equilibrium(start), inference.Observations([1.0]))


if __name__ == "__main__":
  absltest.main()
