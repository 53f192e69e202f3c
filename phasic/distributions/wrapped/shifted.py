"""Distributions with a fixed delay."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import math
from typing import ClassVar, Self

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.base import declared
from phasic.distributions.base import hooks
from phasic.distributions.base import method_results
from phasic.distributions.base import observed_events
from phasic.distributions.base import samples
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.wrapped import truncated_statistics
from phasic.distributions.wrapped import wrapped_distribution
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, SanitizedSeed
from phasic.math.model import value_checks
from phasic.math.model import value_rules
from phasic.math.model.value_rules import check
from phasic.math.quadrature import quadrature_points
from phasic.math.sampling import jump_chain


@structures.register
class Shifted(wrapped_distribution.HeldAround):
  """The distribution of X + d, with a fixed delay d; `dist + d` makes one.

  Its density at t is that of X at t - d, and an atom of X at zero is one at d.
  X may be any distribution of one number: a time until absorption, a matrix
  family, truncated or with epochs. A fixed delay is not of phase type, however
  many phases there are; so sums and extremes do not take it. Delays by Erlang
  stages are taken by all, but smear: see [delays](../how-to/delays.md).

  Where the texts of methods speak of time zero, it is time d here. Fits leave
  the delay as it is; `inference.maximize` of a log likelihood fits it too.
  Entropy and divergences of two with the same delay are those of the X's.

  Example: a service takes at least half an hour.

    >>> from phasic.distributions import Erlang
    >>> dist = Erlang(2, 4.0) + 0.5
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.cdf(0.5)):.6f}")
    1.000000, 0.000000
    >>> print(f"{float(dist.prob(0.75)):.6f}")
    1.471518

  References:
    J. P. Klein, M. L. Moeschberger, Survival analysis, 2003, sec. 2.5.
  """

  distribution: comparable.Comparable = declared.static(  # type: ignore[assignment]
    "the distribution of X, of one number."
  )
  delay: declared.Required = declared.array(
    0,
    "nonnegative",
    "d, (...), >= 0 and finite, in discrete time a whole number; its shape "
    "broadcasts with the batch of the distribution.",
    fitted=False,
    jumps=True,
  )

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {"distribution": 1, "delay": 1}
  _WRAPS = comparable.Comparable
  _WRAPPED_RULE = "a distribution of one number"

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters, see `Parameterized`."""
    super()._keep(parameters)
    self._batch_shape()
    self._check_values(self._delay)

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    delay = known["delay"]
    good = (delay >= 0) & (delay < math.inf)
    if self._is_whole():
      good = good & (onp.floor(delay) == delay)
    return bool(onp.all(good))

  def _delay(self) -> Array:
    """Returns d; if it breaks its rule it raises with `validate_args`, or is NaN."""
    delay = self._arrays()["delay"]
    good, rule = (delay >= 0) & (delay < math.inf), "it must be >= 0 and finite"
    if self._is_whole():
      good, rule = good & (np.floor(delay) == delay), value_rules.COUNT.text
    if self.validate_args:
      return check("delay", delay, good, rule)
    return np.where(good, delay, math.nan)

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not."""
    value = self._converted(value)
    delay = self._delay()
    bad = onp.isnan(comparable.host(delay))
    delay = np.where(np.isnan(delay), 0.0, delay)
    inner = self.distribution._reasons(value - delay, method)
    lost = onp.logical_and(bad, inner == "ok")
    rule = value_rules.COUNT if self._is_whole() else value_rules.TIME
    reasons = onp.where(lost, f"delay: {rule.text}", inner)
    return comparable.where_unknown(getattr(self, f"_{method}")(value), reasons)

  def _late(self) -> onp.ndarray:
    delay = comparable.host(self._delay())
    return self.distribution._late() + onp.where(onp.isnan(delay), 0.0, delay)

  def _log_prob(self, value: Array) -> Array:
    return self.distribution._log_prob(value - self._delay())

  def _prob(self, value: Array) -> Array:
    return self.distribution._prob(value - self._delay())

  def _log_cdf(self, value: Array) -> Array:
    return self.distribution._log_cdf(value - self._delay())

  def _cdf(self, value: Array) -> Array:
    return self.distribution._cdf(value - self._delay())

  def _log_survival_function(self, value: Array) -> Array:
    return self.distribution._log_survival_function(value - self._delay())

  def _survival_function(self, value: Array) -> Array:
    return self.distribution._survival_function(value - self._delay())

  def _hazard_function(self, value: Array) -> Array:
    return self.distribution._hazard_function(value - self._delay())

  def _log_hazard_function(self, value: Array) -> Array:
    return self.distribution._log_hazard_function(value - self._delay())

  def _cumulative_hazard(self, value: Array) -> Array:
    return self.distribution._cumulative_hazard(value - self._delay())

  def _quantile(self, value: Array) -> Array:
    return self._delay() + self.distribution._quantile(value)

  def _quantile_log_cdf(self, value: Array) -> Array:
    return self._delay() + self.distribution._quantile_log_cdf(value)

  def _quantile_log_survival(self, value: Array) -> Array:
    return self._delay() + self.distribution._quantile_log_survival(value)

  def _mean(self) -> Array:
    return self._delay() + self.distribution._mean()

  def _variance(self) -> Array:
    return self.distribution._variance() + 0.0 * self._delay()

  def _stddev(self) -> Array:
    return self.distribution._stddev() + 0.0 * self._delay()

  def _moment(self, k: int) -> Array:
    moments = [self.distribution._moment(j) for j in range(1, k + 1)]
    rest = np.stack(moments, axis=-1)
    return truncated_statistics.shifted_moment(k, self._delay(), rest)

  def _mode(self) -> Array:
    return self._delay() + self.distribution._mode()

  def _entropy(self) -> Array:
    return self.distribution._entropy() + 0.0 * self._delay()

  def _laplace_transform(self, u: Array) -> Array:
    return np.exp(-u * self._delay()) * self.distribution._laplace_transform(u)

  def _moment_generating_function(self, s: Array) -> Array:
    inner = self.distribution._moment_generating_function(s)
    with onp.errstate(over="ignore"):  # It may be beyond the range of numbers.
      return np.exp(s * self._delay()) * inner

  def _probability_generating_function(self, z: Array) -> Array:
    if not self._is_whole():
      return super()._probability_generating_function(z)
    inner = self.distribution._probability_generating_function(z)
    return z ** self._delay() * inner

  def _limited_expected_value(self, value: Array) -> Array:
    delay = self._delay()
    later = np.maximum(value - delay, 0.0)
    least = np.minimum(value, delay)
    inner = self.distribution._limited_expected_value(later)
    return np.where(self._is_value(value), least + inner, math.nan)

  def _mean_residual_life(self, value: Array) -> Array:
    delay = self._delay()
    before = value < delay
    since = np.where(before, 0.0, value - delay)
    after = self.distribution._mean_residual_life(since)
    first = delay - value + self.distribution._mean()
    result = np.where(before, first, after)
    return np.where(self._is_value(value), result, math.nan)

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    # X is sampled for the whole batch, so that samples are independent.
    whole = self.distribution._sliced(..., self._batch_shape())
    drawn = self._delay() + whole._sample_n(n, seed)
    if (
      self.distribution.reparameterization_type == samples.FULLY_REPARAMETERIZED
    ):
      return drawn
    return jump_chain.without_derivatives(drawn, *self._arrays().values())

  @property
  def reparameterization_type(self) -> samples.ReparameterizationType:
    """Whether samples can be differentiated, as samples of X."""
    return self.distribution.reparameterization_type

  def _support(self) -> samples.Support:
    inner, delay = self.distribution._support(), self._delay()
    low = delay if inner.low is None else inner.low + delay
    high = None if inner.high is None else inner.high + delay
    return dataclasses.replace(inner, low=low, high=high)

  def _check_value(self, value: Array) -> Array:
    if self._is_whole():
      value = value_checks.check_counts(value)
    else:
      value = value_checks.check_times(value)
    delay = self._delay()
    value = value + np.zeros_like(delay)
    return check("value", value, value >= delay, "it must be >= delay")

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    delay = self._delay()
    points = self.distribution._nodes(batch)
    # An atom at d is among no other distribution's atoms, which are at zero.
    atom = (points.log_atom > -math.inf) & (delay > 0.0)
    bad = structures.cast(
      np.where(atom, math.nan, 0.0 * delay), points.masses.dtype
    )
    return points._replace(
      values=points.values + delay, masses=points.masses + bad
    )

  def _jumps(self) -> Array | None:
    jumps = self.distribution._jumps()
    return None if jumps is None else jumps + self._delay()[..., None]

  def _refined(self, other: comparable.Comparable, jumps: Array) -> Self:
    jumps = np.maximum(jumps - self._delay()[..., None], 0.0)
    return self.copy(distribution=self.distribution._refined(other, jumps))

  def __add__(self, delay: ArrayLike) -> comparable.Comparable:
    if isinstance(delay, hooks.Hooks):
      return super().__add__(delay)
    return self.copy(
      delay=self._arrays()["delay"] + self._as_array(delay, "delay")
    )

  __radd__ = __add__

  def _undelayed(self) -> tuple[comparable.Comparable, Array]:
    """Returns X, which is not delayed itself, and the whole delay."""
    if not isinstance(self.distribution, Shifted):
      return self.distribution, self._delay()
    inner, delay = self.distribution._undelayed()
    return inner, self._delay() + delay

  def _densities(
    self, other: comparable.Comparable
  ) -> tuple[quadrature_points.QuadraturePoints, Array, Array]:
    if not isinstance(other, Shifted):
      return super()._densities(other)
    # The difference of both delays is added to times of X: a sum with a delay
    # would lose the digits of early times.
    (inner, delay), (second, before) = self._undelayed(), other._undelayed()
    later, jumps = delay - before, second._jumps()
    if jumps is not None:
      jumps = np.maximum(jumps - later[..., None], 0.0)
      inner = inner._refined(second, jumps)
    shapes = (self._batch_shape(), other._batch_shape())
    nodes = inner._nodes(static.broadcast_shapes(*shapes))
    log_prob = comparable.known_log_prob(second, nodes.values + later)
    zero = np.zeros((), dtype=self.dtype)
    at_zero = structures.cast(second._log_cdf(zero), static.wide_float())
    return nodes, log_prob, np.where(later == 0.0, at_zero, -math.inf)

  def _em_update(
    self,
    lower: Array,
    upper: Array | None,
    weights: Array | None,
    entry: Array | None,
    cause: Array | None,
  ) -> Self | None:
    updated = self.distribution._em_update(
      self._earlier(lower),
      None if upper is None else self._earlier(upper, lower),
      weights,
      None if entry is None else self._earlier(entry),
      cause,
    )
    return None if updated is None else self.copy(distribution=updated)

  def _causes(self) -> tuple[str | None, ...] | None:
    return self.distribution._causes()

  def _for_one_call(self) -> Self:
    return self.copy(distribution=self.distribution._for_one_call())

  def _log_observed(self, lower: Array, upper: Array) -> Array | None:
    return self.distribution._log_observed(
      self._earlier(lower), self._earlier(upper, lower)
    )

  def _log_observed_by(
    self, lower: Array, upper: Array, cause: str | None
  ) -> Array:
    return self.distribution._log_observed_by(
      self._earlier(lower), self._earlier(upper, lower), cause
    )

  def _chain_events(
    self, lower: Array, upper: Array | None, entry: Array | None
  ) -> observed_events.ChainEvents | None:
    return self.distribution._chain_events(
      self._earlier(lower),
      None if upper is None else self._earlier(upper, lower),
      None if entry is None else self._earlier(entry),
    )

  def _earlier(self, time: Array, lower: Array | None = None) -> Array:
    """Returns a time of observations in the time of X.

    Args:
      time: (..., n).
      lower: the lower ends of intervals that end at the time: where rounding
        makes both equal, the result is NaN, as equal ends are an exact time.
    """
    delay = self._delay()
    delay = delay[..., None] if static.shape(delay) else delay
    since = time - delay
    if lower is None:
      return since
    lost = (since == lower - delay) & (time != lower)
    return np.where(lost, math.nan, since)


@method_results.register_kl(Shifted, Shifted)
def kl_divergence(p: Shifted, q: Shifted) -> Array:
  """Computes KL(p, q); with one delay it is that of the wrapped ones."""
  comparable.check_same_kind("kl_divergence", p, q)
  if not _have_one_delay(p, q):
    return comparable.kl_divergence(p, q)
  divergence = p.distribution.kl_divergence(q.distribution)
  batch = static.broadcast_shapes(p._batch_shape(), q._batch_shape())
  return np.broadcast_to(divergence, batch)


def _have_one_delay(p: Shifted, q: Shifted) -> bool:
  """Returns whether two delays are known to be equal, and are constants."""
  delays = static.concrete(p._delay()), static.concrete(q._delay())
  if delays[0] is None or delays[1] is None:
    return False
  return bool(onp.all(delays[0] == delays[1]))
