"""Random numbers and samples, with fixed seeds."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic import math as pm
from phasic.internal import random
from phasic.math.calls import gradients
from phasic.math.sampling import jump_chain
from phasic.math.sampling import sampling
from tests.helpers import models
from tests.helpers import test_case


class RandomTest(test_case.TestCase):
  """Tests the random number generators of the seam."""

  def test_uniform(self):
    seed = random.sanitize_seed(seed=3, salt="uniform")
    x = self.host(random.uniform(seed, (20000,), "float64"))
    self.assertGreater(stats.kstest(x, "uniform").pvalue, 1e-3)

  def test_exponential(self):
    seed = random.sanitize_seed(seed=4, salt="exponential")
    x = self.host(random.exponential(seed, (20000,), "float64"))
    self.assertGreater(stats.kstest(x, "expon").pvalue, 1e-3)

  def test_seeds(self):
    seed = random.sanitize_seed(seed=7, salt="a")
    first, second = random.split_seed(seed)
    draws = [
      self.host(random.uniform(s, (4,), "float64")).tolist()
      for s in (
        seed,
        first,
        second,
        random.fold_in(seed, 1),
        random.fold_in(seed, 2),
        random.sanitize_seed(seed=7, salt="b"),
      )
    ]
    self.assertLen({tuple(d) for d in draws}, len(draws))
    again = random.sanitize_seed(seed=7, salt="a")
    self.assertEqual(
      draws[0], self.host(random.uniform(again, (4,), "float64")).tolist()
    )

  def test_no_seed(self):
    with self.assertRaises(TypeError):
      pd.PhaseType([1.0], [[-1.0]]).sample(3)


class SampleTest(test_case.TestCase):
  """Tests samples of phase-type distributions."""

  @parameterized.parameters("erlang", "hyperexponential", "cyclic", "random")
  def test_distribution(self, name):
    dist = pd.PhaseType(*models.ALL[name])
    self._check_sample(dist, self.host(dist.sample(4000, seed=11)))

  @parameterized.parameters("erlang", "cyclic")
  def test_paths(self, name):
    seed = random.sanitize_seed(seed=5)
    x = self.host(jump_chain.sample(4000, seed, *models.ALL[name]))
    self._check_sample(pd.PhaseType(*models.ALL[name]), x)

  def test_counts(self):
    dist = pd.DiscretePhaseType([0.5, 0.25], [[0.5, 0.25], [0.0, 0.75]])
    x = self.host(dist.sample(4000, seed=12))
    self.assert_close(x, onp.floor(x), 0.0)
    ks = onp.arange(12.0)
    counts = onp.asarray([onp.sum(x == k) for k in ks] + [onp.sum(x > 11)])
    probs = onp.append(self.host(dist.prob(ks)), 0.0)
    probs[-1] = 1 - onp.sum(probs)
    test = stats.chisquare(counts, 4000 * probs)
    self.assertGreater(test.pvalue, 1e-3)

  def test_paths_of_steps(self):
    # Phase 0 is left with probability 1/4, and then absorbed with 2/3, else
    # phase 1 ends at the next step.
    edges = pm.EdgeProbs([0, 0, 1], [1, 2, 2], [1.0 / 12.0, 1.0 / 6.0, 1.0])
    seed = random.sanitize_seed(seed=6)
    start = onp.asarray([1.0, 0.0])
    x = jump_chain.sample(4000, seed, start, edges, None, None, True)
    k = onp.arange(1.0, 21.0)
    left = 0.25 * 0.75 ** (k - 1)
    probs = (2.0 * left + onp.append(0.0, left[:-1])) / 3.0
    counts = onp.sum(self.host(x)[:, None] == k, axis=0)
    counts, probs = (
      onp.append(y, total - onp.sum(y))
      for y, total in ((counts, 4000), (probs, 1.0))
    )
    test = stats.chisquare(counts, 4000 * probs)
    self.assertGreater(test.pvalue, 1e-3)

  def test_caught(self):
    matrix = onp.asarray([[-2.0, 1.5], [0.0, 0.0]])
    dist = pd.PhaseType([1.0, 0.0], matrix)
    x = self.host(dist.sample(4000, seed=13))
    caught = x == onp.inf
    self.assertLess(abs(onp.mean(caught) - 0.75), 0.03)
    test = stats.kstest(x[~caught], "expon", (0, 0.5))
    self.assertGreater(test.pvalue, 1e-3)

  def test_tails(self):
    x = self.host(pd.PhaseType([1.0], [[-1.0]]).sample(20000, seed=14))
    self.assertGreater(onp.min(x), 0.0)
    # The least of them is exponential of rate 20000.
    self.assertLess(onp.min(x), 10 / 20000)

  def test_draws_without_quantiles(self):
    # Half of the times are out of the kernel's range.
    matrix = onp.asarray(
      [[-1e150, 0.0, 0.0], [0.0, -1e-150, 1e-150], [0.0, 0.0, -1e150]]
    )
    dist = pd.PhaseType([0.5, 0.5, 0.0], matrix)
    x = self.host(dist.sample(200, seed=3))
    slow = x > 1.0
    # Four standard deviations of a share.
    self.assertLess(abs(onp.mean(slow) - 0.5), 0.14)
    test = stats.kstest(x[slow] * 1e-150, "expon")
    self.assertGreater(test.pvalue, 1e-3)
    test = stats.kstest(x[~slow] * 1e150, "expon")
    self.assertGreater(test.pvalue, 1e-3)
    again = [self.host(dist.sample(20, seed=3)) for _ in range(2)]
    self.assertTrue(onp.any(again[0] > 1.0))
    self.assert_close(again[0], again[1], 0.0)

  @test_case.of_bad_values
  def test_no_paths_of_very_many_jumps(self):
    # Few quantiles of the first model exist, and its paths have 1e21 jumps.
    rates = onp.asarray([[[0.0, 1.0], [1.0, 0.0]], [[0.0, 1e-200], [0.0, 0.0]]])
    exits = onp.asarray([[1e-21, 0.0], [0.0, 1e200]])
    dist = pd.PhaseType([1.0, 0.0], rates, exits)
    x = self.host(dist.sample(50, seed=4))
    self.assertGreater(onp.sum(onp.isnan(x[:, 0])), 40)
    self.assertTrue(onp.all((x[:, 1] > 1e190) & (x[:, 1] < onp.inf)))
    rows = [[0.5, 0.5 + 1e-3], [0.25, 0.25]]
    x = self.host(pd.DiscretePhaseType([1.0, 0.0], rows).sample(5, seed=4))
    self.assertTrue(onp.all(onp.isnan(x)))

  def test_paths_in_the_place_of_some_draws(self):
    lost = onp.asarray([[1.0, onp.nan], [onp.nan, onp.nan], [3.0, onp.nan]])
    times = onp.asarray([[5.0, 6.0], [7.0, 8.0], [9.0, 10.0]])
    known = onp.asarray([[True, False], [False, True], [False, False]])
    found, missing = sampling._filled(lost, times, known)
    expected = [[1.0, 6.0], [7.0, 10.0], [3.0, onp.nan]]
    self.assert_close(found, onp.asarray(expected), 0.0)
    self.assertTrue(missing)

  def test_large_models_are_simulated(self):
    # A quantile of such a model takes seconds; here half of the phases last one
    # on average, and half a fifth.
    p = 600_000
    rates = onp.where(onp.arange(p) < p // 2, 1.0, 5.0)
    phases = onp.arange(p)
    edges = pm.EdgeRates(phases, onp.full(p, p), rates)
    dist = pd.PhaseType(onp.full(p, 1.0 / p), edges)
    x = self.host(dist.sample(2000, seed=5))
    cdf = lambda t: 1.0 - 0.5 * (onp.exp(-t) + onp.exp(-5.0 * t))
    self.assertGreater(stats.kstest(x, cdf).pvalue, 1e-3)
    again = self.host(dist.sample(2000, seed=5))
    self.assertEqual(x.tolist(), again.tolist())

  def test_derivatives_of_paths_are_unknown(self):

    def total(rate):
      rates = np.stack(
        [np.stack([-rate, rate]), 0.0 * rate - onp.asarray([0.0, 1e150])]
      )
      return np.sum(pd.PhaseType([1.0, 0.0], rates).sample(3, seed=1))

    value, slope = gradients.value_and_gradient(total, np.asarray(1e-150))
    self.assertGreater(float(self.host(value)), 1e140)
    self.assert_close(slope, onp.nan)
    one = np.asarray(1e-150)
    _, slope = gradients.jvp(total, (one,), (one,))
    self.assert_close(slope, onp.nan)

  def _check_sample(self, dist, x):
    atom = float(self.host(dist.cdf(0.0)))
    self.assertLess(abs(onp.mean(x == 0) - atom), 0.02)
    positive = x[x > 0]
    u = (self.host(dist.cdf(positive)) - atom) / (1 - atom)
    self.assertGreater(stats.kstest(u, "uniform").pvalue, 1e-3)
    error = float(self.host(dist.stddev())) / onp.sqrt(len(x))
    self.assertLess(abs(onp.mean(x) - float(self.host(dist.mean()))), 4 * error)

  def test_shapes_and_repetition(self):
    alpha = onp.asarray([[0.3, 0.6], [1.0, 0.0]])[:, None]
    matrix = onp.asarray([[-2.0, 1.0], [0.5, -1.0]])
    dist = pd.PhaseType(alpha, matrix * onp.arange(1, 4)[:, None, None])
    x = self.host(dist.sample((4, 5), seed=1))
    self.assertEqual(x.shape, (4, 5, 2, 3))
    self.assert_close(dist.sample((4, 5), seed=1), x, 0.0)
    other = self.host(dist.sample((4, 5), seed=2))
    self.assertFalse(onp.any((x == other) & (x > 0)))
    self.assertEqual(self.host(dist.sample(seed=1)).shape, (2, 3))
    many = self.host(dist.sample(3000, seed=8))
    onp.testing.assert_allclose(
      onp.mean(many, axis=0), self.host(dist.mean()), rtol=0.1
    )

  @parameterized.parameters(
    (2.5, TypeError, "2.5: it must be an integer"),
    ((2, 3.0), TypeError, r"\(2, 3.0\): it must be an integer"),
    ("3", TypeError, "'3': it must be"),
    (None, TypeError, "None: it must be"),
    (True, TypeError, "True: it must be"),
    ([[1, 2]], TypeError, r"\[\[1, 2\]\]: it must be"),
    (-1, ValueError, r"\(-1,\): sizes must be >= 0"),
    ((2, -3), ValueError, r"\(2, -3\): sizes must be >= 0"),
    ((10**10, 10**10), ValueError, r"\(10+, 10+\): at most 2\^31 samples"),
    (2**70, ValueError, r"\d+: at most 2\^31 samples"),
  )
  def test_bad_sample_shapes(self, shape, error, message):
    with self.assertRaisesRegex(error, "sample_shape is " + message):
      pd.PhaseType([1.0], [[-1.0]]).sample(shape, seed=1)

  def test_sample_shapes(self):
    dist = pd.PhaseType([1.0], [[-1.0]])
    for shape, expected in (
      ((), ()),
      ([], ()),
      (onp.int64(2), (2,)),
      (onp.asarray([2, 3]), (2, 3)),
      (0, (0,)),
    ):
      x = self.host(dist.sample(shape, seed=1))
      self.assertEqual(onp.shape(x), expected)

  @test_case.of_bad_values
  def test_never_absorbed(self):
    dist = pd.PhaseType([1.0, 0.0], [[-1.0, 1.0], [0.0, 0.0]])
    self.assert_close(dist.sample(3, seed=1), onp.full(3, onp.inf))

  @test_case.of_bad_values
  def test_bad_values(self):
    dist = pd.PhaseType([1.5], [[-1.0]])
    self.assert_close(dist.sample(3, seed=1), onp.full(3, onp.nan))

  @test_case.of_bad_values
  def test_bad_models_with_bad_rewards(self):
    seed = random.sanitize_seed(seed=1)
    for start, reward in ((1.5, 1.0), (1.0, -1.0), (1.5, -1.0)):
      model = (onp.asarray(x) for x in ([start], [[-1.0]], [[reward]]))
      x = jump_chain.sample_rewards(
        2, seed, *(np.asarray(y) for y in model), None, None
      )
      self.assert_close(x, onp.full((2, 1), onp.nan))

  @parameterized.parameters("atom", "discrete")
  def test_derivatives_are_refused(self, what):

    def total(matrix):
      dist = pd.PhaseType([0.5], matrix, prob_zero=0.5)
      if what == "discrete":
        dist = pd.DiscretePhaseType([1.0], -matrix)
      self.assertIs(dist.reparameterization_type, pd.NOT_REPARAMETERIZED)
      return np.sum(dist.sample(3, seed=1))

    with self.assertRaisesRegex(NotImplementedError, "stop_gradient"):
      gradients.value_and_gradient(total, np.asarray(onp.asarray([[-0.5]])))

  def test_derivative_of_samples(self):

    def total(scale):
      rates = np.asarray(onp.asarray([[-3.0, 3.0], [0.0, -3.0]]))
      dist = pd.PhaseType([1.0, 0.0], scale * rates, prob_zero=0.0)
      self.assertIs(dist.reparameterization_type, pd.FULLY_REPARAMETERIZED)
      return np.sum(dist.sample(5, seed=1))

    # A scale of rates divides each sample.
    value, slope = gradients.value_and_gradient(total, np.asarray(2.0))
    self.assert_close(slope, -self.host(value) / 2.0, 1e-12)

  def test_stopped_samples_can_be_used(self):

    def loss(matrix):
      dist = pd.PhaseType([1.0], matrix)
      x = gradients.stop_gradient(dist.sample(3, seed=1))
      return np.sum(dist.log_prob(x))

    value, gradient = gradients.value_and_gradient(
      loss, np.asarray(onp.asarray([[-1.0]]))
    )
    # log f = log(-S) + S x, so the derivative is 3/S + sum(x), S = -1.
    self.assert_close(gradient, [[-3.0 - self.host(value)]], 1e-10)


if __name__ == "__main__":
  absltest.main()
