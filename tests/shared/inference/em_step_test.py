"""One step of the EM algorithm against its formula."""

import math

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from phasic.graphs import ABSORBED
from phasic.graphs import Graph
from tests.helpers import em_cases
from tests.helpers import test_case
from tests.oracle import em_oracle

_MASSES = onp.asarray([0.5, 0.25, 0.125])
_RATES = onp.asarray([[0.0, 1.0, 0.0], [0.5, 0.0, 2.0], [0.25, 0.0, 0.0]])
_EXITS = onp.asarray([0.0, 1.0, 1.5])
_STEPS = onp.asarray([[0.25, 0.5, 0.0], [0.125, 0.25, 0.25], [0.0, 0.0, 0.75]])
_LEFT = onp.asarray([0.25, 0.375, 0.25])


class GeneralTest(test_case.TestCase):
  """Tests distributions with free parameters."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def test_continuous(self):
    matrix = _RATES - onp.diag(onp.sum(_RATES, axis=1) + _EXITS)
    dist = pd.PhaseType(_MASSES, matrix, _EXITS, 0.125)
    data = [*em_cases.TIMES, (0.0, 0.0, 0.5, -1.0)]
    step = inference.em_step(dist, em_cases.observations(data))
    starts, visits, jumps, left, atom = em_oracle.expected(
      _MASSES, _RATES, _EXITS, 0.125, data
    )
    found = step.distribution
    total = onp.sum(starts) + atom
    self.assert_close(found.initial_probs, starts / total)
    self.assert_close(found.prob_zero, atom / total)
    self.assert_close(found.exit_rates, left / visits)
    rates = self.host(found.subgenerator)
    between = rates - onp.diag(onp.diag(rates))
    self.assert_close(between, jumps / visits[:, None])
    self.assert_close(
      -onp.diag(rates), onp.sum(jumps, axis=1) / visits + left / visits
    )
    self.assert_close(
      step.log_likelihood, em_cases.observations(data).log_likelihood(dist)
    )

  def test_discrete(self):
    dist = pd.DiscretePhaseType(_MASSES, _STEPS, _LEFT, 0.125)
    data = [*em_cases.COUNTS, (0.0, 0.0, 0.5, -1.0)]
    found = inference.em_step(dist, em_cases.observations(data)).distribution
    starts, visits, jumps, left, atom = em_oracle.expected(
      _MASSES, _STEPS, _LEFT, 0.125, data, discrete=True
    )
    total = onp.sum(starts) + atom
    self.assert_close(found.initial_probs, starts / total)
    self.assert_close(found.prob_zero, atom / total)
    self.assert_close(found.exit_probs, left / visits)
    self.assert_close(found.subtransition, jumps / visits[:, None])

  def test_derived_exits_and_atom(self):
    matrix = _RATES - onp.diag(onp.sum(_RATES, axis=1) + _EXITS)
    data = em_cases.observations([(0.0, 0.0, 0.5, -1.0), *em_cases.TIMES])
    told = pd.PhaseType(_MASSES, matrix, _EXITS, 0.125)
    told = inference.em_step(told, data).distribution
    derived = inference.em_step(pd.PhaseType(_MASSES, matrix), data)
    self.assertIsNone(derived.distribution.exit_rates)
    self.assert_close(
      derived.distribution.subgenerator, told.subgenerator, 1e-11
    )
    self.assert_close(
      derived.distribution.initial_probs, told.initial_probs, 1e-11
    )


class TransformedTest(test_case.TestCase):
  """Tests distributions that transform a chain's distribution."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def test_truncated(self):
    times = onp.asarray([0.75, 1.0, 2.0, 3.0])
    low, high, rate = 0.5, 4.0, 1.5
    dist = pd.TruncatedPhaseType(pd.Erlang(1, rate), low, high)
    found = inference.em_step(dist, inference.Observations(times))
    # Statistics of paths below `low` and above `high`.
    seen = math.exp(-rate * low) - math.exp(-rate * high)
    below = (1 - math.exp(-rate * low)) / seen
    above = math.exp(-rate * high) / seen
    time_below = (1 / rate - (low + 1 / rate) * math.exp(-rate * low)) / seen
    visits = onp.sum(times) + 4 * (time_below + above * high)
    rate = (4 + 4 * below) / visits
    self.assert_close(found.distribution.distribution.rate, rate)

  def test_change_of_time(self):
    times = onp.asarray([0.75, 1.0, 2.0, 3.0])
    dist = pd.MatrixWeibull(pd.Erlang(2, 1.0), 2.0)
    found = inference.em_step(dist, inference.Observations(times))
    self.assert_close(
      found.distribution.distribution.rate, 8.0 / onp.sum(times**2)
    )
    self.assert_close(found.distribution.concentration, 2.0)

  def test_zeros(self):
    dist = pd.ZeroInflated(pd.Erlang(1, 2.0), 0.25)
    data = inference.Observations([0.0, 0.0, 1.0, 3.0])
    found = inference.em_step(dist, data).distribution
    self.assert_close(found.prob_zero, 0.5)
    self.assert_close(found.distribution.rate, 0.5)


class CausesTest(test_case.TestCase):
  """Tests absorption by one of several causes."""

  def test_rates_of_causes(self):
    self.require_kernel()
    edges = [
      (0, ABSORBED("a"), {"a": 1.0}),
      (0, ABSORBED("b"), {"b": 1.0}),
    ]
    graph = Graph.from_edges(edges, 0, params=("a", "b"))
    dist = pd.PhaseType.from_graph(graph, [0.5, 1.0])
    lower = onp.asarray([1.0, 2.0, 0.5, 3.0])
    upper = onp.asarray([1.0, 2.0, 0.5, math.inf])
    cause = onp.asarray([0, 1, -1, -1])
    data = inference.Observations(lower, upper, cause=cause)
    found = inference.em_step(dist, data).distribution
    # The third observation is shared by the causes.
    self.assert_close(found.params, onp.asarray([1 + 1 / 3, 1 + 2 / 3]) / 6.5)


class BatchTest(test_case.TestCase):
  """Tests batches and errors."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def test_batch(self):
    data = onp.asarray([[0.5, 1.0, 2.5], [2.0, 0.25, 1.0]])
    entry = onp.asarray([0.25, -1.0, 0.5])
    found = inference.em_step(
      pd.Erlang(2, onp.asarray([[1.0], [2.0], [3.0]])),
      inference.Observations(data, entry=onp.where(data > entry, entry, -1.0)),
    )
    self.assertEqual(tuple(found.distribution.batch_shape), (3, 2))
    for i, rate in enumerate((1.0, 2.0, 3.0)):
      for j in range(2):
        one = inference.em_step(
          pd.Erlang(2, rate),
          inference.Observations(
            data[j], entry=onp.where(data[j] > entry, entry, -1.0)
          ),
        )
        self.assert_close(
          self.host(found.distribution.rate)[i, j], one.distribution.rate
        )
        self.assert_close(
          self.host(found.log_likelihood)[i, j], one.log_likelihood
        )

  def test_what_was_not_possible_keeps_its_value(self):
    # The second phase is not reached before zero.
    dist = pd.Coxian([1.0], [0.0, 2.0])
    data = inference.Observations([0.0, 0.0], [math.inf, math.inf])
    found = inference.em_step(dist, data).distribution
    self.assert_close(found.exit_rates, [0.0, 2.0])

  def test_impossible_observations_are_nan(self):
    found = inference.em_step(
      pd.TruncatedPhaseType(pd.Erlang(1, 1.0), 1.0),
      inference.Observations([0.5, 2.0]),
    )
    self.assertTrue(onp.isnan(self.host(found.distribution.distribution.rate)))
    weighted = inference.em_step(
      pd.TruncatedPhaseType(pd.Erlang(1, 1.0), 1.0),
      inference.Observations([0.5, 2.0], weights=[0.0, 1.0]),
    )
    self.assertGreater(self.host(weighted.distribution.distribution.rate), 0)

  def test_families_without_a_step(self):
    data = inference.Observations([1.0])
    with self.assertRaisesRegex(TypeError, "Equilibrium: EM has no M-step"):
      inference.em_step(pd.Equilibrium(pd.Erlang(2, 1.0)), data)
    with self.assertRaisesRegex(TypeError, "observations is ndarray"):
      inference.em_step(pd.Erlang(2, 1.0), onp.asarray([1.0]))


if __name__ == "__main__":
  absltest.main()
