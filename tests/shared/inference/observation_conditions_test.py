"""Observations given a late entry, and initial masses that sum to one."""

import math

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic import math as pm
from tests.helpers import test_case

_INF, _NAN = math.inf, math.nan


class LateEntryTest(test_case.TestCase):
  """Tests observations that are made late, beside the entry."""

  def test_digits(self):
    # Given X > t, Erlang's law of two stages has P(X > t + x) equal to
    # (t + 1 + x) / (t + 1) exp(-x).
    entry = onp.asarray([1e2, 1e4, 1e6, 1e8, 1e9, 1e12, 1e15])
    known = entry < 2.8e8

    def survival(x):
      return (1.0 + x / (entry + 1.0)) * onp.exp(-x)

    far = onp.full(entry.shape, _INF)
    data = {
      "interval": (entry + 1.0, entry + 2.0, survival(1.0) - survival(2.0)),
      "left": (-far, entry + 2.0, 1.0 - survival(2.0)),
      "right": (entry + 2.0, far, survival(2.0)),
      "exact": (
        entry + 2.0,
        entry + 2.0,
        (entry + 2.0) / (entry + 1.0) * onp.exp(-2.0),
      ),
    }
    pair = graphs.Graph.from_edges([(0, 1, 1.0), (1, graphs.ABSORBED, 1.0)], 0)
    dists = [
      pd.Erlang(2, 1.0),
      pd.Epochs(pair, [None, None], [0.5], edge_values=[[1.0, 1.0]] * 2),
      pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 0.5),
      pd.MatrixWeibull(pd.Erlang(2, 1.0), 1.0),
    ]
    for dist in dists:
      for name, (lower, upper, exact) in data.items():
        with self.subTest(f"{type(dist).__name__} {name}"):
          own = inference.Observations(lower, upper, entry=entry)
          found = own.log_likelihood_terms(dist)
          expected = onp.where(known, onp.log(exact), _NAN)
          self.assert_close(found, expected, 1e-5)

  def test_counts(self):
    # With trials of probability 1/4, P(N > n) is (1 + n / 3) (3/4)^n.
    entry = onp.asarray([1e2, 1e6, 1e8, 1e9, 1e10, 1e12])
    known = -entry * onp.log(0.75) < 2.8e8
    ratio = (1.0 + (entry + 3.0) / 3.0) / (1.0 + entry / 3.0) * 0.75**3
    own = inference.Observations(
      entry + 3.0, onp.full(entry.shape, _INF), entry=entry
    )
    found = own.log_likelihood_terms(pd.NegativeBinomialTrials(2, 0.25))
    expected = onp.where(known, onp.log(ratio), _NAN)
    self.assert_close(found, expected, 1e-5)


class MassesTest(test_case.TestCase):
  """Tests initial masses that do not sum to one."""

  @test_case.of_bad_values
  def test_no_log_likelihood(self):
    matrix = [[-2.0, 1.0], [0.0, -1.0]]
    steps = [[0.5, 0.25], [0.0, 0.5]]
    ends = [(0, 1, 1.0), (0, graphs.ABSORBED("a"), 1.0)]
    ends += [(1, graphs.ABSORBED("b"), 1.0)]
    start = [(0, {"m": 1.0}), (1, 0.5), (graphs.ABSORBED, 0.25)]
    graph = graphs.Graph.from_edges(ends, start, params=("m",))

    def laws(total):
      mass = total - 0.5
      yield pd.PhaseType([mass, 0.25], matrix, prob_zero=0.25), False
      yield pd.PhaseType([mass, 0.25], matrix, [1.0, 1.0], 0.25), False
      yield pd.DiscretePhaseType([mass, 0.25], steps, prob_zero=0.25), False
      base = pd.PhaseType([mass, 0.25], matrix, prob_zero=0.25)
      yield pd.ZeroInflated(base, 0.125), False
      yield pd.TruncatedPhaseType(base, 0.5), False
      yield pd.MatrixWeibull(base, 2.0), False
      yield pd.PhaseType.from_graph(graph, [total - 0.75]), True
      yield pd.Epochs(graph, [[total - 0.75]] * 2, [0.75]), True

    for total in (1.0, 1.0 + 1e-5, 0.875, 1.5):
      for dist, has_causes in laws(total):
        with self.subTest(f"{type(dist).__name__}, {total}"):
          data = [
            inference.Observations([1.0, 2.0]),
            inference.Observations([1.0, 2.0], [_INF, 4.0]),
            inference.Observations([1.0, 2.0], [_INF, 4.0], entry=[0.5, 1.0]),
          ]
          if has_causes:
            data.append(inference.Observations([1.0, 2.0], cause=[1, 0]))
          for own in data:
            found = self.host(own.log_likelihood(dist))
            self.assertEqual(onp.isnan(found), total != 1.0)
    for mass in (0.5, 0.75):
      alpha, atom = (onp.asarray(x, "float32") for x in ([mass], 0.5))
      dist = pd.PhaseType(alpha, -onp.ones((1, 1), "float32"), None, atom)
      own = inference.Observations(onp.ones(1, "float32"))
      found = self.host(own.log_likelihood(dist))
      self.assertEqual(found.dtype, "float32")
      self.assertEqual(onp.isnan(found), mass != 0.5)

  def test_gradients_are_those_of_free_coordinates(self):
    data = inference.Observations([0.5, 1.5])
    exits = onp.asarray([2.0, 1.0])

    def value(alpha):
      dist = pd.PhaseType(alpha, -onp.diag(exits), exits, 0.25)
      return data.log_likelihood(dist)

    alpha = onp.asarray([0.5, 0.25])
    _, found = pm.value_and_gradient(value, alpha)
    terms = exits * onp.exp(-exits * onp.asarray([[0.5], [1.5]]))
    expected = onp.sum(terms / (terms @ alpha)[:, None], axis=0)
    self.assert_close(found, expected, 1e-12)


if __name__ == "__main__":
  absltest.main()
