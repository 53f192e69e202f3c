"""Distributions of named families in mpmath, by formulas without chains.

Set the precision around calls by `mpmath.workdps(DIGITS)`. Equal rates are
perturbed by PERTURBATION, which partial fractions with so many digits allow.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mpmath
from mpmath import mpf

DIGITS = 500
_PERTURBATION = 50  # Digits that agree.

Function = Callable[[Any], Any]


class Law(NamedTuple):
  """A distribution on [0, inf).

  Attributes:
    prob: the density, or the probability of a number.
    cdf: P(X <= t).
    sf: P(X > t).
    mean: E X, None where it is not known.
    second: E X^2, None where it is not known.
  """

  prob: Function
  cdf: Function
  sf: Function
  mean: Any = None
  second: Any = None

  @property
  def variance(self) -> Any:
    return self.second - self.mean**2


def mixture(weights: Sequence[Any], laws: Sequence[Law]) -> Law:
  """Returns sum_i w_i F_i, also for weights that do not sum to one."""

  def summed(name: str) -> Any:
    parts = [getattr(law, name) for law in laws]
    if parts[0] is None or not callable(parts[0]):
      if any(x is None for x in parts):
        return None
      return sum(w * x for w, x in zip(weights, parts, strict=True))
    return lambda t: sum(w * f(t) for w, f in zip(weights, parts, strict=True))

  return Law(*(summed(name) for name in Law._fields))


def zero() -> Law:
  """Returns the point mass at zero; its density is the one beyond zero."""
  return Law(
    lambda t: mpf(int(t == 0)), lambda t: mpf(1), lambda t: mpf(0), 0, 0
  )


def exponential(rate: Any) -> Law:
  """Returns the exponential distribution."""
  return Law(
    lambda t: rate * mpmath.exp(-rate * t),
    lambda t: -mpmath.expm1(-rate * t),
    lambda t: mpmath.exp(-rate * t),
    1 / rate,
    2 / rate**2,
  )


def hypoexponential(rates: Sequence[Any]) -> Law:
  """Returns the distribution of a sum of exponential times."""
  apart = mpf(10) ** -_PERTURBATION
  rates = [rate * (1 + i * apart) for i, rate in enumerate(rates)]
  weights = [
    mpmath.fprod(other / (other - rate) for other in rates if other is not rate)
    for rate in rates
  ]
  law = mixture(weights, [exponential(rate) for rate in rates])
  mean = sum(1 / rate for rate in rates)
  second = mean**2 + sum(1 / rate**2 for rate in rates)
  return law._replace(mean=mean, second=second)


def erlang(count: int, rate: Any) -> Law:
  """Returns the Erlang distribution."""
  power, total = count - 1, mpmath.factorial(count - 1)
  return Law(
    lambda t: rate * (rate * t) ** power * mpmath.exp(-rate * t) / total,
    lambda t: mpmath.gammainc(count, 0, rate * t) / total,
    lambda t: mpmath.gammainc(count, rate * t, mpmath.inf) / total,
    count / rate,
    count * (count + 1) / rate**2,
  )


def coxian(progression: Sequence[Any], exits: Sequence[Any]) -> Law:
  """Returns a Coxian, as a mixture over the last phase."""
  weights, laws, reached, rates = [], [], mpf(1), []
  for i, out in enumerate(exits):
    on = progression[i] if i < len(progression) else mpf(0)
    rates.append(on + out)
    weights.append(reached * out / (on + out))
    laws.append(hypoexponential(list(rates)))
    reached = reached * on / (on + out)
  return mixture(weights, laws)


def acyclic(masses: Sequence[Any], rates: Sequence[Any]) -> Law:
  """Returns canonical form 1, as a mixture over the first phase."""
  laws = [hypoexponential(list(rates[i:])) for i in range(len(rates))]
  return mixture([1 - sum(masses), *masses], [zero(), *laws])


def geometric(prob: Any) -> Law:
  """Returns the distribution of the number of trials until a success."""
  return Law(
    lambda k: prob * (1 - prob) ** (k - 1) if k > 0 else mpf(0),
    lambda k: 1 - (1 - prob) ** k,
    lambda k: (1 - prob) ** k,
    1 / prob,
    (2 - prob) / prob**2,
  )


def negative_binomial(count: int, prob: Any, failures: bool) -> Law:
  """Returns the negative binomial distribution of trials, or of failures."""
  first = 0 if failures else count
  mean = count / prob - (count if failures else 0)
  rest = 1 - prob

  def mass(k: Any) -> Any:
    if k < first:
      return mpf(0)
    n = int(k) - first
    return mpmath.binomial(n + count - 1, n) * prob**count * rest**n

  def below(k: Any) -> Any:
    return mpmath.fsum(mass(j) for j in range(first, int(k) + 1))

  return Law(
    mass,
    below,
    lambda k: 1 - below(k),
    mean,
    count * rest / prob**2 + mean**2,
  )


def transformed(law: Law, inverse: Function) -> Law:
  """Returns the distribution of g(X), from the inverse of g."""
  return Law(
    lambda y: law.prob(inverse(y)) * mpmath.diff(inverse, y),
    lambda y: law.cdf(inverse(y)),
    lambda y: law.sf(inverse(y)),
  )


def truncated(law: Law, lower: Any, upper: Any) -> Law:
  """Returns the distribution of X given lower < X <= upper."""
  total = law.sf(lower) - law.sf(upper)
  return Law(
    lambda t: law.prob(t) / total,
    lambda t: (law.sf(lower) - law.sf(t)) / total,
    lambda t: (law.sf(t) - law.sf(upper)) / total,
  )


def residual(law: Law, time: Any) -> Law:
  """Returns the distribution of X - time given X > time."""
  total = law.sf(time)
  return Law(
    lambda t: law.prob(time + t) / total,
    lambda t: (total - law.sf(time + t)) / total,
    lambda t: law.sf(time + t) / total,
  )


def shifted(law: Law, delay: Any) -> Law:
  """Returns the distribution of X + delay."""

  def later(function: Function, before: int) -> Function:
    return lambda t: function(t - delay) if t >= delay else mpf(before)

  second = law.second + 2 * delay * law.mean + delay**2
  return Law(
    later(law.prob, 0),
    later(law.cdf, 0),
    later(law.sf, 1),
    law.mean + delay,
    second,
  )
