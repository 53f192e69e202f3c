"""Counts that are cut off, and random sums of them, against many digits."""

import functools
import math
from typing import NamedTuple

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
elif MODE == "tf":
  import tensorflow as tf

_RATE = 12.0
_PROBS, _STAGES, _RATES = (0.75, 0.25), (2, 3), (1.0, 0.25)
_MOST = 900


def _traced(function):
  """Returns a function that is traced where the backend can trace."""
  if MODE == "jax":
    return jax.jit(function)
  elif MODE == "tf":
    return tf.function(function)
  else:
    return function


class _Total(NamedTuple):
  """A compound Poisson total, as a number of stages of rate one.

  Attributes:
    tails: P(M > i) of the number of stages M, for i = 0, 1, ...
    slopes: their derivatives in the Poisson rate.
  """

  tails: list
  slopes: list

  def mixed(self, weights, x, beyond=0):
    """Computes the sum of weights[i] P(K <= i + beyond), K ~ Poisson(x)."""
    term, last = mpmath.exp(-x), mpmath.mpf(0)
    total = mpmath.mpf(0)
    for i, weight in enumerate(weights):
      last = term if not beyond else last + term
      total += weight * last
      term *= x / (i + 1)
    return total

  def survival(self, x):
    return self.mixed(self.tails, x)

  def density(self, x):
    """Computes the density, by stages that end at x."""
    shifted = [self.tails[0], *self.tails]
    ends = [a - b for a, b in zip(shifted[1:], self.tails[1:], strict=False)]
    return self.mixed(ends, x)

  def stop_loss(self, x):
    return self.mixed(self.tails, x, 1)


@functools.cache
def _total():
  """Returns the total of Poisson many hyper-Erlang claims, by recursion.

  A claim is a random number of stages of rate one: stages of a smaller rate are
  geometric numbers of such stages.
  """
  with mpmath.workdps(40):
    claim = [mpmath.mpf(0)] * _MOST
    for prob, r, rate in zip(_PROBS, _STAGES, _RATES, strict=True):
      q = mpmath.mpf(rate)
      for m in range(r, _MOST):
        ways = mpmath.binomial(m - 1, r - 1)
        claim[m] += prob * ways * q**r * (1 - q) ** (m - r)
    kept = next(m for m in range(9, _MOST) if claim[m] < mpmath.mpf(10) ** -38)
    stages = [mpmath.exp(-_RATE)]
    for m in range(1, _MOST):
      terms = [
        (j * claim[j], stages[m - j]) for j in range(1, min(m, kept) + 1)
      ]
      stages.append(mpmath.fdot(terms) * _RATE / m)
    slopes = [
      mpmath.fdot((claim[j], stages[m - j]) for j in range(1, min(m, kept) + 1))
      - stages[m]
      for m in range(_MOST)
    ]
    return _Total(_tails(stages), _tails(slopes))


def _tails(probs):
  """Returns the sums of what follows each number."""
  sums = [mpmath.mpf(0)]
  for prob in reversed(probs[1:]):
    sums.append(sums[-1] + prob)
  return sums[::-1]


def _compound(rate):
  claim = pd.HyperErlang(list(_PROBS), list(_STAGES), list(_RATES))
  return pd.random_sum(pd.poisson(rate), claim)


class AggregateClaimsTest(test_case.TestCase):
  """Tests Poisson many hyper-Erlang claims against a lattice in mpmath."""

  def test_risk_measures(self):
    total, exact = _compound(_RATE), _total()
    with mpmath.workdps(40):
      found = float(total.quantile(0.995))
      var = mpmath.findroot(lambda x: exact.survival(x) - 0.005, found)
      beyond = exact.stop_loss(var)
      tail_value = var + beyond / exact.survival(var)
      losses = [exact.stop_loss(mpmath.mpf(d)) for d in (20.0, 80.0, 200.0)]
    self.assert_close(found, float(var), 1e-12)
    mean_beyond = total.mean_residual_life(float(var))
    self.assert_close(float(var) + mean_beyond, float(tail_value), 1e-12)
    at = onp.array([20.0, 80.0, 200.0])
    excess = total.survival_function(at) * total.mean_residual_life(at)
    self.assert_close(excess, onp.array(losses, float), 1e-11)

  def test_derivatives_in_the_rate(self):
    exact = _total()
    x = 80.0
    with mpmath.workdps(40):
      slope = exact.mixed(exact.slopes, mpmath.mpf(x))
      tail, density = (
        exact.survival(mpmath.mpf(x)),
        exact.density(mpmath.mpf(x)),
      )
    _, found = gradients.value_and_gradient(
      lambda rate: _compound(rate).log_survival_function(x), _RATE
    )
    self.assert_close(found, float(slope / tail), 1e-11)
    _, found = gradients.value_and_gradient(
      lambda rate: _compound(rate).quantile_log_survival(math.log(tail)), _RATE
    )
    self.assert_close(found, float(slope / density), 1e-11)


class CountTest(test_case.TestCase):
  """Tests the laws of counts."""

  def test_poisson_numbers(self):
    rates = onp.array([0.0, 1e-9, 0.5, 12.0, 300.0])
    counts = pd.poisson(rates)
    k = onp.array([0.0, 1.0, 2.0, 7.0, 40.0, 330.0])[:, None]
    exact = onp.empty((6, 5))
    with mpmath.workdps(30):
      for i, j in onp.ndindex(6, 5):
        rate, count = mpmath.mpf(rates[j]), int(k[i, 0])
        prob = mpmath.exp(-rate) * rate**count / mpmath.factorial(count)
        exact[i, j] = mpmath.log(prob) if prob else -onp.inf
    likely = exact > -60.0
    found = onp.asarray(counts.log_prob(k))
    self.assert_close(found[likely], exact[likely], 1e-12, 1e-13)
    self.assert_close(counts.mean(), rates, 1e-13)

  def test_negative_binomial_numbers(self):
    r, q = onp.array([0.3, 1.0, 2.5, 40.0]), onp.array([0.4, 0.1, 0.3, 0.9])
    counts = pd.negative_binomial(r, q)
    k = onp.arange(12.0)[:, None]
    exact = stats.nbinom(r, q).logpmf(k)
    self.assert_close(counts.log_prob(k), exact, 1e-11, 1e-11)
    self.assert_close(counts.mean(), r * (1 - q) / q, 1e-12)
    self.assert_close(counts.variance(), r * (1 - q) / q**2, 1e-12)
    whole = pd.NegativeBinomialFailures(3, 0.25)
    found = pd.negative_binomial(3.0, 0.25).log_prob(onp.arange(30.0))
    self.assert_close(found, whole.log_prob(onp.arange(30.0)), 1e-12, 1e-13)

  def test_a_smaller_tail_is_kept(self):
    # P(N > 120) is 1e-77.
    at = 120.0
    exact = stats.poisson(_RATE).logsf(at)
    found = pd.poisson(_RATE, tail=1e-200).log_survival_function(at)
    self.assert_close(found, exact, 1e-12)
    cut = pd.poisson(_RATE)
    self.assertLess(cut.num_phases, 80)
    self.assertGreater(cut.num_phases, 60)
    self.assertEqual(pd.poisson(_RATE, max_count=99).num_phases, 99)

  def test_given_probabilities(self):
    probs = onp.array([[0.125, 0.5, 0.375, 0.0], [0.0, 0.0, 0.25, 0.75]])
    counts = pd.finite_count(probs)
    self.assertEqual(counts.num_phases, 3)
    k = onp.arange(5.0)[:, None]
    padded = onp.concatenate([probs.T, onp.zeros((1, 2))])
    self.assert_close(counts.prob(k), padded, 1e-15)
    # Probabilities are free coordinates.
    _, slopes = gradients.value_and_gradient(
      lambda p: pd.finite_count(p).prob(2.0), probs[0]
    )
    self.assert_close(slopes, onp.array([0.0, 0.0, 1.0, 0.0]), 1e-15, 1e-15)

  def test_derivatives_of_counts(self):
    k = 9.0
    _, slope = gradients.value_and_gradient(
      lambda rate: pd.poisson(rate).log_prob(k), _RATE
    )
    self.assert_close(slope, k / _RATE - 1.0, 1e-13)
    r, q = 1.5, 0.2
    _, slopes = gradients.value_and_gradient(
      lambda r, q: pd.negative_binomial(r, q).log_prob(k), r, q
    )
    digamma = float(mpmath.psi(0, k + r) - mpmath.psi(0, r))
    self.assert_close(slopes[0], digamma + math.log(q), 1e-12)
    self.assert_close(slopes[1], r / q - k / (1.0 - q), 1e-12)

  @parameterized.parameters(50.0, 355.0, 690.0)
  def test_derivatives_of_large_counts(self, rate):
    # P(N = 0) is exp(-rate).
    most = 1200

    def mean(rate):
      return pd.poisson(rate, max_count=most).mean()

    value, slope = gradients.value_and_gradient(mean, rate)
    self.assert_close(value, rate, 1e-12)
    self.assert_close(slope, 1.0, 1e-11)
    counts = pd.poisson(rate, max_count=most)
    self.assert_close(counts.log_prob(0.0), -rate, 1e-13)
    k = rate + 20.0
    _, slope = gradients.value_and_gradient(
      lambda rate: pd.poisson(rate, max_count=most).log_prob(k), rate
    )
    self.assert_close(slope, k / rate - 1.0, 1e-9)

  def test_parameters_that_are_traced(self):
    log_prob = _traced(
      lambda rate: pd.poisson(rate, max_count=75).log_prob(7.0)
    )
    exact = stats.poisson(_RATE).logpmf(7)
    self.assert_close(log_prob(onp.asarray(_RATE)), exact, 1e-13)
    if MODE != "numpy":
      # Beyond 75 there is more than the tail: it is not cut off silently.
      self.assertTrue(math.isnan(log_prob(onp.asarray(60.0))))
      with self.assertRaisesRegex(ValueError, "max_count is None, and"):
        _traced(lambda rate: pd.poisson(rate).mean())(onp.asarray(_RATE))

  def test_invalid_arguments(self):
    for make, error, message in (
      (lambda: pd.poisson(3.0, tail=0.0), ValueError, "tail is 0.0"),
      (lambda: pd.poisson(3.0, tail="1"), TypeError, "tail is '1'"),
      (lambda: pd.poisson(12.0, max_count=20), ValueError, "at least 70"),
      (lambda: pd.poisson(12.0, max_count=2.0), TypeError, "max_count is"),
      (lambda: pd.poisson(1e6), ValueError, "its mean must be smaller"),
      (lambda: pd.poisson("12"), TypeError, "rate holds text"),
      (lambda: pd.finite_count([1.0]), ValueError, r"\(\.\.\., n \+ 1\)"),
      (
        lambda: pd.poisson(-1.0, validate_args=True),
        ValueError,
        "rate = -1.0: it must be >= 0 and finite",
      ),
      (
        lambda: pd.negative_binomial([1.0, 2.0], [0.1, 0.2, 0.3]),
        ValueError,
        "batch shapes do not broadcast",
      ),
    ):
      with self.subTest(message), self.assertRaisesRegex(error, message):
        make()

  @parameterized.parameters(
    (lambda: pd.poisson(-1.0), "poisson: rate = -1.0"),
    (lambda: pd.poisson(math.inf), "poisson: rate = inf"),
    (lambda: pd.negative_binomial(2.0, 0.0), "success_prob = 0.0"),
    (lambda: pd.finite_count([0.5, 0.6]), r"sum\(probs\) = 1.1"),
  )
  def test_invalid_values_give_nan_and_a_warning(self, make, message):
    with self.assertWarnsRegex(RuntimeWarning, message):
      counts = make()
    self.assertTrue(math.isnan(counts.prob(1.0)))
    self.assertTrue(math.isnan(counts.prob(0.0)))


if __name__ == "__main__":
  absltest.main()
