"""Lower and upper bounds of the fitted entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as onp

from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import unconstrained_map
from phasic.internal import raw_arguments


def limits(
  where: coordinates_lib.Coordinates, bounds: Mapping[str, Sequence[float]]
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns the lower and upper bounds of all entries, given bounds by name.

  Raises:
    TypeError: `bounds` does not map names to pairs of numbers.
    ValueError: a name is unknown, bounds are in the wrong order, leave no
      value, or belong to probabilities that sum to one.
  """
  if not isinstance(bounds, Mapping):
    raise TypeError(
      f"bounds is {raw_arguments.shown(bounds)}: it must map names to pairs (least, greatest)"
    )
  where.check_not_increasing("bounds", list(bounds))
  low = onp.zeros(len(where.names))
  high = onp.full(len(where.names), onp.inf)
  place = {entry: i for i, entry in enumerate(where.names)}
  tied = {entry: place[of] for entry, of in where.tied.items() if of in place}
  for name, pair in bounds.items():
    indices = sorted(
      {
        i
        for entry, i in (place | tied).items()
        if name in (entry, entry_blocks.parameter_of(entry, where.tables))
      }
    )
    if not indices:
      raise ValueError(
        f"bounds has {name!r}: no fitted parameter has that name; the fitted ones "
        f"are {', '.join(where.names[:20])}"
      )
    least, greatest = _pair(name, pair)
    for i in indices:
      group = where.groups[i]
      if group >= 0 and onp.sum(where.groups == group) > 1:
        raise ValueError(
          f"bounds has {name!r}: probabilities that sum to one cannot have bounds"
        )
      if max(low[i], least) >= min(high[i], greatest):
        raise ValueError(
          f"bounds of {name!r} are ({least:g}, {greatest:g}): they must overlap "
          f"with ({low[i]:g}, {high[i]:g}), the other bounds of "
          f"{where.names[i]}"
        )
    low[indices] = onp.maximum(low[indices], least)
    high[indices] = onp.minimum(high[indices], greatest)
  return low, high


def _pair(name: str, pair: Sequence[float]) -> tuple[float, float]:
  """Checks and returns the bounds that are given for one name."""
  try:
    least, greatest = map(float, pair)
  except (TypeError, ValueError):
    raise TypeError(
      f"bounds of {name!r} are {pair!r}: they must be two numbers"
    ) from None
  if not 0.0 <= least < greatest:
    raise ValueError(
      f"bounds of {name!r} are ({least:g}, {greatest:g}): they must be >= 0, the "
      "lower one first; `fixed` keeps a parameter at its value"
    )
  return least, greatest


def scales(
  where: coordinates_lib.Coordinates, entries: onp.ndarray
) -> onp.ndarray:
  """Returns the scales of k entries, to judge which of them are near zero.

  For probabilities it is the sum that they are part of, for others the largest
  entry of the same parameter, fitted or not.
  """
  largest = {
    path: max(
      float(onp.max(table.base, initial=0.0)),
      float(onp.max(entries[table.index[table.index >= 0]], initial=0.0)),
    )
    for path, table in where.tables.items()
  }
  sizes = [largest[entry_blocks.parameter_of(x, largest)] for x in where.names]
  return where.scales(onp.asarray(sizes))


def at_bounds(
  where: unconstrained_map.UnconstrainedMap,
  entries: onp.ndarray,
  low: onp.ndarray,
  high: onp.ndarray,
) -> tuple[str, ...]:
  """Returns the names of positive entries that are at a bound."""
  is_at_bound = (entries > 0) & ((entries <= low) | (entries >= high))
  return tuple(onp.asarray(where.names, object)[is_at_bound])
