"""Inhomogeneous phase-type distributions: phase types after a time change."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.absorption import kept_chain
from phasic.distributions.base import method_results
from phasic.distributions.base import observed_events
from phasic.distributions.wrapped import far_times
from phasic.distributions.wrapped import residual_life
from phasic.distributions.wrapped import transformed_times
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, Result
from phasic.math.model.model_types import Model
from phasic.math.quadrature import expectations
from phasic.math.quadrature import quadrature_points

MODE = "numpy"
_NO_MODE = (
  "it is not known whether the density has one maximum, except for an Erlang X "
  "and for a hyperexponential X where h' does not grow"
)


class TransformedPhaseType(transformed_times.TransformedTimes):
  """The distribution of Y = g(X), for increasing g with g(0) = 0.

  It is the time until absorption of a chain whose rates all vary alike with
  time, S h'(y) with h = g^-1:

      P(Y > y) = alpha exp(S h(y)) 1,  f(y) = h'(y) alpha exp(S h(y)) s.

  Its base measure is Lebesgue's on (0, inf) plus a unit mass at 0, as that of
  X; atoms stay what they are. A subclass has g, h, log h' and log g', and may
  have log h. Where h(y) underflows or is too late for the kernel, values follow
  from log h(y); they are NaN if that is not known, or if the tail of X is not
  yet that of its slowest phase.

  The entropy is that of X and E log g'(X), by quadrature; the divergence of two
  distributions with the same g is that of the X's.

  Mean, variance and moments are found by quadrature, to 1e-9 (float32: 1e-4) of
  themselves, or they are NaN; those that are infinite are inf.

  The mode is known where X is Erlang's (or has one phase), and is zero where X
  is hyperexponential and h' does not grow; else it raises NotImplementedError.

  A subclass has `dist * factor` if its `_TIME_POWERS` gives the power of time in
  the unit of each parameter by name, "distribution" among them: 1 of a time, -1
  of a rate, 0 of a pure number; {"distribution": 0.5} in the example.

  Example: the square of an exponential time, with P(Y > y) = exp(-sqrt(y)).

    >>> import numpy as np
    >>> from phasic.distributions import Erlang, TransformedPhaseType
    >>> class Square(TransformedPhaseType):
    ...   def _forward(self, x):
    ...     return x**2
    ...   def _inverse(self, y):
    ...     return np.sqrt(y)
    ...   def _log_slope(self, y):
    ...     return -np.log(2.0 * np.sqrt(y))
    >>> print(f"{float(Square(Erlang(1, 1.0)).survival_function(4.0)):.6f}")
    0.135335

  References:
    H. Albrecher, M. Bladt, Inhomogeneous phase-type distributions and heavy
      tails, J. Appl. Probab. 56, 2019.
  """

  # Whether g grows at most like a power, so that all moments exist.
  _GROWS_SLOWLY = False

  def _log_growth(self, x: Array) -> Array:
    """Computes log g'(x) for x > 0, g the change from X to Y."""
    return 0.0 - self._log_slope(self._forwarded(x))

  def _log_ratio(self, x: Array) -> Array:
    """Computes log(g(x) / c) for x > 0, c the scale, also if g(x) overflows."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _log_ratio"
    )

  def _nodes_of_moment(self, k: int) -> expectations.MomentQuadrature:
    """Returns a quadrature rule in X for E g(X)^k."""
    self._missing(
      "moments",
      "it is not known how fast g grows; _GROWS_SLOWLY = True in the class says "
      "that it is at most like a power",
    )

  def expected_sojourn_times(self) -> Result:
    """Computes the expected time in each phase on Y's clock, of shape (..., p).

    They are the integrals of g'(x) P(in phase j at x) over x, by quadrature. The
    relative error is below 1e-12, where g' is infinite at zero 1e-11 (float32:
    1e-5), or the result is NaN.

    Raises:
      NotImplementedError: g grows faster than a power, or X is not a chain.

    Example: two lineages in a population whose size was exp(-2 y) y units of time
      ago.

      >>> from phasic import graphs
      >>> from phasic.distributions import MatrixGompertz, PhaseType
      >>> pair = PhaseType.from_graph(graphs.models.kingman(2), [1.0])
      >>> dist = MatrixGompertz(pair, 2.0)
      >>> print(f"{float(dist.expected_sojourn_times()[0]):.6f}")
      0.461455
    """
    if not self._GROWS_SLOWLY:
      self._missing(
        "expected_sojourn_times", "g grows so fast that they may be infinite"
      )
    return self._statistic(
      "expected_sojourn_times",
      expectations.sojourn_times(self._batch_model(), self._log_growth),
    )

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    model = self._broadcast_model(batch)
    return quadrature_points.increasing_points(
      model, self._forwarded, self._log_growth
    )

  def _batch_model(self) -> Model:
    """Returns X's chain, broadcast to the batch shape."""
    return self._broadcast_model(self._batch_shape())

  def _mean(self) -> Array:
    if self._GROWS_SLOWLY:
      return self._mean_and_variance()[0]
    return self._moment(1)

  def _limited_expected_value(self, value: Array) -> Array:
    x = self._inverted(np.where(value > 0.0, value, 1.0))
    # If h(y) underflows nothing but the atom is before y.
    inside = (value > 0.0) & (x >= far_times.TINY[self.dtype])
    limit = np.where(inside, x, 1.0)
    ended = expectations.limited(
      self._batch_model(), limit, self._forwarded, self._GROWS_SLOWLY
    )
    some = np.where(inside, value, 0.0)
    mean = ended + some * self._survival_function(some)
    early = value * (1.0 - kept_chain.mass_at_zero(self.distribution))
    mean = np.where(inside, mean, early)
    return np.where((value >= 0.0) & (value < math.inf), mean, math.nan)

  def _mean_residual_life(self, value: Array) -> Array:
    # With R the residual life of X after h(y), it is the mean of the function
    # g(h(y) + R) - y, which is zero at zero.
    good = (value >= 0.0) & (value < math.inf)
    after = self._time(np.where(good, value, 1.0))
    with user_warnings.derived():
      residual = residual_life.ResidualLife(self.distribution, after)
      rest = self.copy(distribution=residual, validate_args=False)
    if self._GROWS_SLOWLY:
      nodes = expectations.all_times(rest._batch_model())
    else:
      nodes = rest._nodes_of_moment(1)
    # Where h(y) is near zero g' may be infinite, and the expectation is right.
    # Elsewhere the difference would lose digits.
    is_late = nodes.is_late(after)
    late = np.where(is_late, after, 1.0)
    integral = nodes.integral(self._log_growth(late + nodes.times))
    early = np.where(is_late, 0.0, after)
    gain = self._forwarded(early + nodes.times) - np.where(is_late, 0.0, value)
    with onp.errstate(divide="ignore"):
      mean = nodes.expected(np.log(np.maximum(gain, 0.0)))
    return np.where(good, np.where(is_late, integral, mean), math.nan)

  def _variance(self) -> Array:
    if self._GROWS_SLOWLY:
      return self._mean_and_variance()[1]
    # In this order the product does not underflow if the result is
    # representable.
    scale = self._scale()
    return scale * (scale * self._variance_of_ratio())

  def _stddev(self) -> Array:
    if self._GROWS_SLOWLY:
      return np.sqrt(self._mean_and_variance()[1])
    return self._scale() * np.sqrt(self._variance_of_ratio())

  def _mean_and_variance(self) -> tuple[Array, Array]:
    """Computes mean and variance by quadrature."""
    return expectations.mean_and_variance(self._batch_model(), self._forwarded)

  def _variance_of_ratio(self) -> Array:
    first, second = self._nodes_of_moment(1), self._nodes_of_moment(2)
    return second.variance(
      self._log_ratio(second.times),
      first.expected(self._log_ratio(first.times)),
    )

  def _scale(self) -> Array | float:
    """Returns the scale c of Y, or 1 if there is no such parameter."""
    return 1.0

  def _mode(self) -> Array:
    nothing: Array | float = 0.0  # Becomes NaN if a parameter is invalid.
    for x in self._own().values():
      nothing = nothing + 0.0 * x
    parts = self.distribution._erlang_parts()
    if parts is not None:
      count, rate = parts
      return self._mode_of_stages(count, rate) + (0.0 * rate + nothing)
    falls = np.logical_not(self._speeds_up())
    known = static.concrete(falls)
    if not self.distribution._FALLS or (
      known is not None and not onp.all(known)
    ):
      self._missing("mode", _NO_MODE)
    mode = self.distribution._mode() + nothing
    return np.where(falls, mode, math.nan)

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    """Computes the mode if X is the sum of `count` stages with one rate."""
    self._missing("mode", _NO_MODE)

  def _speeds_up(self) -> Array:
    """Returns whether h', h the inverse of g, increases somewhere, (...)."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _speeds_up"
    )

  def _moment(self, k: int) -> Array:
    if self._GROWS_SLOWLY:
      return expectations.raw_moment(self._batch_model(), self._forwarded, k)
    nodes = self._nodes_of_moment(k)
    moment = nodes.expected(float(k) * self._log_ratio(nodes.times))
    scale = self._scale()
    with onp.errstate(over="ignore"):
      for _ in range(k):
        moment = moment * scale
    return moment

  def _chain_events(
    self, lower: Array, upper: Array | None, entry: Array | None
  ) -> observed_events.ChainEvents:
    """Returns the events of X = h(Y); exact values add log h' as an offset."""
    x = self._time(lower)
    until: Array | None = None
    exact: Array | bool = True
    if upper is not None:
      exact = lower == upper
      # h' may be inf at infinity, and zero times inf would be NaN in derivatives.
      last = upper == math.inf
      until = self._time(np.where(last, 1.0, upper))
      until = np.where(last, math.inf, until)
      # Equal ends mean an exact time: if rounding made them equal, one becomes
      # NaN.
      until = np.where(exact | (x != until), until, math.nan)
    atom = (lower <= 0) & (kept_chain.mass_at_zero(self.distribution) > 0)
    # The density needs the term log h' only at exact times that are not the
    # atom. Other entries become -1, for which `_sloped` adds nothing.
    at = np.where(np.logical_not(atom) & exact, lower, -1.0)
    offset = self._sloped(np.zeros_like(x), at)
    entry = None if entry is None else self._time(entry)
    events = observed_events.entered(self.distribution, x, until, entry)
    if events.offset is not None:
      offset = offset + events.offset
    return events._replace(offset=offset)


@method_results.register_kl(TransformedPhaseType, TransformedPhaseType)
def kl_divergence(p: TransformedPhaseType, q: TransformedPhaseType) -> Array:
  """Computes KL(p, q) of two transformed distributions.

  Where both apply the same function this is the divergence of the wrapped ones.
  """
  comparable.check_same_kind("kl_divergence", p, q)
  parameters, others = p._own(), q._own()
  if type(p) is not type(q) or not _are_known_equal(parameters, others):
    return comparable.kl_divergence(p, q)
  divergence = p.distribution.kl_divergence(q.distribution)
  batch = static.broadcast_shapes(p._batch_shape(), q._batch_shape())
  divergence = np.broadcast_to(divergence, batch)
  if MODE == "numpy":
    return divergence
  else:
    # Parameters with known values may still be differentiated. Their
    # derivatives come from the quadrature.
    arrays = [*parameters.values(), *others.values()]
    other = comparable.kl_divergence(p, q)
    return _with_derivatives(divergence, other, arrays)


def _are_known_equal(
  parameters: dict[str, Array], others: dict[str, Array]
) -> bool:
  for name, x in parameters.items():
    known = static.concrete(x), static.concrete(others[name])
    if known[0] is None or known[1] is None or onp.any(known[0] != known[1]):
      return False
  return True


def _with_derivatives(
  divergence: Array, other: Array, arrays: list[Array]
) -> Array:
  """Returns the values of `divergence` with the derivatives of `other`.

  Where the values of `other` are not finite, the derivatives are those of
  `divergence`, and NaN with respect to `arrays`.
  """
  fixed = autodiff.stop_gradient
  lost = np.logical_not(np.isfinite(fixed(other)))
  zero = np.zeros_like(divergence)
  for x in arrays:
    zero = zero + 0.0 * x
  # The square root of zero has the derivative inf, and inf times zero is NaN.
  unknown = np.sqrt(np.where(lost, zero, 1.0))
  change = np.where(lost, 0.0, other)
  return np.where(
    lost, divergence + unknown, fixed(divergence) + change - fixed(change)
  )
