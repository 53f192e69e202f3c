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

from phasic.distributions.base import hooks
from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import unconstrained_map
from phasic.internal import structures
from phasic.internal.arrays import Array

# Families to fit instead, by the name of the parameter.
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
    changing: those of `tables` from which parameters are made. Increasing ones
      that are not fitted stay as they are: a sum of differences is rounded.
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
    self.distribution, blocks = entry_blocks.of(distribution)
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
    """Raises ValueError if a name is a parameter of increasing rates."""
    for name in names:
      if name in self.increasing:
        raise ValueError(
          f"{argument} has {name!r}: a parameter whose entries increase cannot "
          "be bounded or tied, because the differences of its entries are fitted"
          + _OTHER_FAMILIES.get(name.rpartition(".")[-1], "")
        )

  def _collect(
    self,
    blocks: Mapping[str, entry_blocks.Block],
    known: entry_blocks.Names,
    kept: Sequence[int],
    together: Sequence[Sequence[int]],
  ) -> None:
    """Selects the fitted entries, and sets all attributes."""
    free = [
      value > 0 and i not in kept and kind.is_entry and kind.is_fitted
      for i, (value, kind) in enumerate(
        zip(known.values, known.kinds, strict=True)
      )
    ]
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
            f"tied has {known.names[i]!r} twice: an entry must be in one group"
          )
        leader[i] = positions[0]
    chosen = [i for i in range(len(free)) if free[i] and leader[i] == i]
    chosen = self._without_certain(chosen, known)
    number = {i: c for c, i in enumerate(chosen)}
    self.names = tuple(known.names[i] for i in chosen)
    self.tied = {
      known.names[i]: known.names[leader[i]]
      for positions in together
      for i in positions
    }
    self.entries = onp.asarray(
      [
        onp.exp(
          onp.mean(
            [
              onp.log(known.values[j])
              for j in range(len(free))
              if free[j] and leader[j] == i
            ]
          )
        )
        if together
        else known.values[i]
        for i in chosen
      ],
      onp.float64,
    )
    self.may_be_zero = onp.asarray(
      [known.kinds[i].may_be_zero for i in chosen], bool
    )
    self.units = onp.zeros(len(chosen))
    self._group(chosen, known)
    dtype = self.distribution.dtype
    tables = {}
    for path, block in blocks.items():
      index = onp.full(len(block.values), -1, onp.int32)
      for j in range(len(block.values)):
        i = leader[known.first[path] + j]
        if free[known.first[path] + j] and i in number:
          index[j] = number[i]
      base = onp.where(index >= 0, 0.0, block.values)
      size = block.sizes
      tables[path] = Table(
        onp.reshape(index, size), onp.asarray(onp.reshape(base, size), dtype)
      )
    self.tables = tables
    self.changing = {
      path: table
      for path, table in tables.items()
      if path not in self.increasing or onp.any(table.index >= 0)
    }
    self.root = self
    self.indices = onp.arange(len(chosen))
    self.all_entries = self.entries

  def _without_certain(
    self, chosen: Sequence[int], known: entry_blocks.Names
  ) -> list[int]:
    """Removes each probability that is the only entry of a sum, and so one."""
    members: dict[str | None, list[int]] = {}
    for i in chosen:
      group = known.kinds[i].group
      if group is not None:
        members.setdefault(group, []).append(i)
    alone = {
      rows[0]
      for group, rows in members.items()
      if len(rows) == 1 and not known.substochastic[group]
    }
    return [i for i in chosen if i not in alone]

  def _group(self, chosen: Sequence[int], known: entry_blocks.Names) -> None:
    """Numbers groups of entries that share a sum; picks reference entries."""
    found: dict[str, int] = {}
    groups = onp.full(len(chosen), -1)
    for c, i in enumerate(chosen):
      group = known.kinds[i].group
      if group is not None:
        groups[c] = found.setdefault(group, len(found))
    self.groups = groups
    self.substochastic = onp.asarray(
      [known.substochastic[g] for g in found], bool
    )
    totals = []
    fitted = set(chosen)
    for group, g in found.items():
      rest = sum(
        known.values[i]
        for i in range(len(known.values))
        if known.kinds[i].group == group and i not in fitted
      )
      own = float(onp.sum(self.entries[groups == g]))
      totals.append(1.0 - rest if known.substochastic[group] else own)
    self.totals = onp.asarray(totals, onp.float64)
    self.reference = unconstrained_map.references(
      self.entries, groups, self.substochastic
    )

  def of(self, entries: Array | onp.ndarray) -> DistributionT:
    """Makes the distribution with the given entries, an array (k,)."""
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
      f"{name} has batch shape {shape}: one distribution is fitted at a time, "
      "index the batch"
    )


def with_entries(
  distribution: DistributionT,
  tables: Mapping[str, Table],
  entries: Array | onp.ndarray,
) -> DistributionT:
  """Replaces the fitted entries of a distribution's parameters.

  Args:
    distribution: `Coordinates.distribution`.
    tables: `Coordinates.changing`.
    entries: (k,).
  """
  dtype = distribution.dtype
  entries = structures.as_array(entries, dtype, "entries")
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
  """Returns the values of the fitted entries in another distribution.

  Tied entries have the value of the first entry of their group.
  """
  _, blocks = entry_blocks.of(distribution)
  values = onp.zeros(len(coordinates.names))
  for path, table in coordinates.tables.items():
    index = onp.ravel(table.index)
    own = blocks[path].values
    for j in reversed(range(len(index))):
      if index[j] >= 0:
        values[index[j]] = own[j]
  return values
