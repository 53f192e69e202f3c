"""Maps observations of a wrapped distribution to events of its chain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from phasic.distributions.absorption import atoms
from phasic.distributions.base import chain_events
from phasic.distributions.wrapped import truncated_statistics
from phasic.internal import static
from phasic.internal.arrays import Array


def truncated(
  distribution: truncated_statistics.TruncatedStatistics,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
) -> chain_events.ChainEvents:
  """Returns the events of a chain whose time is known to be in an interval.

  Where it is known to be late as well the distribution's own condition cancels.
  """
  _, before, high = distribution._bounds()
  upper = lower if upper is None else upper
  if not static.shape(before):
    before, high = np.reshape(before, (1,)), np.reshape(high, (1,))
  after = before if entry is None else np.maximum(before, entry)
  high = high + np.zeros_like(after)
  lower, upper, offset = chain_events.cut(lower, upper, after, high)
  return chain_events.ChainEvents(
    distribution.distribution, lower, upper, (after, high), offset, True
  )


def transformed(
  distribution: Any, lower: Array, upper: Array | None, entry: Array | None
) -> chain_events.ChainEvents:
  """Returns the events of X = h(Y), with the slope of h at exact values."""
  x = distribution._time(lower)
  until: Array | None = None
  exact: Array | bool = True
  if upper is not None:
    exact = lower == upper
    # At infinity h has infinite slopes, which a weight of zero does not remove.
    last = upper == math.inf
    until = distribution._time(np.where(last, 1.0, upper))
    until = np.where(last, math.inf, until)
    # Ends that become equal by rounding are not an exact value.
    until = np.where(exact | (x != until), until, math.nan)
  atom = (lower <= 0) & (atoms.mass_at_zero(distribution.distribution) > 0)
  # Slopes do not exist below zero.
  at = np.where(np.logical_not(atom) & exact, lower, -1.0)
  offset = distribution._sloped(np.zeros_like(x), at, x)
  entry = None if entry is None else distribution._time(entry)
  found = chain_events.entered(distribution.distribution, x, until, entry)
  if found.offset is not None:
    offset = offset + found.offset
  return found._replace(offset=offset)
