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
    totals: the total of each sum, (m,).
    substochastic: whether the entries of each sum may sum to less than its
      total, (m,).
    reference: whether each entry is the reference of its sum, which the others
      determine: the largest one.
  """

  @property
  def has_free(self) -> onp.ndarray:
    """A mask (k,) of the entries that have a free parameter of their own."""
    return onp.logical_not(self.reference)

  @property
  def num_free(self) -> int:
    """The number of unconstrained parameters."""
    return int(onp.sum(self.has_free))

  @property
  def is_real(self) -> onp.ndarray:
    """A mask (k,) of the entries that may have any real value."""
    return self.units > 0

  def in_units(self, units: onp.ndarray) -> Self:
    """Returns the same map, with other units of real entries."""
    scaled = copy.copy(self)
    scaled.units = onp.where(self.is_real, units, 0.0)
    return scaled

  def is_inside(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns a mask (k,) of the entries that are real, or above zero."""
    return self.is_real | (entries > 0)

  def set_entries(
    self,
    names: tuple[str, ...],
    entries: onp.ndarray,
    units: onp.ndarray,
    may_be_zero: onp.ndarray,
  ) -> None:
    """Sets all entries; see the attributes of the class."""
    self.names = names
    self.entries = self.all_entries = entries
    self.units = units
    self.may_be_zero = may_be_zero
    self.indices = onp.arange(len(names))

  def set_sums(
    self, groups: onp.ndarray, totals: onp.ndarray, substochastic: onp.ndarray
  ) -> None:
    """Sets which entries have fixed sums, and the reference of each sum."""
    self.groups, self.totals = groups, totals
    self.substochastic = substochastic
    order = onp.lexsort([-self.entries, groups])
    sums, largest = onp.unique(groups[order], return_index=True)
    reference = onp.zeros(len(groups), bool)
    # Entries that are in no sum have the index -1. They select the last item:
    # they have no reference.
    has_none = onp.append(substochastic, True)
    reference[order[largest]] = onp.logical_not(has_none[sums])
    self.reference = reference

  def restricted(self, entries: onp.ndarray, keep: onp.ndarray) -> Self:
    """Returns the map of a subset of entries; the others are constants.

    The only entry that is left of a sum is a constant, too.
    """
    subset = copy.copy(self)
    subset.keep_only(entries, keep)
    return subset

  def keep_only(self, entries: onp.ndarray, keep: onp.ndarray) -> None:
    """Restricts this map to a subset of entries, see `restricted`."""
    keep = onp.asarray(keep, bool) & self.is_inside(entries)
    fixed = onp.logical_not(self.substochastic)
    is_certain = fixed & (self._sums(keep) == 1)
    keep = keep & onp.logical_not(self._to_entries(is_certain, False))
    totals = onp.where(
      fixed,
      self._sums(onp.where(keep, entries, 0.0)),
      self.totals - self._sums(onp.where(keep, 0.0, entries)),
    )
    old = onp.flatnonzero(self._sums(keep))
    groups = self.groups[keep]
    self.all_entries = self.embedded(entries)
    self.names = tuple(onp.asarray(self.names, object)[keep])
    self.entries = onp.asarray(entries, onp.float64)[keep]
    self.units = self.units[keep]
    self.may_be_zero = self.may_be_zero[keep]
    self.indices = self.indices[keep]
    self.set_sums(
      onp.where(groups < 0, -1, onp.searchsorted(old, groups)),
      totals[old],
      self.substochastic[old],
    )

  def embedded(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns all entries, with new values for those that are selected."""
    all_entries = onp.array(self.all_entries)
    all_entries[self.indices] = entries
    return all_entries

  def scales(self, largest: onp.ndarray) -> onp.ndarray:
    """Returns the total of each entry's sum, or `largest` if in no sum."""
    return onp.where(
      self.groups < 0, largest, self._to_entries(self.totals, 0.0)
    )

  def balanced(self, entries: onp.ndarray) -> onp.ndarray:
    """Rescales probabilities so that each sum is as required."""
    sums = self._sums(entries)
    is_off = (sums > self.totals) | onp.logical_not(self.substochastic)
    is_off = is_off & (sums > 0)
    factors = onp.where(is_off, self.totals / onp.where(is_off, sums, 1.0), 1.0)
    return entries * self._to_entries(factors, 1.0)

  def _sums(self, x: onp.ndarray) -> onp.ndarray:
    """Adds up the items of x over the entries of each sum."""
    return onp.bincount(self.groups + 1, x, len(self.totals) + 1)[1:]

  def _to_entries(self, x: onp.ndarray, other: float) -> onp.ndarray:
    """Returns the item of x for each entry's sum, or `other` if in no sum."""
    return onp.append(x, other)[self.groups]

  def to_unconstrained(self, entries: onp.ndarray) -> onp.ndarray:
    """Maps entries to unconstrained parameters, on the host."""
    at_zero = self._sums(onp.where(self.reference, entries, 0.0))
    rest = self.totals - self._sums(entries)
    below = self._to_entries(onp.where(self.substochastic, rest, at_zero), 1.0)
    logs = onp.log(onp.where(self.is_real, 1.0, entries)) - onp.log(below)
    real = entries / onp.where(self.is_real, self.units, 1.0)
    return onp.where(self.is_real, real, logs)[self.has_free]

  def to_constrained(self, free: onp.ndarray) -> onp.ndarray:
    """Maps unconstrained parameters to entries, on the host.

    It is `forward` in double precision, and the derivatives below are of it.
    """
    logs = onp.zeros(len(self.reference))
    logs[self.has_free] = free
    if len(self.totals):
      grouped = self.groups >= 0
      tops = onp.where(self.substochastic, 0.0, -onp.inf)
      onp.maximum.at(tops, self.groups[grouped], logs[grouped])
      below = onp.where(grouped, logs - self._to_entries(tops, 0.0), -onp.inf)
      rest = onp.where(self.substochastic, onp.exp(-tops), 0.0)
      sums = self._sums(onp.exp(below)) + rest
      logs += self._to_entries(onp.log(self.totals / sums) - tops, 0.0)
    with onp.errstate(over="ignore"):
      positive = onp.exp(onp.where(self.is_real, 0.0, logs))
    return onp.where(self.is_real, logs * self.units, positive)

  def projected_gradient(
    self, entries: onp.ndarray, slopes: onp.ndarray
  ) -> onp.ndarray:
    """Projects a gradient onto directions with constant sums of entries."""
    if not len(self.totals):
      return slopes
    grouped = onp.where(self.groups < 0, 0.0, slopes)
    means = self._sums(entries * grouped) / self.totals
    return slopes - self._to_entries(means, 0.0)

  def unconstrained_gradient(
    self, entries: onp.ndarray, slopes: onp.ndarray
  ) -> onp.ndarray:
    """Converts a gradient in entries to one in unconstrained parameters."""
    above = self.projected_gradient(entries, slopes)
    return (onp.where(self.is_real, self.units, entries) * above)[self.has_free]

  def jacobian(self, entries: onp.ndarray) -> onp.ndarray:
    """Computes the Jacobian of k entries in d free parameters."""
    scales = onp.diag(onp.where(self.is_real, self.units, entries))
    return (scales - self._outer(entries))[:, self.has_free]

  def _outer(self, entries: onp.ndarray) -> onp.ndarray:
    """Computes products of two parts of a sum over its total, (k, k)."""
    parts = onp.where(self.groups < 0, 0.0, entries)
    products = parts[:, None] * (parts / self._to_entries(self.totals, 1.0))
    return onp.where(self.groups[:, None] == self.groups, products, 0.0)

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
    bend = onp.diag(onp.where(self.is_real, 0.0, entries * above))
    with onp.errstate(invalid="ignore"):
      bend = bend - self._outer(entries) * (above[:, None] + above)
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
      ratios = np.take(free, position[members], axis=-1)
      bijector = (
        bijectors.SoftmaxWithSlack(1)
        if self.substochastic[g]
        else bijectors.SoftmaxCentered(1)
      )
      parts.append(bijector.forward(ratios) * total)
      order.append(onp.concatenate([members, last]))
    inverse = onp.argsort(onp.concatenate(order))
    return np.take(np.concatenate(parts, axis=-1), inverse, axis=-1)
