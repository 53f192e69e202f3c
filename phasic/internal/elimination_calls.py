"""Native linear solves and moments of Markov chains, for NumPy arrays.

Let E be one of the two maps of `elimination_ops`, from right-hand sides to
solutions, and d_e its result at edge e. The derivative of E along tangents dw
of the weights is E applied to the right-hand sides -dw_e d_e at the edges. The
transpose of E is the other one of the two maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import functools
from typing import TypeGuard, TypeVar

import numpy as onp

from phasic.internal import kernel_common
from phasic.internal.arrays import Tree
from phasic.internal.tape import modes
from phasic.internal.tape import traced
from phasic.internal.tape import ufuncs

_Array = traced.Array
_T = TypeVar("_T")

# The position of the initial masses among the operands of `moments`.
_INITIAL = 3
_FLOAT64 = onp.dtype(onp.float64)


def eliminate(
  fallback: Callable[..., object],
  indices: object,
  weights: _Array,
  per_phase: _Array,
  per_edge: _Array | None,
  transposed: bool,
  gives_edges: bool,
) -> Tree:
  """Solves the linear system of a chain by the native kernel.

  Arguments are as in `elimination_ops.eliminate`.
  """
  if modes.any_traced((weights, per_phase, per_edge)):
    indices = onp.array(modes.constant(indices))
    slot = (per_phase,) if per_edge is None else (per_phase, per_edge)
    call = functools.partial(eliminate, fallback, indices)
    return traced.apply(
      _Eliminate(call, transposed, gives_edges), weights, *slot
    )
  return kernel_common.load()[0].eliminate(
    transposed,
    onp.asarray(indices),
    onp.asarray(weights),
    onp.asarray(per_phase),
    None if per_edge is None else onp.asarray(per_edge),
    gives_edges,
  )


def moments(
  fallback: Callable[..., _T],
  operands: Sequence[_Array],
  options: Mapping[str, object],
) -> _T:
  """Computes moments of the absorption time by the native kernel.

  Arguments are as in `elimination_ops.moments`.
  """
  # Differentiate the portable code instead of the kernel's moments: it computes
  # moments by `eliminate`, which has derivative rules.
  if modes.any_traced(operands[1:]):
    return fallback(*operands, **options)
  arrays = [onp.asarray(x) for x in operands]
  indices = arrays[0].astype(onp.int32, copy=False)
  ones = (1,) * (arrays[_INITIAL].ndim - 1)
  arrays[0] = indices.reshape(*ones, *indices.shape)
  return kernel_common.load()[0].moments(*arrays, **options)


def moments_of_edges(
  weights_of: Callable[..., onp.ndarray],
  initial: object,
  edges: tuple[object, ...],
  atom: object,
  options: Mapping[str, object],
) -> tuple[onp.ndarray, ...] | None:
  """Computes moments of one sparse model whose arrays need no conversion.

  Arguments are as in `elimination_ops.moments_of_edges`.
  """
  _, _, parameters, coefficients, constants = edges
  weights = None
  # If weights depend on several parameters, compute the weights here: sums in
  # the native call might differ from NumPy's in the last bit.
  if type(coefficients) is onp.ndarray and coefficients.shape[-1:] != (1,):
    if not (
      _is_wide(parameters, 1)
      and _is_wide(coefficients, 2)
      and coefficients.shape[1] == parameters.shape[0]
      and (constants is None or _is_wide(constants, 1))
      and (constants is None or constants.shape[0] == coefficients.shape[0])
    ):
      return None
    with onp.errstate(all="ignore"):
      weights = weights_of(parameters, constants, coefficients)
  return kernel_common.load()[0].moments_of_edges(
    initial, edges, weights, atom, **options
  )


def _is_wide(x: object, rank: int) -> TypeGuard[onp.ndarray]:
  """Returns whether `x` is an array of float64 with `rank` dimensions."""
  return type(x) is onp.ndarray and x.dtype is _FLOAT64 and x.ndim == rank


class _Eliminate(traced.Primitive[traced.Results]):
  """The solution of the linear system, as a differentiable primitive.

  Its arrays are weights, per_phase and, if there are any, per_edge.
  """

  def __init__(
    self,
    call: Callable[..., traced.Results],
    transposed: bool,
    gives_edges: bool,
  ):
    self.call = call
    self.transposed = transposed
    self.gives_edges = gives_edges

  def evaluate(self, arrays: Sequence[_Array]) -> traced.Results:
    return self._solve(arrays[0], arrays[1:], self.gives_edges)

  def _solve(
    self, weights: _Array, slot: Sequence[_Array], gives_edges: bool
  ) -> traced.Results:
    per_phase, *rest = slot
    per_edge = rest[0] if rest else None
    return self.call(weights, per_phase, per_edge, self.transposed, gives_edges)

  def forward(
    self, arrays: Sequence[_Array], tangents: Sequence[_Array | None]
  ) -> tuple[traced.Results, traced.Results]:
    weights, *slot = arrays
    x, edges = self._solve(weights, slot, True)
    terms = []
    along: tuple[_Array, ...]
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
    self, arrays: Sequence[_Array], wanted: Sequence[int]
  ) -> tuple[traced.Results, traced.Pullback]:
    weights, *slot = arrays
    result: traced.Results
    if 0 in wanted:
      x, edges = self._solve(weights, slot, True)
      result = (x, edges) if self.gives_edges else x
    else:
      result, edges = self.evaluate(arrays), None
    other = _Eliminate(self.call, not self.transposed, True)

    def pullback(cotangents: list[_Array]) -> Sequence[_Array]:
      phases, at_edges = other._solve(weights, cotangents, True)
      by_operand = {1: phases, 2: at_edges}
      if edges is not None:
        by_operand[0] = -onp.sum(at_edges * edges, axis=-1)
      return [
        ufuncs.unbroadcast(by_operand[i], onp.shape(arrays[i])) for i in wanted
      ]

    return result, pullback
