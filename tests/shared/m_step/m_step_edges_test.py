"""Steps of the EM algorithm for models with edges, against their formulas."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from phasic import math as pm
from phasic.graphs import ABSORBED
from phasic.graphs import Graph
from phasic.math.m_step import linear_maximum
from tests.helpers import em_cases
from tests.helpers import test_case
from tests.oracle import em_oracle

_MASSES = onp.asarray([0.5, 0.25])


class EdgesTest(test_case.TestCase):
  """Tests parameters that are rates or probabilities of the edges."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def test_rates(self):
    # Phases 0 and 1, and two ways from 0 to absorption.
    edges = pm.EdgeRates(
      [0, 1, 0, 0, 1], [1, 0, 2, 2, 2], [1.5, 0.5, 0.25, 0.5, 2.0]
    )
    dist = pd.PhaseType(_MASSES, edges, prob_zero=0.25)
    data = [*em_cases.TIMES, (0.0, 0.0, 0.5, -1.0)]
    starts, visits, jumps, left, atom = em_oracle.expected(
      _MASSES, [[0.0, 1.5], [0.5, 0.0]], [0.75, 2.0], 0.25, data
    )
    found = inference.em_step(dist, em_cases.observations(data)).distribution
    total = onp.sum(starts) + atom
    self.assert_close(found.initial_probs, starts / total)
    self.assert_close(found.prob_zero, atom / total)
    # A path that leaves by parallel edges takes each by its share of the rate.
    counts = onp.asarray(
      [jumps[0, 1], jumps[1, 0], left[0] / 3, left[0] * 2 / 3, left[1]]
    )
    times = visits[[0, 1, 0, 0, 1]]
    self.assert_close(found.subgenerator.parameters, counts / times)
    self.assert_close(found.subgenerator.sources, edges.sources)

  def test_probs(self):
    # Two loops at phase 0; the rest of its probability, 1/8, is a stay too.
    edges = pm.EdgeProbs(
      [0, 0, 0, 0, 1, 1],
      [0, 0, 1, 2, 1, 2],
      [0.125, 0.25, 0.25, 0.25, 0.75, 0.25],
    )
    dist = pd.DiscretePhaseType(_MASSES, edges, prob_zero=0.25)
    data = [*em_cases.COUNTS, (0.0, 0.0, 0.5, -1.0)]
    starts, visits, jumps, left, atom = em_oracle.expected(
      _MASSES, [[0.5, 0.25], [0.0, 0.75]], [0.25, 0.25], 0.25, data, True
    )
    found = inference.em_step(dist, em_cases.observations(data)).distribution
    total = onp.sum(starts) + atom
    self.assert_close(found.initial_probs, starts / total)
    self.assert_close(found.prob_zero, atom / total)
    probs = self.host(found.subtransition.parameters)
    self.assert_close(
      probs[2:],
      [
        jumps[0, 1] / visits[0],
        left[0] / visits[0],
        jumps[1, 1] / visits[1],
        left[1] / visits[1],
      ],
    )
    # All stays of phase 0 are split in the ratio of its loops.
    self.assert_close(probs[1] / probs[0], 2.0)
    matrix = self.host(found.as_phase_type().subtransition)
    self.assert_close(matrix[0, 0], jumps[0, 0] / visits[0])

  @parameterized.parameters(
    (pm.EdgeRates, pd.PhaseType), (pm.EdgeProbs, pd.DiscretePhaseType)
  )
  def test_coefficients_are_refused(self, edges, family):
    given = edges([0], [1], [0.25], [[2.0]])
    with self.assertRaisesRegex(TypeError, "edges with coefficients or const"):
      inference.em_step(
        family([1.0], given), inference.Observations.exact([1.0, 2.0])
      )

  def test_initial_weights(self):
    # The first phase is 0 or 1 with probabilities q and r, whose sum stays.
    edges = [(0, ABSORBED, {"a": 1.0}), (1, ABSORBED, 3.0)]
    graph = Graph.from_edges(
      edges, [(0, {"q": 1.0}), (1, {"r": 1.0})], params=("a", "q", "r")
    )
    dist = pd.PhaseType.from_graph(graph, {"a": 0.5, "q": 0.25, "r": 0.75})
    found = inference.em_step(dist, em_cases.observations(em_cases.TIMES))
    starts, visits, _, left, _ = em_oracle.expected(
      [0.25, 0.75], onp.zeros((2, 2)), [0.5, 3.0], 0.0, em_cases.TIMES
    )
    params = found.distribution.params
    self.assert_close(params["a"], left[0] / visits[0])
    self.assert_close(params["q"], starts[0] / onp.sum(starts))
    self.assert_close(params["r"], starts[1] / onp.sum(starts))

  def test_an_initial_weight_of_zero_stays(self):
    edges = [(0, ABSORBED, {"a": 1.0}), (1, ABSORBED, 3.0)]
    graph = Graph.from_edges(
      edges, [(0, {"q": 1.0}), (1, {"r": 1.0})], params=("a", "q", "r")
    )
    dist = pd.PhaseType.from_graph(graph, {"a": 0.5, "q": 1.0, "r": 0.0})
    found = inference.em_step(dist, inference.Observations.exact([1.0, 3.0]))
    params = found.distribution.params
    self.assert_close(
      [params["a"], params["q"], params["r"]], [0.5, 1.0, 0.0], atol=1e-15
    )


def _maximum(counts, constants, coefficients, costs, sums, start):
  arrays = (counts, constants, coefficients, costs)
  sums = onp.reshape(onp.asarray(sums, float), (-1, len(costs)))
  arrays = [onp.asarray(x, float) for x in arrays]
  return linear_maximum.maximum(*arrays, sums, onp.asarray(start, float))


class LinearMaximumTest(test_case.TestCase):
  """Tests sum_k n_k log(c_k + a_k . theta) - costs . theta."""

  @parameterized.parameters(1e-3, 1.98, 1e3)
  def test_one_rate(self, start):
    # From 1.98 times the solution a whole step of Newton's loses.
    found = _maximum([3.0], [0.0], [[1.0]], [2.0], [], [1.5 * start])
    self.assert_close(found, [1.5], 1e-10)

  def test_two_terms_of_a_rate(self):
    # 2 / x + 1 / (1 + x) = 1.5 has the positive root of 3 x^2 - 3 x - 4 = 0.
    found = _maximum([2.0, 1.0], [0.0, 1.0], [[1.0], [1.0]], [1.5], [], [1.0])
    self.assert_close(found, [(3.0 + math.sqrt(57.0)) / 6.0], 1e-10)

  def test_sums(self):
    # Of masses the maximum is in proportion to the counts, whatever the costs
    # of their sum are.
    counts = onp.asarray([2.0, 3.0, 5.0])
    found = _maximum(
      counts, onp.zeros(3), onp.eye(3), [7.0] * 3, [1.0] * 3, [0.5, 0.25, 0.25]
    )
    self.assert_close(found, counts / 10.0, 1e-10)

  def test_zeros(self):
    # The second rate is zero and has no counts; the sum leaves no freedom.
    terms = onp.zeros(2), onp.eye(2)
    found = _maximum([2.0, 0.0], *terms, [1.0, 1.0], [1.0, 1.0], [1.0, 0.0])
    self.assert_close(found, [1.0, 0.0])
    found = _maximum([2.0, 0.0], *terms, [4.0, 1.0], [], [1.0, 0.0])
    self.assert_close(found, [0.5, 0.0], 1e-10, 1e-15)

  def test_nan(self):
    for counts, start in (([onp.nan], [1.0]), ([1.0], [onp.nan])):
      found = _maximum(counts, [0.0], [[1.0]], [1.0], [], start)
      self.assert_close(found, [onp.nan])


if __name__ == "__main__":
  absltest.main()
