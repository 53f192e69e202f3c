"""The parameters of a model: arrays of numbers and distributions, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import limits as limits_lib
from phasic.inference.parameters import numbers as numbers_lib
from phasic.inference.parameters import parameter_names
from phasic.inference.parameters import unconstrained_map
from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike

# Arrays and distributions, by name.
Parameters: TypeAlias = Mapping[str, Any]


class ParameterSet(unconstrained_map.UnconstrainedMap):
  """The entries of arrays and of distributions, as one vector.

  Attributes:
    dtype: the dtype of all arrays and distributions.
    low: the lower bounds of the entries, (k,).
    high: the upper bounds of the entries, (k,).
    arrays: the array or parameter that each entry belongs to, (k,).
    root: the map of all entries that can be fitted.
    key: the arguments `fixed`, `tied` and `free`, and bounds of numbers, which
      tell maps of one model apart.
  """

  def __init__(
    self,
    parameters: Parameters,
    bounds: Mapping[str, Sequence[ArrayLike]],
    labels: Mapping[str, Sequence[str]],
    scales: Mapping[str, onp.ndarray],
    fixed: Sequence[str] = (),
    tied: Sequence[Sequence[str]] = (),
    free: Sequence[str] = (),
  ):
    """Collects the entries that are fitted.

    Args:
      parameters: arrays and distributions, by name.
      bounds: of arrays and of entries of distributions, by name; arrays
        without bounds are positive.
      labels: names of the numbers of some arrays.
      scales: typical sizes of the numbers of some arrays.
      fixed: names of arrays, numbers, or parameters of distributions.
      tied: groups of names of entries of one distribution that are equal.
      free: names of known values of distributions that are fitted.

    Raises:
      TypeError: parameters are not a mapping, or dtypes differ.
      ValueError: a name is unknown, or a value breaks a rule.
    """
    if not isinstance(parameters, Mapping) or not parameters:
      raise TypeError(
        f"parameters is {raw_arguments.shown(parameters)}: it must map at least "
        "one name to an array or a distribution"
      )
    if not isinstance(bounds, Mapping):
      raise TypeError(
        f"bounds is {raw_arguments.shown(bounds)}: it must map names to pairs "
        "(low, high)"
      )
    given = {
      name: x for name, x in parameters.items() if isinstance(x, Distribution)
    }
    arrays = {name: x for name, x in parameters.items() if name not in given}
    self._order = tuple(parameters)
    self._numbers = None
    if arrays:
      pairs = {name: x for name, x in bounds.items() if name in arrays}
      self._numbers = numbers_lib.Numbers(
        "parameters", arrays, pairs, labels, scales
      )
    names = parameter_names.PartNames(arrays, self._numbers, given)
    names.check_bounds(bounds)
    for group in tied:
      names.check_entries("tied", group)
    names.check_entries("free", free)
    self._coordinates = {
      name: coordinates_lib.Coordinates(
        dist,
        names.within(name, "fixed", fixed),
        [
          group
          for names_together in tied
          if (group := names.within(name, "tied", names_together))
        ],
        names.within(name, "free", free),
      )
      for name, dist in given.items()
    }
    # Bounds of numbers decide which entries there are.
    ends = () if self._numbers is None else self._numbers.bounds
    self.key = (
      tuple(fixed),
      tuple(map(tuple, tied)),
      tuple(free),
      tuple(tuple(map(float, x)) for x in ends),
    )
    self.dtype = _common_dtype(self._numbers, given)
    self._collect(names, fixed, bounds)

  def _collect(
    self,
    names: parameter_names.PartNames,
    fixed: Sequence[str],
    bounds: Mapping[str, Sequence[ArrayLike]],
  ) -> None:
    """Concatenates the parts, and sets all attributes."""
    parts: list[unconstrained_map.UnconstrainedMap] = []
    entry_names: list[str] = []
    low, high, arrays, keep = [], [], [], []
    if self._numbers is not None:
      parts.append(self._numbers)
      entry_names += self._numbers.names
      real = self._numbers.is_real
      low.append(onp.where(real, -onp.inf, 0.0))
      high.append(onp.full(len(real), onp.inf))
      arrays.append(self._numbers.arrays)
      kept = onp.isin(self._numbers.number_names, names.fixed_numbers(fixed))
      keep.append(onp.logical_not(kept)[self._numbers.owners])
    for name, part in self._coordinates.items():
      parts.append(part)
      prefix = parameter_names.prefix_of(name)
      entry_names += [f"{prefix}{x}" for x in part.names]
      limited = names.limited(name, bounds)
      ends = limits_lib.limits(part, limited)
      low.append(ends[0])
      high.append(ends[1])
      paths = [entry_blocks.parameter_of(x, part.tables) for x in part.names]
      first = 1 + max((int(onp.max(x, initial=-1)) for x in arrays), default=0)
      arrays.append(first + onp.unique(paths, return_inverse=True)[1])
      keep.append(onp.ones(len(part.names), bool))
    sizes = [len(part.names) for part in parts]
    self._ends = onp.cumsum([0, *sizes])
    counts = onp.cumsum([0, *(len(part.totals) for part in parts)])
    values = onp.concatenate([part.entries for part in parts])
    self.low, self.high = onp.concatenate(low), onp.concatenate(high)
    self.arrays = onp.concatenate(arrays)
    self.set_entries(
      tuple(entry_names),
      values,
      onp.concatenate([part.units for part in parts]),
      onp.concatenate([part.may_be_zero for part in parts]),
    )
    self.set_sums(
      onp.concatenate(
        [
          onp.where(part.groups < 0, -1, part.groups + first)
          for part, first in zip(parts, counts)
        ]
      ),
      onp.concatenate([part.totals for part in parts]),
      onp.concatenate([part.substochastic for part in parts]),
    )
    self.keep_only(values, onp.concatenate(keep))
    place = onp.full(len(values), -1)
    place[self.indices] = onp.arange(len(self.indices))
    self._place = place
    self._base = onp.where(self._place < 0, values, 0.0)
    for name in ("low", "high", "arrays"):
      setattr(self, name, getattr(self, name)[self.indices])
    self.root = self
    self.indices = onp.arange(len(self.names))
    self.all_entries = self.entries

  def array(self, values: onp.ndarray) -> Array:
    """Converts host values to an array of the parameters' dtype."""
    return structures.as_array(
      onp.asarray(values, self.dtype), self.dtype, "parameters"
    )

  def value_at(self, entries: Array) -> dict[str, object]:
    """Makes the parameters at all entries of the root, by name."""
    fitted = self.array(self._base)
    if len(self.names):
      taken = np.take(entries, onp.maximum(self._place, 0), axis=-1)
      fitted = np.where(self._place >= 0, taken, fitted)
    values: dict[str, object] = {}
    start = 0
    if self._numbers is not None:
      start = len(self._numbers.names)
      numbers = self._numbers.value_at(fitted[:start])
      assert isinstance(numbers, Mapping)
      values |= numbers
    for name, part in self._coordinates.items():
      end = start + len(part.names)
      values[name] = part.value_at(fitted[start:end])
      start = end
    return {name: values[name] for name in self._order}

  def entries_at(
    self, parameters: Parameters, closed: bool = False
  ) -> onp.ndarray:
    """Returns the values of the fitted entries in other parameters.

    Args:
      parameters: the parameters.
      closed: whether numbers may be at their bounds, where a fit may end.

    Raises:
      TypeError: they have other names, or another form.
      ValueError: a number is not between its bounds.
    """
    if not isinstance(parameters, Mapping) or set(parameters) != set(
      self._order
    ):
      raise TypeError(
        f"parameters is {raw_arguments.shown(parameters)}: it must map the names "
        f"{', '.join(self._order)}"
      )
    parts = []
    if self._numbers is not None:
      arrays = {
        name: x
        for name, x in parameters.items()
        if name not in self._coordinates
      }
      parts.append(self._numbers.entries_of("parameters", arrays, closed))
    for name, part in self._coordinates.items():
      dist = parameters[name]
      coordinates_lib.check_single(name, dist)
      assert isinstance(dist, Distribution)
      parts.append(coordinates_lib.entries_at(part, dist))
    return onp.concatenate(parts)[self._place >= 0]

  def parameter_rows(
    self, rows: onp.ndarray, is_fitted: onp.ndarray, constants: bool = False
  ) -> dict[str, tuple[onp.ndarray, onp.ndarray]]:
    """Computes values or slopes of all parameters, as `Coordinates` does."""
    size = onp.shape(rows)[-1]
    all_rows = onp.concatenate([rows, onp.zeros((1, size))])[self._place]
    if constants:
      all_rows = all_rows + self._base[:, None]
    fitted = onp.append(is_fitted, False)[self._place]
    parts: dict[str, tuple[onp.ndarray, onp.ndarray]] = {}
    start = 0
    if self._numbers is not None:
      start = len(self._numbers.names)
      parts |= self._numbers.parameter_rows(
        all_rows[:start], fitted[:start], constants
      )
    for name, part in self._coordinates.items():
      end = start + len(part.names)
      inner = part.parameter_rows(
        all_rows[start:end], fitted[start:end], constants
      )
      parts |= {
        f"{parameter_names.prefix_of(name)}{path}": x
        for path, x in inner.items()
      }
      start = end
    return parts

  def has_name(self, name: str) -> bool:
    """Returns whether a parameter, an entry or a number has the name."""
    size = len(self.names)
    rows = self.parameter_rows(onp.zeros((size, 1)), onp.zeros(size, bool))
    return name in rows or name in self.names or self.place_of(name) is not None

  def place_of(self, name: str) -> tuple[str, tuple[int, ...]] | None:
    """Returns the path and index of a number of a parameter, by its name."""
    if self._numbers is not None:
      place = self._numbers.place_of(name)
      if place is not None:
        return place
    for part_name, part in self._coordinates.items():
      prefix = parameter_names.prefix_of(part_name)
      if name.startswith(prefix):
        place = part.place_of(name.removeprefix(prefix))
        if place is not None:
          return f"{prefix}{place[0]}", place[1]
    return None

  def ends_of(self, name: str) -> tuple[onp.ndarray, onp.ndarray] | None:
    """Returns the bounds of an array of numbers; None for other parameters."""
    return None if self._numbers is None else self._numbers.ends_of(name)

  def distributions_at(self, entries: onp.ndarray) -> list[Distribution]:
    """Returns the distributions among the parameters at given entries."""
    values = self.value_at(self.array(entries))
    return [values[name] for name in self._coordinates]  # type: ignore[misc]


def _common_dtype(
  numbers: numbers_lib.Numbers | None, distributions: Mapping[str, Distribution]
) -> str:
  """Returns the dtype of the distributions, or of the numbers without them."""
  dtypes = {dist.dtype for dist in distributions.values()}
  if len(dtypes) > 1:
    raise TypeError(
      f"parameters have the dtypes {', '.join(sorted(dtypes))}: distributions of "
      "one model must have one dtype"
    )
  if dtypes:
    dtype = dtypes.pop()
    if numbers is not None:
      numbers.dtype = dtype
    return dtype
  assert numbers is not None
  return numbers.dtype
