"""Phase-type distributions truncated to an interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import math
from typing import ClassVar

import numpy as np
import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import comparable
from phasic.distributions.absorption import discrete_phase_type
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import declared
from phasic.distributions.base import observed_events
from phasic.distributions.base import samples
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.wrapped import residual_life
from phasic.distributions.wrapped import truncated_statistics
from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike, SanitizedSeed
from phasic.math.likelihood import interval_probs
from phasic.math.model import value_checks
from phasic.math.model.value_rules import check
from phasic.math.numeric import array_utils
from phasic.math.numeric import special
from phasic.math.quadrature import quadrature_points
from phasic.math.sampling import jump_chain


@structures.register
class TruncatedPhaseType(truncated_statistics.TruncatedStatistics):
  """The distribution of X given low <= X <= high, for X of phase type.

  With Z = P(low <= X <= high) its log density is log f(x) - log Z between the
  bounds. Masses of intervals are accurate to their own size, also far in a
  tail: no distribution functions are subtracted. Logarithms are differences,
  with absolute errors of some eps |log Z|: density, distribution and survival
  function are NaN where less than six digits are left (three in float32), for
  |log Z| above 2.8e8 (8.4e3). `ResidualLife` has all digits there.

  Results are NaN where Z is zero. Mean, variance and moments are exact, without
  a subtraction: those of the residual life of X, and below an upper bound integrals
  of its density, from a chain of two or three times its phases (for a moment of
  order k of k + 1 times as many).

  Example: a lifetime that was recorded because it ended in the study.

    >>> from phasic.distributions import Erlang, TruncatedPhaseType
    >>> dist = TruncatedPhaseType(Erlang(2, 1.0), 1.0, 3.0)
    >>> print(f"{float(dist.prob(2.0)):.6f}, {float(dist.cdf(2.0)):.6f}")
    0.504408, 0.614511

  References:
    J. P. Klein, M. L. Moeschberger, Survival analysis, 2003, ch. 3.4.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "distribution": 1,
    "low": 1,
    "high": 1,
  }

  low: declared.Required = declared.array(
    0,
    "nonnegative",
    "(...), the lower bound, >= 0 and finite; its shape broadcasts with the "
    "batch of the distribution. An atom at zero counts where it is zero. "
    "Nothing is cut off there, so that derivatives in a bound of zero are "
    "zero.",
    default=0.0,
    fitted=False,
    jumps=True,
  )
  high: declared.Optional = declared.array(
    0,
    "nonnegative",
    "(...), the upper bound, above low; inf for none, as None for all. In "
    "discrete time both are whole numbers, and may be the same; in "
    "continuous time both may be zero, where an atom is all that is left. "
    "Where bounds break a rule results are NaN.",
    default=None,
    fitted=False,
    jumps=True,
  )

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    low, high = known["low"], known["high"]
    high = math.inf if high is None else high
    ordered = (high > low) | ((low == 0) & (high == 0))
    good = (low >= 0) & (low < math.inf)
    if self.distribution._DISCRETE:
      ordered = (high >= low) & (onp.floor(high) == high)
      good = good & (onp.floor(low) == low)
    return bool(onp.all(good & ordered))

  def _bounds(self) -> tuple[Array, Array, Array]:
    """Returns `low`, the largest value `before` it, and `high`, as arrays.

    In continuous time `before` is `low`, or negative if `low` is zero. Bounds
    that break a rule raise with `validate_args`, else they are NaN.
    """
    arrays = self._arrays()
    low, high = arrays["low"], arrays["high"]
    high = np.zeros_like(low) + (math.inf if high is None else high)
    low = low + np.zeros_like(high)
    discrete = self.distribution._DISCRETE
    good = (low >= 0) & (low < math.inf)
    if discrete:
      good = good & (np.floor(low) == low)
      ordered = (high >= low) & (np.floor(high) == high)
    else:
      # Equal bounds have no mass between them, except at zero with an atom.
      ordered = (high > low) | ((low == 0) & (high == 0))
    if self.validate_args:
      kind, above = ("an integer", ">=") if discrete else ("a number", ">")
      low = check("low", low, good, f"it must be {kind} >= 0, and finite")
      rule = f"it must be {kind} {above} low, or inf"
      high = check("high", high, ordered, rule)
    else:
      low = np.where(good & ordered, low, math.nan)
      high = np.where(good & ordered, high, math.nan)
    if discrete:
      return low, low - 1.0, high
    return low, np.where(low <= 0, -1.0, low), high

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not.

    It is the reason of X, or that nothing is known to be in the interval.
    """
    value = self._converted(value)
    reasons = self.distribution._reasons(value, method)
    _, before, high = self._bounds()
    whole = self._normalizer(before, high)
    far = special.log_conditional(whole, whole)
    for lost, why in (
      (whole, "low, high: no mass is known to be between them"),
      (far, "low, high: so little mass is between them that digits are lost"),
    ):
      empty = onp.isnan(comparable.host(lost))
      reasons = onp.where(empty & (reasons == "ok"), why, reasons)
    return comparable.where_unknown(getattr(self, f"_{method}")(value), reasons)

  def _log_mass(self, lower: Array, upper: Array) -> Array:
    """Computes log P(lower < X <= upper)."""
    wrapped = self.distribution
    upper = self._limit(lower, upper)
    initial_probs, matrix, exits, prob_zero = wrapped._model()
    return interval_probs.log_interval_prob(
      initial_probs, matrix, lower, upper, exits, prob_zero, wrapped._DISCRETE
    )

  def _log_prob(self, value: Array) -> Array:
    low, before, high = self._bounds()
    outside = (value < low) | (value > high)
    # Values outside of the bounds are replaced by negative ones, where the
    # density of X is zero and has no derivatives.
    value = np.where(outside, -1.0 - np.abs(value), value)
    return special.log_conditional(
      self.distribution._log_prob(value), self._normalizer(before, high)
    )

  def _normalizer(self, before: Array, high: Array) -> Array:
    """Computes log P(before < X <= high), NaN where the probability is 0."""
    log_mass = self._log_mass(before, high)
    return np.where(log_mass == -math.inf, math.nan, log_mass)

  def _log_share(
    self, lower: Array, upper: Array, before: Array, high: Array
  ) -> Array:
    """Computes log P(lower < X <= upper | before < X <= high)."""
    log_share = special.log_conditional(
      self._log_mass(lower, upper), self._normalizer(before, high)
    )
    return array_utils.at_most(log_share, 0.0, math.inf)

  def _log_cdf(self, value: Array) -> Array:
    low, before, high = self._bounds()
    inside = (value >= low) & (value < high)
    within = np.where(inside, value, high)
    log_mass = self._log_share(before, within, before, high)
    log_cdf = np.where(value < low, -math.inf, log_mass)
    return np.where(np.isnan(value), math.nan, log_cdf)

  def _log_survival_function(self, value: Array) -> Array:
    low, before, high = self._bounds()
    inside = (value >= low) & (value < high)
    after = np.where(inside, value, before)
    log_mass = self._log_share(after, high, before, high)
    log_survival = np.where(value >= high, -math.inf, log_mass)
    return np.where(np.isnan(value), math.nan, log_survival)

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    low, before, high = self._bounds()
    discrete = self.distribution._DISCRETE
    first = np.maximum(before + 1.0 if discrete else low, 0.0)
    model = self._broadcast_model(batch)
    last = self._limit(first, high)
    return quadrature_points.interval_points(
      model, discrete, first, last, self._log_prob
    )

  def _support(self) -> samples.Support:
    low, _, high = self._bounds()
    whole = self.distribution._support()
    known = static.concrete(high)
    endless = self.high is None or (
      known is not None and bool(onp.all(known == math.inf))
    )
    bound = None if endless else high
    return dataclasses.replace(whole, low=low, high=bound)

  @property
  def reparameterization_type(self) -> samples.ReparameterizationType:
    """Whether samples can be differentiated in the parameters.

    They can if those of X can, or if X is continuous and the lower bound is
    known to be above zero, so that there is no atom. Else asking for a
    derivative raises NotImplementedError.
    """
    if self._is_reparameterized():
      return samples.FULLY_REPARAMETERIZED
    return samples.NOT_REPARAMETERIZED

  def _may_be_zero(self) -> bool:
    # A lower bound that is traced is assumed to be above zero.
    low = static.concrete(self._arrays()["low"])
    is_above = low is None or bool(onp.all(low > 0))
    return not is_above and super()._may_be_zero()

  def _is_reparameterized(self) -> bool:
    wrapped = self.distribution
    if wrapped._DISCRETE:
      return False
    if wrapped._is_reparameterized():
      return True
    low = static.concrete(self._arrays()["low"])
    return low is not None and bool(onp.all(low > 0))

  def _quantile(self, value: Array) -> Array:
    return self._inverse(*special.log_both(value))

  def _quantile_log_cdf(self, value: Array) -> Array:
    return self._inverse(value, special.log1mexp(value))

  def _quantile_log_survival(self, value: Array) -> Array:
    return self._inverse(special.log1mexp(value), value)

  def _inverse(self, log_cdf: Array, log_survival: Array) -> Array:
    """Computes the quantile, given both the log cdf and the log survival.

    With u for the distribution function, and R for the residual life of X after the
    lower bound, it is R's where P(R <= x) = u P(R <= room), or P(R > x) =
    P(R > room) + (1 - u) P(R <= room): the smaller one has all its digits.
    """
    low, before, high = self._bounds()
    shift = np.maximum(before, 0.0)
    limit = self._limit(shift, high)
    left = self._left(before, shift)
    # Where nothing is truncated, the log of the truncated mass is -inf, which
    # has no derivative. Placeholders there keep derivatives finite.
    endless = limit == math.inf
    room = np.where(endless, 1.0, limit - shift)
    inside = np.where(endless, 0.0, left._log_cdf(room))
    inside = np.where(inside == -math.inf, math.nan, inside)
    beyond = np.where(endless, -math.inf, left._log_survival_function(room))
    below = log_cdf + inside
    above = special.logaddexp(beyond, log_survival + inside)
    is_low = below < above
    x = shift + np.where(
      is_low,
      left._quantile_log_cdf(np.where(is_low, below, -1.0)),
      left._quantile_log_survival(np.where(is_low, -1.0, above)),
    )
    x = np.minimum(np.maximum(x, low), high)
    # A value above zero is not a log probability. If log_cdf or log_survival is
    # above zero, the other one is NaN, and the quantile must be NaN.
    unknown = np.isnan(log_cdf) | np.isnan(log_survival)
    return np.where(unknown, math.nan, x)

  def _left(
    self, before: Array, shift: Array
  ) -> absorption_time.AbsorptionTime:
    """Returns the law of X - shift given X > before."""
    family: Callable[..., absorption_time.AbsorptionTime] = phase_type.PhaseType
    if self.distribution._DISCRETE:
      family = discrete_phase_type.DiscretePhaseType
    with user_warnings.derived():
      residual = residual_life.ResidualLife(self.distribution, shift)
      start, matrix, exits, atom = self._started(before, residual)
      return family(start, matrix, exits, atom)

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    shape = (n, *self._batch_shape())
    if isinstance(n, int) and n == 0:
      return np.zeros(shape, dtype=self.dtype)
    coin_seed, depth_seed = random.split_seed(seed)
    coin = random.uniform(coin_seed, shape, self.dtype)
    depth = random.exponential(depth_seed, shape, self.dtype)
    # One of the two tails is chosen, each with probability 1/2. Then a log
    # probability below log(1/2) is drawn: of the cdf in the lower tail, of the
    # survival function in the upper tail. So samples have full precision in
    # both tails.
    small = -math.log(2) - depth
    large = special.log1mexp(small)
    below = coin < 0.5
    x = self._inverse(
      np.where(below, small, large), np.where(below, large, small)
    )
    if self._is_reparameterized():
      return x
    return jump_chain.without_derivatives(x, *self._arrays().values())

  def _check_value(self, value: Array) -> Array:
    if self.distribution._DISCRETE:
      value = value_checks.check_counts(value)
    else:
      value = value_checks.check_times(value)
    low, _, high = self._bounds()
    value = value + np.zeros_like(low)
    good = (value >= low) & (value <= high)
    return check("value", value, good, "it must be in [low, high]")

  def _chain_events(
    self, lower: Array, upper: Array | None, entry: Array | None
  ) -> observed_events.ChainEvents:
    # With delayed entry an observation is conditional on X > entry, too. Then
    # the probability of the bounds alone cancels.
    _, before, high = self._bounds()
    upper = lower if upper is None else upper
    if not static.shape(before):
      before, high = np.reshape(before, (1,)), np.reshape(high, (1,))
    after = before if entry is None else np.maximum(before, entry)
    high = high + np.zeros_like(after)
    lower, upper, offset = observed_events.cut(lower, upper, after, high)
    return observed_events.ChainEvents(
      self.distribution, lower, upper, (after, high), offset, True
    )
