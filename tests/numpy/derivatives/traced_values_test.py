"""What needs known values says so of arrays that are differentiated."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import graphs
from phasic.substrates.numpy import inference
from phasic.substrates.numpy import math as pm
from phasic.substrates.numpy.graphs import ABSORBED
from phasic.substrates.numpy.graphs import Graph
from phasic.substrates.numpy.math.m_step import rate_updates

_GRAPH = Graph.from_edges(
  [(0, 1, {"a": 1.0}), (1, ABSORBED, {"b": 1.0})], 0, params=("a", "b")
)
_STEPS = Graph.from_edges(
  [(0, ABSORBED, {"a": 1.0})], 0, params=("a",), discrete=True
)
_DATA = inference.Observations([1.0, 2.0])
_ERLANG = pd.Erlang(2, 1.0)


def _matrix(r):
  return -np.reshape(r, (1, 1))


def _pair(r):
  return np.stack([r, 2.0 * r])


def _given(r):
  return {"a": r, "b": 1.0}


# Calls with an array r that is differentiated, and what the errors say of it.
_REFUSED = {
  "diagnose": (
    lambda r: pd.Erlang(2, r).diagnose(1.0, "log_prob"),
    "value or parameters are traced: diagnose needs concrete ones",
  ),
  "diagnose_value": (
    lambda r: pm.phase_type.diagnose(r, [1.0], [[-1.0]]),
    "log_prob is traced: it must be concrete; call diagnose outside",
  ),
  "diagnose_interval": (
    lambda r: pm.phase_type.diagnose(1.0, [1.0], _matrix(r), upper=2.0),
    "subgenerator is traced: it must be concrete; call diagnose outside",
  ),
  "acyclic": (
    lambda r: pd.AcyclicPhaseType.from_phase_type(
      pd.PhaseType([1.0], _matrix(r))
    ),
    "the distribution's parameters are traced: they must be concrete",
  ),
  "boundaries": (
    lambda r: pd.piecewise_constant(_GRAPH, lambda t: [1.0, 1.0], [r]),
    "boundaries are traced: they must be concrete, as params is called",
  ),
  "limit": (
    lambda r: pd.piecewise_constant_limit(
      _GRAPH, lambda t: [r * 1.0, 1.0], 3.0, lambda dist: dist.mean()
    ),
    "values are traced: the number of steps depends on them",
  ),
  "fit_start": (
    lambda r: inference.fit_mle(pd.Erlang(2, r), _DATA),
    "rate is traced: a fit needs its values",
  ),
  "fit_data": (
    lambda r: inference.fit_mle(_ERLANG, inference.Observations(_pair(r))),
    "lower is traced: a fit needs its values",
  ),
  "initial_guess": (
    lambda r: inference.initial_guess(inference.Observations(_pair(r)), 2),
    "lower is traced: a fit needs its values",
  ),
  "right_censored": (
    lambda r: inference.Observations.right_censored(_pair(r), [True, False]),
    r"times is traced: use Observations\(lower, upper\)",
  ),
  "plot": (
    lambda r: inference.plot_survival(pd.Erlang(2, r)),
    "distribution is traced: plots need concrete, finite values",
  ),
  "sample_shape": (
    lambda r: _ERLANG.sample(r, seed=1),
    "sample_shape is traced: it must be known statically",
  ),
  "m_step": (
    lambda r: pd.DiscretePhaseType.from_graph(_STEPS, [r])._m_step(
      rate_updates.SufficientStatistics(*[np.ones(1)] * 5, np.zeros(()))
    ),
    "parameters are traced: the M-step needs concrete values if time is disc",
  ),
  "weight": (
    lambda r: Graph.from_edges([(0, ABSORBED, r)], 0),
    r"edges\[0\].* is not a number; pass weights .*traced arrays as edge_val",
  ),
  "constants": (
    lambda r: Graph([0], [1], np.reshape(r, (1,)), [[]], [1.0, 0.0], [[], []]),
    "constants is traced: it must be concrete; make the graph outside",
  ),
  "reverse": (
    lambda r: graphs.reverse(_GRAPH, _given(r)),
    r"params\['a'\] is traced: it must be concrete; transform graphs",
  ),
  "events": (
    lambda r: graphs.with_event_counts(_GRAPH, r, params=_given(1.0)),
    "rate is traced: it must be concrete; transform graphs outside",
  ),
  "impulse_rewards": (
    lambda r: pm.discrete_phase_type.reward_transform(
      [1.0], [1.0], [[0.5]], impulse_rewards=[[0.0, 1.0]] * r
    ),
    "rewards or impulse_rewards are traced: both must be concrete if jumps",
  ),
}


class RefusedTest(parameterized.TestCase):
  @parameterized.named_parameters((k, *v) for k, v in _REFUSED.items())
  def test_refused(self, call, message):
    with self.assertRaisesRegex((TypeError, ValueError), message):
      pm.vjp(call, 0.5)
    with self.assertRaisesRegex((TypeError, ValueError), message):
      pm.jvp(call, (0.5,), (1.0,))

  def test_expected_statistics(self):
    with self.assertRaisesRegex(
      NotImplementedError, "a derivative of expected statistics was asked for"
    ):
      pm.value_and_gradient(
        lambda r: inference.em_step(pd.Erlang(2, r), _DATA).log_likelihood, 0.5
      )


class UsedTest(parameterized.TestCase):
  def test_text(self):
    shown = []
    pm.vjp(lambda r: (shown.append(repr(pd.Erlang(2, r))), r)[1], 0.5)
    self.assertEqual(
      shown,
      [
        "<Erlang 'Erlang' batch_shape=(), event_shape=(), dtype=float64, "
        "concentration=2>"
      ],
    )

  def test_observations(self):
    # Density r^2 t exp(-r t) at t = r and 2 r with r = 1: the slope of
    # sum(log t - t) in r is 2 / r - 3.
    value, slope = pm.value_and_gradient(
      lambda r: inference.Observations(_pair(r)).log_likelihood(_ERLANG), 0.5
    )
    self.assertAlmostEqual(value, 2.0 * np.log(0.5) + np.log(2.0) - 1.5)
    self.assertAlmostEqual(slope, 1.0)
    with self.assertRaisesRegex(ValueError, "values are times or counts >= 0"):
      pm.value_and_gradient(
        lambda r: inference.Observations(_pair(-r)).log_likelihood(_ERLANG), 0.5
      )

  def test_edges(self):
    value, slope = pm.value_and_gradient(
      lambda r: pm.phase_type.mean([1.0], pm.EdgeRates([0], [1], [r])), 0.5
    )
    self.assertEqual((value, slope), (2.0, -4.0))

  def test_closures(self):
    # The minimum of exponential times is one, and their sum has both means.
    for closure, mean, own_slope in (
      (pd.minimum, 1 / 1.5, -1 / 1.5**2),
      (pd.convolution, 3.0, -4.0),
    ):
      value, slope = pm.value_and_gradient(
        lambda r, f=closure: f(
          [pd.PhaseType([1.0], _matrix(r)), pd.Erlang(1, 1.0)]
        ).mean(),
        0.5,
      )
      self.assertAlmostEqual(value, mean, places=14)
      self.assertAlmostEqual(slope, own_slope, places=14)
    # With a mass at zero, 1 - r, the mean of the maximum with an exponential
    # time Y is E Y (1 - r) + 1.5 r.
    value, slope = pm.value_and_gradient(
      lambda r: pd.maximum(
        [pd.PhaseType(np.reshape(r, (1,)), [[-1.0]]), pd.Erlang(1, 1.0)]
      ).mean(),
      0.5,
    )
    self.assertAlmostEqual(value, 1.25, places=14)
    self.assertAlmostEqual(slope, 0.5, places=14)


if __name__ == "__main__":
  absltest.main()
