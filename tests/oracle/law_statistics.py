"""Expectations by quadrature in mpmath, and their derivatives.

Continuous laws are integrated by the trapezoidal rule of double exponential
formulas, from one jump of the density to the next; numbers are summed up.

Reference: H. Takahasi, M. Mori, Double exponential formulas for numerical
  integration, Publ. RIMS 9, 1974.
"""

from collections.abc import Callable, Sequence
import functools
import itertools
from typing import Any, NamedTuple

import mpmath

from tests.oracle import family_oracle

_RANGE = 6
_SMALL = mpmath.mpf("1e-26")
_NONE = mpmath.mpf("1e-60")  # Smaller numbers are rounding errors.


class Nodes(NamedTuple):
  """Quadrature points and weights.

  Attributes:
    values: integers, or times; the least one comes first.
    weights: the weights, one for an atom.
    ends: the ends of the support and jumps of the density between them; none
      for integers.
  """

  values: tuple[Any, ...]
  weights: tuple[Any, ...]
  ends: tuple[Any, ...] = ()

  def masses(self, law: family_oracle.Law) -> list[Any]:
    """Computes densities or probabilities at the points; an atom comes first."""
    return [law.cdf(self.values[0]), *(_prob(law, t) for t in self.values[1:])]

  def sum(self, terms: Any) -> Any:
    """Computes the weighted sum of terms."""
    pairs = zip(self.weights, terms, strict=True)
    return mpmath.fsum(w * x for w, x in pairs)


# A function of a law, points for it, and a law near it.
Statistic = Callable[[family_oracle.Law, Nodes, family_oracle.Law], Any]


def _prob(law: family_oracle.Law, time: Any) -> Any:
  return _known_prob(law, time, mpmath.mp.prec)


# Several expectations under one distribution use the same points.
@functools.lru_cache(maxsize=1 << 14)
def _known_prob(law: family_oracle.Law, time: Any, precision: int) -> Any:
  """Computes the density or probability, with given bits, cached."""
  del precision
  return law.prob(time)


def nodes(
  law: family_oracle.Law,
  discrete: bool,
  per_unit: int = 24,
  ends: Sequence[Any] = (0, mpmath.inf),
) -> Nodes:
  """Builds quadrature points for a distribution.

  Args:
    law: the distribution.
    discrete: whether values are integers.
    per_unit: the density of points for times.
    ends: the ends of the support, and jumps of the density between them.
  """
  if discrete:
    count = 8
    while count <= ends[-1] and law.sf(count) > _SMALL:
      count *= 2
    last = int(min(count, ends[-1] + 1))
    values = tuple(mpmath.mpf(k) for k in range(int(ends[0]), last))
    return Nodes(values, (mpmath.mpf(1),) * len(values))
  values, weights = [mpmath.mpf(ends[0])], [mpmath.mpf(1)]
  for low, high in itertools.pairwise(ends):
    for sign in (1, -1):
      # Add points from the middle outwards until the mass is negligible.
      below = 0
      for j in range(_RANGE * per_unit):
        s = sign * mpmath.mpf(j + (sign < 0)) / per_unit
        t, weight = _node(s, mpmath.mpf(low), high)
        weight = weight / per_unit
        below = below + 1 if weight * _prob(law, t) * (1 + t**3) < _SMALL else 0
        if below > per_unit // 4:
          break
        values.append(t)
        weights.append(weight)
  return Nodes(tuple(values), tuple(weights), tuple(ends))


def _node(s: Any, low: Any, high: Any) -> tuple[Any, Any]:
  """Maps a real number to a time between two ends, with its derivative."""
  x = mpmath.pi / 2 * mpmath.sinh(s)
  slope = mpmath.pi / 2 * mpmath.cosh(s)
  if high == mpmath.inf:
    return low + mpmath.exp(x), slope * mpmath.exp(x)
  share = 1 / (1 + mpmath.exp(-2 * x))
  size = high - low
  return low + size * share, 2 * size * share * (1 - share) * slope


def expectation(
  law: family_oracle.Law, at: Nodes, function: Callable[[Any], Any]
) -> Any:
  """Computes E g(X); linear in the law, also for derivatives of the law."""
  masses = at.masses(law)
  terms = [m * function(t) for m, t in zip(masses, at.values, strict=True)]
  return at.sum(terms)


def entropy(law: family_oracle.Law, at: Nodes) -> Any:
  """Computes -E log p(X)."""
  return at.sum(
    [-m * mpmath.log(m) if m > _NONE else 0 for m in at.masses(law)]
  )


def divergence(
  law: family_oracle.Law, other: family_oracle.Law, at: Nodes
) -> Any:
  """Computes E log(p(X) / q(X))."""
  pairs = zip(at.masses(law), at.masses(other), strict=True)
  return at.sum([m * mpmath.log(m / n) if m > _NONE else 0 for m, n in pairs])


def _raw(k: int) -> Statistic:
  def moment(law: family_oracle.Law, at: Nodes, near: family_oracle.Law) -> Any:
    known = {1: law.mean, 2: law.second}.get(k)
    if known is not None:
      return near.mean if k == 1 else near.second
    return expectation(near, at, lambda t: t**k)

  return moment


def _variance(
  law: family_oracle.Law, at: Nodes, near: family_oracle.Law
) -> Any:
  return _raw(2)(law, at, near) - _raw(1)(law, at, near) ** 2


def _laplace(u: float) -> Statistic:
  return lambda law, at, near: expectation(
    near, at, lambda t: mpmath.exp(-mpmath.mpf(u) * t)
  )


# The value at which partial means are taken.
LIMIT = 2


def _limited_expected_value(
  law: family_oracle.Law, at: Nodes, near: family_oracle.Law
) -> Any:
  """Computes E min(X, 2) as an integral, or a sum, of P(X > t)."""
  del law
  if not at.ends:
    first = int(at.values[0])
    later = [near.sf(mpmath.mpf(k)) for k in range(first, LIMIT)]
    return mpmath.fsum([min(first, LIMIT), *later])
  inside = [mpmath.mpf(t) for t in at.ends if t < LIMIT]
  if not inside:
    return mpmath.mpf(LIMIT)
  return inside[0] + mpmath.quad(near.sf, [*inside, LIMIT])


def _mean_residual_life(
  law: family_oracle.Law, at: Nodes, near: family_oracle.Law
) -> Any:
  """Computes E[X - 2 | X > 2]."""
  beyond = _raw(1)(law, at, near) - _limited_expected_value(law, at, near)
  low = at.ends[0] if at.ends else at.values[0] - 1
  return beyond / (near.sf(mpmath.mpf(LIMIT)) if low < LIMIT else 1)


# Statistics of a distribution near `law`, by method.
STATISTICS: dict[str, Statistic] = {
  "mean": _raw(1),
  "variance": _variance,
  "stddev": lambda law, at, near: mpmath.sqrt(_variance(law, at, near)),
  "moment(2)": _raw(2),
  "moment(3)": _raw(3),
  "laplace_transform": _laplace(0.5),
  "moment_generating_function": _laplace(0.25),
  "probability_generating_function": lambda law, at, near: expectation(
    near, at, lambda k: mpmath.mpf(1) / 2**k
  ),
  "entropy": lambda law, at, near: entropy(near, at),
  "limited_expected_value": _limited_expected_value,
  "mean_residual_life": _mean_residual_life,
}


def statistics(
  law: family_oracle.Law, at: Nodes
) -> dict[str, Callable[[family_oracle.Law], Any]]:
  """Returns functions of a distribution near the given one, by method."""
  return {
    name: functools.partial(statistic, law, at)
    for name, statistic in STATISTICS.items()
  }
