"""Entropies and divergences of transformed and truncated distributions."""

import itertools
import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp
from scipy import integrate
from scipy import special
from scipy import stats

from phasic import distributions as pd
from phasic.math.calls import gradients
from phasic.math.quadrature import quadrature
from tests.helpers import family_cases
from tests.helpers import test_case

MODE = "numpy"
CASES = family_cases.CASES
# The functions h and h' of the cases' parameters; the cases are laws of g(X) for
# Erlang variables X of two stages.
_CHANGES = {
  "weibull": lambda y, c: (y**c, c * y ** (c - 1)),
  "pareto": lambda y, c: (math.log1p(y / c), 1 / (c + y)),
  "gompertz": lambda y, b: (
    math.expm1(min(b * y, 700.0)) / b,
    math.exp(min(b * y, 700.0)),
  ),
  "log_normal": lambda y, c: (
    math.log1p(y) ** c,
    c * math.log1p(y) ** (c - 1) / (1 + y),
  ),
  "log_logistic": lambda y, s, c: (
    math.log1p((y / s) ** c),
    c / s * (y / s) ** (c - 1) / (1 + (y / s) ** c),
  ),
}
NAMES = tuple(_CHANGES)
if MODE == "jax":
  NAMES = NAMES[:1]  # Each distribution is compiled.
# The stated error; what is found is near 1e-14.
_ERROR = 1e-9
_EULER = 0.5772156649015329


def _entropy(name):
  """Computes the entropy by SciPy's quadrature of the documented density."""
  rate, *others = CASES[name].parameters.values()

  def term(u):
    y = math.exp(u)
    x, slope = _CHANGES[name](y, *others)
    if rate * x > 600:
      return 0.0
    p = slope * rate**2 * x * math.exp(-rate * x)
    return -p * math.log(p) * y if p > 0 else 0.0

  # The integral is in log time, as tails may be power laws.
  ends = [-60, -20, -8, -4, -2, 0, 1, 2, 3, 4, 6, 10, 20, 40]
  parts = [
    integrate.quad(term, a, b, epsabs=0, epsrel=1e-13, limit=500)[0]
    for a, b in itertools.pairwise(ends)
  ]
  return math.fsum(parts)


def _weibull_divergence(k1, scale1, k2, scale2):
  """Computes the divergence of Weibull distributions (C. Bauckhage, 2013)."""
  return (
    math.log(k1 / scale1**k1)
    - math.log(k2 / scale2**k2)
    + (k1 - k2) * (math.log(scale1) - _EULER / k1)
    + (scale1 / scale2) ** k2 * math.gamma(k2 / k1 + 1)
    - 1
  )


def _weibull(concentration, rate=1.0):
  return pd.MatrixWeibull(pd.Erlang(1, rate), concentration)


class EntropyTest(test_case.TestCase):
  """Tests entropies, against quadrature in many digits and closed forms."""

  @parameterized.parameters(*((name,) for name in NAMES))
  def test_families(self, name):
    self.assert_close(CASES[name].make().entropy(), _entropy(name), _ERROR)

  def test_of_chains(self):
    z = 0.25
    inner = pd.Erlang(2, 0.8)
    expected = -z * math.log(z) - (1 - z) * math.log(1 - z)
    expected = expected + (1 - z) * self.host(inner.entropy())
    self.assert_close(pd.ZeroInflated(inner, z).entropy(), expected, _ERROR)
    left = pd.ResidualLife(pd.Hypoexponential([2.0]), 3.0)
    self.assert_close(left.entropy(), 1 - math.log(2), _ERROR)

  def test_numbers(self):
    dist = CASES["truncated_trials"].make()
    probs = stats.nbinom(3, 0.3).logpmf(onp.arange(197, 208))
    probs = probs - special.logsumexp(probs)
    expected = -onp.sum(onp.exp(probs) * probs)
    self.assert_close(dist.entropy(), expected, 1e-11)

  def test_closed_forms(self):
    rates = onp.asarray([0.01, 0.5, 40.0])
    base = pd.Erlang(1, rates)
    scale = 3.0
    lomax = math.log(scale) - onp.log(rates) + 1.0 + 1.0 / rates
    self.assert_close(pd.MatrixPareto(base, scale).entropy(), lomax, _ERROR)
    logistic = pd.MatrixLogLogistic(pd.Erlang(1, 1.0), scale, [0.5, 2.0])
    expected = onp.log(scale / onp.asarray([0.5, 2.0])) + 2.0
    self.assert_close(logistic.entropy(), expected, _ERROR)
    k, width = 0.3, rates ** (-1 / 0.3)
    weibull = _EULER * (1 - 1 / k) + onp.log(width / k) + 1
    self.assert_close(_weibull(k, rates).entropy(), weibull, _ERROR)

  def test_atoms(self):
    z, k = 0.25, 2.0
    inner = pd.Erlang(2, 0.8)
    inflated = pd.MatrixWeibull(pd.ZeroInflated(inner, z), k)
    plain = self.host(pd.MatrixWeibull(inner, k).entropy())
    expected = -z * math.log(z) - (1 - z) * math.log(1 - z) + (1 - z) * plain
    self.assert_close(inflated.entropy(), expected, _ERROR)

  def test_intervals(self):
    # Of an exponential time: log(Z / r) + r E(X - a), Z = 1 - exp(-r w).
    for low, width in ((0.0, 1e-9), (0.5, 2.0), (500.0, 0.1), (3.0, 1e6)):
      high = low + width
      w = high - low
      mass = -math.expm1(-2.0 * w)
      if w < 1e-6:
        expected = math.log(w)
      else:
        left = math.exp(-2.0 * w) if w < 300 else 0.0
        expected = math.log(mass / 2.0) + 1.0 - 2.0 * w * left / mass
      base = pd.Hypoexponential([2.0])
      found = pd.TruncatedPhaseType(base, low, high).entropy()
      self.assert_close(found, expected, 1e-8)
      if MODE == "jax":
        break
    whole = pd.TruncatedPhaseType(pd.Hypoexponential([2.0]), 5.0)
    self.assert_close(whole.entropy(), 1 - math.log(2), _ERROR)

  @test_case.of_bad_values
  def test_unknown(self):
    empty = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 3.0, 1.0)
    self.assert_close(empty.entropy(), math.nan)
    self.assert_close(_weibull(-1.0).entropy(), math.nan)

  def test_derivatives(self):

    def entropy(k):
      return _weibull(k, 2.0).entropy()

    k = 1.5
    _, slope = gradients.value_and_gradient(entropy, np.asarray(k))
    # Of gamma (1 - 1 / k) - log(2) / k - log(k) + 1.
    expected = (_EULER + math.log(2)) / k**2 - 1 / k
    self.assert_close(slope, expected, 1e-8)


class DivergenceTest(test_case.TestCase):
  """Tests divergences, against closed forms."""

  def test_weibull(self):
    cases = ((1.5, 2.0, 0.7, 1.0), (0.5, 1.0, 0.6, 3.0), (3.0, 1.0, 3.0, 2.0))
    for k1, r1, k2, r2 in cases:
      scales = r1 ** (-1 / k1), r2 ** (-1 / k2)
      expected = _weibull_divergence(k1, scales[0], k2, scales[1])
      p, q = _weibull(k1, r1), _weibull(k2, r2)
      self.assert_close(p.kl_divergence(q), expected, 1e-8)
      cross = expected + self.host(p.entropy())
      self.assert_close(p.cross_entropy(q), cross, 1e-8)
      if MODE == "jax":
        break

  def test_the_same_change_of_time(self):
    first, second = pd.Erlang(2, 1.0), pd.Erlang(2, [2.0, 3.0])
    expected = self.host(first.kl_divergence(second))
    p = pd.MatrixLogNormal(first, 0.2)
    q = pd.MatrixLogNormal(second, 0.2)
    self.assert_close(p.kl_divergence(q), expected, 1e-14)

  def test_of_other_kinds(self):
    # An exponential time, in three ways.
    plain, power = pd.Erlang(1, 2.0), _weibull(1.0, 2.0)
    part = pd.TruncatedPhaseType(plain, 0.0)
    other = pd.Erlang(1, 1.0)
    expected = math.log(2.0) - 0.5
    for p in (power, part):
      self.assert_close(p.kl_divergence(other), expected, 1e-9)
      self.assert_close(other.cross_entropy(p), 2.0 - math.log(2.0), 1e-9)
      self.assert_close(plain.kl_divergence(p), 0.0, 0.0, 1e-14)

  @parameterized.parameters(
    (0.5, 2.0, math.exp(-1.0) - math.exp(-4.0)),
    (0.0, 1.0, 1.0 - math.exp(-2.0)),
    (300.0, 301.0, None),
  )
  def test_parts(self, low, high, mass):
    base = pd.Hypoexponential([2.0])
    part = pd.TruncatedPhaseType(base, low, high)
    log_mass = math.log(mass) if mass else -600.0 + math.log1p(-math.exp(-2.0))
    self.assert_close(part.kl_divergence(base), -log_mass, 1e-9)
    self.assert_close(base.kl_divergence(part), math.inf)
    self.assert_close(part.kl_divergence(part), 0.0, 0.0, 1e-12)

  def test_numbers(self):
    base = pd.GeometricMixture([1.0], [0.25])
    part = pd.TruncatedPhaseType(base, 2.0, 5.0)
    mass = 0.75 - 0.75**5
    self.assert_close(part.kl_divergence(base), -math.log(mass), 1e-12)
    self.assert_close(base.kl_divergence(part), math.inf)

  def test_atoms(self):
    inner = pd.Erlang(1, 1.0)
    laws = [
      pd.MatrixWeibull(pd.ZeroInflated(inner, z), 2.0) for z in (0.2, 0.5)
    ]
    laws.append(pd.MatrixWeibull(inner, 2.0))
    expected = 0.2 * math.log(0.4) + 0.8 * math.log(1.6)
    self.assert_close(laws[0].kl_divergence(laws[1]), expected, 1e-9)
    self.assert_close(laws[0].kl_divergence(laws[2]), math.inf)
    self.assert_close(laws[2].kl_divergence(laws[1]), math.log(2.0), 1e-9)
    # The parameters of the transformations differ here.
    other = pd.MatrixWeibull(inner, 2.5)
    self.assert_close(laws[0].kl_divergence(other), math.inf)

  def test_batches(self):
    p = _weibull(onp.asarray([1.5, 2.0, 3.0]))
    q = _weibull(0.7, onp.asarray([[1.0], [2.0]]))
    found = self.host(p.kl_divergence(q))
    self.assertEqual(found.shape, (2, 3))
    expected = _weibull_divergence(2.0, 1.0, 0.7, 2.0 ** (-1 / 0.7))
    self.assert_close(found[1, 1], expected, 1e-8)

  def test_what_grows_too_fast(self):
    # E exp(X) is infinite for a rate below one, which may give inf or NaN.
    p = pd.MatrixPareto(pd.Erlang(1, 0.5), 1.0)
    self.assert_close(p.kl_divergence(_weibull(1.0)), math.nan)

  def test_other_kinds_of_values(self):
    power = _weibull(2.0)
    for other in (pd.NegativeBinomialTrials(2, 0.5),):
      for method in ("kl_divergence", "cross_entropy"):
        with self.assertRaisesRegex(
          NotImplementedError, f"no {method} of MatrixWeibull and Negative"
        ):
          getattr(power, method)(other)
    vector = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0]])
    with self.assertRaisesRegex(NotImplementedError, "register_kl adds one"):
      power.kl_divergence(vector)
    with self.assertRaisesRegex(NotImplementedError, "of one number"):
      power.cross_entropy(vector)


class SumsTest(test_case.TestCase):
  """Tests weights of points for sums over 0, 1, 2, ..."""

  def test_few_cells_are_added_up(self):
    # P_8 and P_30 at the midpoints of 1024 cells of [-1, 1].
    found = quadrature._legendre_sums(32, 1024)
    with mpmath.workdps(30):
      points = [mpmath.mpf(2 * i + 1) / 1024 - 1 for i in range(1024)]
      for k in (8, 30):
        exact = mpmath.fsum(mpmath.legendre(k, x) for x in points)
        self.assertLess(abs(found[k] - float(exact)), 1e-12)

  def test_many_cells_are_integrated(self):
    # The sums of x^2 and x^4 over the midpoints are known.
    n = 2**15
    found = quadrature._legendre_sums(8, n)
    less, least = 1.0 / n**2, 1.0 / n**4
    exact = [1.0, 0.0, -0.5 * less, 0.0, (-40.0 * less + 49.0 * least) / 24.0]
    self.assert_close(found[:5] / n, exact, 1e-9, 1e-17)


if __name__ == "__main__":
  absltest.main()
