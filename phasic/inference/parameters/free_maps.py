"""From free real numbers to positive entries, and back, with derivatives.

Entries are positive numbers of their own, exponentials of free numbers; or
parts of sums, softmax of them: y_i = T exp(x_i) / sum exp(x). One part of a sum
has x = 0, either one of the entries, the reference, or what they lack of the
total, the slack.
"""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.distributions.base import bijectors
from phasic.internal.arrays import Array


class FreeMap:
  """A map of free real numbers onto entries.

  Attributes:
    groups: for each entry the number of the sum it is part of, or -1.
    totals: of each sum.
    slack: whether the entries of a sum may have less than the total.
    reference: for each entry whether it is what the others of its sum leave.
  """

  groups: onp.ndarray
  totals: onp.ndarray
  slack: onp.ndarray
  reference: onp.ndarray

  @property
  def has_free(self) -> onp.ndarray:
    """For each entry whether it has a free number of its own."""
    return onp.logical_not(self.reference)

  @property
  def num_free(self) -> int:
    """How many free real numbers there are."""
    return int(onp.sum(self.has_free))

  def free_of(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns the free numbers of entries, on the host."""
    logs = onp.log(onp.asarray(entries, onp.float64))
    for g in range(len(self.totals)):
      rows = self.groups == g
      if self.slack[g]:
        rest = self.totals[g] - onp.sum(entries[rows])
      else:
        rest = onp.sum(entries[rows & self.reference])
      logs[rows] -= onp.log(rest)
    return logs[self.has_free]

  def entries_of(self, free: onp.ndarray) -> onp.ndarray:
    """Returns the entries of free numbers, on the host."""
    logs = onp.zeros(len(self.reference))
    logs[self.has_free] = free
    for g in range(len(self.totals)):
      rows = self.groups == g
      top = onp.max(logs[rows], initial=0.0 if self.slack[g] else -onp.inf)
      rest = onp.exp(-top) if self.slack[g] else 0.0
      total = onp.sum(onp.exp(logs[rows] - top)) + rest
      logs[rows] += onp.log(self.totals[g]) - top - onp.log(total)
    with onp.errstate(over="ignore"):
      return onp.exp(logs)

  def above_mean(
    self, entries: onp.ndarray, slopes: onp.ndarray
  ) -> onp.ndarray:
    """Returns slopes as far as the others of a sum do not take them back."""
    means = onp.zeros(len(entries))
    for g in range(len(self.totals)):
      rows = self.groups == g
      means[rows] = onp.sum(entries[rows] * slopes[rows]) / self.totals[g]
    return slopes - means

  def pull(self, entries: onp.ndarray, slopes: onp.ndarray) -> onp.ndarray:
    """Returns the gradient in the free numbers of that in the entries."""
    above = self.above_mean(entries, slopes)
    return (entries * above)[self.has_free]

  def jacobian(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns d entries / d free, (k, d)."""
    same = self.groups[:, None] == self.groups
    same = same & (self.groups[:, None] >= 0)
    totals = onp.append(self.totals, 1.0)[self.groups]
    with onp.errstate(over="ignore"):  # Of two that are of no sum.
      outer = entries[:, None] * entries / totals
    whole = onp.diag(entries) - onp.where(same, outer, 0.0)
    return whole[:, self.has_free]

  def pull_second(
    self, entries: onp.ndarray, slopes: onp.ndarray, second: onp.ndarray
  ) -> onp.ndarray:
    """Returns second derivatives in the free numbers of those in the entries.

    Args:
      entries: (k,).
      slopes: first derivatives in the entries, (k,).
      second: second ones, (k, k).
    """
    jacobian = self.jacobian(entries)
    above = self.above_mean(entries, slopes)
    same = self.groups[:, None] == self.groups
    same = same & (self.groups[:, None] >= 0)
    totals = onp.append(self.totals, 1.0)[self.groups]
    with onp.errstate(over="ignore", invalid="ignore"):
      cross = entries[:, None] * entries / totals * (above[:, None] + above)
    bend = onp.diag(entries * above) - onp.where(same, cross, 0.0)
    curved = onp.matmul(onp.matmul(onp.transpose(jacobian), second), jacobian)
    return curved + bend[onp.ix_(self.has_free, self.has_free)]

  def forward(self, free: Array) -> Array:
    """Returns the entries of free numbers, an array."""
    position = onp.cumsum(self.has_free) - 1
    rows = onp.flatnonzero(self.groups < 0)
    parts = [bijectors.Exp().forward(np.take(free, position[rows], axis=-1))]
    order = [rows]
    for g, total in enumerate(self.totals):
      rows = onp.flatnonzero((self.groups == g) & self.has_free)
      last = onp.flatnonzero((self.groups == g) & self.reference)
      own = np.take(free, position[rows], axis=-1)
      if self.slack[g]:
        own = bijectors.SoftmaxWithSlack(1).forward(own)
      else:
        own = bijectors.SoftmaxCentered(1).forward(own)
      parts.append(own * total)
      order.append(onp.concatenate([rows, last]))
    inverse = onp.argsort(onp.concatenate(order))
    return np.take(np.concatenate(parts, axis=-1), inverse, axis=-1)


def references(
  entries: onp.ndarray, groups: onp.ndarray, slack: onp.ndarray
) -> onp.ndarray:
  """Chooses the largest of each sum without slack: what the others leave."""
  found = onp.zeros(len(entries), bool)
  for g in range(len(slack)):
    rows = onp.flatnonzero(groups == g)
    if not slack[g]:
      found[rows[onp.argmax(entries[rows])]] = True
  return found
