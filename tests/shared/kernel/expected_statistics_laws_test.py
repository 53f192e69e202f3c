"""Expected statistics of known distributions, and the EM algorithm."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import special

from phasic import math as pm
from tests.helpers import models
from tests.helpers import test_case

_TIMES = onp.asarray([1e-12, 0.02, 0.7, 3.0, 40.0])
_LOG_KINDS = ("log_prob", "log_survival_function", "log_cdf")


def _poisson(x, counts):
  return onp.exp(counts * math.log(x) - x - special.gammaln(counts + 1))


class ErlangTest(test_case.TestCase):
  """Tests Erlang models, whose phases end by a Poisson process."""

  p, rate = 6, 1.5

  def _given(self, kind, t, **options):
    model = models.erlang(self.p, self.rate)
    return pm.phase_type.expected_statistics(
      t, *model[:2], kind=kind, **options
    )

  def _check_path(self, given, jumps, sojourns, exits):
    self.assert_close(given.starts, onp.eye(self.p)[0])
    self.assert_close(given.jumps, onp.diag(jumps, 1))
    self.assert_close(given.sojourns, sojourns)
    self.assert_close(given.exits, exits * onp.eye(self.p)[-1])
    self.assert_close(given.atom, 0.0)

  @parameterized.parameters(*_TIMES, 400.0)
  def test_exact(self, t):
    # Given the last of p events, the others are uniform before it.
    given = self._given("log_prob", t)
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
    self._check_path(
      self._given("log_survival_function", t), jumps, sojourns, 0.0
    )

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

  @parameterized.parameters("prob", "survival_function", "cdf")
  def test_kinds_that_are_no_logs_are_not_conditional(self, kind):
    value = self.host(
      getattr(pm.phase_type, kind)(2.0, *models.erlang(self.p, self.rate)[:2])
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
    given = self._given("log_prob", 1.0, upper=1.2)
    self._check_path(given, onp.ones(self.p - 1), onp.full(self.p, mean), 1.0)


class HyperexponentialTest(test_case.TestCase):
  """Tests posterior probabilities of mixture components."""

  probs = onp.asarray([0.25, 0.5, 0.125])  # and an atom of 1/8
  rates = onp.asarray([0.5, 1.0, 8.0])

  @parameterized.product(t=(1e-9, 0.3, 5.0, 60.0), kind=_LOG_KINDS)
  def test_components(self, t, kind):
    decay = onp.exp(-self.rates * t)
    before = -onp.expm1(-self.rates * t)
    # E[X; X <= t] of an exponential.
    mean = special.gammainc(2, self.rates * t) / self.rates
    mass, time, atom = {
      "log_prob": (self.rates * decay, t * self.rates * decay, 0.0),
      "log_survival_function": (decay, t * decay, 0.0),
      "log_cdf": (before, mean, 0.125),
    }[kind]
    total = onp.sum(self.probs * mass) + atom
    starts = self.probs * mass / total
    given = pm.phase_type.expected_statistics(
      t, self.probs, onp.diag(-self.rates), kind=kind
    )
    self.assert_close(given.starts, starts)
    self.assert_close(given.sojourns, self.probs * time / total)
    self.assert_close(given.jumps, onp.zeros((3, 3)))
    exits = onp.zeros(3) if kind == "log_survival_function" else starts
    self.assert_close(given.exits, exits)
    self.assert_close(given.atom, atom / total)


class EmTest(test_case.TestCase):
  """Tests the EM algorithm with the statistics."""

  def test_likelihood_never_falls(self):
    state = onp.random.RandomState(5)
    exact = state.gamma(3.0, size=25)
    censored = onp.asarray([1.0, 4.0, 4.0])
    early = onp.asarray([0.5, 0.5])
    off = state.uniform(0.2, 1.0, size=(3, 3)) * (1 - onp.eye(3))
    exits, alpha = state.uniform(0.2, 1.0, size=3), onp.full(3, 1 / 3)
    data = (
      ("log_prob", exact),
      ("log_survival_function", censored),
      ("log_cdf", early),
    )
    last = -math.inf
    for _ in range(30):
      total, sums = 0.0, [0.0] * 5
      for kind, times in data:
        arguments = (times, alpha, off, exits)
        total += onp.sum(self.host(getattr(pm.phase_type, kind)(*arguments)))
        given = pm.phase_type.expected_statistics(*arguments, kind=kind)
        sums = [s + self.host(x) for s, x in zip(sums, given, strict=True)]
      self.assertGreater(total, last)
      last = total
      starts, sojourns, jumps, ends, _ = sums
      alpha = starts / onp.sum(starts)
      off = jumps / sojourns[:, None]
      exits = ends / sojourns


if __name__ == "__main__":
  absltest.main()
