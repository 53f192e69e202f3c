"""What SciPy's own functions and tests ask of a frozen distribution.

The rules are those of SciPy's common tests of distributions, asked of every
family.
"""

import copy
import pickle
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
from scipy import stats

from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy.interop import scipy as adapter
from tests.generated.numpy.helpers import chain_cases
from tests.generated.numpy.helpers import family_cases

_CASES = {
  **{f"family_{name}": case for name, case in family_cases.CASES.items()},
  **{f"chain_{name}": case for name, case in chain_cases.CASES.items()},
}
_NUMBERS = [name for name, case in _CASES.items() if not case.atom]
_FAMILIES = [
  name for name in _CASES if name in _NUMBERS or _CASES[name].discrete
]


def _frozen(name):
  return adapter.wrap(_CASES[name].make())


class EveryFamilyTest(parameterized.TestCase):
  @parameterized.parameters(*_CASES)
  def test_edges(self, name):
    frozen = _frozen(name)
    low, high = frozen.support()
    self.assertEqual((frozen.a, frozen.b), (low, high))
    atom = 0.0
    if _CASES[name].discrete:
      low = low - 1.0
    elif _CASES[name].atom:
      atom = frozen.cdf(0.0)
      self.assertGreater(atom, 0.0)
    np.testing.assert_equal(frozen.ppf([0.0, 1.0]), [low, high])
    np.testing.assert_equal(frozen.isf([1.0, 0.0]), [low, high])
    # Sums over epochs are rounded.
    np.testing.assert_allclose(frozen.cdf([low, high]), [atom, 1.0], 1e-15)
    self.assertEqual(frozen.sf(high), 0.0)
    self.assertEqual(frozen.logsf(high), -np.inf)

  @parameterized.parameters(*_CASES)
  def test_numbers_of_any_width(self, name):
    frozen = _frozen(name)
    density = "pmf" if _CASES[name].discrete else "pdf"
    for q in (np.float16([0.25, 0.5]), np.float32([0.25, 0.5]), [0.25, 0.5]):
      x = frozen.ppf(q)
      self.assertEqual(x.dtype, np.float64)
      np.testing.assert_array_equal(x, frozen.ppf([0.25, 0.5]))
    for x in (np.asarray([1, 2]), np.float16([1.0, 2.0]), np.float32([1, 2])):
      for method in (density, "cdf", "sf", "logcdf", "logsf", f"log{density}"):
        found = getattr(frozen, method)(x)
        self.assertEqual(found.dtype, np.float64)
        np.testing.assert_array_equal(
          found, getattr(frozen, method)([1.0, 2.0])
        )

  @parameterized.parameters(*_CASES)
  def test_random_states(self, name):
    frozen = _frozen(name)
    np.random.seed(1234)  # noqa: NPY002
    first = frozen.rvs(size=3)
    frozen.random_state = 1234
    np.testing.assert_array_equal(frozen.rvs(size=3), first)
    frozen.random_state = np.random.RandomState(1234)
    pickled = pickle.dumps(frozen)
    for own in (
      frozen,
      pickle.loads(pickled),
      copy.deepcopy(_state(1234, name)),
    ):
      np.testing.assert_array_equal(own.rvs(size=3), first)
    before = frozen.random_state.get_state()[1]
    again = frozen.rvs(3, random_state=np.random.RandomState(1234))
    np.testing.assert_array_equal(again, first)
    np.testing.assert_array_equal(frozen.random_state.get_state()[1], before)
    frozen.random_state = None
    np.random.seed(1234)  # noqa: NPY002
    np.testing.assert_array_equal(frozen.rvs(size=3), first)
    kind = np.int64 if _CASES[name].discrete else np.float64
    self.assertEqual(first.dtype, kind)
    self.assertIsInstance(frozen.rvs(), kind)

  @parameterized.parameters(*_FAMILIES)
  def test_as_a_family_of_scipy(self, name):
    frozen = _frozen(name)
    family = frozen.dist
    self.assertIs(frozen.dist, family)
    self.assertEqual(family.name, type(frozen.distribution).__name__)
    again = family(*frozen.args, **frozen.kwds)
    discrete = _CASES[name].discrete
    kind = stats.rv_discrete if discrete else stats.rv_continuous
    self.assertIsInstance(family, kind)
    density = "pmf" if discrete else "pdf"
    x = np.asarray(_CASES[name].values)
    moved = {"loc": 2.0} if discrete else {"loc": 2.0, "scale": 4.0}
    unit = 1.0 if discrete else 4.0
    for method in ("cdf", "logcdf", "sf", "logsf", density, f"log{density}"):
      with self.subTest(method):
        expected = getattr(frozen, method)(x)
        np.testing.assert_array_equal(getattr(again, method)(x), expected)
    at = unit * x + 2.0
    np.testing.assert_allclose(
      family.cdf(at, **moved), frozen.cdf((at - 2.0) / unit), rtol=1e-12
    )
    q = [0.0, 0.25, 0.75, 1.0]
    np.testing.assert_allclose(
      family.ppf(q, **moved), unit * frozen.ppf(q) + 2.0, rtol=1e-12
    )
    np.testing.assert_array_equal(family.isf(q), frozen.isf(q))
    self.assertEqual(family.entropy(), frozen.entropy())
    self.assertEqual(family.support(), frozen.support())
    if _CASES[name].moments:
      np.testing.assert_allclose(
        family.stats(**moved),
        (unit * frozen.mean() + 2.0, unit**2 * frozen.var()),
        rtol=1e-12,
      )
      self.assertEqual(again.moment(2), frozen.moment(2))
    pickled = pickle.loads(pickle.dumps(again))
    np.testing.assert_array_equal(pickled.cdf(x), frozen.cdf(x))
    np.testing.assert_array_equal(
      family.rvs(size=3, random_state=7), frozen.rvs(3, random_state=7)
    )


def _state(seed, name):
  frozen = _frozen(name)
  frozen.random_state = seed
  return frozen


class FunctionsOfScipyTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.frozen = adapter.wrap(pd.Erlang(3, 2.0))
    self.x = self.frozen.rvs(60, random_state=1)

  def test_goodness_of_fit(self):
    known = {"loc": 0, "scale": 1}
    for shift, low, high in ((0.0, 0.05, 1.0), (3.0, 0.0, 0.05)):
      found = stats.goodness_of_fit(
        self.frozen.dist,
        self.x + shift,
        known_params=known,
        statistic="ad",
        n_mc_samples=99,
        rng=np.random.default_rng(1),
      )
      self.assertBetween(found.pvalue, low, high)

  def test_one_sample_tests(self):
    expected = stats.kstest(self.x, stats.gamma(3, scale=0.5).cdf)
    for cdf in (self.frozen.cdf, self.frozen.dist.cdf):
      found = stats.kstest(self.x, cdf)
      np.testing.assert_allclose(found.pvalue, expected.pvalue, rtol=1e-9)
    found = stats.cramervonmises(self.x, self.frozen.cdf)
    self.assertGreater(found.pvalue, 0.05)
    found = stats.monte_carlo_test(
      self.x, self.frozen.rvs, np.mean, n_resamples=99
    )
    self.assertGreater(found.pvalue, 0.02)

  def test_fits_of_the_multiple(self):
    expected = np.mean(self.x) / self.frozen.mean()
    _, scale = self.frozen.dist.fit(self.x, floc=0)
    np.testing.assert_allclose(scale, expected, rtol=1e-4)
    found = stats.fit(
      self.frozen.dist, self.x, {"loc": (0, 0), "scale": (0.2, 4.0)}
    )
    np.testing.assert_allclose(found.params.scale, expected, rtol=1e-4)

  def test_new_distributions(self):
    found = stats.make_distribution(self.frozen.dist)()
    np.testing.assert_allclose(found.mean(), 1.5, rtol=1e-12)
    np.testing.assert_allclose(found.cdf(1.0), self.frozen.cdf(1.0), rtol=1e-12)

  def test_expectations(self):
    self.assertAlmostEqual(self.frozen.dist.expect(loc=1, scale=2), 4.0)
    found = self.frozen.dist.expect(lambda x: x, loc=1, scale=2, ub=3.0)
    expected = stats.gamma.expect(lambda x: x, (3,), loc=1, ub=3.0)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    with self.assertRaisesRegex(ValueError, "they must be numbers"):
      self.frozen.dist.expect(loc=[0, 1])
    counts = adapter.wrap(pd.NegativeBinomialTrials(1, 0.25)).dist
    self.assertAlmostEqual(counts.expect(loc=2), 6.0)

  def test_censored_data(self):
    data = stats.CensoredData(
      [1.0, 2.0], left=[0.5], right=[3.0, 4.0], interval=[[1.0, 2.0]]
    )
    found = self.frozen.fit(data)
    _, _, scale = stats.gamma.fit(data, f0=3, floc=0)
    np.testing.assert_allclose(found.distribution.rate, 1.0 / scale, rtol=1e-4)
    # Of a geometric distribution each observation is one of the cdf.
    counts = adapter.wrap(pd.NegativeBinomialTrials(1, 0.5))
    data = stats.CensoredData([2], left=[3], right=[4], interval=[[1, 3]])
    p = counts.fit(data).distribution.success_prob

    def likelihood(p):
      law = stats.geom(p)
      parts = law.pmf(2), law.cdf(3), law.sf(4), law.cdf(3) - law.cdf(1)
      return np.sum(np.log(parts), axis=0)

    grid = p + np.asarray([-1e-4, 0.0, 1e-4])
    self.assertEqual(np.argmax(likelihood(grid)), 1)

  def test_a_power_that_overflows(self):
    heavy = adapter.wrap(pd.MatrixPareto(pd.Erlang(1, 0.01), 1.0))
    with warnings.catch_warnings():
      warnings.simplefilter("ignore", RuntimeWarning)
      self.assertFalse(np.isfinite(heavy.expect(lambda x: x**5)))

  def test_what_scipy_does_not_have(self):
    with self.assertRaisesRegex(ValueError, "has an atom of 0.5 at zero"):
      _ = adapter.wrap(pd.PhaseType([0.5], [[-1.0]])).dist
    with self.assertRaisesRegex(ValueError, r"batch_shape is \(2,\)"):
      _ = adapter.wrap(pd.Erlang(2, [1.0, 2.0])).dist
    with self.assertRaisesRegex(TypeError, "random_state is str"):
      self.frozen.random_state = "a"
    for bad in (True, 1j, np.ma.masked_array([1.0], [True])):
      with self.assertRaises(TypeError):
        self.frozen.cdf(bad)

  def test_methods_are_pickled(self):
    counts = adapter.wrap(pd.NegativeBinomialTrials(1, 0.25))
    for frozen, density in ((self.frozen, "pdf"), (counts, "pmf")):
      for name in (density, f"log{density}", "cdf", "logcdf", "sf", "logsf"):
        expected = getattr(frozen, name)(x := [1.0, 2.0])
        for owner in (frozen, frozen.dist):
          method = pickle.loads(pickle.dumps(getattr(owner, name)))
          self.assertEqual(method.__name__, name)
          np.testing.assert_array_equal(method(x), expected)
      mean = pickle.loads(pickle.dumps(frozen.mean))
      self.assertEqual(mean(), frozen.mean())

  def test_options_of_its_quadrature_are_refused(self):
    counts = adapter.wrap(pd.NegativeBinomialTrials(1, 0.25))
    for frozen, option in ((self.frozen, "epsabs"), (counts, "maxcount")):
      with self.assertRaises(TypeError):
        frozen.dist.expect(lambda x: x, **{option: 100})

  def test_counts_that_do_not_end(self):
    # With probability 1/2 the chain is never left.
    endless = pd.DiscretePhaseType([0.5, 0.5], [[0.0, 0.0], [0.0, 1.0]])
    found = adapter.wrap(endless).rvs(50, random_state=1)
    self.assertEqual(found.dtype, np.float64)
    np.testing.assert_array_equal(np.unique(found), [1.0, np.inf])

  def test_batches(self):
    frozen = adapter.wrap(pd.NegativeBinomialTrials(2, [0.25, 0.5]))
    np.testing.assert_array_equal(frozen.a, [2.0, 2.0])
    np.testing.assert_array_equal(frozen.ppf(0.0), [1.0, 1.0])
    np.testing.assert_array_equal(
      frozen.isf([[1.0], [0.0]]), [[1.0, 1.0], [np.inf, np.inf]]
    )
    self.assertEqual(repr(frozen), f"wrap({frozen.distribution!r})")


if __name__ == "__main__":
  absltest.main()
