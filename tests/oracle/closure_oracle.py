"""Distributions of functions of independent variables, by their cdfs.

Sums of numbers of steps are sums over all that adds up to a value, extremes
and order statistics binomial formulas of the distribution functions. All is in
mpmath: differences are right where the precision is that of `family_oracle`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
from mpmath import mpf

from tests.oracle import family_oracle
from tests.oracle.family_oracle import Law


def minimum(a: Law, b: Law) -> Law:
  """Returns the distribution of the minimum of two times."""
  return Law(
    lambda t: a.prob(t) * b.sf(t) + a.sf(t) * b.prob(t),
    lambda t: a.cdf(t) + a.sf(t) * b.cdf(t),
    lambda t: a.sf(t) * b.sf(t),
  )


def maximum(a: Law, b: Law) -> Law:
  """Returns the distribution of the maximum of two times."""
  return Law(
    lambda t: a.prob(t) * b.cdf(t) + a.cdf(t) * b.prob(t),
    lambda t: a.cdf(t) * b.cdf(t),
    lambda t: a.sf(t) + a.cdf(t) * b.sf(t),
  )


def order_statistic(law: Law, n: int, k: int) -> Law:
  """Returns the distribution of the k-th smallest of n times."""

  def ways(t: Any, ended: Sequence[int]) -> Any:
    below, above = law.cdf(t), law.sf(t)
    return mpmath.fsum(
      mpmath.binomial(n, j) * below**j * above ** (n - j) for j in ended
    )

  def density(t: Any) -> Any:
    others = law.cdf(t) ** (k - 1) * law.sf(t) ** (n - k)
    return n * mpmath.binomial(n - 1, k - 1) * others * law.prob(t)

  return Law(
    density, lambda t: ways(t, range(k, n + 1)), lambda t: ways(t, range(k))
  )


def of_steps(law: Law) -> Law:
  """Returns a discrete distribution from its cdf."""

  def mass(k: Any) -> Any:
    return law.cdf(k) - (law.cdf(k - 1) if k > 0 else mpf(0))

  return law._replace(prob=mass)


def sum_of_steps(a: Law, b: Law) -> Law:
  """Returns the distribution of the sum of two numbers of steps."""

  def mass(k: Any) -> Any:
    return mpmath.fsum(
      a.prob(mpf(j)) * b.prob(mpf(int(k) - j)) for j in range(int(k) + 1)
    )

  def below(k: Any) -> Any:
    return mpmath.fsum(mass(mpf(j)) for j in range(int(k) + 1))

  return Law(mass, below, lambda k: 1 - below(k))


def with_zero(prob: Any, law: Law) -> Law:
  """Returns a distribution with an additional mass at zero."""
  return family_oracle.mixture([prob, 1 - prob], [family_oracle.zero(), law])


def compound(probs: Sequence[Any], law_of: Callable[[int], Law]) -> Law:
  """Returns the mixture of law_of(n) with probabilities probs[n]."""
  laws = [family_oracle.zero(), *(law_of(n) for n in range(1, len(probs)))]
  return family_oracle.mixture(probs, laws)
