"""Maps unconstrained parameters to entries, and back.

An entry is real, and a free parameter times a unit; or it is the exponential of a
free parameter; or it is part of a sum T with others: y_i = T exp(x_i) / sum exp(x).
One part of each sum has x = 0: a reference entry or, in a substochastic sum, the
difference to the total.
"""

from __future__ import annotations

import copy
from typing import Self

import numpy as np
import numpy as onp

from phasic.distributions.base import bijectors
from phasic.internal.arrays import Array


class UnconstrainedMap:
  """A smooth map from unconstrained parameters to entries.

  Attributes:
    names: the names of the entries.
    entries: the values of the entries, (k,).
    units: the units of real entries, (k,); zero for positive ones.
    may_be_zero: whether zero is in the domain, for each positive entry.
    indices: the positions of these entries among all, (k,).
    all_entries: the values of all entries; those not in `indices` are constant.
    groups: the index of the sum that each entry is part of, or -1.
    totals: the total of each sum.
    substochastic: whether the entries of each sum may sum to less than its
      total.
    reference: whether each entry is the reference of its sum, which the others
      determine.
  """

  names: tuple[str, ...]
  entries: onp.ndarray
  units: onp.ndarray
  may_be_zero: onp.ndarray
  indices: onp.ndarray
  all_entries: onp.ndarray
  groups: onp.ndarray
  totals: onp.ndarray
  substochastic: onp.ndarray
  reference: onp.ndarray

  @property
  def has_free(self) -> onp.ndarray:
    """Whether each entry has a free parameter of its own, bool (k,)."""
    return onp.logical_not(self.reference)

  @property
  def num_free(self) -> int:
    """The number of unconstrained parameters."""
    return int(onp.sum(self.has_free))

  @property
  def is_real(self) -> onp.ndarray:
    """Whether each entry may have any real value, bool (k,)."""
    return self.units > 0

  def in_units(self, units: onp.ndarray) -> Self:
    """Returns the same map, with other units of real entries."""
    found = copy.copy(self)
    found.units = onp.where(self.is_real, units, 0.0)
    return found

  def is_inside(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns whether each entry is off the boundary, zero, bool (k,)."""
    return self.is_real | (entries > 0)

  def restricted(self, entries: onp.ndarray, keep: onp.ndarray) -> Self:
    """Returns the map of a subset of entries; the others are constants."""
    keep = onp.asarray(keep, bool) & self.is_inside(entries)
    for g in range(len(self.totals)):
      rows = keep & (self.groups == g)
      if not self.substochastic[g] and onp.sum(rows) == 1:
        keep = keep & onp.logical_not(rows)
    found = copy.copy(self)
    found.names = tuple(onp.asarray(self.names, object)[keep])
    found.entries = onp.asarray(entries, onp.float64)[keep]
    found.units = self.units[keep]
    found.may_be_zero = self.may_be_zero[keep]
    old = sorted(set(self.groups[keep]) - {-1})
    number = {g: i for i, g in enumerate(old)} | {-1: -1}
    found.groups = onp.asarray([number[g] for g in self.groups[keep]], int)
    found.substochastic = self.substochastic[old] if old else onp.zeros(0, bool)
    totals = onp.zeros(len(old))
    for i, g in enumerate(old):
      own = self.groups == g
      totals[i] = onp.sum(entries[own & keep])
      if self.substochastic[g]:
        totals[i] = self.totals[g] - onp.sum(
          entries[own & onp.logical_not(keep)]
        )
    found.totals = totals
    found.reference = references(
      found.entries, found.groups, found.substochastic
    )
    found.indices = self.indices[keep]
    found.all_entries = self.embedded(entries)
    return found

  def embedded(self, entries: onp.ndarray) -> onp.ndarray:
    """Replaces the selected entries in the vector of all entries."""
    found = onp.array(self.all_entries)
    found[self.indices] = entries
    return found

  def to_unconstrained(self, entries: onp.ndarray) -> onp.ndarray:
    """Maps entries to unconstrained parameters, on the host."""
    positive = onp.where(self.is_real, 1.0, entries)
    logs = onp.log(onp.asarray(positive, onp.float64))
    for g in range(len(self.totals)):
      members = self.groups == g
      if self.substochastic[g]:
        rest = self.totals[g] - onp.sum(entries[members])
      else:
        rest = onp.sum(entries[members & self.reference])
      logs[members] -= onp.log(rest)
    real = entries / onp.where(self.is_real, self.units, 1.0)
    return onp.where(self.is_real, real, logs)[self.has_free]

  def to_constrained(self, free: onp.ndarray) -> onp.ndarray:
    """Maps unconstrained parameters to entries, on the host."""
    logs = onp.zeros(len(self.reference))
    logs[self.has_free] = free
    for g in range(len(self.totals)):
      members = self.groups == g
      largest = onp.max(
        logs[members], initial=0.0 if self.substochastic[g] else -onp.inf
      )
      rest = onp.exp(-largest) if self.substochastic[g] else 0.0
      total = onp.sum(onp.exp(logs[members] - largest)) + rest
      logs[members] += onp.log(self.totals[g]) - largest - onp.log(total)
    with onp.errstate(over="ignore"):
      positive = onp.exp(onp.where(self.is_real, 0.0, logs))
    return onp.where(self.is_real, logs * self.units, positive)

  def projected_gradient(
    self, entries: onp.ndarray, slopes: onp.ndarray
  ) -> onp.ndarray:
    """Projects a gradient onto directions with constant sums of entries."""
    means = onp.zeros(len(entries))
    for g in range(len(self.totals)):
      members = self.groups == g
      means[members] = (
        onp.sum(entries[members] * slopes[members]) / self.totals[g]
      )
    return slopes - means

  def unconstrained_gradient(
    self, entries: onp.ndarray, slopes: onp.ndarray
  ) -> onp.ndarray:
    """Converts a gradient in entries to one in unconstrained parameters."""
    above = self.projected_gradient(entries, slopes)
    return (onp.where(self.is_real, self.units, entries) * above)[self.has_free]

  def jacobian(self, entries: onp.ndarray) -> onp.ndarray:
    """Computes the Jacobian of the entries in the free parameters, (k, d)."""
    same = self.groups[:, None] == self.groups
    same = same & (self.groups[:, None] >= 0)
    totals = onp.append(self.totals, 1.0)[self.groups]
    # Only products of entries outside of sums overflow; `same` excludes them.
    with onp.errstate(over="ignore"):
      outer = entries[:, None] * entries / totals
    own = onp.diag(onp.where(self.is_real, self.units, entries))
    return (own - onp.where(same, outer, 0.0))[:, self.has_free]

  def unconstrained_hessian(
    self, entries: onp.ndarray, slopes: onp.ndarray, second: onp.ndarray
  ) -> onp.ndarray:
    """Converts a Hessian in entries to one in unconstrained parameters.

    Args:
      entries: (k,).
      slopes: first derivatives in the entries, (k,).
      second: second derivatives in the entries, (k, k).
    """
    jacobian = self.jacobian(entries)
    above = self.projected_gradient(entries, slopes)
    same = self.groups[:, None] == self.groups
    same = same & (self.groups[:, None] >= 0)
    totals = onp.append(self.totals, 1.0)[self.groups]
    with onp.errstate(over="ignore", invalid="ignore"):
      cross = entries[:, None] * entries / totals * (above[:, None] + above)
    bend = onp.diag(onp.where(self.is_real, 0.0, entries * above))
    bend = bend - onp.where(same, cross, 0.0)
    curved = onp.matmul(onp.matmul(onp.transpose(jacobian), second), jacobian)
    return curved + bend[onp.ix_(self.has_free, self.has_free)]

  def forward(self, free: Array) -> Array:
    """Maps unconstrained parameters to entries, as a differentiable array."""
    position = onp.cumsum(self.has_free) - 1
    members = onp.flatnonzero((self.groups < 0) & onp.logical_not(self.is_real))
    real = onp.flatnonzero(self.is_real)
    parts = [bijectors.Exp().forward(np.take(free, position[members], axis=-1))]
    parts.append(np.take(free, position[real], axis=-1) * self.units[real])
    order = [members, real]
    for g, total in enumerate(self.totals):
      members = onp.flatnonzero((self.groups == g) & self.has_free)
      last = onp.flatnonzero((self.groups == g) & self.reference)
      own = np.take(free, position[members], axis=-1)
      if self.substochastic[g]:
        own = bijectors.SoftmaxWithSlack(1).forward(own)
      else:
        own = bijectors.SoftmaxCentered(1).forward(own)
      parts.append(own * total)
      order.append(onp.concatenate([members, last]))
    inverse = onp.argsort(onp.concatenate(order))
    return np.take(np.concatenate(parts, axis=-1), inverse, axis=-1)


def references(
  entries: onp.ndarray, groups: onp.ndarray, substochastic: onp.ndarray
) -> onp.ndarray:
  """Marks the largest entry of each group with a fixed sum, bool (k,)."""
  found = onp.zeros(len(entries), bool)
  for g in range(len(substochastic)):
    members = onp.flatnonzero(groups == g)
    if not substochastic[g]:
      found[members[onp.argmax(entries[members])]] = True
  return found
