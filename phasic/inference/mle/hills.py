"""What SciPy's optimisers see of a log likelihood."""

from collections.abc import Callable

import numpy as onp

from phasic.inference.parameters import coordinates as coordinates_lib


class Hill:
  """Minus the mean log likelihood, and its gradient, in free numbers.

  Where it cannot be computed, a step was too long: it is then a wall that rises
  with the distance from the last step that was taken, so that a line search
  comes back.
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
    """Takes a log likelihood.

    Args:
      evaluated: returns it, and its slopes, at entries of coordinates.
      total: the sum of the weights.
      inner: the coordinates.
      free: where a search starts.
    """
    self._evaluated = evaluated
    self._total = total
    self._inner = inner
    self._base = onp.array(free)
    self._height = 0.0
    self._last: tuple[onp.ndarray, float] | None = None
    self.heights: list[float] = []

  def __call__(self, free: onp.ndarray) -> tuple[float, onp.ndarray]:
    entries = self._inner.entries_of(free)
    value, slopes = onp.nan, entries
    if onp.all(onp.isfinite(entries)):
      value, slopes = self._evaluated(self._inner, entries)
    with onp.errstate(all="ignore"):
      slopes = self._inner.pull(entries, slopes)
    if onp.isfinite(value) and onp.all(onp.isfinite(slopes)):
      mean = -value / self._total
      if self._last is None:
        self._height = mean
        self.heights.append(value)
      self._last = (onp.array(free), mean)
      return mean, -slopes / self._total
    away = free - self._base
    steep = 1.0 + abs(self._height)
    return self._height + steep * (
      1.0 + float(onp.sum(away * away))
    ), 2.0 * steep * away

  def accepted(self, free: onp.ndarray) -> None:
    """Is told of the steps that are taken."""
    self._base = onp.array(free)
    if self._last is not None and onp.array_equal(self._last[0], free):
      self._height = self._last[1]
    self.heights.append(-self._height * self._total)
