"""Mean, moments and mode of Y = g(X) for a phase-type X."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.distributions.wrapped import wrapped_distribution
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import Result
from phasic.math.model.model_types import Model
from phasic.math.quadrature import expectations
from phasic.math.quadrature import heavy_moments

_NO_MODE = (
  "it is not known whether the density has one maximum, except for an Erlang X "
  "and for a hyperexponential X where h' does not grow"
)


class TransformedStatistics(wrapped_distribution.HeldAround):
  """The statistics of Y = g(X), as methods of a base class.

  A subclass has `_forwarded`, `_own`, and for its mode `_mode_of_stages` and
  `_speeds_up`.
  """

  # Whether g grows at most like a power, so that all moments exist.
  _GROWS_SLOWLY = False

  def _forwarded(self, x: Array) -> Array:
    """Computes g(x); on overflow it is inf, without a warning."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _forwarded"
    )

  def _log_growth(self, x: Array) -> Array:
    """Computes log g'(x) for x > 0, g the change from X to Y."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _log_growth"
    )

  def _own(self) -> dict[str, Array]:
    """Returns the checked parameters.

    A bad value raises ValueError with `validate_args`, otherwise it is NaN.
    """
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _own"
    )

  def _log_ratio(self, x: Array) -> Array:
    """Computes log(g(x) / c) for x > 0, c the scale, also if g(x) overflows."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _log_ratio"
    )

  def _nodes_of_moment(self, k: int) -> heavy_moments.MomentQuadrature:
    """Returns a quadrature rule in X for E g(X)^k."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _nodes_of_moment"
    )

  def expected_sojourn_times(self) -> Result:
    """Computes the expected times that Y's clock spends in the phases, (..., p).

    They are the integrals of g'(x) P(in phase j at x) over x, by quadrature. The
    relative error is below 1e-12, where g' is infinite at zero 1e-11 (float32:
    1e-5), or the result is NaN.

    Raises:
      NotImplementedError: g grows faster than a power, or X is no chain.

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
    found = expectations.sojourn_times(self._batch_model(), self._log_growth)
    return self._statistic("expected_sojourn_times", found)

  def _batch_model(self) -> Model:
    """Returns X's chain, broadcast to the batch shape."""
    return self._broadcast_model(self._batch_shape())

  def _mean(self) -> Array:
    if self._GROWS_SLOWLY:
      return self._mean_and_variance()[0]
    return self._moment(1)

  def _variance(self) -> Array:
    if self._GROWS_SLOWLY:
      return self._mean_and_variance()[1]
    # In this order a product that is representable does not underflow.
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
    mean = first.expected(self._log_ratio(first.times))
    return second.variance(self._log_ratio(second.times), mean)

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
    found = self.distribution._mode() + nothing
    return np.where(falls, found, math.nan)

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
    found = nodes.expected(float(k) * self._log_ratio(nodes.times))
    scale = self._scale()
    with onp.errstate(over="ignore"):
      for _ in range(k):
        found = found * scale
    return found
