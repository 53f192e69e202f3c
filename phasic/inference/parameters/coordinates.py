"""Coordinates: the entries of a distribution's parameters that a fit changes.

Entries are the constrained parameters: positive numbers such as rates, masses
and differences of increasing rates. They are smooth functions of unconstrained
real parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple

import numpy as np
import numpy as onp

from phasic.distributions.base import entries as entries_lib
from phasic.distributions.base import hooks
from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import unconstrained_map
from phasic.internal import structures
from phasic.internal.arrays import Array

# The end of the message about a parameter whose entries increase, by the name
# of the parameter. It suggests a family without this limitation.
_OTHER_FAMILIES = {"rates": "; fit a Coxian or a Hypoexponential instead"}


class Table(NamedTuple):
  """The positions of a parameter's entries in the vector of fitted entries.

  Attributes:
    index: positions in the vector, in the shape of the parameter; -1 for
      entries that are not fitted.
    base: the values of the entries that are not fitted, else zero.
  """

  index: onp.ndarray  # type: ignore[assignment]
  base: onp.ndarray


class Coordinates(unconstrained_map.UnconstrainedMap, Generic[DistributionT]):
  """The entries of a distribution that a fit changes, and their names.

  Attributes:
    distribution: the distribution, with exits and masses at zero given
      explicitly, so that no entry is derived by subtraction.
    tied: maps the name of each tied entry to the name of its group's entry.
    tables: a `Table` for each parameter, by its path.
    changing: the tables from which parameters are made. Increasing parameters
      that are not fitted are left out: a sum of differences is rounded.
    increasing: paths of parameters whose entries are differences.
    root: the coordinates of all entries that can be fitted.
  """

  def __init__(
    self,
    distribution: DistributionT,
    fixed: Sequence[str] = (),
    tied: Sequence[Sequence[str]] = (),
    free: Sequence[str] = (),
  ):
    """Selects the entries that are not zero, fixed or determined by others.

    Args:
      distribution: a distribution without a batch, with concrete parameters.
      fixed: names of parameters or entries that are not fitted.
      tied: groups of names of positive entries that are equal.
      free: names of values that are known unless they are named here.

    Raises:
      TypeError: it is not a distribution.
      ValueError: there is a batch, a name is unknown, a value breaks a rule, or
        probabilities are tied.
    """
    check_single("dist", distribution)
    self.distribution, blocks = entry_blocks.explicit_blocks(distribution)
    self.increasing = entry_blocks.increasing(self.distribution)
    entry_blocks.check_groups("tied", tied)
    for names in tied:
      self.check_not_increasing("tied", names)
    known = entry_blocks.Names(blocks)
    kept = known.positions(fixed, "fixed")
    known.release(free)
    together = [known.positions(names, "tied") for names in tied]
    self._collect(blocks, known, kept, together)

  def check_not_increasing(self, argument: str, names: Sequence[str]) -> None:
    """Raises ValueError if a name is of a parameter whose entries increase."""
    for name in names:
      if name in self.increasing:
        raise ValueError(
          f"{argument} has {name!r}: a parameter whose entries increase cannot "
          "be bounded or tied, because the differences of its entries are fitted"
          + _OTHER_FAMILIES.get(name.rpartition(".")[-1], "")
        )

  def _collect(
    self,
    blocks: Mapping[str, entries_lib.Entries],
    known: entry_blocks.Names,
    kept: Sequence[int],
    together: Sequence[Sequence[int]],
  ) -> None:
    """Selects the fitted entries, and sets all attributes."""
    free = onp.asarray(
      [
        value > 0 and i not in kept and kind.is_entry and kind.is_fitted
        for i, (value, kind) in enumerate(
          zip(known.values, known.kinds, strict=True)
        )
      ],
      bool,
    )
    leader = list(range(len(free)))
    for positions in together:
      for i in positions:
        if known.kinds[i].group is not None:
          raise ValueError(
            f"tied has {known.names[i]!r}: probabilities that sum to one "
            "cannot be tied; tie rates or other positive numbers"
          )
        if not free[i]:
          raise ValueError(
            f"tied has {known.names[i]!r}: it is "
            f"{'zero' if known.values[i] == 0 else 'fixed'}; tied entries must "
            "be positive and not fixed"
          )
        if leader[i] != i:
          raise ValueError(
            f"tied has {known.names[i]!r} twice: an entry must be in one "
            "group only"
          )
        leader[i] = positions[0]
    values = onp.asarray(known.values, onp.float64)
    for first in {positions[0] for positions in together if positions}:
      same = onp.asarray(leader) == first
      values[same] = onp.exp(onp.mean(onp.log(values[same])))
    self.tied = {
      known.names[i]: known.names[leader[i]]
      for positions in together
      for i in positions
    }
    groups = [kind.group for kind in known.kinds]
    sums = [x for x in dict.fromkeys(groups) if x is not None]
    self.set_entries(
      tuple(known.names),
      values,
      onp.zeros(len(values)),
      onp.asarray([x.may_be_zero for x in known.kinds], bool),
    )
    self.set_sums(
      onp.asarray([-1 if x is None else sums.index(x) for x in groups], int),
      onp.ones(len(sums)),
      onp.asarray([known.substochastic.get(x, False) for x in sums], bool),
    )
    self.keep_only(values, free & (leader == self.indices))
    number = onp.full(len(values), -1, onp.int32)
    number[self.indices] = onp.arange(len(self.indices))
    places = onp.where(free, number[leader], -1)
    dtype = self.distribution.dtype
    tables = {}
    for path, block in blocks.items():
      shape = onp.shape(block.values)
      rows = known.first[path] + onp.arange(len(block.names))
      index = onp.reshape(places[rows], shape)
      base = onp.where(index >= 0, 0.0, block.values)
      tables[path] = Table(index, onp.asarray(base, dtype))
    self.tables = tables
    self.changing = {
      path: table
      for path, table in tables.items()
      if path not in self.increasing or onp.any(table.index >= 0)
    }
    self.root = self
    self.indices = onp.arange(len(self.names))
    self.all_entries = self.entries

  def parameter_rows(
    self, rows: onp.ndarray, is_fitted: onp.ndarray, constants: bool = False
  ) -> dict[str, tuple[onp.ndarray, onp.ndarray]]:
    """Computes values or slopes of all parameters from those of entries.

    Args:
      rows: values or slopes of the entries of the root, (k, d).
      is_fitted: which of them are fitted, (k,).
      constants: whether the values of other entries are added, as for values.

    Returns:
      Rows (..., d) and whether entries are fitted (...), by path of the
      parameter of shape (...); parameters of a graph by name, "params[a]".
    """
    # Entries that are not fitted have the index -1, which selects the last row:
    # its slopes are zero.
    size = onp.shape(rows)[-1]
    padded = onp.concatenate([rows, onp.zeros((1, size))])
    fitted = onp.append(is_fitted, False)
    parts = {}
    for path, table in self.tables.items():
      index = onp.asarray(table.index)
      values, kept = padded[index], fitted[index]
      if constants:
        values = values + onp.asarray(table.base, onp.float64)[..., None]
      if path in self.increasing:
        # Each entry of the parameter is the sum of the differences up to the
        # entry.
        values = onp.cumsum(values, axis=-2)
        kept = onp.logical_or.accumulate(kept, axis=-1)
      parts[path] = (values, kept)
    for path, names in entry_blocks.names_of_mappings(
      self.distribution
    ).items():
      values, kept = parts.pop(path)
      parts |= {
        f"{path}[{name}]": (values[i], kept[i]) for i, name in enumerate(names)
      }
    return parts

  def place_of(self, name: str) -> tuple[str, tuple[int, ...]] | None:
    """Returns the path and index of a number of a parameter, by its name."""
    for path, table in self.tables.items():
      if name.startswith(f"{path}["):
        shape = onp.shape(table.index)
        names = entry_blocks.labels(path, shape)
        if name in names:
          return path, tuple(
            int(i) for i in onp.unravel_index(names.index(name), shape)
          )
    return None

  def ends_of(self, path: str) -> None:
    """Returns None: bounds of parameters follow from their constraints."""
    del path

  @property
  def dtype(self) -> str:
    """The dtype of the distribution."""
    return self.distribution.dtype

  def array(self, values: onp.ndarray) -> Array:
    """Converts host values to an array of the distribution's dtype."""
    dtype = self.dtype
    return structures.as_array(onp.asarray(values, dtype), dtype, "entries")

  def value_at(self, entries: Array) -> DistributionT:
    """Makes the distribution at all entries of the root."""
    if not self.names:
      return self.distribution
    return self.distribution_at(entries)

  def distribution_at(self, entries: Array | onp.ndarray) -> DistributionT:
    """Makes the distribution whose k fitted entries have the given values."""
    dtype = self.distribution.dtype
    entries = structures.as_array(entries, dtype, "entries")
    others = onp.setdiff1d(onp.arange(len(self.all_entries)), self.indices)
    order = onp.argsort(onp.concatenate([self.indices, others]))
    kept = structures.as_array(
      onp.asarray(self.all_entries[others], dtype), dtype, "entries"
    )
    all_entries = np.take(
      np.concatenate([entries, kept], axis=-1), order, axis=-1
    )
    return with_entries(self.distribution, self.changing, all_entries)


def check_single(name: str, distribution: object) -> None:
  """Raises unless the argument is a distribution without a batch."""
  hooks.check_distribution(name, distribution)
  assert isinstance(distribution, Distribution)
  shape = tuple(distribution.batch_shape)
  if shape:
    raise ValueError(
      f"{name} has batch shape {shape}: it must be (), since one "
      "distribution is fitted at a time; index it, e.g. dist[0]"
    )


def with_entries(
  distribution: DistributionT,
  tables: Mapping[str, Table],
  entries: Array,
) -> DistributionT:
  """Replaces the fitted entries of a distribution's parameters.

  Args:
    distribution: `Coordinates.distribution`.
    tables: `Coordinates.changing`.
    entries: (k,), an array in the dtype of the distribution.
  """
  arrays = {
    path: np.where(
      structures.cast(table.index) >= 0,
      np.take(entries, np.maximum(structures.cast(table.index), 0), axis=-1),
      structures.cast(table.base),
    )
    for path, table in tables.items()
  }
  return entry_blocks.rebuilt(distribution, arrays)


def entries_at(
  coordinates: Coordinates, distribution: Distribution
) -> onp.ndarray:
  """Returns the values that the fitted entries have in another distribution.

  Tied entries have the value of the first entry of their group.
  """
  _, blocks = entry_blocks.explicit_blocks(distribution)
  values = onp.zeros(len(coordinates.names))
  for path, table in coordinates.tables.items():
    index = onp.ravel(table.index)
    flat = onp.ravel(blocks[path].values)
    for j in reversed(range(len(index))):
      if index[j] >= 0:
        values[index[j]] = flat[j]
  return values
