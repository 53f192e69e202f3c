"""Mean, moments, mode and hazard of a truncated phase-type variable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import math

import numpy as np
import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import kept_chain
from phasic.distributions.wrapped import residual_life
from phasic.distributions.wrapped import wrapped_distribution
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.math.likelihood import hazards
from phasic.math.model.model_types import Model
from phasic.math.moments import truncated_moments
from phasic.math.quadrature import numerical_distributions


class TruncatedStatistics(wrapped_distribution.HeldAround):
  """The base class with the statistics of X given low <= X <= high.

  With R, the residual life of X at the lower bound, they are those of R given
  R <= high - low, of which nothing is subtracted: see `math.truncated_moments`.

  A subclass has `_bounds` and `_normalizer`.
  """

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters, see `Parameterized`."""
    super()._keep(parameters)
    self._batch_shape()
    self._check_values(self._bounds)

  def _bounds(self) -> tuple[Array, Array, Array]:
    """Returns `low`, the largest value `before` it, and `high`, as arrays."""
    raise NotImplementedError

  def _limit(self, low: Array, high: Array) -> Array:
    """Returns the upper bound, or inf where P(X > high) is negligible."""
    wrapped = self.distribution
    return numerical_distributions.settled(
      wrapped._model(), np.maximum(low, 0.0), high, wrapped._DISCRETE
    )

  def _normalizer(self, before: Array, high: Array) -> Array:
    """Computes log P(before < X <= high), NaN where the probability is 0."""
    raise NotImplementedError

  def _mean(self) -> Array:
    return self._mean_between(*self._bounds()[1:], lambda x, rest: x + rest)

  def _mean_between(
    self,
    before: Array,
    high: Array,
    shifted: Callable[[Array, Array], Array],
  ) -> Array:
    """Computes a statistic from E[X - before | before < X <= high]."""
    return self._from_residual_life(
      lambda dist: dist._mean(),
      lambda model, limit, discrete: truncated_moments.raw_moments(
        model, limit, 1, discrete
      )[..., 0],
      shifted,
      (before, high),
    )

  def _log_share(
    self, lower: Array, upper: Array, before: Array, high: Array
  ) -> Array:
    """Computes log P(lower < X <= upper | before < X <= high)."""
    raise NotImplementedError

  def _limited_expected_value(self, value: Array) -> Array:
    low, before, high = self._bounds()
    inside = (value > np.maximum(before, 0.0)) & (value < high)
    some = np.where(inside, value, high)
    ended = self._mean_between(before, some, lambda x, rest: x + rest)
    share = np.exp(self._log_share(before, some, before, high))
    left = np.exp(self._log_share(some, high, before, high))
    # At and above the upper bound nothing is left, and all has ended.
    least = np.where(value < high, value, 0.0)
    result = np.where(share > 0.0, share * ended, 0.0) + least * left
    result = np.where((value < high) & np.logical_not(inside), value, result)
    good = self._is_value(value) & (low == low)
    return np.where(good, result, math.nan)

  def _mean_residual_life(self, value: Array) -> Array:
    _, before, high = self._bounds()
    good = self._is_value(value) & (value < high)
    after = np.maximum(before, np.where(good, value, 0.0))
    # The time up to the lower bound is added.
    wait = np.where(after > value, after - value, 0.0)
    left = self._mean_between(after, high, lambda x, rest: rest + 0.0 * x)
    return np.where(good, wait + left, math.nan)

  def _variance(self) -> Array:
    return self._from_residual_life(
      lambda dist: dist._variance(),
      lambda *args: truncated_moments.mean_and_variance(*args)[1],
      lambda shift, variance: variance + np.zeros_like(shift),
    )

  def _stddev(self) -> Array:
    return self._from_residual_life(
      lambda dist: dist._stddev(),
      lambda *args: np.sqrt(truncated_moments.mean_and_variance(*args)[1]),
      lambda shift, stddev: stddev + np.zeros_like(shift),
    )

  def _moment(self, k: int) -> Array:
    return self._from_residual_life(
      lambda dist: dist._raw_moments(k),
      lambda model, limit, discrete: truncated_moments.raw_moments(
        model, limit, k, discrete
      ),
      functools.partial(shifted_moment, k),
    )

  def _from_residual_life(
    self,
    whole: Callable[[absorption_time.AbsorptionTime], Array],
    limited: Callable[[Model, Array, bool], Array],
    shifted: Callable[[Array, Array], Array],
    bounds: tuple[Array, Array] | None = None,
  ) -> Array:
    """Computes a statistic from the residual life after the lower bound.

    Args:
      whole: its function of a distribution without an upper bound.
      limited: its function of a model, a limit, and whether time is discrete.
      shifted: the statistic of X plus a number, from the number and the
        statistic of X.
      bounds: the largest value below the interval, and its upper bound; None
        for those of this distribution.
    """
    before, high = self._bounds()[1:] if bounds is None else bounds
    shift = np.maximum(before, 0.0)
    high = self._limit(shift, high)
    with user_warnings.derived():
      residual = residual_life.ResidualLife(self.distribution, shift)
    known = static.concrete(high)
    bounded = known is None or bool(onp.any(known < math.inf))
    endless = known is None or bool(onp.any(known == math.inf))
    statistic: Array | float = math.nan
    if endless:
      beyond = shifted(shift, whole(residual))
      none = np.zeros_like(shift)
      statistic = np.where(
        before < 0, shifted(none, whole(self.distribution)), beyond
      )
    if bounded:
      inside = high < math.inf
      limit = np.where(inside, high, shift + 1.0) - shift
      model = self._started(before, residual)
      within = limited(model, limit, self.distribution._DISCRETE)
      statistic = np.where(inside, shifted(shift, within), statistic)
    # The shift is NaN where bounds are invalid: the product makes results NaN.
    nothing = 0.0 * autodiff.stop_gradient(shift)
    return statistic + nothing

  def _started(
    self, before: Array, residual: residual_life.ResidualLife
  ) -> Model:
    """Returns the residual life's chain, or X's chain where `low` is zero."""
    first, matrix, exits, _ = self.distribution._model()
    start = residual._model()[0]
    atom = kept_chain.mass_at_zero(self.distribution)
    whole = before < 0
    return (
      np.where(whole[..., None], first, start),
      matrix,
      exits,
      np.where(whole, atom, np.zeros_like(atom)),
    )

  def _mode(self) -> Array:
    """Returns the mode of X, clipped to the bounds; X is unimodal."""
    low, before, high = self._bounds()
    first, last = low, high
    if self.distribution._DISCRETE:
      first, last = before + 1.0, np.floor(high)
    mode = np.minimum(np.maximum(self.distribution._mode(), first), last)
    # The product is NaN where the interval has probability zero.
    nothing = 0.0 * autodiff.stop_gradient(self._normalizer(before, high))
    return mode + nothing

  def _log_hazard_function(self, value: Array) -> Array:
    low, before, high = self._bounds()
    discrete = self.distribution._DISCRETE
    # The discrete hazard at k divides by P(N >= k), which includes k = high.
    ended = (value - 1.0 if discrete else value) >= high
    ended = ended | (value == math.inf)
    inside = (value >= low) & np.logical_not(ended)
    model = self.distribution._model()
    some = np.where(inside, value, low)
    last = self._limit(some, high)
    log_hazard = hazards.log_hazard_below(model, some, last, discrete)
    log_hazard = np.where(value < low, -math.inf, log_hazard)
    unknown = np.isnan(value) | np.isnan(self._normalizer(before, high))
    return np.where(ended | unknown, math.nan, log_hazard)


def shifted_moment(k: int, shift: Array, rest: Array) -> Array:
  """Computes E (shift + X)^k from E X, ..., E X^k, (..., k)."""
  # All terms are nonnegative, so the result is inf if E X is inf.
  endless = rest[..., 0] == math.inf
  total: Array | float = 1.0
  for j in range(1, k + 1):
    term = math.comb(k, j) * np.where(endless, 0.0, rest[..., j - 1])
    total = total * shift + term
  return np.where(endless, math.inf, total)
