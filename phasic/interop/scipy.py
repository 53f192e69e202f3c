"""Wraps distributions with the methods of SciPy's frozen distributions.

Methods have SciPy's names and meaning; what is computed is the distribution's
own. SciPy itself is needed for `expect` and `dist` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.internal import late_names
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.interop import scipy_arguments as arguments
from phasic.interop import scipy_expectations as expectations
from phasic.interop import scipy_frozen


def wrap(distribution: distribution_lib.Distribution) -> scipy_frozen.Frozen:
  """Wraps a distribution with the methods of SciPy's frozen distributions.

  Args:
    distribution: one whose values are numbers, with any batch shape.

  Returns:
    `FrozenContinuous`, or of counts `FrozenDiscrete`.

  Raises:
    TypeError: it is not a distribution of phasic, or values are vectors.

  Example:

    >>> from phasic.distributions import Erlang
    >>> from phasic.interop import scipy as adapter
    >>> frozen = adapter.wrap(Erlang(3, 2.0))
    >>> print(f"{frozen.ppf(0.5):.6f} {frozen.isf(1e-300):.4f}")
    1.337030 351.5982
  """
  if not isinstance(distribution, distribution_lib.Distribution):
    raise TypeError(
      f"distribution is {type(distribution).__name__}: it must be a distribution "
      "of phasic"
    )
  support = distribution.support
  if support.event_ndims:
    raise TypeError(
      f"distribution is {type(distribution).__name__}, whose values are "
      "vectors: it must be a distribution of numbers"
    )
  discrete = support.constraint == "nonnegative_integer"
  return (FrozenDiscrete if discrete else FrozenContinuous)(distribution)


class FrozenContinuous(scipy_frozen.Frozen):
  """A wrapped continuous distribution, which may have an atom at zero.

  There `pdf` is the atom's mass, as `distribution.prob` has it.
  """

  def pdf(self, x: ArrayLike) -> Result:
    """Computes the probability density."""
    return self.evaluated(self.distribution.prob, x)

  def logpdf(self, x: ArrayLike) -> Result:
    """Computes the log of the probability density."""
    return self.evaluated(self.distribution.log_prob, x)

  def _lowest(self) -> float:
    return 0.0

  def _expect(
    self,
    func: Callable[[Result], ArrayLike],
    low: float,
    high: float,
    log_mass: float,
  ) -> float:
    return expectations.continuous(self, func, low, high, log_mass)

  def below(self, low: float) -> float:
    return low if low > 0.0 else -1.0


class FrozenDiscrete(scipy_frozen.Frozen):
  """A wrapped distribution of counts, in discrete time.

  As in SciPy the quantile of 0 is one below the least count, and samples are
  integers.
  """

  def pmf(self, k: ArrayLike) -> Result:
    """Computes the probability mass function P(N = k)."""
    return self.evaluated(self.distribution.prob, k)

  def logpmf(self, k: ArrayLike) -> Result:
    """Computes log P(N = k)."""
    return self.evaluated(self.distribution.log_prob, k)

  def ppf(self, q: ArrayLike) -> Result:
    """Computes the quantile; it is one below the least count for 0."""
    return self._or_below(super().ppf(q), q, 0.0)

  def isf(self, q: ArrayLike) -> Result:
    """Computes the k with P(N > k) <= q; one below the least count for 1."""
    return self._or_below(super().isf(q), q, 1.0)

  def rvs(
    self,
    size: int | Sequence[int] | None = None,
    random_state: arguments.StateLike = None,
  ) -> Result:
    """Draws counts, see `FrozenContinuous.rvs`.

    They are int64; if one is infinite, or too large, all are floating numbers.
    """
    found = super().rvs(size, random_state)
    if onp.all(found < 2.0**63):
      return arguments.plain(onp.asarray(found, "int64"))
    return found

  def _or_below(self, found: Result, q: ArrayLike, end: float) -> Result:
    """Replaces quantiles of `end` by the number below the least count."""
    at_end = onp.asarray(q) == end
    if not onp.any(at_end):
      return found
    return arguments.plain(onp.where(at_end, self.a - 1.0, found))

  def _lowest(self) -> float:
    return float(onp.finfo(self.distribution.dtype).tiny)

  def _expect(
    self,
    func: Callable[[Result], ArrayLike],
    low: float,
    high: float,
    log_mass: float,
  ) -> float:
    return expectations.discrete(self, func, low, high, log_mass)

  def below(self, low: float) -> float:
    return float(onp.ceil(low)) - 1.0


__all__ = ["wrap"]
__dir__ = late_names.lister(__name__)
