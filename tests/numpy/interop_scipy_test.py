"""The adapter against SciPy's own frozen distributions, and inside SciPy."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
from scipy import stats
from scipy.stats import sampling

from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy.interop import scipy as adapter

_RATE = 0.7
_PAIRS = {
  "exponential": (
    lambda: pd.PhaseType([1.0], [[-_RATE]]),
    stats.expon(scale=1.0 / _RATE),
  ),
  "erlang": (lambda: pd.Erlang(4, _RATE), stats.gamma(4, scale=1.0 / _RATE)),
  "trials": (
    lambda: pd.DiscretePhaseType([1.0], [[1.0 - 0.3]]),
    stats.geom(0.3),
  ),
  "failures": (
    lambda: pd.NegativeBinomialFailures(3, 0.4),
    stats.nbinom(3, 0.4),
  ),
}
_DISCRETE = ("trials", "failures")


class AgainstScipyTest(parameterized.TestCase):
  def _close(self, actual, expected, rtol=1e-9):
    # SciPy takes the logarithm of a cdf near one as it is, rounded.
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-15)

  @parameterized.parameters(*_PAIRS)
  def test_methods_of_values(self, name):
    make, expected = _PAIRS[name]
    frozen = adapter.wrap(make())
    x = np.asarray([1.0, 2.0, 7.0, 30.0])
    density = ("pmf", "logpmf") if name in _DISCRETE else ("pdf", "logpdf")
    for method in (*density, "cdf", "logcdf", "sf", "logsf"):
      with self.subTest(method):
        self._close(getattr(frozen, method)(x), getattr(expected, method)(x))

  @parameterized.parameters(*_PAIRS)
  def test_inverses(self, name):
    make, expected = _PAIRS[name]
    frozen = adapter.wrap(make())
    q = np.asarray([1e-6, 0.1, 0.5, 0.99])
    self._close(frozen.ppf(q), expected.ppf(q))
    self._close(frozen.isf(q), expected.isf(q))
    self._close(frozen.interval(0.9), expected.interval(0.9))
    self._close(frozen.median(), expected.median())
    self.assertEqual(frozen.support(), expected.support())
    self.assertTrue(np.isnan(frozen.ppf(1.5)))
    self.assertTrue(np.isnan(frozen.isf(-0.5)))

  @parameterized.parameters(*_PAIRS)
  def test_statistics(self, name):
    make, expected = _PAIRS[name]
    frozen = adapter.wrap(make())
    for method in ("mean", "var", "std", "entropy"):
      with self.subTest(method):
        self._close(
          getattr(frozen, method)(), getattr(expected, method)(), 1e-7
        )
    self._close(frozen.moment(3), expected.moment(3))
    self._close(frozen.stats("mvsk"), expected.stats("mvsk"), 1e-8)
    self._close(frozen.stats("v"), expected.var())
    self.assertIsInstance(frozen.mean(), float)

  @parameterized.parameters(*_PAIRS)
  def test_expect(self, name):
    make, expected = _PAIRS[name]
    frozen = adapter.wrap(make())
    func = lambda x: x**2 / (1.0 + x)
    for arguments in ({}, {"lb": 2}, {"lb": 1, "ub": 5, "conditional": True}):
      with self.subTest(str(arguments)):
        self._close(
          frozen.expect(func, **arguments),
          expected.expect(func, **arguments),
          1e-7,
        )

  def test_expect_counts_an_atom(self):
    frozen = adapter.wrap(pd.PhaseType([0.25], [[-2.0]]))
    self._close(frozen.expect(lambda x: 1.0), 1.0)
    self._close(frozen.expect(lambda x: 1.0, ub=0.0), 0.75)
    self._close(frozen.expect(), 0.125)
    self._close(frozen.expect(lb=0.0, conditional=True), 0.125)


class InsideScipyTest(absltest.TestCase):
  def test_kolmogorov_smirnov(self):
    frozen = adapter.wrap(pd.Coxian([1.5, 0.5], [0.1, 0.3, 2.0]))
    x = frozen.rvs(2000, random_state=3)
    self.assertGreater(stats.kstest(x, frozen.cdf).pvalue, 1e-3)
    wrong = adapter.wrap(pd.Coxian([1.5, 0.5], [0.2, 0.3, 2.0]))
    self.assertLess(stats.kstest(x, wrong.cdf).pvalue, 1e-3)

  def test_probability_plot(self):
    frozen = adapter.wrap(pd.Erlang(3, 2.0))
    x = frozen.rvs(500, random_state=np.random.default_rng(1))
    _, (slope, _, correlation) = stats.probplot(x, dist=frozen)
    self.assertBetween(slope, 0.9, 1.1)
    self.assertGreater(correlation, 0.99)

  def test_sampling_by_scipy(self):
    frozen = adapter.wrap(pd.Erlang(3, 2.0))
    sampler = sampling.NumericalInversePolynomial(
      frozen, center=1.0, domain=(0.0, np.inf), random_state=1
    )
    self.assertGreater(stats.kstest(sampler.rvs(500), frozen.cdf).pvalue, 1e-3)


class SamplesTest(absltest.TestCase):
  def test_sizes(self):
    one = adapter.wrap(pd.Erlang(2, 1.0))
    self.assertIsInstance(one.rvs(), float)
    self.assertIsInstance(one.rvs(size=1, random_state=1), float)
    self.assertEqual(one.rvs((2, 3), random_state=1).shape, (2, 3))
    batch = adapter.wrap(pd.Erlang(2, [1.0, 2.0]))
    self.assertEqual(batch.rvs(random_state=1).shape, (2,))
    self.assertEqual(batch.rvs((5, 2), random_state=1).shape, (5, 2))
    with self.assertRaisesRegex(ValueError, "must end with the batch shape"):
      batch.rvs(5, random_state=1)

  def test_random_states(self):
    frozen = adapter.wrap(pd.Erlang(2, 1.0))
    first = frozen.rvs(3, random_state=7)
    np.testing.assert_array_equal(frozen.rvs(3, random_state=7), first)
    state = np.random.RandomState(1)
    self.assertTrue(
      np.all(frozen.rvs(3, random_state=state) != frozen.rvs(3, state))
    )
    self.assertTrue(np.all(frozen.rvs(3) != frozen.rvs(3)))

  def test_vectors_are_refused(self):
    dist = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]])
    with self.assertRaisesRegex(TypeError, "MultivariatePhaseType"):
      adapter.wrap(dist)


if __name__ == "__main__":
  absltest.main()
