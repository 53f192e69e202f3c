"""Entropies and divergences against integrals with many digits."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp
from scipy import stats

from phasic import config
from phasic import distributions as pd
from phasic import graphs as pg
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import models
from tests.helpers import test_case

MODE = "numpy"
# JAX and TensorFlow run the same rules: some cases are enough.
_FEW = False
if MODE != "numpy":
  _FEW = True


def _exponential(rate):
  return pd.PhaseType([1.0], [[-rate]])


def _mixture(probs, rates):
  return pd.PhaseType(*models.hyperexponential(probs, onp.asarray(rates)))


def _mixture_density(probs, rates):
  """Computes a mixture density with mpmath's precision."""
  pairs = list(zip(map(mpmath.mpf, probs), map(mpmath.mpf, rates), strict=True))
  return lambda t: mpmath.fsum(p * r * mpmath.exp(-r * t) for p, r in pairs)


def _stages_density(rates):
  """Computes the density of a sum of exponential times."""
  with mpmath.workdps(120):
    rates = [mpmath.mpf(r) for r in rates]
    weights = [
      mpmath.fprod(q / (q - r) for q in rates if q != r) for r in rates
    ]

  def density(t):
    if t * max(rates) < 1e-15:  # Cases in which the sum has no digits left.
      last = len(rates) - 1
      return mpmath.fprod(rates) * t**last / mpmath.factorial(last)
    return mpmath.fsum(
      w * r * mpmath.exp(-r * t) for w, r in zip(weights, rates, strict=True)
    )

  return density


def _integral(f, rates):
  """Computes the integral over (0, inf), by decades of time."""
  with mpmath.workdps(80):
    first, last = (math.log10(1 / max(rates)), math.log10(1 / min(rates)))
    ends = [
      mpmath.mpf(10) ** x for x in onp.arange(first - 14, last + 2.2, 0.5)
    ]
    return mpmath.quad(f, [0, *ends])


_LAWS = {
  "two_scales": (_mixture, _mixture_density, [0.5, 0.5], [1.0, 1000.0]),
  "far_apart": (_mixture, _mixture_density, [0.3, 0.7], [1e-6, 1e6]),
  "rare": (_mixture, _mixture_density, [0.999, 0.001], [5.0, 0.01]),
  "near": (_mixture, _mixture_density, [0.5, 0.5], [1.0, 1.125]),
  "stages": (None, None, None, [1.0, 2.0, 4.0, 0.125]),
}
_SOME = ["two_scales", "stages"] if _FEW else sorted(_LAWS)


def _law(name):
  """Returns a distribution, its density and its rates."""
  make, density, probs, rates = _LAWS[name]
  if make is None:
    dist = pd.PhaseType(*models.hypoexponential(onp.asarray(rates)))
    return dist, _stages_density(rates), rates
  return make(probs, rates), density(probs, rates), rates


class ContinuousTest(test_case.TestCase):
  """Tests integrals."""

  @parameterized.parameters(1e-200, 1e-3, 1.0, 1e5, 1e250)
  def test_entropy_of_one_phase(self, rate):
    expected = 1 - math.log(rate)
    found = _exponential(rate).entropy()
    self.assert_close(found, expected, 1e-12, 1e-12)

  @parameterized.parameters(2, 10, 50, 200)
  def test_entropy_of_equal_stages(self, p):
    with mpmath.workdps(30):
      expected = float(
        p - mpmath.log(3) + mpmath.loggamma(p) + (1 - p) * mpmath.digamma(p)
      )
    found = pd.PhaseType(*models.erlang(p, 3.0)).entropy()
    self.assert_close(found, expected, 1e-12)

  @parameterized.parameters(*_SOME)
  def test_entropy(self, name):
    dist, density, rates = _law(name)

    def term(t):
      value = density(t)
      return -value * mpmath.log(value) if value > 0 else mpmath.mpf(0)

    expected = float(_integral(term, rates))
    self.assert_close(dist.entropy(), expected, 1e-11)

  @parameterized.parameters(
    ("two_scales", "near"),
    ("stages", "two_scales"),
    *([] if _FEW else [("near", "stages"), ("rare", "near")]),
    *([] if _FEW else [("two_scales", "far_apart"), ("far_apart", "stages")]),
  )
  def test_divergence(self, first, second):
    (p, f, rates), (q, g, others) = _law(first), _law(second)

    def cross(t):
      value = f(t)
      return -value * mpmath.log(g(t)) if value > 0 else mpmath.mpf(0)

    def divergence(t):
      value = f(t)
      return value * mpmath.log(value / g(t)) if value > 0 else mpmath.mpf(0)

    both = (*rates, *others)
    expected = float(_integral(cross, both))
    self.assert_close(p.cross_entropy(q), expected, 1e-11)
    expected = float(_integral(divergence, both))
    self.assert_close(p.kl_divergence(q), expected, 1e-11)

  @parameterized.parameters(
    (1.0, 2.0), (1e10, 1e-10), (1e-4, 1e4), (1.0, 1.0 + 1e-6)
  )
  def test_divergence_of_one_phase(self, a, b):
    with mpmath.workdps(40):
      ratio = mpmath.mpf(b) / mpmath.mpf(a)
      expected = float(ratio - 1 - mpmath.log(ratio))
    found = _exponential(a).kl_divergence(_exponential(b))
    # Errors for close models are the last digits of the logarithms.
    self.assert_close(found, expected, 1e-8 if expected < 1e-6 else 1e-12)

  def test_of_itself(self):
    dist = pd.PhaseType(*models.cyclic())
    self.assert_close(dist.kl_divergence(dist), 0.0)
    found = self.host(dist.entropy())
    self.assert_close(dist.cross_entropy(dist), found, 1e-14)

  def test_decomposition(self):
    names = ("cyclic", "random") if _FEW else sorted(models.ALL)
    p = pd.PhaseType(*models.ALL["random"])
    for name in names:
      model = models.ALL[name]
      q = pd.PhaseType(model.initial_probs * 0.875, model.subgenerator)
      parts = [self.host(x) for x in (p.entropy(), p.kl_divergence(q))]
      self.assert_close(p.cross_entropy(q), sum(parts), 1e-11)

  def test_scale(self):
    # H(c X) = H(X) + log(c), and divergences have no unit.
    model = models.cyclic()
    one, c = pd.PhaseType(*model), 1e-7
    other = pd.PhaseType(model.initial_probs, model.subgenerator / c)
    expected = self.host(one.entropy()) + 0.9 * math.log(c)
    self.assert_close(other.entropy(), expected, 1e-11)

  def test_atoms(self):
    half, whole = pd.PhaseType([0.5], [[-1.0]]), pd.PhaseType([1.0], [[-1.0]])
    self.assert_close(half.entropy(), 0.5 + math.log(2), 1e-13)
    self.assert_close(half.kl_divergence(whole), math.inf)
    self.assert_close(whole.kl_divergence(half), math.log(2), 1e-13)
    never = pd.PhaseType([0.0], [[-1.0]])
    self.assert_close(never.entropy(), 0.0)
    self.assert_close(never.kl_divergence(half), math.log(2), 1e-13)
    self.assert_close(half.kl_divergence(never), math.inf)
    self.assert_close(half.cross_entropy(never), math.inf)

  @test_case.of_bad_values
  def test_what_is_not_known(self):
    trap = pd.PhaseType([1.0, 0.0], [[-1.0, 0.5], [0.0, 0.0]])
    good = _exponential(1.0)
    for found in (
      trap.entropy(),
      good.kl_divergence(trap),
      pd.PhaseType([1.5], [[-1.0]]).entropy(),
      good.kl_divergence(pd.PhaseType([1.5], [[-1.0]])),
    ):
      self.assert_close(found, math.nan)

  def test_batch_edges_and_paths(self):
    def transitions(n):
      yield (n - 1 if n > 2 else pg.ABSORBED), {"coal": n * (n - 1) / 2}

    graph = pg.Graph.from_transitions(transitions, 5, params=("coal",))
    rates = onp.asarray([1.0, 2.0])
    dist = pd.PhaseType.from_graph(graph, {"coal": rates})
    dense = pd.PhaseType(dist.initial_probs, dist.subgenerator, dist.exit_rates)
    expected = self.host(dense[0].entropy()) - onp.log(rates)
    self.assert_close(dist.entropy(), expected)
    found = dist.kl_divergence(dense[:, None])
    self.assertEqual(onp.shape(self.host(found)), (2, 2))
    self.assert_close(onp.diagonal(self.host(found)), onp.zeros(2), 0.0, 1e-20)
    for path in self.paths():
      with config.use_path(path):
        self.assert_close(dense.entropy(), expected, 1e-11)

  def test_float32(self):
    arrays = [onp.asarray(x, onp.float32) for x in models.cyclic()[:2]]
    p = pd.PhaseType(*arrays)
    q = pd.PhaseType(onp.asarray([0.25, 0.25, 0.25], "f"), arrays[1])
    wide = [
      pd.PhaseType(*(onp.asarray(self.host(x), onp.float64) for x in model))
      for model in (arrays, (q.initial_probs, arrays[1]))
    ]
    for found, expected in (
      (p.entropy(), wide[0].entropy()),
      (p.kl_divergence(q), wide[0].kl_divergence(wide[1])),
    ):
      self.assertEqual(static.dtype_name(found), "float32")
      self.assert_close(found, self.host(expected), 1e-4)


class DiscreteTest(test_case.TestCase):
  """Tests sums."""

  @parameterized.parameters(0.5, 0.1, 1e-3, 1e-4, 1e-6, 1e-9)
  def test_entropy_of_one_phase(self, q):
    with mpmath.workdps(40):
      x = mpmath.mpf(q)
      y = mpmath.mpf(1) - x
      expected = float((-x * mpmath.log(x) - y * mpmath.log(y)) / x)
    dist = pd.DiscretePhaseType([1.0], [[1 - q]], exit_probs=[q])
    self.assert_close(dist.entropy(), expected, 1e-12)

  @parameterized.parameters((3, 0.5), (3, 1e-3), (20, 1e-3), (60, 0.01))
  def test_entropy_of_negative_binomials(self, r, q):
    matrix = (1 - q) * onp.eye(r) + q * onp.eye(r, k=1)
    dist = pd.DiscretePhaseType(onp.eye(r)[0], matrix)
    counts = onp.arange(int(60 * r / q))
    log_probs = stats.nbinom.logpmf(counts, r, q)
    expected = -onp.sum(onp.exp(log_probs) * log_probs)
    self.assert_close(dist.entropy(), expected, 1e-10)

  def test_divergence(self):
    # Of geometric numbers: log(a / b) + (1 / a - 1) log((1 - a) / (1 - b)).
    def geometric(q):
      return pd.DiscretePhaseType([1.0], [[1 - q]], exit_probs=[q])

    for a, b in ((0.5, 0.25), (1e-5, 1e-3), (1e-3, 1e-5)):
      expected = math.log(a / b) + (1 / a - 1) * (
        math.log1p(-a) - math.log1p(-b)
      )
      p, q = geometric(a), geometric(b)
      self.assert_close(p.kl_divergence(q), expected, 1e-11)
      cross = -math.log(b) - (1 / a - 1) * math.log1p(-b)
      self.assert_close(p.cross_entropy(q), cross, 1e-11)

  def test_supports(self):
    every = pd.DiscretePhaseType([1.0], [[0.5]])
    odd = pd.DiscretePhaseType([1.0, 0.0], [[0.0, 0.5], [1.0, 0.0]])
    self.assert_close(every.kl_divergence(odd), math.inf)
    self.assert_close(every.cross_entropy(odd), math.inf)
    # 2^-j for 2 j - 1 steps, against 2^-(2 j - 1): E (j - 1) log(2).
    self.assert_close(odd.kl_divergence(every), math.log(2))
    half = every.copy(initial_probs=[0.5])
    self.assert_close(half.kl_divergence(every), math.inf)
    self.assert_close(every.kl_divergence(half), math.log(2))
    self.assert_close(half.entropy(), 2 * math.log(2))

  def test_a_slow_chain_with_a_period(self):
    slow = pd.DiscretePhaseType([1.0, 0.0], [[0.0, 1 - 1e-5], [1.0, 0.0]])
    self.assert_close(slow.entropy(), math.nan)

  def test_float32(self):
    q = onp.float32(2.0**-20)
    dist = pd.DiscretePhaseType(
      onp.ones(1, "f"), onp.full((1, 1), 1 - q), exit_probs=onp.full(1, q)
    )
    found = dist.entropy()
    self.assertEqual(static.dtype_name(found), "float32")
    self.assert_close(found, 1 + 20 * math.log(2), 1e-4)


class DerivativesTest(test_case.TestCase):
  """Tests derivatives by closed forms."""

  def test_first(self):

    def exponential(rate):
      return pd.PhaseType(np.ones_like(rate)[None], -rate[None, None])

    x = np.asarray(onp.asarray([2.0, 3.0]))
    _, found = gradients.value_and_gradient(
      lambda x: exponential(x[0]).kl_divergence(exponential(x[1])), x
    )
    self.assert_close(found, [1 / 2 - 3 / 4, 1 / 2 - 1 / 3], 1e-12)
    _, moved = gradients.jvp(
      lambda x: exponential(x[0]).entropy(), (x,), (np.ones_like(x),)
    )
    self.assert_close(moved, -0.5, 1e-12)

  def test_of_an_atom(self):

    def entropy(mass):
      dist = pd.PhaseType(mass[None], np.asarray(onp.asarray([[-2.0]])))
      return dist.entropy()

    # -z log(z) - m log(m) + m (1 - log(2)), and z = 1 - m.
    for mass, expected in ((0.25, math.log(3) + 1 - math.log(2)), (1.0, None)):
      m = np.asarray(onp.asarray(mass))
      _, found = gradients.value_and_gradient(entropy, m)
      # Without an atom its derivative does not exist.
      expected = -math.log(2) if expected is None else expected
      self.assert_close(found, expected, 1e-12)

  def test_infinite(self):
    whole = pd.PhaseType([1.0], [[-1.0]])

    def divergence(mass):
      return pd.PhaseType(mass[None], [[-1.0]]).kl_divergence(whole)

    mass = np.asarray(onp.asarray(0.5))
    value, found = gradients.value_and_gradient(divergence, mass)
    self.assert_close(value, math.inf)
    self.assert_close(found, math.nan)

  def test_discrete(self):

    def entropy(q):
      return pd.DiscretePhaseType([1.0], 1 - q[None, None]).entropy()

    q = np.asarray(onp.asarray(0.25))
    _, found = gradients.value_and_gradient(entropy, q)
    # Of -log(q) - (1 / q - 1) log(1 - q).
    self.assert_close(found, math.log(0.75) / 0.25**2, 1e-11)


if __name__ == "__main__":
  absltest.main()
