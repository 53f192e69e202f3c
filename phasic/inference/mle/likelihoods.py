"""Log likelihoods as functions of entries, which an optimizer maximizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import Protocol, TypeVar

import numpy as onp

from phasic.distributions.base import inferring
from phasic.inference.data import likelihood_derivatives
from phasic.inference.data import observations as observations_lib
from phasic.inference.mle import numbers as numbers_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import limits as limits_lib
from phasic.inference.parameters import unconstrained_map
from phasic.inference.parameters.host_values import host_values
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import gradients

Map = unconstrained_map.UnconstrainedMap
MapT = TypeVar("MapT", bound=Map)
_InnerT = TypeVar("_InnerT", bound=Map, contravariant=True)
_T = TypeVar("_T")


class Likelihood(Protocol[_InnerT]):
  """A log likelihood as a function of entries.

  Attributes:
    total: the size of the sample, or of the log likelihood: slopes over this
      number do not depend on it.
    dtype: the dtype in which it is computed.
  """

  total: float
  dtype: str

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

  def is_possible(self, entries: onp.ndarray) -> bool:
    """Returns whether a model with these entries is valid; some are zero."""


class DataLikelihood:
  """The log likelihood of observations under a distribution."""

  def __init__(
    self,
    where: coordinates_lib.Coordinates,
    observations: observations_lib.Observations,
  ):
    self._where = where
    self._observations = observations
    self.total = observations_lib.total_weight(observations)
    self.dtype = where.distribution.dtype

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
    return likelihood_derivatives.hessian(inner, entries, self._observations)

  def scales(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns the scales of entries, see `limits.scales`."""
    return limits_lib.scales(self._where, entries)

  def is_possible(self, entries: onp.ndarray) -> bool:
    """Returns whether absorption is certain under the given entries.

    The likelihood hardly changes where a rarely visited phase loses its exits.
    """
    distribution = self._where.distribution_at(entries)
    try:
      distribution.copy(validate_args=True)
    except ValueError:
      return False
    _, chain = inferring.owners(distribution)[-1]
    return float(host_values("mean", chain.mean())) != onp.inf


class WrittenLikelihood:
  """A log likelihood that the user wrote, as a function of entries."""

  def __init__(
    self,
    log_likelihood: Callable[[object], Array],
    form: numbers_lib.Numbers,
    starts: Sequence[onp.ndarray],
  ):
    self.total = 1.0
    self.dtype = form.dtype
    self._form = form
    self._starts = starts

    def value_at(entries: Array) -> Array:
      value = log_likelihood(form.numbers(entries))
      if static.rank(value) != 0:
        raise TypeError(
          f"log_likelihood returned an array of shape {static.shape(value)}: it "
          "must return a scalar; sum over the data"
        )
      return value

    self._evaluated: Callable[[Array], tuple[ArrayLike, ArrayLike]] = (
      likelihood_derivatives.compiled(
        lambda entries: gradients.value_and_gradient(value_at, entries)
      )
    )
    self._bent: Callable[[Array, Array], ArrayLike] = (
      likelihood_derivatives.compiled(
        lambda entries, unit: gradients.hessian_vector_product(
          value_at, (entries,), (unit,)
        )
      )
    )

  def value(self, inner: numbers_lib.Numbers, entries: onp.ndarray) -> float:
    """Computes the log likelihood; -inf if the user's function raises.

    It may raise at a bound, such as a rate of zero.
    """
    try:
      return self.value_and_gradient(inner, entries)[0]
    except (ArithmeticError, ValueError):
      return -math.inf

  def value_and_gradient(
    self, inner: numbers_lib.Numbers, entries: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its gradient in k entries."""
    value, slopes = self._called(self._evaluated, inner, entries)
    return (
      float(likelihood_derivatives.host(value)),
      likelihood_derivatives.host(slopes)[inner.indices],
    )

  def hessian(
    self, inner: numbers_lib.Numbers, entries: onp.ndarray
  ) -> onp.ndarray:
    """Computes the Hessian of the log likelihood in k entries."""
    units = list(map(self._form.array, onp.eye(len(self._form.names))))
    return likelihood_derivatives.symmetric(
      inner, lambda i: self._called(self._bent, inner, entries, units[i])
    )

  def scales(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns the largest entry of each array, here or at one of the starts."""
    form = self._form
    largest = onp.max([entries, *self._starts], axis=0)
    for i in set(form.arrays):
      in_array = form.arrays == i
      largest[in_array] = onp.max(largest[in_array])
    return form.scales(largest)

  def is_possible(self, entries: onp.ndarray) -> bool:
    """Returns whether all entries are finite: all such entries are possible."""
    return bool(onp.all(onp.isfinite(entries)))

  def _called(
    self,
    f: Callable[..., _T],
    inner: numbers_lib.Numbers,
    entries: onp.ndarray,
    *args: Array,
  ) -> _T:
    """Calls a function of all entries."""
    whole = inner.embedded(entries)
    at_edge = not onp.all(self._form.is_inside(whole))
    # At a bound, the user's function may make a distribution with a rate of
    # zero, which would warn. Inside the bounds NaN needs no warning, since a
    # search steps back from it.
    with user_warnings.derived() if at_edge else user_warnings.searching():
      return f(self._form.array(whole), *args)
