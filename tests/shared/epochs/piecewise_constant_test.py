"""Rates that change all the time, in steps, against an exact change of time."""

import math

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from tests.helpers import test_case

_GROWTH = 0.8
_END = 5.0


def _stages():
  edges = [(0, 1, [2.0]), (1, graphs.ABSORBED, [0.5])]
  return graphs.Graph.from_edges(edges, 0, 1)


def _grown(t):
  return [math.exp(_GROWTH * t)]


class PiecewiseConstantTest(test_case.TestCase):
  """Tests steps, their limit, and its error."""

  def test_steps(self):
    # Means over epochs keep the integral of a factor common to all rates, so that
    # at boundaries the distribution is exact.
    times = onp.asarray([0.5, 1.0, 3.0])
    dist = pd.piecewise_constant(_stages(), _grown, times)
    within = pd.PhaseType([1.0, 0.0], [[-2.0, 2.0], [0.0, -0.5]])
    exact = pd.MatrixGompertz(within, _GROWTH)
    self.assert_close(
      dist.survival_function(times), exact.survival_function(times), 1e-12
    )
    self.assert_close(dist.params[-1], [math.exp(3.0 * _GROWTH)], 1e-15)
    self.assertEqual(dist.num_epochs, 4)

  def test_the_limit(self):
    within = pd.PhaseType([1.0, 0.0], [[-2.0, 2.0], [0.0, -0.5]])
    exact = pd.MatrixGompertz(within, _GROWTH)
    found = pd.piecewise_constant_limit(
      _stages(),
      _grown,
      _END,
      lambda dist: dist.expected_sojourn_times(),
      tolerance=1e-4,
    )
    self.assertLessEqual(found.error, 1e-4)
    truth = self.host(exact.expected_sojourn_times())
    error = onp.max(onp.abs(self.host(found.value) - truth)) / onp.max(truth)
    self.assertLessEqual(error, found.error)
    self.assertGreater(found.distribution.num_epochs, 8)

  def test_rates_that_do_not_commute(self):
    # Two states that exchange at sin^2 and cos^2; by symmetry the chance of each
    # is 1/2 throughout, if it starts so, and exits are at a rate of one.
    edges = [("a", "b", [1.0, 0.0]), ("b", "a", [0.0, 1.0])]
    ends = [("a", graphs.ABSORBED, 1.0), ("b", graphs.ABSORBED, 1.0)]
    graph = graphs.Graph.from_edges([*edges, *ends], {"a": 0.5, "b": 0.5}, 2)

    def rates(t):
      return [math.sin(t) ** 2, math.cos(t) ** 2]

    found = pd.piecewise_constant_limit(
      graph, rates, 20.0, lambda dist: dist.expected_sojourn_times(), 1e-3
    )
    # With d = P(a) - P(b), given no absorption, d' = cos(2 t) - d, from zero. So
    # d = (cos(2 t) + 2 sin(2 t) - exp(-t)) / 5, and the difference of the times
    # is the integral of exp(-t) d, (1/5 + 4/5 - 1/2) / 5.
    times = self.host(found.value)
    self.assertLess(abs(onp.sum(times) - 1.0), 1e-6)
    self.assertLess(abs(times[0] - times[1] - 0.1), 2e-3 * times[0])

  def test_derivatives(self):
    # The limit of steps of zero length is approached in derivatives as well.
    graph = graphs.models.kingman(2)
    times = onp.linspace(0.0, 6.0, 97)[1:]

    def mean(growth):
      def rate(t):
        return np.reshape(np.exp(growth * t), (1,))

      return np.sum(pd.piecewise_constant(graph, rate, times).mean())

    def exact(growth):
      one = pd.PhaseType([1.0], [[-1.0]])
      return np.sum(pd.MatrixGompertz(one, growth).mean())

    found, slope = pm.value_and_gradient(mean, np.asarray(0.7))
    truth, exact_slope = pm.value_and_gradient(exact, np.asarray(0.7))
    self.assert_close(found, truth, 1e-3)
    self.assert_close(slope, exact_slope, 2e-3)

  def test_mistakes(self):
    graph = _stages()
    with self.assertRaisesRegex(
      TypeError, r"params is \[1.0\]: it must be a f"
    ):
      pd.piecewise_constant(graph, [1.0], [1.0])
    with self.assertRaisesRegex(ValueError, r"boundaries has shape \(0,\)"):
      pd.piecewise_constant(graph, _grown, onp.zeros((0,)))
    with self.assertRaisesRegex(ValueError, r"boundaries are \[2.0, 1.0\]"):
      pd.piecewise_constant(graph, _grown, [2.0, 1.0])

    for number in (2**16, 10**5):
      times = onp.linspace(0.0, 1.0, number + 1)[1:]
      with self.assertRaisesRegex(ValueError, f"boundaries has {number} entr"):
        pd.piecewise_constant(graph, lambda t: 1 / 0, times)
      with self.assertRaisesRegex(ValueError, f"boundaries has {number} entr"):
        pd.Epochs(graph, onp.ones((number + 1, 1)), times)

    def mean(dist):
      return dist.mean()

    with self.assertRaisesRegex(TypeError, "float32 and boundaries is float64"):
      pd.piecewise_constant(
        graph,
        lambda t: np.asarray(onp.asarray([1.0 + t], onp.float32)),
        onp.asarray([1.0 / 3.0]),
      )
    with self.assertRaisesRegex(ValueError, "until is -1"):
      pd.piecewise_constant_limit(graph, _grown, -1.0, mean)
    with self.assertRaisesRegex(TypeError, "tolerance is str"):
      pd.piecewise_constant_limit(graph, _grown, 1.0, mean, "small")
    with self.assertRaisesRegex(ValueError, "quantity with 8 steps is not fin"):
      pd.piecewise_constant_limit(
        graph, _grown, 1.0, lambda dist: dist.mean() * math.inf
      )


if __name__ == "__main__":
  absltest.main()
