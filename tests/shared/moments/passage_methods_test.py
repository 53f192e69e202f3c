"""Methods of distributions for visits, jumps and transforms."""

import math

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm
from tests.helpers import test_case


def _queue(discrete=False):
  """Builds a queue of one to three customers."""
  scale = 0.125 if discrete else 1.0

  def transitions(n):
    if n < 3:
      yield n + 1, {"arrival": scale}
    yield (n - 1 if n > 1 else pg.ABSORBED), {"service": scale}

  return pg.Graph.from_transitions(
    transitions, 1, params=("arrival", "service"), discrete=discrete
  )


class PassageMethodsTest(test_case.TestCase):
  """Tests values for a graph and for its matrix."""

  def _continuous(self):
    params = {"arrival": onp.asarray([1.0, 0.5]), "service": 2.0}
    return pd.PhaseType.from_graph(_queue(), params)

  def _both(self, dist):
    if isinstance(dist, pd.DiscretePhaseType):
      return dist, pd.DiscretePhaseType(
        dist.initial_probs, dist.subtransition, dist.exit_probs
      )
    return dist, pd.PhaseType(
      dist.initial_probs, dist.subgenerator, dist.exit_rates
    )

  def test_sojourn_times(self):
    # With r = arrival / service the times are (1, r, r^2) / service.
    expected = [[0.5, 0.25, 0.125], [0.5, 0.125, 0.03125]]
    for dist in self._both(self._continuous()):
      self.assert_close(dist.expected_sojourn_times(), expected)

  def test_visits(self):
    # Times by the rates of leaving: arrival + service, but service at three.
    expected = [[1.5, 0.75, 0.25], [1.25, 0.3125, 0.0625]]
    for dist in self._both(self._continuous()):
      self.assert_close(dist.expected_visits(), expected)

  @test_case.of_bad_values
  def test_laplace_transform(self):
    u = onp.asarray([[0.0], [0.5], [3.0]])
    # By fractions from the top: f_n = service / (u + service + arrival (1 -
    # f_{n+1})).
    service, arrival = 2.0, onp.asarray([1.0, 0.5])
    f = service / (u + service)
    for _ in range(2):
      f = service / (u + service + arrival * (1 - f))
    for dist in self._both(self._continuous()):
      self.assert_close(dist.laplace_transform(u), f * onp.ones((3, 2)), 1e-12)
      self.assert_close(dist.laplace_transform(-1.0), [math.nan] * 2)

  def test_generating_function(self):
    graph = _queue(discrete=True)
    dist = pd.DiscretePhaseType.from_graph(graph, [1.0, 2.0])
    z = onp.asarray([0.0, 0.25, 0.875, 1.0])
    up, down = 0.125, 0.25
    f = z * down / (1 - z * (1 - down))
    for _ in range(2):
      f = z * down / (1 - z * (1 - up - down) - z * up * f)
    for d in self._both(dist):
      self.assert_close(d.probability_generating_function(z), f)
      self.assert_close(d.expected_visits(), [4.0, 2.0, 1.0])

  @test_case.of_bad_values
  def test_occupancy(self):
    self.require_kernel()
    continuous = self._continuous()
    discrete = pd.DiscretePhaseType.from_graph(
      _queue(discrete=True), [[1.0, 2.0], [2.0, 1.0]]
    )
    for dist, values in (
      (continuous, onp.asarray([[0.0], [0.5], [20.0]])),
      (discrete, onp.asarray([[0.0], [1.0], [40.0]])),
    ):
      for d in self._both(dist):
        found = self.host(d.occupancy(values))
        self.assertEqual(onp.shape(found), (3, 2, 3))
        self.assert_close(found[0], [[1.0, 0.0, 0.0]] * 2)
        self.assert_close(onp.sum(found, axis=-1), d.survival_function(values))
    # State probabilities after one step of the queue.
    self.assert_close(
      discrete.occupancy(1.0), [[0.625, 0.125, 0.0], [0.625, 0.25, 0.0]]
    )
    self.assert_close(discrete.occupancy(0.5), onp.full((2, 3), math.nan))

  def test_occupancy_of_traps(self):
    self.require_kernel()
    # The second phase is never left, and the third one is never entered.
    continuous = pd.PhaseType(
      [1.0, 0.0, 0.0], [[-1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    )
    values = onp.asarray([0.0, 1e-200, 0.5, 100.0, 1e5])
    first, caught = onp.exp(-values), -0.5 * onp.expm1(-values)
    expected = onp.stack([first, caught, 0.0 * values], axis=-1)
    for d in self._both(continuous):
      self.assert_close(d.occupancy(values), expected, 1e-13)
    discrete = pd.DiscretePhaseType([1.0, 0.0], [[0.5, 0.25], [0.0, 1.0]])
    values = onp.asarray([0.0, 1.0, 5.0, 900.0])
    first = 0.5**values
    expected = onp.stack([first, 0.5 * (1.0 - first)], axis=-1)
    for d in self._both(discrete):
      self.assert_close(d.occupancy(values), expected, 1e-13)

  def test_caught(self):
    dist = pd.PhaseType([1.0, 0.0], [[-1.0, 0.5], [0.0, 0.0]])
    self.assert_close(dist.expected_sojourn_times(), [1.0, math.inf])
    self.assert_close(dist.expected_visits(), [1.0, 0.5])
    self.assert_close(dist.laplace_transform(1.0), 0.25)

  @test_case.of_bad_values
  def test_nan_is_refused_where_asked(self):
    dist = pd.PhaseType([1.5], [[-1.0]], allow_nan_stats=False)
    for method in (dist.expected_sojourn_times, dist.expected_visits):
      with self.assertRaisesRegex(ValueError, "is NaN"):
        method()
    with self.assertRaisesRegex(ValueError, r"moment\(2\) is NaN"):
      dist.moment(2)


class LargeModelsTest(test_case.TestCase):
  """Tests models of more phases than get phases for entries."""

  @test_case.of_bad_values
  def test_visits_and_jumps(self):
    # A path of p phases, of which a half goes on after each of the first three;
    # the last phase is a trap, as its way out has the rate zero.
    p = 1100
    phases = onp.arange(p)
    rates = onp.append(onp.linspace(1.0, 3.0, p - 1), 0.0)
    sources = onp.append(phases, phases[:3])
    targets = onp.append(phases + 1, onp.full(3, p))
    edges = pm.EdgeRates(sources, targets, onp.append(rates, rates[:3]))
    start = onp.eye(p)[0]
    shares = 0.5 ** onp.minimum(phases, 3)
    found = pm.phase_type.expected_visits(start, edges)
    self.assert_close(found, shares, 1e-12)
    jumps = onp.append(shares * 0.5 ** (phases < 3), 0.5 * shares[:3])
    jumps[p - 1] = 0.0
    found = pm.phase_type.expected_jumps(start, edges)
    self.assert_close(found, jumps, 1e-12)


if __name__ == "__main__":
  absltest.main()
