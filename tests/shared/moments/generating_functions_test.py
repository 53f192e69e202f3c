"""Moment generating functions, up to the decay rate and beyond."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import models
from tests.helpers import test_case

_BELOW = (-3.0, -0.1, 0.0, 1e-8, 0.1, 0.5, 0.9, 0.99, 1 - 1e-6, 1 - 1e-9)
_ABOVE = (1 + 1e-9, 1 + 1e-6, 1.1, 3.0, 100.0)


def _exact(model, s):
  """Computes z + alpha (-(S + s I))^-1 exits, with 50 digits."""
  with mpmath.workdps(50):
    matrix = mpmath.matrix(model.subgenerator.tolist())
    p = matrix.rows
    exits = -(matrix * mpmath.ones(p, 1))
    x = mpmath.lu_solve(-(matrix + mpmath.mpf(s) * mpmath.eye(p)), exits)
    alpha = [mpmath.mpf(a) for a in model.initial_probs.tolist()]
    atom = 1 - mpmath.fsum(alpha)
    return float(
      atom + mpmath.fsum(a * y for a, y in zip(alpha, x, strict=True))
    )


class ContinuousTest(test_case.TestCase):
  """Tests E exp(s X)."""

  @parameterized.parameters("cyclic", "birth_death", "hyperexponential")
  def test_oracle(self, name):
    model = models.ALL[name]
    decay = -max(onp.linalg.eigvals(model.subgenerator).real)
    s = decay * onp.asarray(_BELOW)
    expected = onp.asarray([_exact(model, x) for x in s])
    # The result loses as many digits as 1 - s / decay.
    dist = pd.PhaseType(*model)
    found = self.host(dist.moment_generating_function(s))
    lost = onp.where(s > 0, 1 / (1 - onp.minimum(_BELOW, 0.999999999)), 1.0)
    onp.testing.assert_array_less(
      onp.abs(found / expected - 1), 1e-14 * lost + 1e-15
    )
    s = decay * onp.asarray(_ABOVE)
    self.assert_close(
      dist.moment_generating_function(s), onp.full(len(s), math.inf)
    )

  @test_case.of_bad_values
  def test_no_digits_are_left_at_the_decay_rate(self):
    # The decay rate is an eigenvalue, (5 - sqrt(5)) / 2, which no edge has.
    dist = pd.PhaseType([1.0, 0.0], [[-2.0, 1.0], [1.0, -3.0]])
    eps = static.finfo_eps(dist.initial_probs)
    s = (5.0 - math.sqrt(5.0)) / 2.0 * (1.0 - eps * onp.asarray([2.0, 30.0]))
    found = dist.moment_generating_function(s)
    self.assert_close(found, [math.nan, math.nan])

  def test_phases_that_are_not_reached(self):
    # The rate of the other phase is below s: from there the value is infinite.
    for matrix in ([[-2.0, 0.0], [0.0, -1.0]], [[-2.0, 0.0], [1.0, -1.0]]):
      dist = pd.PhaseType([1.0, 0.0], matrix)
      found = dist.moment_generating_function(1.5)
      self.assert_close(found, 4.0, 1e-14)
      dist = pd.PhaseType([0.0, 1.0], onp.asarray(matrix)[::-1, ::-1])
      self.assert_close(dist.moment_generating_function(1.5), found, 1e-14)

  def test_series_of_stages(self):
    dist = pd.PhaseType(*models.erlang(30, 3.0))
    s = onp.asarray([1.0, 2.9, 3.0, 3.5])
    expected = [1.5**30, 30.0**30, math.inf, math.inf]
    self.assert_close(dist.moment_generating_function(s), expected, 1e-12)

  def test_at_the_decay_rate(self):
    for rate in (2.0, 1e-300, 1e300, 0.1):
      dist = pd.PhaseType([1.0], [[-rate]])
      self.assert_close(dist.moment_generating_function(rate), math.inf)
      self.assert_close(dist.moment_generating_function(rate / 2), 2.0)
    # The decay rate is rounded, so the side is undefined.
    dist = pd.PhaseType(*models.cyclic())
    decay = -max(onp.linalg.eigvals(models.cyclic().subgenerator).real)
    found = self.host(dist.moment_generating_function(decay))
    self.assertTrue(onp.isnan(found) or found > 1e10)

  def test_a_slow_chain(self):
    # The mean is above 1e19, and the decay rate is its inverse.
    p = 20
    off = onp.diag(onp.full(p - 1, 10.0), 1) + onp.diag(onp.ones(p - 1), -1)
    exits = onp.eye(p)[0]
    matrix = off - onp.diag(onp.sum(off, axis=-1) + exits)
    dist = pd.PhaseType(exits, matrix, exits)
    mean = float(self.host(dist.mean()))
    self.assertGreater(mean, 1e18)
    second = float(self.host(dist.moment(2)))
    # For a tiny s the first terms of the series suffice.
    s = 1e-10 * mean / second
    found = float(self.host(dist.moment_generating_function(s)))
    self.assert_close(found - 1, s * mean, 1e-5)
    self.assert_close(dist.moment_generating_function(1e-3), math.inf)

  def test_only_phases_that_are_reached_count(self):
    matrix = onp.asarray([[-2.0, 0.0], [1.0, -1.0]])
    dist = pd.PhaseType([1.0, 0.0], matrix)
    self.assert_close(
      dist.moment_generating_function([1.5, 2.5]), [4.0, math.inf]
    )
    trap = pd.PhaseType([1.0, 0.0], [[-1.0, 0.5], [0.0, 0.0]])
    self.assert_close(
      trap.moment_generating_function([0.1, 0.0, -1.0]), [math.inf, 0.5, 0.25]
    )

  @test_case.of_bad_values
  def test_rules(self):
    dist = pd.PhaseType([0.5], [[-1.0]])
    self.assert_close(
      dist.moment_generating_function([math.nan, math.inf, 0.5]),
      [math.nan, math.inf, 1.5],
    )
    never = pd.PhaseType([0.0], [[-1.0]])
    self.assert_close(never.moment_generating_function(5.0), 1.0)
    bad = pd.PhaseType([1.5], [[-1.0]])
    self.assert_close(
      bad.moment_generating_function([0.5, 2.0]), [math.nan] * 2
    )
    with self.assertRaisesRegex(ValueError, r"s has shape \(3,\)"):
      pd.PhaseType([1.0], -onp.ones((2, 1, 1))).moment_generating_function(
        onp.ones(3)
      )

  @test_case.of_bad_values
  def test_laplace_transform(self):
    u = onp.asarray([0.0, 0.5, 3.0])
    for dist in (
      pd.PhaseType(*models.cyclic()),
      pd.DiscretePhaseType([0.3, 0.6], [[0.5, 0.25], [0.125, 0.25]]),
    ):
      self.assert_close(
        dist.moment_generating_function(-u),
        self.host(dist.laplace_transform(u)),
        1e-14,
      )
      self.assert_close(dist.laplace_transform(-0.1), math.nan)

  def test_edges(self):
    def transitions(n):
      yield (n - 1 if n > 2 else pg.ABSORBED), {"coal": n * (n - 1) / 2}

    graph = pg.Graph.from_transitions(transitions, 20, params=("coal",))
    dist = pd.PhaseType.from_graph(graph, {"coal": onp.asarray([1.0, 2.0])})
    n = onp.arange(2, 21)
    rates = (n * (n - 1) / 2)[:, None] * [1.0, 2.0]
    expected = onp.prod(rates / (rates - 0.75), axis=0)
    self.assert_close(dist.moment_generating_function(0.75), expected)

  def test_float32(self):
    dist = pd.PhaseType(onp.ones(1, "f"), -onp.full((1, 1), 2.0, "f"))
    found = dist.moment_generating_function(onp.asarray([-2.0, 1.0, 2.0], "f"))
    self.assertEqual(static.dtype_name(found), "float32")
    self.assert_close(found, onp.asarray([0.5, 2.0, math.inf]), 1e-6)


class DiscreteTest(test_case.TestCase):
  """Tests E exp(s N)."""

  def test_geometric(self):
    dist = pd.DiscretePhaseType([0.75], [[0.5]])
    s = onp.asarray([-700.0, -1.0, 0.0, 0.1, 0.69, 0.7, 1e3])
    z = onp.exp(s[:5])
    expected = 0.25 + 0.75 * 0.5 * z / (1 - 0.5 * z)
    self.assert_close(
      dist.moment_generating_function(s), [*expected, math.inf, math.inf], 1e-12
    )

  def test_generating_function(self):
    dist = pd.DiscretePhaseType([0.3, 0.6], [[0.5, 0.25], [0.125, 0.25]])
    z = onp.asarray([0.25, 0.875, 1.0])
    self.assert_close(
      dist.moment_generating_function(onp.log(z)),
      self.host(dist.probability_generating_function(z)),
      1e-14,
    )


class DerivativesTest(test_case.TestCase):
  """Tests derivatives on both sides of zero."""

  def _mgf(self, x):
    """Computes the function of two phases with off-diagonal x_0, at s = x_1."""
    one = np.ones_like(x[0])
    matrix = np.stack([np.stack([-2 * one, x[0]]), np.stack([0.5 * one, -one])])
    dist = pd.PhaseType(np.stack([0.75 * one, 0.25 * one]), matrix)
    return dist.moment_generating_function(x[1])

  def _formula(self, off, s):
    a, b, c, d = 2 - s, -off, mpmath.mpf(-0.5), 1 - s
    first, second = 2 - off, mpmath.mpf(0.5)
    det = a * d - b * c
    x = (d * first - b * second) / det
    y = (a * second - c * first) / det
    return 0.75 * x + 0.25 * y

  @parameterized.parameters(-0.25, 0.0, 0.25)
  def test_first(self, s):
    point = (1.25, s)
    expected = [
      float(mpmath.diff(self._formula, point, order))
      for order in ((1, 0), (0, 1))
    ]
    x = np.asarray(onp.asarray(point))
    value, found = gradients.value_and_gradient(self._mgf, x)
    self.assert_close(value, float(self._formula(*point)))
    self.assert_close(found, onp.asarray(expected), 1e-11)
    _, moved = gradients.jvp(self._mgf, (x,), (np.ones_like(x),))
    self.assert_close(moved, sum(expected), 1e-11)

  def test_second(self):
    point = (1.25, 0.25)

    def along(x):
      return gradients.jvp(self._mgf, (x,), (np.ones_like(x),))[1]

    parts = [
      float(mpmath.diff(self._formula, point, order))
      for order in ((2, 0), (1, 1), (0, 2))
    ]
    x = np.asarray(onp.asarray(point))
    _, found = gradients.value_and_gradient(along, x)
    self.assert_close(found, [parts[0] + parts[1], parts[1] + parts[2]], 1e-9)

  def test_infinite(self):
    x = np.asarray(onp.asarray([1.25, 5.0]))
    value, found = gradients.value_and_gradient(self._mgf, x)
    self.assert_close(value, math.inf)
    self.assert_close(found, [math.nan, math.nan])

  def test_a_phase_that_is_above_its_own_rate(self):

    def mgf(alpha):
      matrix = onp.asarray([[-2.0, 0.0], [0.0, -1.0]])
      dist = pd.PhaseType(alpha, matrix, prob_zero=0.0)
      return dist.moment_generating_function(1.5)

    value, found = gradients.value_and_gradient(
      mgf, np.asarray(onp.asarray([1.0, 0.0]))
    )
    self.assert_close(value, 4.0)
    self.assertTrue(onp.isnan(self.host(found)[1]))


class CountsTest(test_case.TestCase):
  """Tests discrete families, by closed forms."""

  def test_families(self):
    z = onp.asarray([0.0, 0.25, 0.9, 1.0])

    def once(q):
      return q * z / (1.0 - (1.0 - q) * z)

    dist = pd.GeometricMixture([0.75, 0.25], [0.5, 0.0625])
    expected = 0.75 * once(0.5) + 0.25 * once(0.0625)
    self.assert_close(dist.probability_generating_function(z), expected, 1e-13)
    dist = pd.NegativeBinomialTrials(3, 0.3)
    found = dist.probability_generating_function(z)
    self.assert_close(found, once(0.3) ** 3, 1e-13)
    inflated = pd.ZeroInflated(dist, 0.25)
    found = inflated.probability_generating_function(z)
    self.assert_close(found, 0.25 + 0.75 * once(0.3) ** 3, 1e-13)
    dist = pd.NegativeBinomialFailures(3, 0.3)
    found = dist.probability_generating_function(z)
    self.assert_close(found, (0.3 / (1.0 - 0.7 * z)) ** 3, 1e-13)


class FunctionsTest(test_case.TestCase):
  """Tests functions of `math`."""

  def test_names(self):
    s = onp.asarray([-0.5, 0.25])
    model = models.cyclic()
    self.assert_close(
      pm.phase_type.moment_generating_function(s, *model[:2]),
      self.host(pd.PhaseType(*model).moment_generating_function(s)),
      0.0,
    )
    with self.assertRaisesRegex(TypeError, "s has dtype complex64"):
      pm.phase_type.moment_generating_function(onp.complex64(1.0), *model[:2])


if __name__ == "__main__":
  absltest.main()
