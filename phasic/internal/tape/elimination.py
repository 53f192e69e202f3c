"""Linear systems of chains as primitives, differentiable to any order.

Let E be one of the two maps of `elimination_ops`, from right-hand sides to
solutions, and d_e its result at edge e. The derivative of E along tangents dw
of the weights is E applied to the right-hand sides -dw_e d_e at the edges. The
transpose of E is the other one of the two maps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as onp

from phasic.internal.tape import traced
from phasic.internal.tape import ufuncs

Array = traced.Array
Results = traced.Results


def eliminate(
  call: Callable[..., Results],
  weights: Array,
  per_phase: Array,
  per_edge: Array | None,
  transposed: bool,
  gives_edges: bool,
) -> Results:
  """Solves the linear system of a chain if some array is traced.

  Args:
    call: the function of the other five arguments.
    weights: as in `eliminate`.
    per_phase: as in `eliminate`.
    per_edge: as in `eliminate`.
    transposed: as in `eliminate`.
    gives_edges: as in `eliminate`.
  """
  slot = (per_phase,) if per_edge is None else (per_phase, per_edge)
  primitive = _Eliminate(call, transposed, gives_edges)
  return traced.apply(primitive, weights, *slot)


class _Eliminate(traced.Primitive[Results]):
  """The solution as a function of weights, per_phase and perhaps per_edge."""

  def __init__(
    self, call: Callable[..., Results], transposed: bool, gives_edges: bool
  ):
    self.call = call
    self.transposed = transposed
    self.gives_edges = gives_edges

  def evaluate(self, arrays: Sequence[Array]) -> Results:
    return self._solve(arrays[0], arrays[1:], self.gives_edges)

  def _solve(
    self, weights: Array, slot: Sequence[Array], gives_edges: bool
  ) -> Results:
    per_phase, *rest = slot
    per_edge = rest[0] if rest else None
    return self.call(weights, per_phase, per_edge, self.transposed, gives_edges)

  def forward(
    self, arrays: Sequence[Array], tangents: Sequence[Array | None]
  ) -> tuple[Results, Results]:
    weights, *slot = arrays
    x, edges = self._solve(weights, slot, True)
    terms = []
    along: tuple[Array, ...]
    if tangents[0] is not None:
      change = tangents[0][..., None] * edges
      along = (onp.zeros_like(x), -change)
      terms.append(self._solve(weights, along, self.gives_edges))
    if any(t is not None for t in tangents[1:]):
      along = tuple(
        onp.zeros_like(v) if t is None else t
        for v, t in zip(slot, tangents[1:], strict=True)
      )
      terms.append(self._solve(weights, along, self.gives_edges))
    return (x, edges) if self.gives_edges else x, traced.added(terms)

  def reverse(
    self, arrays: Sequence[Array], wanted: Sequence[int]
  ) -> tuple[Results, traced.Pullback]:
    weights, *slot = arrays
    result: Results
    if 0 in wanted:
      x, edges = self._solve(weights, slot, True)
      result = (x, edges) if self.gives_edges else x
    else:
      result, edges = self.evaluate(arrays), None
    other = _Eliminate(self.call, not self.transposed, True)

    def pullback(cotangents: list[Array]) -> Sequence[Array]:
      phases, at_edges = other._solve(weights, cotangents, True)
      by_operand = {1: phases, 2: at_edges}
      if edges is not None:
        by_operand[0] = -onp.sum(at_edges * edges, axis=-1)
      return [
        ufuncs.unbroadcast(by_operand[i], onp.shape(arrays[i])) for i in wanted
      ]

    return result, pullback
