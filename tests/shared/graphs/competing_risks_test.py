"""Tests absorption by one of several causes."""

import math

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic.math.calls import gradients
from tests.helpers import test_case


def _two_causes(atom=0.0):
  """Builds absorption at rate a by failure and at rate b by repair."""
  ends = [
    (pg.ABSORBED("failure"), {"a": 1.0}),
    (pg.ABSORBED("repair"), {"b": 1.0}),
  ]
  initial = {"running": 1 - atom, pg.ABSORBED: atom}
  return pg.Graph.from_transitions(
    lambda _: ends, initial if atom else "running", params=("a", "b")
  )


def _illness():
  """Builds an illness-death model with two causes."""
  moves = {
    "healthy": [("ill", {"sick": 1.0}), (pg.ABSORBED, {1: 0.25})],
    "ill": [
      ("healthy", {"well": 1.0}),
      (pg.ABSORBED("illness"), {"sick": 0.5, "well": 0.25}),
      (pg.ABSORBED, {1: 0.25}),
    ],
  }
  initial = {"healthy": 0.5, "ill": 0.25, pg.ABSORBED: 0.25}
  return pg.Graph.from_transitions(
    lambda state: moves[state], initial, params=("sick", "well")
  )


class ClosedFormTest(test_case.TestCase):
  """Tests the minimum of two exponential times."""

  def test_values(self):
    a, b = 0.75, 2.0
    dist = pd.PhaseType.from_graph(_two_causes(), {"a": a, "b": b})
    t = onp.asarray([0.0, 1e-9, 0.5, 3.0, math.inf])
    for cause, rate in (("failure", a), (pg.ABSORBED("repair"), b)):
      share = rate / (a + b)
      finite = t[:-1]
      density = rate * onp.exp(-(a + b) * finite)
      self.assert_close(dist.cause_prob(finite, cause), density)
      self.assert_close(
        dist.cause_log_prob(finite, cause), onp.log(density), 1e-12, 1e-12
      )
      self.assert_close(
        dist.cumulative_incidence(t, cause), -share * onp.expm1(-(a + b) * t)
      )
      self.assert_close(dist.cause_hazard(finite, cause), onp.full(4, rate))
    self.assert_close(dist.cause_probs(), [a / (a + b), b / (a + b)])

  def test_discrete(self):
    ends = [
      (pg.ABSORBED("failure"), {"a": 1.0}),
      (pg.ABSORBED("repair"), {"b": 1.0}),
    ]
    graph = pg.Graph.from_transitions(
      lambda _: ends, 0, params=("a", "b"), discrete=True
    )
    a, b = 0.125, 0.25
    dist = pd.DiscretePhaseType.from_graph(graph, [a, b])
    k = onp.asarray([0, 1, 2, 10])
    stays = 1 - a - b
    mass = onp.where(k > 0, a * stays ** (k - 1.0), 0.0)
    self.assert_close(dist.cause_prob(k, "failure"), mass)
    self.assert_close(
      dist.cumulative_incidence(k, "failure"), a / (a + b) * (1 - stays**k)
    )
    self.assert_close(dist.cause_hazard(k, "failure"), [0.0, a, a, a])
    self.assert_close(dist.cause_probs(), [a / (a + b), b / (a + b)])

  def test_an_atom_without_a_cause(self):
    dist = pd.PhaseType.from_graph(_two_causes(0.25), [1.0, 3.0])
    self.assert_close(dist.cause_probs(), [0.75 / 4, 0.75 * 3 / 4])
    self.assert_close(dist.cumulative_incidence(0.0, "failure"), 0.0)
    other = dist.copy(initial_probs=[0.5])
    self.assert_close(other.cause_probs(), [0.5 / 4, 0.5 * 3 / 4])


class SumsTest(test_case.TestCase):
  """Tests that functions of causes sum to those of the time."""

  def _batch(self):
    params = {"sick": onp.asarray([0.5, 2.0]), "well": onp.asarray([[1.0]])}
    return pd.PhaseType.from_graph(_illness(), params)

  def test_sums(self):
    dist = self._batch()
    self.assertEqual(dist.graph.causes, (None, "illness"))
    t = onp.asarray([0.0, 0.5, 4.0])[:, None, None]
    for method, whole in (
      (dist.cumulative_incidence, dist.cdf),
      (dist.cause_hazard, lambda t: dist.prob(t) / dist.survival_function(t)),
      (dist.cause_prob, dist.prob),
    ):
      # The density at zero is the atom, which has one cause.
      at = t if method == dist.cumulative_incidence else t[1:]
      parts = [self.host(method(at, cause)) for cause in dist.graph.causes]
      self.assert_close(parts[0] + parts[1], whole(at))
    self.assert_close(dist.cumulative_incidence(0.0, None), [[0.25, 0.25]])

  def test_cause_probs_by_rational_arithmetic(self):
    # With sick = 1/2, well = 1: from ill the illness ends it with probability
    # x = (1/2 + y) / (7/4) where y = (2/3) x from healthy; so x = 6/13.
    probs = self._batch().cause_probs()
    illness = 0.25 * 6 / 13 + 0.5 * 4 / 13
    self.assert_close(self.host(probs)[0, 0], [1 - illness, illness])
    self.assertEqual(onp.shape(self.host(probs)), (1, 2, 2))

  def test_limits(self):
    dist = self._batch()
    for number, cause in enumerate(dist.graph.causes):
      self.assert_close(
        dist.cumulative_incidence(math.inf, cause),
        self.host(dist.cause_probs())[..., number],
      )
      self.assert_close(
        dist.cumulative_incidence(1e3, cause),
        self.host(dist.cause_probs())[..., number],
      )

  def test_no_such_cause(self):
    with self.assertRaisesRegex(ValueError, r"'flu'.*\(None, 'illness'\)"):
      self._batch().cause_prob(1.0, "flu")

  def test_gradients(self):
    graph = _two_causes()
    a, b, t = 0.75, 2.0, 0.5
    params = np.asarray(onp.asarray([a, b]))

    def of(method):
      def value(params):
        dist = pd.PhaseType.from_graph(graph, params)
        return getattr(dist, method)(t, "failure")

      return gradients.value_and_gradient(value, params)[1]

    self.assert_close(of("cause_log_prob"), [1 / a - t, -t])
    self.assert_close(of("cause_hazard"), [1.0, 0.0], 1e-11, 1e-12)
    q = a + b
    whole, left = -math.expm1(-q * t), t * math.exp(-q * t)
    self.assert_close(
      of("cumulative_incidence"),
      [b / q**2 * whole + a / q * left, -a / q**2 * whole + a / q * left],
    )
    _, gradient = gradients.value_and_gradient(
      lambda x: pd.PhaseType.from_graph(graph, x).cause_probs()[0], params
    )
    self.assert_close(gradient, [b / q**2, -a / q**2])


if __name__ == "__main__":
  absltest.main()
