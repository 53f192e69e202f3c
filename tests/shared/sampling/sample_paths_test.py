"""Paths of chains, with fixed seeds."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

ALPHA = [0.5, 0.25, 0.0]
S = [[-3.0, 1.0, 1.0], [2.0, -2.5, 0.0], [0.0, 4.0, -5.0]]
EXITS = [1.0, 0.5, 1.0]
STEPS = [[0.25, 0.25, 0.25], [0.5, 0.0, 0.0], [0.0, 0.5, 0.25]]


class SamplePathsTest(test_case.TestCase):
  """Tests phases, and the times of their entry."""

  def setUp(self):
    super().setUp()
    self.n = 4000

  def paths(self, dist, num_jumps):
    found = dist.sample_paths(num_jumps, self.n, seed=3)
    return self.host(found.phases), self.host(found.times)

  def test_laws_of_jumps_and_holding_times(self):
    dist = pd.PhaseType(ALPHA, S)
    phases, times = self.paths(dist, 4)
    self.assertEqual(phases.shape, (self.n, 5))
    self.assertEqual(phases.dtype, onp.int32)
    # A quarter of the mass is an atom.
    counts = onp.bincount(phases[:, 0], minlength=4)
    expected = onp.asarray([*ALPHA, 0.25]) * self.n
    self.assertEqual(counts[2], 0)
    kept = [0, 1, 3]
    self.assertGreater(
      stats.chisquare(counts[kept], expected[kept]).pvalue, 1e-3
    )
    for k in range(2):
      for i in range(3):
        here = phases[:, k] == i
        if onp.sum(here) < 200:
          continue
        holds = (times[:, k + 1] - times[:, k])[here]
        rate = -S[i][i]
        law = stats.expon(scale=1 / rate)
        self.assertGreater(stats.kstest(holds, law.cdf).pvalue, 1e-3)
        after = onp.bincount(phases[here, k + 1], minlength=4)
        rates = onp.asarray([*S[i], EXITS[i]])
        rates[i] = 0.0
        some = rates > 0
        self.assertEqual(onp.sum(after[~some]), 0)
        expected = rates[some] / rate * onp.sum(here)
        self.assertGreater(stats.chisquare(after[some], expected).pvalue, 1e-3)

  def test_absorption_has_the_distribution(self):
    dist = pd.PhaseType(ALPHA, S)
    phases, times = self.paths(dist, 60)
    self.assertTrue(onp.all(phases[:, -1] == 3))
    ends = times[:, -1]
    # The atom is excluded.
    later = ends[ends > 0]
    given = lambda t: (self.host(dist.cdf(t)) - 0.25) / 0.75
    self.assertGreater(stats.kstest(later, given).pvalue, 1e-3)
    self.assertLess(abs(onp.mean(ends == 0) - 0.25), 0.03)
    # Absorption is permanent, and times are nondecreasing.
    self.assertTrue(onp.all(onp.diff(times, axis=1) >= 0))
    absorbed = phases == 3
    self.assertTrue(onp.all(absorbed[:, 1:] >= absorbed[:, :-1]))
    first = onp.argmax(absorbed, axis=1)
    at = onp.take_along_axis(times, first[:, None], axis=1)[:, 0]
    self.assert_close(at, ends, 0.0)

  def test_discrete(self):
    dist = pd.DiscretePhaseType(ALPHA, STEPS)
    phases, times = self.paths(dist, 60)
    ends = times[:, -1]
    self.assert_close(ends, onp.floor(ends), 0.0)
    moved = phases[:, 1:] != phases[:, :-1]
    running = phases[:, :-1] < 3
    self.assertTrue(onp.all(moved == running))
    first = (times[:, 1] - times[:, 0])[phases[:, 0] == 0]
    self.assertLess(abs(onp.mean(first == 1) - 0.75), 0.04)
    points = onp.arange(0.0, 6.0)
    below = onp.mean(ends[:, None] <= points, axis=0)
    error = onp.max(onp.abs(below - self.host(dist.cdf(points))))
    self.assertLess(error, 1.95 / math.sqrt(self.n))

  def test_edges_and_batches(self):
    rates = onp.asarray([[1.0, 2.0], [5.0, 0.5]])
    dist = pd.Hypoexponential(rates)
    phases, times = self.paths(dist, 2)
    self.assertEqual(phases.shape, (self.n, 2, 3))
    expected = onp.broadcast_to(onp.arange(3), phases.shape)
    self.assert_close(phases, expected, 0.0)
    for b in range(2):
      for k in range(2):
        holds = times[:, b, k + 1] - times[:, b, k]
        law = stats.expon(scale=1 / rates[b, k])
        self.assertGreater(stats.kstest(holds, law.cdf).pvalue, 1e-3)

  @test_case.of_bad_values
  def test_phases_that_are_never_left(self):
    dist = pd.PhaseType([1.0, 0.0], [[-1.0, 1.0], [0.0, 0.0]])
    phases, times = self.paths(dist, 3)
    expected = onp.broadcast_to([0, 1, 1, 1], phases.shape)
    self.assert_close(phases, expected, 0.0)
    self.assertTrue(onp.all(onp.isinf(times[:, 2:])))
    self.assertTrue(onp.all(onp.isfinite(times[:, :2])))

  def test_no_jumps_and_one_path(self):
    dist = pd.PhaseType([0.0, 1.0], [[-1.0, 0.0], [0.0, -1.0]])
    found = dist.sample_paths(0, seed=1)
    self.assertEqual(self.host(found.phases).tolist(), [1])
    self.assertEqual(self.host(found.times).tolist(), [0.0])

  def test_seeds(self):
    dist = pd.PhaseType(ALPHA, S)
    times = self.host(dist.sample_paths(4, 5, seed=3).times)
    self.assert_close(dist.sample_paths(4, 5, seed=3).times, times, 0.0)
    other = self.host(dist.sample_paths(4, 5, seed=4).times)
    self.assertFalse(onp.array_equal(times, other))

  @test_case.of_bad_values
  def test_bad_models(self):
    found = pd.PhaseType([1.0], [[1.0]]).sample_paths(1, seed=1)
    self.assertEqual(self.host(found.phases).tolist(), [-1, -1])
    self.assertTrue(onp.all(onp.isnan(self.host(found.times))))

  @parameterized.parameters(
    (-1, (), ValueError, "num_jumps is -1: it must be >= 0"),
    (1.5, (), TypeError, "num_jumps is float"),
    (True, (), TypeError, "num_jumps is bool"),
    (2, (-1,), ValueError, "sizes must be >= 0"),
    (2**20, 2**10, ValueError, "at most 134217728"),
  )
  def test_errors(self, num_jumps, sample_shape, error, message):
    dist = pd.PhaseType([1.0], [[-1.0]])
    with self.assertRaisesRegex(error, message):
      dist.sample_paths(num_jumps, sample_shape, seed=1)

  def test_no_derivatives(self):

    def last(rate):
      dist = pd.Erlang(2, rate)
      return np.sum(dist.sample_paths(2, seed=1).times)

    with self.assertRaisesRegex(NotImplementedError, "stop_gradient"):
      gradients.value_and_gradient(last, np.asarray(1.5))


if __name__ == "__main__":
  absltest.main()
