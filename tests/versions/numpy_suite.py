"""NumPy's substrate: what has to run with every supported version."""

import pickle
import unittest

import expected
import numpy as np

from phasic.substrates import numpy as ph


class NumpySuite(unittest.TestCase):
  def setUp(self):
    self.dist = ph.distributions.PhaseType(
      expected.INITIAL, expected.RATE * expected.UNIT_SUBGENERATOR
    )

  def test_path(self):
    self.assertEqual(ph.config.path(), expected.PATH)

  def test_log_prob(self):
    np.testing.assert_allclose(
      self.dist.log_prob(expected.TIMES),
      expected.log_density(expected.RATE, expected.TIMES),
      rtol=1e-12,
    )

  def test_subnormal_rate(self):
    """Compilers may take numbers that equal zero for zero."""
    rates = np.array([[-1000.0, 2e-308], [0.0, -1.0]])
    dist = ph.distributions.PhaseType(expected.INITIAL, rates)
    # Paths by way of the second phase outweigh exp(-1000).
    np.testing.assert_allclose(
      dist.log_prob(1.0), np.log(2.0 / 999.0) - 308.0 * np.log(10.0) - 1.0
    )

  def test_gradient(self):
    def log_likelihood(rate):
      dist = ph.distributions.PhaseType(
        expected.INITIAL, rate * expected.UNIT_SUBGENERATOR
      )
      return np.sum(dist.log_prob(expected.TIMES))

    _, slope = ph.math.value_and_gradient(log_likelihood, expected.RATE)
    np.testing.assert_allclose(
      slope,
      expected.slope(expected.RATE, expected.TIMES),
      rtol=1e-12,
    )

  def test_sample(self):
    draws = self.dist.sample(2000, seed=1)
    self.assertLess(abs(draws.mean() - 2.0 / expected.RATE), 0.1)

  def test_graph(self):
    graph = ph.graphs.Graph.from_transitions(
      expected.machine(ph.graphs.ABSORBED), 0, params=("fail", "repair")
    )
    dist = ph.distributions.PhaseType.from_graph(graph, params=[0.1, 2.0])
    np.testing.assert_allclose(
      dist.mean(), expected.machine_mean(0.1, 2.0), rtol=1e-12
    )

  def test_pickle(self):
    again = pickle.loads(pickle.dumps(self.dist))
    self.assertEqual(again.log_prob(0.7), self.dist.log_prob(0.7))

  def test_bind(self):
    sine = ph.binding.bind(
      np.sin, jvp=lambda args, tangents: np.cos(args[0]) * tangents[0]
    )
    self.assertEqual(sine(0.5), np.sin(0.5))

  def test_fit(self):
    data = ph.inference.Observations.exact(np.array([1.0, 2.0, 3.0]))
    fit = ph.inference.fit_mle(ph.distributions.Erlang(2, 1.5), data)
    np.testing.assert_allclose(fit.distribution.rate, 1.0, rtol=1e-6)
    fit = ph.inference.fit_em(ph.distributions.Erlang(2, 1.5), data)
    np.testing.assert_allclose(fit.distribution.rate, 1.0, rtol=1e-6)
