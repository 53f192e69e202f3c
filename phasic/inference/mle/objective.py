"""The objective function that SciPy's optimizers minimize."""

from __future__ import annotations

from collections.abc import Callable

import numpy as onp

from phasic.inference.parameters import coordinates as coordinates_lib


class Objective:
  """The negative mean log likelihood and its gradient in free parameters.

  If the log likelihood cannot be computed, a step was too long. The value is
  then a penalty that grows with the distance from the last accepted step, so
  that a line search steps back.
  """

  def __init__(
    self,
    evaluated: Callable[
      [coordinates_lib.Coordinates, onp.ndarray], tuple[float, onp.ndarray]
    ],
    total: float,
    inner: coordinates_lib.Coordinates,
    free: onp.ndarray,
  ):
    """Makes the objective from a log likelihood with gradient.

    Args:
      evaluated: returns the log likelihood and its gradient at given entries.
      total: the sum of the weights.
      inner: the coordinates.
      free: the free parameters at which the optimizer starts.
    """
    self._evaluated = evaluated
    self._total = total
    self._inner = inner
    self._base = onp.array(free)
    self._value = 0.0
    self._last: tuple[onp.ndarray, float] | None = None
    self.log_likelihoods: list[float] = []

  def __call__(self, free: onp.ndarray) -> tuple[float, onp.ndarray]:
    entries = self._inner.to_constrained(free)
    value, slopes = onp.nan, entries
    if onp.all(onp.isfinite(entries)):
      value, slopes = self._evaluated(self._inner, entries)
    with onp.errstate(all="ignore"):
      slopes = self._inner.unconstrained_gradient(entries, slopes)
    if onp.isfinite(value) and onp.all(onp.isfinite(slopes)):
      mean = -value / self._total
      if self._last is None:
        self._value = mean
        self.log_likelihoods.append(value)
      self._last = (onp.array(free), mean)
      return mean, -slopes / self._total
    away = free - self._base
    steep = 1.0 + abs(self._value)
    return self._value + steep * (
      1.0 + float(onp.sum(away * away))
    ), 2.0 * steep * away

  def accepted(self, free: onp.ndarray) -> None:
    """Records the log likelihood at a step that the optimizer accepted."""
    self._base = onp.array(free)
    if self._last is not None and onp.array_equal(self._last[0], free):
      self._value = self._last[1]
    self.log_likelihoods.append(-self._value * self._total)
