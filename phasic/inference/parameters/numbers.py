"""Numbers as users write them: an array, or a mapping of arrays, with bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import itertools
from typing import TypeVar

import numpy as np
import numpy as onp

from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import unconstrained_map
from phasic.inference.parameters.host_values import host_values
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.internal.arrays import Array

_X = TypeVar("_X", bound=Array | onp.ndarray)


class Numbers(unconstrained_map.UnconstrainedMap):
  """Numbers within bounds, computed from entries that are positive or real.

  A real number is an entry. Others are positive distances from one bound, or
  from two, which sum to the length of the interval: so a number near either
  bound keeps its digits.

  Attributes:
    number_names: the name of each number, size[0] or size.
    dtype: the dtype of the numbers.
    bounds: the lower and upper bounds of the numbers, two arrays (d,).
    places: the entries that are distances from these bounds, or the number; two
      arrays (d,), -1 where there is none.
    owners: the number that each entry belongs to, (k,).
    arrays: the array that each entry belongs to, (k,).
    root: the map of all entries.
  """

  def __init__(
    self,
    argument: str,
    numbers: object,
    bounds: object,
    labels: Mapping[str, Sequence[str]] | None = None,
    scales: Mapping[str, onp.ndarray] | None = None,
  ):
    """Reads the form of numbers, their values and bounds.

    Args:
      argument: what messages call the numbers.
      numbers: an array, or a mapping of arrays.
      bounds: see `maximize`.
      labels: names of the numbers in some of the arrays, instead of indices.
      scales: typical sizes of real numbers, in the shapes of some arrays.

    Raises:
      TypeError: a number is traced, or of another type; bounds are not pairs.
      ValueError: there is no number, one is not between its bounds, or bounds
        break a rule.
    """
    self._is_mapping = isinstance(numbers, Mapping)
    arrays = self._named(numbers)
    self.dtype = dtypes.common_dtype(arrays)
    self._shapes = {
      name: onp.shape(host_values(name, structures.as_array(x, None, name)))
      for name, x in arrays.items()
    }
    names = [
      [f"{name}[{label}]" for label in labels[name]]
      if labels and name in labels
      else entry_blocks.labels(name, shape)
      for name, shape in self._shapes.items()
    ]
    self.number_names = tuple(itertools.chain.from_iterable(names))
    if not self.number_names:
      raise ValueError(f"{argument} has no numbers: it must have at least one")
    self._sizes = list(map(len, names))
    self.bounds = self._read_bounds(bounds)
    sizes = [
      onp.ravel((scales or {}).get(name, onp.ones(shape)))
      for name, shape in self._shapes.items()
    ]
    self._place(argument, numbers, onp.concatenate(sizes))

  @property
  def is_real_number(self) -> onp.ndarray:
    """A mask (d,) of the numbers without bounds."""
    return onp.isinf(self.bounds[0]) & onp.isinf(self.bounds[1])

  def _read_bounds(self, bounds: object) -> tuple[onp.ndarray, onp.ndarray]:
    """Checks bounds, and returns them for all numbers."""
    if bounds is None:
      bounds = {}
    elif not self._is_mapping:
      bounds = {"start": bounds}
    elif not isinstance(bounds, Mapping):
      raise TypeError(
        f"bounds is {raw_arguments.shown(bounds)}: it must map names to pairs "
        "(low, high)"
      )
    for name in bounds:
      if name not in self._shapes:
        raise ValueError(
          f"bounds has {name!r}: its names must be names of "
          f"start, {', '.join(self._shapes)}"
        )
    pairs = [
      _pair(name, bounds.get(name, (0.0, onp.inf)), shape)
      for name, shape in self._shapes.items()
    ]
    low, high = (onp.concatenate(ends) for ends in zip(*pairs, strict=True))
    is_open = onp.isinf(low) | onp.isinf(high)
    with onp.errstate(over="ignore"):
      good = (low < high) & (is_open | (high - low < onp.inf))
    if not onp.all(good):
      i = int(onp.argmin(good))
      raise ValueError(
        f"bounds of {self.number_names[i]} are ({low[i]:g}, {high[i]:g}): the "
        "lower one must be below the upper one"
      )
    return low, high

  def _place(self, argument: str, numbers: object, sizes: onp.ndarray) -> None:
    """Numbers the entries, and makes the map from unconstrained parameters."""
    low, high = self.bounds
    has_low, has_high = onp.isfinite(low), onp.isfinite(high)
    is_real = onp.logical_not(has_low | has_high)
    counts = onp.where(has_low & has_high, 2, 1)
    first = onp.cumsum(counts) - counts
    self.places = (
      onp.where(has_low | is_real, first, -1),
      onp.where(has_high, first + counts - 1, -1),
    )
    self.owners = owners = onp.repeat(onp.arange(len(counts)), counts)
    arrays = onp.arange(len(self._sizes))
    self.arrays = onp.repeat(arrays, self._sizes)[owners]
    self.set_entries(
      tuple(self.number_names[i] for i in owners),
      self.entries_of(argument, numbers),
      onp.where(is_real[owners], sizes[owners], 0.0),
      onp.logical_not(is_real[owners]),
    )
    self.root = self
    pairs = onp.flatnonzero(counts == 2)
    self.set_sums(
      onp.where(counts[owners] == 2, onp.searchsorted(pairs, owners), -1),
      (high - low)[pairs],
      onp.zeros(len(pairs), bool),
    )

  def entries_of(
    self, argument: str, numbers: object, closed: bool = False
  ) -> onp.ndarray:
    """Converts numbers in the form of start to an array of k entries.

    Args:
      argument: what messages call them.
      numbers: the numbers.
      closed: whether they may be at their bounds, where a fit may end.

    Raises:
      TypeError: they have another form.
      ValueError: one is not between its bounds, or shapes differ.
    """
    if isinstance(numbers, Mapping) != self._is_mapping:
      raise TypeError(
        f"{argument} is {type(numbers).__name__}: it must be an array or "
        "a mapping, as start is"
      )
    arrays = self._named(numbers)
    if set(arrays) != set(self._shapes):
      raise ValueError(
        f"{argument} has the names {', '.join(arrays)}: it must have the "
        f"names of start, {', '.join(self._shapes)}"
      )
    parts = []
    for name, shape in self._shapes.items():
      values = host_values(name, structures.as_array(arrays[name], None, name))
      if onp.shape(values) != shape:
        raise ValueError(
          f"{name} of {argument} has shape {onp.shape(values)}: it must have "
          f"the same shape as in start, {shape}"
        )
      parts.append(onp.ravel(values))
    flat = onp.concatenate(parts)
    (low, high), (lower, upper) = self.bounds, self.places
    good = (flat > low) & (flat < high)
    if closed:
      good = (flat >= low) & (flat <= high)
    good = good & onp.isfinite(flat)
    if not onp.all(good):
      i = int(onp.argmin(good))
      rules = [f"> {low[i]:g}"] if low[i] > -onp.inf else []
      rules += [f"< {high[i]:g}"] if high[i] < onp.inf else []
      raise ValueError(
        f"{self.number_names[i]} of {argument} is {flat[i]:g}: it must be "
        f"{' and '.join([*rules, 'finite'])}; for other values set bounds"
      )
    entries = onp.zeros(len(self.owners))
    with onp.errstate(invalid="ignore"):
      entries[lower[lower >= 0]] = (
        flat - onp.where(onp.isfinite(low), low, 0.0)
      )[lower >= 0]
      entries[upper[upper >= 0]] = (high - flat)[upper >= 0]
    return entries

  def array(self, values: onp.ndarray) -> Array:
    """Converts host values to an array of the numbers' dtype."""
    return structures.as_array(
      onp.asarray(values, self.dtype), self.dtype, "numbers"
    )

  def value_at(self, entries: Array) -> object:
    """Converts an array of all k entries to numbers in the form of start."""
    ends = []
    for bound, place, sign in zip(
      self.bounds, self.places, (1.0, -1.0), strict=True
    ):
      distance = np.take(entries, onp.maximum(place, 0), axis=-1)
      near = self.array(onp.where(onp.isfinite(bound), bound, 0.0))
      far = self.array(onp.full(len(place), onp.inf))
      ends.append((np.where(place >= 0, distance, far), near + sign * distance))
    (to_low, from_low), (to_high, from_high) = ends
    flat = np.where(to_high < to_low, from_high, from_low)
    return self._formed(flat, np.reshape)

  def parameter_rows(
    self, rows: onp.ndarray, is_fitted: onp.ndarray, constants: bool = False
  ) -> dict[str, tuple[onp.ndarray, onp.ndarray]]:
    """Computes values or slopes of the arrays from those of all entries.

    Args:
      rows: values or slopes of the entries, (k, d).
      is_fitted: which entries are fitted, (k,).
      constants: whether bounds are added, as for values.

    Returns:
      Rows (..., d) and whether numbers are fitted (...), by name of the array
      of shape (...).
    """
    lower, upper = self.places
    low, high = self.bounds
    bounds = onp.where(
      lower >= 0, onp.where(self.is_real_number, 0.0, low), high
    )
    place = onp.where(lower >= 0, lower, upper)
    signs = onp.where(lower >= 0, 1.0, -1.0)
    parts = {}
    start = 0
    for (name, shape), size in zip(
      self._shapes.items(), self._sizes, strict=True
    ):
      chosen = slice(start, start + size)
      kept = rows[place[chosen]] * signs[chosen, None]
      if constants:
        kept = kept + bounds[chosen, None]
      shaped = onp.reshape(kept, (*shape, onp.shape(rows)[-1]))
      parts[name] = (shaped, onp.reshape(is_fitted[place[chosen]], shape))
      start += size
    return parts

  def place_of(self, name: str) -> tuple[str, tuple[int, ...]] | None:
    """Returns the array and index of a number, by its name."""
    if name not in self.number_names:
      return None
    i, start = self.number_names.index(name), 0
    for (array, shape), size in zip(
      self._shapes.items(), self._sizes, strict=True
    ):
      if i < start + size:
        place = onp.unravel_index(i - start, shape) if shape else ()
        return array, tuple(map(int, place))
      start += size
    raise AssertionError(name)

  def ends_of(self, array: str) -> tuple[onp.ndarray, onp.ndarray] | None:
    """Returns the bounds of an array by its name; None if there is none."""
    start = 0
    for (name, shape), size in zip(
      self._shapes.items(), self._sizes, strict=True
    ):
      if name == array:
        low, high = (x[start : start + size] for x in self.bounds)
        return onp.reshape(low, shape), onp.reshape(high, shape)
      start += size
    return None

  def on_host(self, flat: onp.ndarray) -> object:
    """Arranges d host values in the form of start."""
    return self._formed(flat, onp.reshape)

  def _named(self, numbers: object) -> dict[str, object]:
    """Returns the arrays by name; a single one is called start."""
    return dict(numbers) if isinstance(numbers, Mapping) else {"start": numbers}

  def _formed(self, flat: _X, reshape: Callable[..., _X]) -> object:
    """Arranges d numbers in the form of start."""
    ends = itertools.accumulate(self._sizes)
    numbers = {
      name: reshape(flat[end - size : end], shape)
      for (name, shape), size, end in zip(
        self._shapes.items(), self._sizes, ends, strict=True
      )
    }
    return numbers if self._is_mapping else numbers["start"]


def _pair(name: str, pair: object, shape: tuple[int, ...]) -> list[onp.ndarray]:
  """Returns the bounds of one array, two flat arrays."""
  try:
    low, high = (
      host_values(name, structures.as_array(x, None, name))
      for x in pair  # type: ignore[attr-defined]
    )
    return [onp.ravel(onp.broadcast_to(x, shape)) for x in (low, high)]
  except (TypeError, ValueError):
    raise TypeError(
      f"bounds of {name!r} are {raw_arguments.shown(pair)}: they must be a pair "
      f"(low, high) of numbers, or of arrays of shape {shape}"
    ) from None
