"""Starting points for the search of many quantiles of one model.

Quantiles of equally spaced log odds are computed first. Between them log t is
interpolated by cubic polynomials, with the slopes from the search. From there
one step of Newton's method is enough for nearly all quantiles.

Reference: G. Derflinger, W. Hoermann, J. Leydold, Random variate generation by
  numerical inversion when only the density is known, ACM TOMACS 20, 2010.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.quantiles import quantiles_targets as targets_lib

# A table pays off for at least LEAST quantiles per model. It has one point for
# every _SHARE quantiles, and at most _MOST_POINTS points.
LEAST = 1024
_SHARE = 8
_MOST_POINTS = 1024


def pays(targets: targets_lib.Targets) -> bool:
  """Returns whether there are enough quantiles to make a table worthwhile."""
  n = static.shape(targets.value)[-1]
  return isinstance(n, int) and n >= LEAST


def starts(
  targets: targets_lib.Targets,
  special: Array,
  solve: Callable[[targets_lib.Targets], tuple[Array, Array]],
) -> Array:
  """Computes times near quantiles (batch..., n), NaN where none is known.

  Args:
    targets: `Targets`.
    special: where no quantile is sought.
    solve: a function of targets that returns quantiles, and the derivatives of
      their logarithms in log odds.
  """
  n = static.shape(targets.value)[-1]
  points = min(n // _SHARE, _MOST_POINTS)
  odds = np.reshape(np.where(special, math.nan, _log_odds(targets)), (-1, n))
  known = odds == odds
  low = -np.max(np.where(known, -odds, -math.inf), axis=-1)[:, None]
  high = np.max(np.where(known, odds, -math.inf), axis=-1)[:, None]
  usable = np.isfinite(low) & np.isfinite(high)
  low = np.where(usable, low, 0.0)
  width = np.where(usable, np.maximum(high - low, 1e-6), 1.0) / (points - 1)
  places = structures.cast(np.arange(points), odds.dtype)
  batch = static.shape(special)[:-1]
  at_points = np.reshape(low + width * places, (*batch, points))
  times, slopes = solve(_of_log_odds(at_points))
  models = static.shape(odds)[0]
  first = structures.cast(np.arange(models), "int32")[:, None] * points
  place = np.where(known, (odds - low) / width, 0.0)
  cell = np.minimum(np.maximum(np.floor(place), 0.0), points - 2.0)
  index = structures.cast(cell, "int32") + first
  found = _interpolated(
    place - cell,
    width,
    index,
    np.reshape(times, (-1,)),
    np.reshape(slopes, (-1,)),
  )
  return np.reshape(found, (*batch, n))


def _interpolated(
  share: Array, width: Array, index: Array, times: Array, slopes: Array
) -> Array:
  """Interpolates log t by cubic Hermite polynomials; returns times."""
  logs = np.log(np.where(times > 0, times, 1.0))
  inner = (times > 0) & (times < math.inf) & np.isfinite(slopes)
  logs = np.where(inner, logs, math.nan)
  left, right = np.take(logs, index, axis=0), np.take(logs, index + 1, axis=0)
  left_slope = width * np.take(slopes, index, axis=0)
  right_slope = width * np.take(slopes, index + 1, axis=0)
  rest = 1.0 - share
  mix = np.square(rest) * ((1.0 + 2.0 * share) * left + share * left_slope)
  mix = mix + np.square(share) * (
    (1.0 + 2.0 * rest) * right - rest * right_slope
  )
  # If one of the two points has no quantile (inside an atom), use the other.
  mix = np.where(left == left, mix, right)
  return np.exp(np.where(right == right, mix, left))


def _log_odds(targets: targets_lib.Targets) -> Array:
  """Computes the log odds log F - log(1 - F) of targets."""
  size = np.log1p(-targets.value) - targets.log_value
  return np.where(targets.upper, size, -size)


def _of_log_odds(odds: Array) -> targets_lib.Targets:
  """Converts log odds log F - log(1 - F) to `Targets`."""
  size = np.abs(odds)
  log_value = -size - np.log1p(np.exp(-size))
  bad = odds != odds
  return targets_lib.Targets(odds > 0, np.exp(log_value), log_value, bad)
