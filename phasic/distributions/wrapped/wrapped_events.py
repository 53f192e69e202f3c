"""Observations of wrapped distributions, as events of the wrapped chain."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import atoms
from phasic.distributions.base import observed_events
from phasic.distributions.wrapped import truncated_statistics
from phasic.internal import static
from phasic.internal.arrays import Array


def truncated(
  distribution: truncated_statistics.TruncatedStatistics,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
) -> observed_events.ChainEvents:
  """Returns the events of the chain under a truncated distribution.

  Where it is known to be late as well the distribution's own condition cancels.
  """
  _, before, high = distribution._bounds()
  upper = lower if upper is None else upper
  if not static.shape(before):
    before, high = np.reshape(before, (1,)), np.reshape(high, (1,))
  after = before if entry is None else np.maximum(before, entry)
  high = high + np.zeros_like(after)
  lower, upper, offset = observed_events.cut(lower, upper, after, high)
  return observed_events.ChainEvents(
    distribution.distribution, lower, upper, (after, high), offset, True
  )


class _Transformed(Protocol):
  """The distribution of Y = g(X), with the inverse h of g."""

  @property
  def distribution(self) -> absorption_time.AbsorptionTime:
    """The distribution of X."""
    ...

  def _time(self, value: Array) -> Array:
    """Computes h(value)."""
    ...

  def _sloped(self, found: Array, value: Array) -> Array:
    """Converts a log density of X to one of Y: adds log h'."""
    ...


def transformed(
  distribution: _Transformed,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
) -> observed_events.ChainEvents:
  """Returns the events of X = h(Y); exact values add log h' as an offset."""
  x = distribution._time(lower)
  until: Array | None = None
  exact: Array | bool = True
  if upper is not None:
    exact = lower == upper
    # h' may be inf at infinity, and zero times inf would be NaN in derivatives.
    last = upper == math.inf
    until = distribution._time(np.where(last, 1.0, upper))
    until = np.where(last, math.inf, until)
    # Equal ends mean an exact time: if rounding made them equal, one becomes
    # NaN.
    until = np.where(exact | (x != until), until, math.nan)
  atom = (lower <= 0) & (atoms.mass_at_zero(distribution.distribution) > 0)
  # Elsewhere the argument is -1, for which `_sloped` adds no log h'.
  at = np.where(np.logical_not(atom) & exact, lower, -1.0)
  offset = distribution._sloped(np.zeros_like(x), at)
  entry = None if entry is None else distribution._time(entry)
  found = observed_events.entered(distribution.distribution, x, until, entry)
  if found.offset is not None:
    offset = offset + found.offset
  return found._replace(offset=offset)
