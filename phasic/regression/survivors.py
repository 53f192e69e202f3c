"""Lifetimes of those who have survived for some time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from phasic import distributions
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike


class Survivors(NamedTuple):
  """The lifetimes T of a batch of subjects, given that T > s.

  Times count from the same origin as those of the distribution. Nothing is
  subtracted but logarithms, so that digits are kept far in the tail.

  Attributes:
    distribution: the distribution of T, (batch...).
    survived: s, (...), which broadcasts with the batch.

  Example: see `given`.

    >>> from phasic import regression
    >>> from phasic.distributions import Erlang
    >>> later = regression.given(Erlang(1, 0.5), survived=10.0)
    >>> print(f"{float(later.survival_function(12.0)):.6f}")  # exp(-1)
    0.367879
  """

  distribution: distributions.Distribution
  survived: Array

  def log_survival_function(self, value: ArrayLike) -> Array:
    """Computes log P(T > t | T > s); zero for t <= s."""
    late = np.maximum(structures.cast(value), self.survived)
    known = self._log_survived()
    return np.minimum(
      self.distribution.log_survival_function(late) - known, 0.0
    )

  def survival_function(self, value: ArrayLike) -> Array:
    """Computes P(T > t | T > s); one for t <= s."""
    return np.exp(self.log_survival_function(value))

  def quantile(self, value: ArrayLike) -> Array:
    """Computes the time t with P(T <= t | T > s) = u, for u in [0, 1)."""
    level = np.log1p(-structures.cast(value))
    return self.distribution.quantile_log_survival(self._log_survived() + level)

  def median(self) -> Array:
    """Computes the median of T, given T > s."""
    return self.quantile(structures.as_array(0.5, self.distribution.dtype))

  def mean(self) -> Array:
    """Computes E[T | T > s], s and the mean residual life."""
    dist: Any = self.distribution
    return self.survived + dist.mean_residual_life(self.survived)

  def _log_survived(self) -> Array:
    return self.distribution.log_survival_function(self.survived)


def given(
  distribution: distributions.Distribution, *, survived: ArrayLike
) -> Survivors:
  """Returns lifetimes given survival up to some time.

  Args:
    distribution: of lifetimes, (batch...), such as the prediction of a fit.
    survived: the time s up to which subjects have survived, >= 0 and finite; it
      broadcasts with the batch.

  Raises:
    TypeError: `distribution` is not a distribution, or dtypes differ.

  Example: the median lifetime of a machine that has worked for ten hours.

    >>> from phasic import regression
    >>> from phasic.distributions import Erlang
    >>> later = regression.given(Erlang(1, 0.5), survived=10.0)
    >>> print(f"{float(later.median()):.4f}")  # 10 + 2 log(2)
    11.3863

  Reference: J. P. Klein, M. L. Moeschberger, Survival analysis, 2003, ch. 2.
  """
  if not isinstance(distribution, distributions.Distribution):
    raise TypeError(
      f"distribution is {type(distribution).__name__}: it must be a distribution; "
      "fit.predict(table) returns one"
    )
  time = structures.as_array(survived, distribution.dtype, "survived")
  return Survivors(distribution, time)
