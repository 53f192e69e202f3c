"""Densities, quantiles and samples of a phase type after a time change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math

import numpy as np
import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import comparable
from phasic.distributions.absorption import kept_chain
from phasic.distributions.base import declared
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import samples
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.wrapped import far_times
from phasic.distributions.wrapped import wrapped_distribution
from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike, SanitizedSeed
from phasic.math.elimination import chain_solves
from phasic.math.model import value_checks
from phasic.math.numeric import array_utils
from phasic.math.quadrature import numerical_distributions
from phasic.math.sampling import jump_chain

_FAR = 2.0**100
# A placeholder value at which h has finite derivatives: a time before zero.
_NEAR = -(2.0**-100)


class TransformedTimes(wrapped_distribution.HeldAround):
  """The base class with the densities, quantiles and samples of Y = g(X)."""

  distribution: absorption_time.AbsorptionTime = declared.static(
    "the distribution of X, of phase type in continuous time."
  )

  _TAKES_DISCRETE = False

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters, see `Parameterized`."""
    super()._keep(parameters)
    self._batch_shape()
    self._check_values(self._own)

  def _forward(self, x: Array) -> Array:
    """Computes g(x) for x >= 0, the change from X to Y."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _forward"
    )

  def _inverse(self, y: Array) -> Array:
    """Computes h(y) for y >= 0, the inverse of g."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _inverse"
    )

  def _log_slope(self, y: Array) -> Array:
    """Computes log h'(y) for y >= 0, h the inverse of g."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _log_slope"
    )

  def _log_inverse(self, y: Array) -> Array:
    """Computes log h(y) for y > 0, also where h(y) is out of range.

    By default it is the logarithm of h(y): where that underflows or overflows,
    values are NaN.
    """
    with onp.errstate(divide="ignore"):
      return np.log(self._inverted(y))

  def _forwarded(self, x: Array) -> Array:
    """Computes g(x); on overflow it is inf, without a warning."""
    with onp.errstate(over="ignore"):
      return self._forward(x)

  def _inverted(self, y: Array) -> Array:
    """Computes h(y), the inverse of g; on overflow inf, without a warning."""
    with onp.errstate(over="ignore"):
      return self._inverse(y)

  def _exponent(self) -> Array | float:
    """Returns b > 0 where h(y) grows like y^b near zero; 0 if not known."""
    return 0.0

  def _inverse_at_zero(self, y: Array) -> Array:
    """Returns h(y) at y = 0, which is zero, with its derivative; see `_exponent`.

    The derivative is zero, one, or inf for exponents below one. There the slope
    of the cdf is inf times the density of X at zero, f(0). With f(0) = 0 it is
    zero for exponents above 1/2, and for others the derivative is NaN.

    Args:
      y: (...); results are used where it is zero.
    """
    known = static.concrete(y)
    if known is not None and not onp.any(known == 0.0):
      return np.zeros_like(y)
    exponent = self._exponent()
    may_end = numerical_distributions.ends_at_once(self.distribution._chain())
    steep = (exponent < 1.0) & (may_end | (exponent <= 0.5)) & (y <= 0.0)
    linear = np.where(y <= 0.0, y, 0.0)
    linear = np.where(exponent == 1.0, linear, 0.0 * linear)
    # The power 0.5 replaces a square root, because in TensorFlow a product with
    # a square root's derivative may be zero where it must be inf.
    return np.where(steep, np.where(steep, y, 1.0) ** 0.5, linear)

  def _time(self, value: Array) -> Array:
    """Computes h(y), the inverse of g at y; a negative number for y < 0.

    This number is -h(u) for some u in (0, 1). At negative times, log densities
    are -inf without derivatives, and the cdf is zero with derivatives zero.
    """
    below = value < 0
    early = np.maximum(np.where(below, value, -1.0), -_FAR)
    x = self._inverted(np.where(below, early / (early - 1.0), value))
    lost = (value != 0) & (x < far_times.TINY[self.dtype])
    lost = lost | ((value < math.inf) & (x == math.inf))
    before = np.where(lost, -1.0, -x)
    return np.where(below, before, np.where(lost, math.nan, x))

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not.

    It is the reason of X at h(value), a bad parameter or that h(value) is
    no normal number.
    """
    y = self._converted(value)
    x = self._time(y)
    reasons = self.distribution._reasons(x, method)
    lost = onp.isnan(comparable.host(x)) & ~onp.isnan(comparable.host(y))
    reasons = onp.where(lost, "value: its time h(value) is not normal", reasons)
    # The density of Y is the density of X at h(value), times the slope of h. At
    # zero that may be zero times infinity.
    product = (comparable.host(y) == 0.0) & (reasons == "ok")
    why = "value: the density at zero is zero times infinity"
    reasons = onp.where(product, why, reasons)
    for name, given in self._arrays().items():
      good = comparable.host(given) > 0
      reasons = onp.where(good, reasons, f"{name}: it must be > 0")
    return comparable.where_unknown(getattr(self, f"_{method}")(y), reasons)

  def _log_prob(self, value: Array) -> Array:
    at_atom = (value <= 0) & (kept_chain.mass_at_zero(self.distribution) > 0)
    function = self.distribution._log_prob
    log_density = self._at_time(function, value, lambda logs: logs.log_prob)
    # The mass of an atom is not a density: it has no factor h'.
    return np.where(at_atom, log_density, self._sloped(log_density, value))

  def _log_hazard_function(self, value: Array) -> Array:
    def late(last: Array, places: far_times.Places) -> Array:
      left = self.distribution._log_survival_function(places.latest)
      # In the tail, where the log survival function is linear, the hazard is
      # constant.
      return np.where(far_times.is_linear(left), last, math.nan)

    function = self.distribution._log_hazard_function
    return self._sloped(
      self._at_time(function, value, lambda logs: logs.log_hazard(), late),
      value,
    )

  def _sloped(self, logs: Array, value: Array) -> Array:
    """Converts a log density or log hazard of X to one of Y: adds log h'."""
    smooth = (value >= 0) & (value < math.inf)
    slope = self._log_slope(np.where(smooth, value, 1.0))
    slope = np.where(smooth, slope, 0.0)
    unknown = (slope == math.inf) & (logs == -math.inf)
    if array_utils.are_true(np.logical_not(unknown)):
      return logs + slope
    # Here the density of X is zero at zero, and grows at least linearly. So
    # with an exponent above 1/2 the density of Y is zero at zero, too.
    slope = np.where(unknown & (self._exponent() > 0.5), 0.0, slope)
    unknown = unknown & (slope == math.inf)
    return logs + np.where(unknown, math.nan, slope)

  def _cdf(self, value: Array) -> Array:
    function, eps = self.distribution._cdf, static.finfo_eps(self.dtype)
    return self._settled(function, value, lambda logs: logs.cdf(), 1, 8 * eps)

  def _log_cdf(self, value: Array) -> Array:
    function, eps = self.distribution._log_cdf, static.finfo_eps(self.dtype)
    return self._settled(
      function, value, lambda logs: logs.log_cdf(), 0, 8 * eps
    )

  def _survival_function(self, value: Array) -> Array:
    function = self.distribution._survival_function
    return self._settled(
      function, value, lambda logs: np.exp(logs.log_survival()), 0
    )

  def _log_survival_function(self, value: Array) -> Array:
    function = self.distribution._log_survival_function
    return self._at_time(function, value, lambda logs: logs.log_survival())

  def _settled(
    self,
    function: Callable[[Array], Array],
    value: Array,
    early: Callable[[far_times.EarlyLogs], Array],
    limit: int,
    slack: float = 0.0,
  ) -> Array:
    """Evaluates a monotone function of X, e.g. the cdf, at h(value).

    If it has reached its limit at a time, it has it at all later times. Rounding
    errors are at most `slack`.
    """

    def late(last: Array, places: far_times.Places) -> Array:
      del places
      reached = np.abs(last - limit) <= slack
      return np.where(reached, np.zeros_like(last) + limit, math.nan)

    return self._at_time(function, value, early, late, limit)

  def _at_time(
    self,
    function: Callable[[Array], Array],
    value: Array,
    early: Callable[[far_times.EarlyLogs], Array],
    late: Callable[[Array, far_times.Places], Array] | None = None,
    limit: float = math.nan,
  ) -> Array:
    """Evaluates a function of X at h(value), also at times out of range.

    Args:
      function: takes times of X.
      value: (...).
      early: computes the function at early times from logarithms there.
      late: computes it at late times from its values at times in range, which
        are the kernel's latest there; None if it is a logarithm that is linear
        in time.
      limit: the value at late times. The kernel may know it from a bound, which
        has no derivatives.
    """
    if static.concrete(value) is not None:
      values = function(self._time(value))
      known = static.concrete(values)
      if known is not None and not onp.any((known == limit) | onp.isnan(known)):
        return values
    usable = (value > 0) & (value < math.inf)
    log_time = self._log_inverse(np.where(usable, value, 1.0))
    latest = numerical_distributions.latest(self.distribution._chain())
    latest = array_utils.expanded(latest, self.distribution._batch_shape())
    places = far_times.places(value, log_time, latest)
    some = np.where(places.is_early | places.is_late, _NEAR, value)
    values = function(places.placed(self._time(some)))
    atom = kept_chain.mass_at_zero(self.distribution)
    logs = far_times.early_logs(self.distribution._log_prob, places, atom)
    if late is None:
      last = far_times.late_log(function, places)
    else:
      last = late(values, places)
    # Where the density is zero, X never ends, and values do not change with
    # time.
    last = np.where(logs.log_prob == -math.inf, values, last)
    return places.replaced(values, early(logs), last)

  def _quantile(self, value: Array) -> Array:
    return self._first(value, self.distribution._quantile(value))

  def _quantile_log_cdf(self, value: Array) -> Array:
    return self._forwarded(self.distribution._quantile_log_cdf(value))

  def _quantile_log_survival(self, value: Array) -> Array:
    x = self.distribution._quantile_log_survival(value)
    return self._first(value, x)

  def _first(self, value: Array, x: Array) -> Array:
    """Computes g(x) for quantiles x; where `value` is zero x may be as well.

    Unless there is an atom, x has no derivative in `value` then, and nor has
    g(x).
    """
    y, known = self._forwarded(x), static.concrete(value)
    if known is not None and not onp.any(known == 0.0):
      return y
    atom = kept_chain.mass_at_zero(self.distribution)
    first = (value == 0.0) & (x == 0.0) & np.logical_not(atom > 0.0)
    zero = np.where(first, value, 0.0)
    return y + chain_solves.undefined(first, zero[..., None])

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    # X is sampled for the whole batch of Y, so that samples are independent.
    whole = self.distribution._sliced(..., self._batch_shape())
    y = self._forwarded(whole._sample_n(n, seed))
    if self.distribution._is_reparameterized():
      return y
    return jump_chain.without_derivatives(y, *self._arrays().values())

  def _support(self) -> samples.Support:
    return samples.Support("nonnegative")

  @property
  def reparameterization_type(self) -> samples.ReparameterizationType:
    """Whether samples can be differentiated in the parameters, as samples of X.

    Else asking for a derivative raises NotImplementedError.
    """
    return self.distribution.reparameterization_type

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    # The parameters of a time change must be positive.
    positive = all(bool(onp.all(x > 0.0)) for x in known.values())
    return positive and super()._is_plausible(known)

  def _own(self) -> dict[str, ParameterValue]:
    """Returns parameters; raises for invalid ones, or replaces them by NaN."""
    arrays = self._arrays()
    if not self.validate_args:
      return {
        k: np.where((x > 0.0) & (x < math.inf), x, math.nan)
        for k, x in arrays.items()
      }
    return parameter_properties.check_parameters(
      arrays, self.parameter_properties()
    )

  def _check_value(self, value: Array) -> Array:
    return value_checks.check_times(value)
