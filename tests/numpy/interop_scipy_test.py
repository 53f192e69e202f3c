"""The adapter against SciPy's own frozen distributions, and inside SciPy."""

import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
from scipy import stats
from scipy.stats import sampling

from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import inference
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
    with self.assertWarnsRegex(RuntimeWarning, "a probability must be in"):
      self.assertTrue(np.isnan(frozen.ppf(1.5)))
      self.assertTrue(np.isnan(frozen.isf(-0.5)))

  @parameterized.parameters(*_PAIRS)
  def test_what_is_no_probability(self, name):
    make, expected = _PAIRS[name]
    frozen = adapter.wrap(make())
    checked = adapter.wrap(make().copy(validate_args=True))
    rule = "a probability must be in"
    for method, argument in (("ppf", "q"), ("isf", "q"), ("interval", "conf")):
      for value in (1.1, -0.1):
        with self.assertWarnsRegex(
          RuntimeWarning, rf"\.{method}: {argument}\w* = {value}: {rule}"
        ) as caught:
          found = getattr(frozen, method)(value)
        self.assertLen(caught.warnings, 1)
        self.assertTrue(np.all(np.isnan(found)))
        with self.assertRaisesRegex(
          ValueError, rf"^{argument}\w* = {value}: {rule}"
        ):
          getattr(checked, method)(value)
      with self.assertRaisesRegex(TypeError, rf"^{argument}\w* is None: it"):
        getattr(frozen, method)(None)
    for method in ("ppf", "isf"):
      with self.assertWarnsRegex(RuntimeWarning, r"q\[2\] = 1\.5: "):
        found = getattr(frozen, method)([0.0, 0.5, 1.5, 1.0, np.nan])
      self._close(
        found, getattr(expected, method)([0.0, 0.5, 1.5, 1.0, np.nan])
      )

  def test_orders_of_moments(self):
    for order in (-1, 1.5, 171):
      with self.assertRaisesRegex((TypeError, ValueError), "^order is "):
        adapter.wrap(pd.Erlang(2, 1.0)).moment(order)

  def test_fit_of_a_rate(self):
    x = stats.gamma(3, scale=0.5).rvs(50, random_state=7)
    fitted = adapter.wrap(pd.Erlang(3, 1.0)).fit(x)
    self.assertIsInstance(fitted.distribution, pd.Erlang)
    shape, _, scale = stats.gamma.fit(x, f0=3, floc=0)
    self._close(fitted.mean(), shape * scale, rtol=1e-8)

  def test_fit_of_censored_data(self):
    lower, upper = [0.5, 1.5, 2.0, 2.5], [0.5, 1.5, 2.0, np.inf]
    data = inference.Observations(lower, upper)
    fitted = adapter.wrap(pd.Erlang(1, 1.0)).fit(data)
    self._close(fitted.mean(), sum(lower) / 3.0, rtol=1e-8)
    with self.assertRaisesRegex(ValueError, "fixed"):
      adapter.wrap(pd.Erlang(1, 1.0)).fit(data, fixed=["scale"])

  def test_fit_of_counts(self):
    fitted = adapter.wrap(pd.NegativeBinomialFailures(1, 0.5)).fit([0, 1, 2, 5])
    self._close(fitted.mean(), 2.0, rtol=1e-8)

  def test_fit_of_what_is_no_data(self):
    frozen = adapter.wrap(pd.Erlang(1, 1.0))
    with self.assertRaises(TypeError):
      frozen.fit(["a"])
    with self.assertRaises(ValueError):
      frozen.fit([])

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

  def test_expect_far_in_the_tails(self):
    # An exponential time forgets; means are in units of what is conditioned on.
    frozen = adapter.wrap(pd.Erlang(1, 2.0))
    for low in (0.0, 1.0, 200.0, 1000.0):
      mean = frozen.expect(lb=low, conditional=True)
      self._close(mean - low, 0.5, 1e-9)
    mass = np.exp(-400.0)
    self._close(frozen.expect(lb=200.0) / mass, 200.5)
    first = -np.expm1(-2e-9)
    self._close(frozen.expect(ub=1e-9, conditional=True), 0.5e-9)
    self._close(frozen.expect(lambda x: 1.0, ub=1e-9), first)
    counts = adapter.wrap(pd.NegativeBinomialTrials(1, 0.25))
    for low in (1, 300, 3000):
      mean = counts.expect(lb=low, conditional=True)
      self._close(mean, low + 3.0)
    self._close(counts.expect(lb=300), 0.75**299 * 303.0)

  def test_expect_of_what_is_infinite_somewhere(self):
    frozen = adapter.wrap(pd.Erlang(3, 2.0))
    self._close(frozen.expect(lambda x: 1.0 / x), 1.0)
    # Where the function overflows, nothing is left.
    self._close(frozen.expect(lambda x: np.exp(min(1.5 * x, 709.0))), 64.0)
    self._close(frozen.expect(lambda x: 1.0, lb=-3.0, ub=-1.0), 0.0)
    self.assertTrue(np.isnan(frozen.expect(lb=1.0, ub=1.0, conditional=True)))
    with self.assertWarnsRegex(RuntimeWarning, "rate = nan"):
      unknown = adapter.wrap(pd.Erlang(3, np.nan))
    self.assertTrue(np.isnan(unknown.expect()))
    bounded = adapter.wrap(pd.TruncatedPhaseType(pd.Erlang(1, 1.0), 1.0, 2.0))
    mean = (2.0 * np.exp(-1) - 3.0 * np.exp(-2)) / (np.exp(-1) - np.exp(-2))
    self._close(bounded.expect(), mean)

  def test_expect_of_a_heavy_tail(self):
    heavy = adapter.wrap(pd.MatrixPareto(pd.Erlang(1, 0.5), 1.0))
    self._close(heavy.expect(np.log1p), 2.0, 1e-8)
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      known = adapter.wrap(pd.MatrixPareto(pd.Erlang(1, 6.0), 2.0))
      self._close(known.expect(), 0.4)
    # A part of the mean is in a tail that is out of reach.
    heavy = adapter.wrap(pd.MatrixPareto(pd.Erlang(1, 1.01), 1.0))
    with self.assertWarnsRegex(RuntimeWarning, "expect is NaN: quadrature"):
      self.assertTrue(np.isnan(heavy.expect()))

  def test_expect_of_a_tail_that_ends_early(self):
    # Densities are not known where the survival function is below 1e-308.
    dist = pd.MatrixGompertz(pd.Erlang(1, 0.25), 0.5)
    expected = stats.gompertz(0.5, scale=2.0)
    self._close(adapter.wrap(dist).expect(), expected.mean(), 1e-9)

  @parameterized.parameters(
    (pd.NegativeBinomialTrials(50, 0.999), stats.nbinom(50, 0.999)),
    (pd.Erlang(200, 1.0), stats.gamma(200)),
    (pd.TruncatedPhaseType(pd.Erlang(1, 2.0), 1e4), stats.expon()),
  )
  def test_shapes_of_narrow_laws(self, dist, expected):
    found = adapter.wrap(dist).stats("sk")
    np.testing.assert_allclose(found, expected.stats("sk"), atol=2e-7)

  def test_moment_of_order_zero(self):
    self.assertEqual(adapter.wrap(pd.Erlang(2, 1.0)).moment(0), 1.0)
    found = adapter.wrap(pd.Erlang(2, [1.0, 2.0])).moment(0)
    np.testing.assert_array_equal(found, [1.0, 1.0])

  def test_wrap_takes_distributions(self):
    for other in (3, pd.Erlang, stats.norm()):
      with self.assertRaisesRegex(
        TypeError, "it must be a distribution of phasic"
      ):
        adapter.wrap(other)


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
    self.assertIsInstance(one.rvs(size=(), random_state=1), float)
    self.assertEqual(one.rvs(size=1, random_state=1).shape, (1,))
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

  def test_arguments_that_do_not_fit(self):
    frozen = adapter.wrap(pd.Erlang(4, _RATE))
    with self.assertRaisesRegex(ValueError, r"lb has shape \(2,\): it must be"):
      frozen.expect(lambda x: x, lb=[0.0, 1.0])
    batch = adapter.wrap(pd.Erlang(4, np.asarray([1.0, 2.0])))
    with self.assertRaisesRegex(
      ValueError, r"batch_shape is \(2,\): .* expect"
    ):
      batch.expect(lambda x: x)
    for moments in ("", "mx"):
      with self.assertRaisesRegex(
        ValueError, f"moments is '{moments}': it mus"
      ):
        frozen.stats(moments)
    rare = adapter.wrap(pd.DiscretePhaseType([1.0], [[1.0 - 1e-8]], [1e-8]))
    with self.assertRaisesRegex(
      ValueError, r"expect sums over .* counts: they must be at most 1e\+07"
    ):
      rare.expect(lambda k: k)
    with self.assertRaisesRegex(ValueError, "value is ragged"):
      frozen.cdf([[1.0, 2.0], [3.0]])

  def test_expect_where_there_is_no_mass(self):
    # Counts of trials begin with one.
    trials = adapter.wrap(pd.DiscretePhaseType([1.0], [[0.5]]))
    self.assertEqual(trials.expect(lambda k: k, ub=0.0), 0.0)

  def test_states_of_sequences_and_of_dist(self):
    frozen = adapter.wrap(pd.Erlang(4, _RATE))
    sequence = np.random.SeedSequence(7)
    x = frozen.rvs(size=3, random_state=sequence)
    y = frozen.rvs(size=3, random_state=np.random.default_rng(sequence))
    np.testing.assert_array_equal(x, y)
    family = frozen.dist
    frozen.random_state = 11
    self.assertIs(family.random_state, frozen.random_state)


if __name__ == "__main__":
  absltest.main()
