"""Maps unconstrained parameters to positive entries, and back.

An entry is the exponential of a free parameter, or part of a sum T with others:
y_i = T exp(x_i) / sum exp(x). One part of each sum has x = 0: a reference entry
or, in a substochastic sum, the difference to the total.
"""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.distributions.base import bijectors
from phasic.internal.arrays import Array


class UnconstrainedMap:
  """A smooth map from unconstrained parameters to entries.

  Attributes:
    groups: the index of the sum that each entry is part of, or -1.
    totals: the total of each sum.
    substochastic: whether the entries of each sum may sum to less than its
      total.
    reference: whether each entry is the reference of its sum, which the others
      determine.
  """

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

  def to_unconstrained(self, entries: onp.ndarray) -> onp.ndarray:
    """Maps entries to unconstrained parameters, on the host."""
    logs = onp.log(onp.asarray(entries, onp.float64))
    for g in range(len(self.totals)):
      members = self.groups == g
      if self.substochastic[g]:
        rest = self.totals[g] - onp.sum(entries[members])
      else:
        rest = onp.sum(entries[members & self.reference])
      logs[members] -= onp.log(rest)
    return logs[self.has_free]

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
      return onp.exp(logs)

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
    return (entries * above)[self.has_free]

  def jacobian(self, entries: onp.ndarray) -> onp.ndarray:
    """Computes the Jacobian of the entries in the free parameters, (k, d)."""
    same = self.groups[:, None] == self.groups
    same = same & (self.groups[:, None] >= 0)
    totals = onp.append(self.totals, 1.0)[self.groups]
    # Only products of entries outside of sums overflow; `same` excludes them.
    with onp.errstate(over="ignore"):
      outer = entries[:, None] * entries / totals
    jacobian = onp.diag(entries) - onp.where(same, outer, 0.0)
    return jacobian[:, self.has_free]

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
    bend = onp.diag(entries * above) - onp.where(same, cross, 0.0)
    curved = onp.matmul(onp.matmul(onp.transpose(jacobian), second), jacobian)
    return curved + bend[onp.ix_(self.has_free, self.has_free)]

  def forward(self, free: Array) -> Array:
    """Maps unconstrained parameters to entries, as a differentiable array."""
    position = onp.cumsum(self.has_free) - 1
    members = onp.flatnonzero(self.groups < 0)
    parts = [bijectors.Exp().forward(np.take(free, position[members], axis=-1))]
    order = [members]
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
