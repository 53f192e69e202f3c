"""The family of all derivatives of a native function, for reverse mode.

J_k is the k-th directional derivative of F, a function of operands x and of
directions v_1, ..., v_k, in each of which it is linear. V_k is the transpose of
J_k in the last direction; it takes a cotangent c in place of that direction:

    J_k(x; v_1, ..., v_k),    V_k(x; v_1, ..., v_{k-1}; c).

The derivative of J_k in x is J_{k+1}, and the derivative of V_k is V_{k+1},
with one more direction. The transpose of J_k in any direction is V_k; that of
V_k is V_k in a direction, and J_k in c. So the family is closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

_T = TypeVar("_T")


class Member(NamedTuple, Generic[_T]):
  """A derivative J_k, or its transpose V_k if `is_adjoint`, at directions.

  Attributes:
    is_adjoint: whether it is a V_k.
    order: k.
    groups: the directions, and at last the cotangent of a V_k. Each is a list
      of arrays.
  """

  is_adjoint: bool
  order: int
  groups: Sequence[Sequence[_T]]

  def along(self, direction: Sequence[_T]) -> Member[_T]:
    """Returns the derivative with respect to x, along a direction."""
    last = len(self.groups) - self.is_adjoint
    groups = [*self.groups[:last], direction, *self.groups[last:]]
    return Member(self.is_adjoint, self.order + 1, groups)

  def replaced(self, place: int, group: Sequence[_T]) -> Member[_T]:
    """Returns the member with one group replaced; `place` counts from 1."""
    groups = [*self.groups]
    groups[place - 1] = group
    return self._replace(groups=groups)

  def transposed(self, place: int, incoming: Sequence[_T]) -> Member[_T]:
    """Returns the member that computes the cotangents of an input of this one.

    Args:
      place: 0 for the operands x; from 1 on for the groups.
      incoming: the cotangents of this member's results. The cotangents of the
        results of a V_k are like a direction.
    """
    if not self.is_adjoint:
      if place == 0:
        return Member(True, self.order + 1, [*self.groups, incoming])
      others = [*self.groups[: place - 1], *self.groups[place:]]
      return Member(True, self.order, [*others, incoming])
    *directions, cotangent = self.groups
    if place == 0:
      return self.along(incoming)
    if place == len(self.groups):
      return Member(False, self.order, [*directions, incoming])
    others = [*directions[: place - 1], *directions[place:]]
    return Member(True, self.order, [*others, incoming, cotangent])
