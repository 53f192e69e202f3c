"""Public methods of values, and how they are made from each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from phasic.distributions.base import methods
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.math.numeric import special


class Fallbacks(methods.Methods):
  """Methods with default implementations by other methods.

  Methods of a value raise ValueError where it does not broadcast with the
  batch or has no entries; in a `tf.function` that is traced with an unknown
  size, tf.errors.InvalidArgumentError is raised when the function runs.

  A subclass has `_log_prob` or `_prob`; `_log_cdf` or `_cdf`; optionally the
  survival function or its logarithm; `_variance` or `_stddev`. What is missing
  altogether raises NotImplementedError.
  """

  def log_prob(self, value: ArrayLike) -> Result:
    """Returns the log density, broadcast over value and batch."""
    return structures.as_result(self._log_prob(self._value(value)))

  def unnormalized_log_prob(self, value: ArrayLike) -> Result:
    """Returns `log_prob`: all densities here are normalized."""
    return self.log_prob(value)

  def prob(self, value: ArrayLike) -> Result:
    """Returns the density, broadcast over value and batch."""
    return structures.as_result(self._prob(self._value(value)))

  def cdf(self, value: ArrayLike) -> Result:
    """Returns P(X <= value), broadcast over value and batch."""
    return structures.as_result(self._cdf(self._value(value)))

  def log_cdf(self, value: ArrayLike) -> Result:
    """Returns log P(X <= value), broadcast over value and batch."""
    return structures.as_result(self._log_cdf(self._value(value)))

  def survival_function(self, value: ArrayLike) -> Result:
    """Returns P(X > value), broadcast over value and batch."""
    return structures.as_result(self._survival_function(self._value(value)))

  def log_survival_function(self, value: ArrayLike) -> Result:
    """Returns log P(X > value), broadcast over value and batch."""
    return structures.as_result(self._log_survival_function(self._value(value)))

  def _log_prob(self, value: Array) -> Array:
    return np.log(self._from("_prob", "_log_prob")(value))

  def _prob(self, value: Array) -> Array:
    return np.exp(self._from("_log_prob", "_prob")(value))

  def _log_cdf(self, value: Array) -> Array:
    return np.log(self._from("_cdf", "_log_cdf")(value))

  def _cdf(self, value: Array) -> Array:
    return np.exp(self._from("_log_cdf", "_cdf")(value))

  def _survival_function(self, value: Array) -> Array:
    if self._has("_log_survival_function"):
      return np.exp(self._log_survival_function(value))
    if self._has("_log_cdf"):
      return -np.expm1(self._log_cdf(value))
    return 1 - self._from("_cdf", "_survival_function")(value)

  def _log_survival_function(self, value: Array) -> Array:
    if self._has("_survival_function"):
      return np.log(self._survival_function(value))
    if self._has("_log_cdf"):
      return special.log1mexp(self._log_cdf(value))
    return np.log1p(-self._from("_cdf", "_log_survival_function")(value))

  def _variance(self) -> Array:
    return np.square(self._from("_stddev", "_variance")())

  def _stddev(self) -> Array:
    return np.sqrt(self._from("_variance", "_stddev")())

  def _has(self, name: str) -> bool:
    """Returns whether a subclass has its own method of this name."""
    return getattr(type(self), name) is not getattr(Fallbacks, name)

  def _from(self, name: str, missing: str) -> Callable[..., Array]:
    """Returns the method that stands in for a missing one."""
    if not self._has(name):
      self._missing(missing.lstrip("_"))
    return getattr(self, name)
