"""Log likelihoods as functions of entries, which an optimizer maximizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import likelihood_derivatives
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import limits as limits_lib
from phasic.inference.parameters import unconstrained_map
from phasic.inference.parameters.host_values import host_values

Map = unconstrained_map.UnconstrainedMap
MapT = TypeVar("MapT", bound=Map)
_InnerT = TypeVar("_InnerT", bound=Map, contravariant=True)

# Entries that differ by this fraction are equal but for rounding.
_SAME = 1e-15


class Likelihood(Protocol[_InnerT]):
  """A log likelihood as a function of entries.

  Attributes:
    total: the size of the sample, or of the log likelihood: slopes over this
      number do not depend on it.
    dtype: the dtype in which it is computed.
    weights: the weights of the observations, (n,).
  """

  total: float
  dtype: str
  weights: onp.ndarray

  def value(self, inner: _InnerT, entries: onp.ndarray) -> float:
    """Computes the log likelihood."""

  def value_and_gradient(
    self, inner: _InnerT, entries: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its gradient in k entries."""

  def hessian(self, inner: _InnerT, entries: onp.ndarray) -> onp.ndarray:
    """Computes the Hessian of the log likelihood in k entries."""

  def scales(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns the scale of each entry, to judge whether it is near zero."""

  def scores(self, inner: _InnerT, entries: onp.ndarray) -> onp.ndarray:
    """Computes the gradient of each observation's log likelihood, (n, k)."""

  def is_possible(self, entries: onp.ndarray) -> bool:
    """Returns whether a model with these entries is valid; some are zero."""


class LastHessian:
  """The Hessian that was computed last, and where.

  The search for a maximum, the judgment of its end and standard errors ask for
  it at the same point.
  """

  def __init__(self) -> None:
    self._point = onp.zeros(0)
    self._known = onp.zeros((0, 0))

  def known(
    self,
    inner: Map,
    entries: onp.ndarray,
    compute: Callable[[], onp.ndarray],
  ) -> onp.ndarray:
    """Returns the Hessian; computes it if the point differs beyond rounding."""
    point = onp.concatenate([inner.indices, inner.embedded(entries)])
    is_known = onp.shape(point) == onp.shape(self._point) and onp.all(
      onp.abs(point - self._point) <= _SAME * onp.abs(point)
    )
    if not is_known:
      self._known, self._point = compute(), point
    return self._known


class DataLikelihood:
  """The log likelihood of observations under a distribution."""

  def __init__(
    self,
    where: coordinates_lib.Coordinates,
    observations: observations_lib.Observations,
  ):
    self._where = where
    self._observations = observations
    _, _, self.weights = observations_lib.host_arrays(observations)
    self.total = float(onp.sum(self.weights))
    self.dtype = where.distribution.dtype
    self._last = LastHessian()

  def value(
    self, inner: coordinates_lib.Coordinates, entries: onp.ndarray
  ) -> float:
    """Computes the log likelihood."""
    return likelihood_derivatives.log_likelihood(
      inner, entries, self._observations
    )

  def value_and_gradient(
    self, inner: coordinates_lib.Coordinates, entries: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its gradient in k entries."""
    return likelihood_derivatives.value_and_gradient(
      inner, entries, self._observations
    )

  def hessian(
    self, inner: coordinates_lib.Coordinates, entries: onp.ndarray
  ) -> onp.ndarray:
    """Computes the Hessian of the log likelihood in k entries."""
    return self._last.known(
      inner,
      entries,
      lambda: likelihood_derivatives.hessian(
        inner, entries, self._observations
      ),
    )

  def scores(
    self, inner: coordinates_lib.Coordinates, entries: onp.ndarray
  ) -> onp.ndarray:
    """Computes the gradient of each observation's log likelihood, (n, k)."""
    return likelihood_derivatives.scores(inner, entries, self._observations)

  def scales(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns the scales of entries, see `limits.scales`."""
    return limits_lib.scales(self._where, entries)

  def is_possible(self, entries: onp.ndarray) -> bool:
    """Returns whether absorption is certain under the given entries.

    The likelihood hardly changes where a rarely visited phase loses its exits.
    """
    return ends_for_certain(self._where.distribution_at(entries))


def ends_for_certain(distribution: Distribution) -> bool:
  """Returns whether a distribution is valid, and its chain is absorbed."""
  try:
    distribution.copy(validate_args=True)
  except ValueError:
    return False
  _, chain = inferring.owners(distribution)[-1]
  return float(host_values("mean", chain.mean())) != onp.inf
