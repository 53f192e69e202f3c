"""Conformance: named families against SciPy's distributions, and mixtures."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import special
from scipy import stats

from phasic import distributions as pd
from tests.helpers import conformance
from tests.helpers import test_case

MODE = "numpy"
_TIMES = onp.asarray([1e-3, 0.25, 1.0, 4.0, 12.0])
_COUNTS = onp.asarray([3.0, 4.0, 7.0, 20.0, 60.0])
_PROBS = onp.asarray([1e-9, 0.125, 0.5, 0.999, 1 - 1e-9])
_METHODS = {
  "prob": "pdf",
  "log_prob": "logpdf",
  "cdf": "cdf",
  "log_cdf": "logcdf",
  "survival_function": "sf",
  "log_survival_function": "logsf",
}
if MODE == "jax":
  # Each distribution is compiled.
  _METHODS = {"log_prob": "logpdf", "cdf": "cdf"}


class _Mixture:
  """A mixture of SciPy's distributions."""

  def __init__(self, weights, parts):
    self._weights, self._parts = onp.asarray(weights), parts

  def __getattr__(self, name):
    log = name.startswith("log")

    def function(x):
      each = [getattr(part, name)(x) for part in self._parts]
      weights = self._weights[:, None]
      if log:
        return special.logsumexp(onp.log(weights) + each, axis=0)
      return onp.sum(weights * each, axis=0)

    return function

  def mean(self):
    return self._weights @ [part.mean() for part in self._parts]

  def var(self):
    second = [part.var() + part.mean() ** 2 for part in self._parts]
    return self._weights @ second - self.mean() ** 2


def _one_stage(rate=1.0):
  return pd.Erlang(1, rate)


# phasic's distribution, SciPy's, and whether quantiles and entropy exist.
_CONTINUOUS = {
  "exponential": (lambda: _one_stage(0.7), stats.expon(scale=1 / 0.7), True),
  "erlang": (lambda: pd.Erlang(5, 2.5), stats.gamma(5, scale=0.4), True),
  "hypoexponential": (
    lambda: pd.Hypoexponential([2.5, 2.5, 2.5]),
    stats.erlang(3, scale=0.4),
    True,
  ),
  "hyperexponential": (
    lambda: pd.Hyperexponential([0.25, 0.75], [0.5, 3.0]),
    _Mixture([0.25, 0.75], [stats.expon(scale=s) for s in (2.0, 1 / 3.0)]),
    False,
  ),
  "hyper_erlang": (
    lambda: pd.HyperErlang([0.25, 0.75], (2, 4), [0.5, 3.0]),
    _Mixture(
      [0.25, 0.75], [stats.gamma(2, scale=2.0), stats.gamma(4, scale=1 / 3.0)]
    ),
    False,
  ),
  "weibull": (
    lambda: pd.MatrixWeibull(_one_stage(), 1.75),
    stats.weibull_min(1.75),
    True,
  ),
  "pareto": (
    lambda: pd.MatrixPareto(_one_stage(3.5), 1.5),
    stats.lomax(3.5, scale=1.5),
    True,
  ),
  "gompertz": (
    lambda: pd.MatrixGompertz(_one_stage(0.25), 0.5),
    stats.gompertz(0.5, scale=2.0),
    True,
  ),
  "log_logistic": (
    lambda: pd.MatrixLogLogistic(_one_stage(1.25), 1.5, 2.25),
    stats.burr12(2.25, 1.25, scale=1.5),
    False,
  ),
  "truncated": (
    lambda: pd.TruncatedPhaseType(_one_stage(0.5), 0.0, 16.0),
    stats.truncexpon(8.0, scale=2.0),
    False,
  ),
}
_DISCRETE = {
  "geometric": (
    lambda: pd.NegativeBinomialTrials(1, 0.25),
    stats.geom(0.25),
    True,
  ),
  "trials": (
    lambda: pd.NegativeBinomialTrials(3, 0.25),
    stats.nbinom(3, 0.25, loc=3),
    True,
  ),
  "failures": (
    lambda: pd.NegativeBinomialFailures(3, 0.25),
    stats.nbinom(3, 0.25),
    True,
  ),
  "geometric_mixture": (
    lambda: pd.GeometricMixture([0.25, 0.75], [0.5, 0.125]),
    _Mixture([0.25, 0.75], [stats.geom(q) for q in (0.5, 0.125)]),
    False,
  ),
}
_MOMENTS = ("exponential", "erlang", "hypoexponential", "hyperexponential")
_MOMENTS = (*_MOMENTS, "hyper_erlang", "weibull", *_DISCRETE)


class ScipyTest(test_case.TestCase):
  """Compares with SciPy's functions, which have ten digits here."""

  @parameterized.parameters(*_CONTINUOUS, *_DISCRETE)
  def test_methods(self, family):
    discrete = family in _DISCRETE
    make, exact, _ = (_DISCRETE if discrete else _CONTINUOUS)[family]
    dist, values = make(), _COUNTS if discrete else _TIMES
    for ours, theirs in _METHODS.items():
      with self.subTest(ours):
        name = theirs.replace("pdf", "pmf") if discrete else theirs
        expected = getattr(exact, name)(values)
        self.assert_close(getattr(dist, ours)(values), expected, 1e-10, 1e-13)
    if family in _MOMENTS:
      self.assert_close(dist.mean(), exact.mean(), 1e-12)
      self.assert_close(dist.variance(), exact.var(), 1e-11)

  @parameterized.parameters(*_CONTINUOUS, *_DISCRETE)
  def test_quantiles(self, family):
    make, exact, known = {**_CONTINUOUS, **_DISCRETE}[family]
    if MODE == "jax":
      known = known and (conformance.FULL or family == "erlang")
    if not known:
      self.skipTest("SciPy has none, or other substrates try it")
    dist = make()
    self.assert_close(dist.quantile(_PROBS), exact.ppf(_PROBS), 1e-9)
    self.assert_close(dist.entropy(), exact.entropy(), 1e-8, 1e-8)
    if family not in _DISCRETE:
      found = dist.quantile_log_survival(onp.log(_PROBS))
      self.assert_close(found, exact.isf(_PROBS), 1e-9, 1e-15)


if __name__ == "__main__":
  absltest.main()
