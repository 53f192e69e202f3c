"""Mean, moments and mode of a phase-type variable in an interval."""

import math
from typing import Any

import numpy as np
import numpy as onp

from phasic.distributions import residual_life
from phasic.distributions import wrapped_distribution
from phasic.internal import gradients
from phasic.internal import static


class TruncatedStatistics(wrapped_distribution.WrappedDistribution):
  """Statistics of X given low <= X <= high.

  A subclass has `_bounds` and `_normaliser`.
  """

  def _bounds(self) -> tuple[Any, Any, Any]:
    """Returns low, what is just below it, and high, as arrays."""
    raise NotImplementedError

  def _normaliser(self, before: Any, high: Any) -> Any:
    """Returns log P(before < X <= high), NaN where that is zero."""
    raise NotImplementedError

  def _mean(self) -> Any:
    start, residual = self._beyond("mean")
    return np.where(
      start < 0,
      self.distribution._mean(),
      np.maximum(start, 0.0) + residual._mean(),
    )

  def _variance(self) -> Any:
    start, residual = self._beyond("variance")
    whole = self.distribution._variance()
    return np.where(start < 0, whole, residual._variance())

  def _stddev(self) -> Any:
    start, residual = self._beyond("stddev")
    whole = self.distribution._stddev()
    return np.where(start < 0, whole, residual._stddev())

  def _moment(self, k: int) -> Any:
    start, residual = self._beyond(f"moment({k})")
    rest = residual._raw_moments(k)
    shift = np.maximum(start, 0.0)
    # E (shift + rest)^k: nothing is negative.
    endless = rest[..., 0] == math.inf
    found: Any = 1.0
    for j in range(1, k + 1):
      term = math.comb(k, j) * np.where(endless, 0.0, rest[..., j - 1])
      found = found * shift + term
    found = np.where(endless, math.inf, found)
    return np.where(start < 0, self.distribution._moment(k), found)

  def _beyond(self, name: str) -> tuple[Any, Any]:
    """Returns what is just below low, and the law of X less that.

    Raises:
      NotImplementedError: there is an upper bound.
    """
    _, before, high = self._bounds()
    known = static.concrete(high)
    if known is not None and onp.any(onp.isfinite(known)):
      self._missing(name, "it has no closed form where there is an upper bound")
    before = np.where(high < math.inf, math.nan, before)
    start = np.maximum(before, 0.0)
    return before, residual_life.ResidualLife(self.distribution, start)

  def _mode(self) -> Any:
    """A part of a density with one top has it at an end, or where it was."""
    low, before, high = self._bounds()
    first, last = low, high
    if self.distribution._DISCRETE:
      first, last = before + 1.0, np.floor(high)
    found = np.minimum(np.maximum(self.distribution._mode(), first), last)
    # Zero, but NaN where nothing is between the bounds.
    nothing = 0.0 * gradients.stop_gradient(self._normaliser(before, high))
    return found + nothing
