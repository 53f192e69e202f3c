"""Expected statistics against closed forms, and an EM algorithm on them."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import special

from phasic import math as pm
from phasic.internal import static
from tests import models
from tests import test_case

_TIMES = onp.asarray([1e-12, 0.02, 0.7, 3.0, 40.0])
_LOG_KINDS = ("log_density", "log_survival", "log_cdf")


def _poisson(x, counts):
  return onp.exp(counts * math.log(x) - x - special.gammaln(counts + 1))


class ErlangTest(test_case.TestCase):
  """The sum of p equal phases: the number of them that are over is Poisson."""

  p, rate = 6, 1.5

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def _given(self, kind, t, **options):
    model = models.erlang(self.p, self.rate)
    return pm.expected_statistics(*model[:2], t, kind=kind, **options)

  def _check_path(self, given, jumps, sojourns, exits):
    self.assert_close(given.starts, onp.eye(self.p)[0])
    self.assert_close(given.jumps, onp.diag(jumps, 1))
    self.assert_close(given.sojourns, sojourns)
    self.assert_close(given.exits, exits * onp.eye(self.p)[-1])
    self.assert_close(given.atom, 0.0)

  @parameterized.parameters(*_TIMES, 400.0)
  def test_exact(self, t):
    # Given the last of p events, the others are uniform before it.
    given = self._given("log_density", t)
    self._check_path(
      given, onp.ones(self.p - 1), onp.full(self.p, t / self.p), 1.0
    )

  @parameterized.parameters(*_TIMES)
  def test_right_censored(self, t):
    # k < p events leave k + 1 gaps of mean t / (k + 1).
    weights = _poisson(self.rate * t, onp.arange(self.p))
    alive = onp.sum(weights)
    gaps = weights * t / onp.arange(1, self.p + 1)
    sojourns = onp.cumsum(gaps[::-1])[::-1] / alive
    jumps = onp.cumsum(weights[::-1])[::-1][1:] / alive
    self._check_path(self._given("log_survival", t), jumps, sojourns, 0.0)

  @parameterized.parameters(*_TIMES)
  def test_left_censored(self, t):
    # The same with k >= p; the sum of the gaps is a shifted one of weights.
    x = self.rate * t
    ratio = special.gammainc(self.p + 1, x) / special.gammainc(self.p, x)
    self._check_path(
      self._given("log_cdf", t),
      onp.ones(self.p - 1),
      onp.full(self.p, ratio / self.rate),
      1.0,
    )

  @parameterized.parameters("density", "survival", "cdf")
  def test_kinds_that_are_no_logs_are_not_conditional(self, kind):
    value = self.host(
      getattr(pm, kind)(*models.erlang(self.p, self.rate)[:2], 2.0)
    )
    joint = self._given(kind, 2.0)
    for x, y in zip(self._given("log_" + kind, 2.0), joint, strict=True):
      self.assert_close(self.host(x) * value, y)

  def test_interval(self):
    # Given 1 < X <= 1.2: the statistics between those of X <= 1 and X <= 1.2.
    # The subtraction is the caller's, or with `upper` there is none.
    inner, outer = special.gammainc(self.p, self.rate * onp.asarray([1, 1.2]))
    weights = onp.asarray([-1.0, 1.0]) / (outer - inner)
    given = self._given("cdf", onp.asarray([1.0, 1.2]), weights=weights)
    mean = special.gammainc(self.p + 1, self.rate * onp.asarray([1, 1.2]))
    mean = (mean[1] - mean[0]) / (outer - inner) / self.rate
    self._check_path(given, onp.ones(self.p - 1), onp.full(self.p, mean), 1.0)
    given = self._given("log_density", 1.0, upper=1.2)
    self._check_path(given, onp.ones(self.p - 1), onp.full(self.p, mean), 1.0)


class HyperexponentialTest(test_case.TestCase):
  """A mixture of phases: posterior probabilities of its components."""

  probs = onp.asarray([0.25, 0.5, 0.125])  # and an atom of 1/8
  rates = onp.asarray([0.5, 1.0, 8.0])

  @parameterized.product(t=(1e-9, 0.3, 5.0, 60.0), kind=_LOG_KINDS)
  def test_components(self, t, kind):
    self.require_kernel()
    decay = onp.exp(-self.rates * t)
    before = -onp.expm1(-self.rates * t)
    # E[X; X <= t] of an exponential.
    mean = special.gammainc(2, self.rates * t) / self.rates
    mass, time, atom = {
      "log_density": (self.rates * decay, t * self.rates * decay, 0.0),
      "log_survival": (decay, t * decay, 0.0),
      "log_cdf": (before, mean, 0.125),
    }[kind]
    total = onp.sum(self.probs * mass) + atom
    starts = self.probs * mass / total
    given = pm.expected_statistics(
      self.probs, onp.diag(-self.rates), t, kind=kind
    )
    self.assert_close(given.starts, starts)
    self.assert_close(given.sojourns, self.probs * time / total)
    self.assert_close(given.jumps, onp.zeros((3, 3)))
    exits = onp.zeros(3) if kind == "log_survival" else starts
    self.assert_close(given.exits, exits)
    self.assert_close(given.atom, atom / total)


class SumsTest(test_case.TestCase):
  """What holds for any model."""

  weights = onp.asarray([2.0, 1.0, 0.5, 3.0])

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def _arguments(self, name):
    model = models.ALL[name]
    return (*model[:2], onp.asarray([0.01, 0.7, 3.0, 20.0]), *model[2:])

  def _check_balance(self, given, survivors):
    """What comes into a phase leaves it, or is still there in the end."""
    jumps = self.host(given.jumps)
    left = self.host(given.starts) + onp.sum(jumps, axis=0)
    left = left - onp.sum(jumps, axis=1) - self.host(given.exits)
    self.assertAlmostEqual(onp.sum(left), survivors, places=11)
    if survivors == 0.0:
      self.assert_close(left, onp.zeros_like(left), atol=1e-11)
    else:
      self.assertTrue(onp.all(left > -1e-11))

  @parameterized.product(name=tuple(models.ALL), kind=_LOG_KINDS)
  def test_sums(self, name, kind):
    arguments = self._arguments(name)
    given = pm.expected_statistics(*arguments, weights=self.weights, kind=kind)
    total = onp.sum(self.weights)
    starts = onp.sum(self.host(given.starts)) + self.host(given.atom)
    self.assert_close(starts, total)
    exits = onp.sum(self.host(given.exits))
    if kind == "log_survival":
      self.assert_close(exits, 0.0)
      self._check_balance(given, total)
    else:
      self.assert_close(exits + self.host(given.atom), total)
      self._check_balance(given, 0.0)
    if kind != "log_cdf":
      self.assert_close(
        onp.sum(self.host(given.sojourns)),
        onp.sum(self.weights * arguments[2]),
      )

  @parameterized.parameters(*models.ALL)
  def test_observations_of_all_kinds_are_one_call(self, name):
    model = models.ALL[name]
    lower = onp.asarray([0.5, 1.0, -1.0, 0.25, 0.0, 2.0])
    upper = onp.asarray([0.5, math.inf, 2.0, 0.375, 1.0, 2.0])
    weights = onp.asarray([1.0, 2.0, 0.5, 3.0, 0.25, 1.5])
    given = pm.expected_statistics(
      *model[:2], lower, *model[2:], weights=weights, upper=upper
    )
    parts = []
    for kind, chosen, times in (
      ("log_density", [0, 5], lower),
      ("log_survival", [1], lower),
      ("log_cdf", [2], upper),
    ):
      parts.append(
        pm.expected_statistics(
          *model[:2],
          times[chosen],
          *model[2:],
          weights=weights[chosen],
          kind=kind,
        )
      )
    for i in (3, 4):
      ends = onp.asarray([lower[i], upper[i]])
      below = self.host(pm.cdf(*model[:2], ends, *model[2:]))
      share = onp.asarray([-1.0, 1.0]) / (below[1] - below[0])
      parts.append(
        pm.expected_statistics(
          *model[:2], ends, *model[2:], weights=weights[i] * share, kind="cdf"
        )
      )
    for x, each in zip(given, zip(*parts, strict=True), strict=True):
      expected = sum(self.host(part) for part in each)
      self.assert_close(x, expected, 1e-12, 1e-12)

  def test_zeros(self):
    # The atom's part of the data: values that are zero.
    model = models.cyclic()
    given = pm.expected_statistics(
      *model[:2], onp.asarray([0.0, 1.0, 0.0]), weights=[1.0, 2.0, 4.0]
    )
    self.assert_close(given.atom, 5.0)
    self.assert_close(onp.sum(self.host(given.starts)), 2.0)
    self.assert_close(onp.sum(self.host(given.exits)), 2.0)
    self.assert_close(onp.sum(self.host(given.sojourns)), 2.0)

  def test_values_that_say_nothing(self):
    model = models.cyclic()
    alpha = model.initial_probs
    given = pm.expected_statistics(*model[:2], -1.0, kind="log_survival")
    self.assert_close(given.starts, alpha)
    self.assert_close(given.atom, 1.0 - onp.sum(alpha))
    self.assert_close(given.sojourns, onp.zeros(3))
    given = pm.expected_statistics(*model[:2], math.inf, kind="log_cdf")
    self.assert_close(given.starts, alpha)
    self.assert_close(given.atom, 1.0 - onp.sum(alpha))
    self.assertTrue(onp.all(onp.isnan(self.host(given.sojourns))))
    self.assertTrue(onp.all(onp.isnan(self.host(given.exits)[[0, 2]])))

  def test_impossible_values(self):
    model = models.cyclic()
    for t, kind in (
      (-1.0, "log_density"),
      (-1.0, "log_cdf"),
      (math.nan, "cdf"),
    ):
      given = pm.expected_statistics(*model[:2], [t, 1.0], kind=kind)
      for x in given:
        self.assertTrue(onp.all(onp.isnan(self.host(x))))
      # Values without weight count for nothing.
      given = pm.expected_statistics(
        *model[:2], [t, 1.0], weights=[0.0, 1.0], kind=kind
      )
      alone = pm.expected_statistics(*model[:2], 1.0, kind=kind)
      for x, y in zip(given, alone, strict=True):
        self.assert_close(x, y)

  def test_a_way_that_is_hardly_ever_taken(self):
    # One of two ways to absorption is worth 1e-30 of the other.
    rare = 1e-30
    rates = onp.asarray([[0.0, rare, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    exits = onp.asarray([1.0, 0.0, 3.0])
    alpha, t = onp.asarray([1.0, 0.0, 0.0]), 1e-3
    given = pm.expected_statistics(alpha, rates, t, exits)
    # A hypoexponential density of rates 1, 2, 3 over one of rate 1.
    rare *= (
      6.0
      * (math.exp(-t) / 2 - math.exp(-2 * t) + math.exp(-3 * t) / 2)
      / math.exp(-t)
    )
    self.assert_close(self.host(given.jumps)[0, 1], rare, 1e-9)
    self.assert_close(self.host(given.jumps)[1, 2], rare, 1e-9)
    self.assert_close(self.host(given.exits), [1.0, 0.0, rare], 1e-9)


class EdgesTest(test_case.TestCase):
  """Passages of edges."""

  @parameterized.parameters(*_LOG_KINDS)
  def test_parallel_edges_and_loops(self, kind):
    self.require_kernel()
    alpha = onp.asarray([0.75, 0.25])
    # Two edges each from 0 to 1 and from 1 to absorption; a loop.
    edges = pm.EdgeRates(
      [0, 1, 0, 1, 1, 0],
      [1, 2, 1, 0, 2, 0],
      onp.asarray([2.0, 0.5]),
      onp.asarray(
        [[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.5, 0.5], [1.0, 1.0], [1.0, 0.0]]
      ),
      onp.asarray([0.0, 0.0, 0.0, 0.25, 0.0, 0.0]),
    )
    rates = onp.asarray([[0.0, 3.0], [1.5, 0.0]])
    times = onp.asarray([0.2, 1.0, 6.0])
    given = pm.expected_statistics(alpha, edges, times, kind=kind)
    dense = pm.expected_statistics(
      alpha, rates, times, onp.asarray([0.0, 3.0]), kind=kind
    )
    for name in ("starts", "sojourns", "exits", "atom"):
      self.assert_close(getattr(given, name), getattr(dense, name))
    jumps, exits = self.host(dense.jumps), self.host(dense.exits)
    shares = onp.asarray([2 / 3, 0.5 / 3, 1 / 3, 1.0, 2.5 / 3, 0.0])
    totals = [jumps[0, 1], exits[1], jumps[0, 1], jumps[1, 0], exits[1], 0.0]
    self.assert_close(given.jumps, shares * onp.asarray(totals))


class ShapeTest(test_case.TestCase):
  """Batches, dtypes and errors."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def test_batch(self):
    model = models.cyclic()
    alpha = onp.stack([model.initial_probs, model.initial_probs[::-1]])
    matrix = onp.stack([k * model.subgenerator for k in (1.0, 2.0, 3.0)])
    times = onp.asarray([0.3, 1.0, 2.0, 5.0])[:, None, None, None]
    weights = onp.asarray([[1.0], [2.0]])
    given = pm.expected_statistics(
      alpha[:, None, None], matrix[:, None], times, weights=weights[:, None]
    )
    shapes = [onp.shape(self.host(x)) for x in given]
    batch = (2, 3, 1)
    self.assertEqual(
      shapes,
      [(*batch, 3), (*batch, 3), (*batch, 3, 3), (*batch, 3), batch],
    )
    for i in range(2):
      for j in range(3):
        alone = pm.expected_statistics(
          alpha[i], matrix[j], onp.ravel(times), weights=weights[i]
        )
        for x, y in zip(given, alone, strict=True):
          onp.testing.assert_array_equal(self.host(x)[i, j, 0], self.host(y))

  def test_order_of_times(self):
    model = models.random_model(5, onp.random.RandomState(3))
    state = onp.random.RandomState(4)
    times, weights = state.gamma(1.0, size=40), state.uniform(size=40)
    order = state.permutation(40)
    one = pm.expected_statistics(*model[:2], times, *model[2:], weights=weights)
    other = pm.expected_statistics(
      *model[:2], times[order], *model[2:], weights=weights[order]
    )
    for x, y in zip(one, other, strict=True):
      onp.testing.assert_array_equal(self.host(x), self.host(y))

  def test_float32(self):
    alpha = onp.asarray([0.5, 0.25, 0.25], onp.float32)
    matrix = onp.asarray(models.cyclic().subgenerator, onp.float32)
    given = pm.expected_statistics(alpha, matrix, [0.5, 2.0])
    exact = pm.expected_statistics(
      onp.asarray(alpha, onp.float64),
      onp.asarray(matrix, onp.float64),
      onp.asarray([0.5, 2.0]),
    )
    for x, y in zip(given, exact, strict=True):
      self.assertEqual(static.dtype_name(x), "float32")
      self.assert_close(x, onp.asarray(self.host(y), onp.float32), 0.0)

  def test_errors(self):
    with self.assertRaisesRegex(ValueError, "kind is 'hazard'"):
      pm.expected_statistics([1.0], [[-1.0]], 1.0, kind="hazard")
    with self.assertRaisesRegex(ValueError, "do not broadcast"):
      pm.expected_statistics([1.0], [[-1.0]], [1.0, 2.0], upper=onp.ones(3))
    with self.assertRaisesRegex(ValueError, "weights has shape"):
      pm.expected_statistics([1.0], [[-1.0]], [1.0, 2.0], weights=[1, 2, 3])
    with self.assertRaisesRegex(TypeError, "weights"):
      pm.expected_statistics([1.0], [[-1.0]], 1.0, weights=1j)
    with (
      pm.use_path("portable"),
      self.assertRaisesRegex(NotImplementedError, "native kernel"),
    ):
      pm.expected_statistics([1.0], [[-1.0]], 1.0)


class EmTest(test_case.TestCase):
  """The algorithm that the statistics are for."""

  def test_likelihood_never_falls(self):
    self.require_kernel()
    state = onp.random.RandomState(5)
    exact = state.gamma(3.0, size=25)
    censored = onp.asarray([1.0, 4.0, 4.0])
    early = onp.asarray([0.5, 0.5])
    off = state.uniform(0.2, 1.0, size=(3, 3)) * (1 - onp.eye(3))
    exits, alpha = state.uniform(0.2, 1.0, size=3), onp.full(3, 1 / 3)
    data = (
      ("log_density", exact),
      ("log_survival", censored),
      ("log_cdf", early),
    )
    last = -math.inf
    for _ in range(30):
      total, sums = 0.0, [0.0] * 5
      for kind, times in data:
        arguments = (alpha, off, times, exits)
        total += onp.sum(self.host(getattr(pm, kind)(*arguments)))
        given = pm.expected_statistics(*arguments, kind=kind)
        sums = [s + self.host(x) for s, x in zip(sums, given, strict=True)]
      self.assertGreater(total, last)
      last = total
      starts, sojourns, jumps, ends, _ = sums
      alpha = starts / onp.sum(starts)
      off = jumps / sojourns[:, None]
      exits = ends / sojourns


if __name__ == "__main__":
  absltest.main()
