"""Entropies, divergences, transforms and diagnoses of epochs."""

import itertools
import math

from absl.testing import absltest
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
_FIRST = ((1.0, 0.25, 3.0), (0.5, 2.0))
_SECOND = ((1.5, 0.5), (0.8,))


def _pair(law, **options):
  """Builds two lineages whose rate of coalescence changes."""
  rates, boundaries = law
  graph = graphs.models.kingman(2)
  return pd.Epochs(graph, [[r] for r in rates], list(boundaries), **options)


def _density(law):
  """Computes the density of a time with piecewise constant hazard."""
  rates, boundaries = law

  def density(t):
    total, start, rate = mpmath.mpf(0), mpmath.mpf(0), rates[-1]
    for r, end in zip(rates, (*boundaries, mpmath.inf), strict=True):
      rate = r
      if t < end:
        break
      total += r * (end - start)
      start = mpmath.mpf(end)
    return rate * mpmath.exp(-total - rate * (t - start))

  return density


def _integral(function, *laws):
  ends = sorted({0.0, *(b for law in laws for b in law[1])})
  points = [*ends, ends[-1] + 2, ends[-1] + 8, ends[-1] + 40, ends[-1] + 200]
  with mpmath.workdps(30):
    return float(
      mpmath.fsum(
        mpmath.quad(function, list(ends)) for ends in itertools.pairwise(points)
      )
    )


class DivergencesTest(test_case.TestCase):
  """Tests divergences, against integrals in many digits."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()

  def test_entropy(self):
    f = _density(_FIRST)
    expected = _integral(lambda t: -f(t) * mpmath.log(f(t)), _FIRST)
    self.assert_close(_pair(_FIRST).entropy(), expected, 1e-12)

  def test_other_epochs(self):
    f, g = _density(_FIRST), _density(_SECOND)
    divergence = _integral(
      lambda t: f(t) * mpmath.log(f(t) / g(t)), _FIRST, _SECOND
    )
    cross = _integral(lambda t: -f(t) * mpmath.log(g(t)), _FIRST, _SECOND)
    p, q = _pair(_FIRST), _pair(_SECOND)
    self.assert_close(p.kl_divergence(q), divergence, 1e-12)
    self.assert_close(p.cross_entropy(q), cross, 1e-12)
    self.assert_close(p.kl_divergence(p), 0.0, 0.0, 1e-13)
    same = _pair(((2.0, 0.5, 1.0), _FIRST[1]))
    h = _density(((2.0, 0.5, 1.0), _FIRST[1]))
    expected = _integral(lambda t: f(t) * mpmath.log(f(t) / h(t)), _FIRST)
    self.assert_close(p.kl_divergence(same), expected, 1e-12)

  def test_laws_without_epochs(self):
    p, q = _pair(_FIRST), pd.Erlang(2, 1.0)
    f = _density(_FIRST)
    expected = _integral(
      lambda t: f(t) * (mpmath.log(f(t)) - mpmath.log(t) + t), _FIRST
    )
    self.assert_close(p.kl_divergence(q), expected, 1e-10)
    for method in ("kl_divergence", "cross_entropy"):
      with self.assertRaisesRegex(
        NotImplementedError, "Erlang has no divergence from Epochs: .*jumps"
      ):
        getattr(q, method)(p)
    batch = pd.Epochs(graphs.models.kingman(2), [[1.0], [2.0]], [[1.0], [2.0]])
    with self.assertRaisesRegex(NotImplementedError, "different boundaries"):
      p.kl_divergence(batch)
    single = _pair(((1.0,), ()))
    # E log X.
    self.assert_close(q.kl_divergence(single), 1.0 - onp.euler_gamma, 1e-9)

  def test_atoms_and_batches(self):
    ends = {1: 0.75, graphs.ABSORBED: 0.25}
    graph = graphs.Graph.from_transitions(
      lambda _: [(graphs.ABSORBED, {"out": 1.0})], ends, ("out",)
    )
    rates = onp.asarray([1.0, 2.0])[:, None]
    dist = pd.Epochs(graph, [rates, [0.5]], [1.0])
    expected = []
    for rate in (1.0, 2.0):
      law = ((rate, 0.5), (1.0,))
      f = _density(law)

      def term(t, f=f):
        return -0.75 * f(t) * mpmath.log(0.75 * f(t))

      expected.append(_integral(term, law) - 0.25 * math.log(0.25))
    self.assert_close(dist.entropy(), expected, 1e-12)
    single = pd.Epochs(graph, [[1.0], [0.5]], [1.0])
    f = _density(((1.0, 0.5), (1.0,)))
    for u in (0.0, 0.75):
      law = ((1.0, 0.5), (1.0,))
      found = 0.25 + 0.75 * _integral(
        lambda t, u=u: f(t) * mpmath.exp(-u * t), law
      )
      self.assert_close(single.laplace_transform(u), found, 1e-13)
    found = 0.25 + 0.75 * _integral(lambda t: f(t) * mpmath.exp(0.25 * t), law)
    self.assert_close(single.moment_generating_function(0.25), found, 1e-12)

  @test_case.of_bad_values
  def test_transforms(self):
    dist, f = _pair(_FIRST), _density(_FIRST)
    u = onp.asarray([0.0, 1e-3, 2.0, 40.0])
    expected = [
      _integral(lambda t, u=u: f(t) * mpmath.exp(-u * t), _FIRST) for u in u
    ]
    self.assert_close(dist.laplace_transform(u), expected, 1e-13)
    self.assert_close(dist.moment_generating_function(-u), expected, 1e-13)
    s = [1e-3, 2.0, 3.0, 4.0, math.inf]
    expected = [
      _integral(lambda t, s=s: f(t) * mpmath.exp(s * t), _FIRST) for s in s[:2]
    ]
    found = dist.moment_generating_function(s)
    # It is infinite from the last rate on.
    self.assert_close(found, [*expected, math.inf, math.inf, math.nan], 1e-12)
    bad = dist.laplace_transform([-1.0, math.nan, math.inf])
    self.assert_close(bad, onp.full(3, math.nan))

  @test_case.of_bad_values
  def test_diagnoses(self):
    dist = _pair(_FIRST)
    found = dist.diagnose([0.25, math.nan, 5.0], "cdf")
    self.assertEqual(found.tolist(), ["ok", "value: is NaN", "ok"])
    bad = _pair(((1.0, -0.25, 3.0), _FIRST[1]))
    found = bad.diagnose([0.25, 1.0, 3.0])
    self.assertEqual(found[0], "ok")
    self.assertRegex(found[1], "rates? .*>= 0|rates must|negative")
    with self.assertRaisesRegex(ValueError, "value is 1.0: it must be None"):
      dist.diagnose(1.0, "mode")

  def test_boundaries_that_are_none(self):
    with self.assertRaisesRegex(TypeError, "^boundaries is None: "):
      pd.Epochs(graphs.models.kingman(2), [[1.0]], None)

  def test_derivatives(self):

    def total(rate):
      dist = pd.Epochs(graphs.models.kingman(2), [[1.0], rate], [0.5])
      return dist.entropy() + dist.laplace_transform(0.75)

    _, found = gradients.value_and_gradient(total, np.asarray([2.0]))
    # The mass at the boundary is exp(-1/2), with an entropy 1 - log(rate).
    left = math.exp(-0.5)
    expected = left * (-0.5 + math.exp(-0.375) * 0.75 / 2.75**2)
    self.assert_close(found, [expected], 1e-9)


if __name__ == "__main__":
  absltest.main()
