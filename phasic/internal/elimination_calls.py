"""Native linear solves and moments of Markov chains, for NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import functools
from typing import TypeGuard, TypeVar

import numpy as onp

from phasic.internal import kernel_common
from phasic.internal.arrays import Tree
from phasic.internal.tape import elimination
from phasic.internal.tape import modes

_T = TypeVar("_T")

# The position of the initial masses among the operands of moments.
_INITIAL = 3
_FLOAT64 = onp.dtype(onp.float64)


def eliminate(
  fallback: Callable[..., object],
  indices: object,
  weights: modes.Array,
  per_phase: modes.Array,
  per_edge: modes.Array | None,
  transposed: bool,
  gives_edges: bool,
) -> Tree:
  """Solves the linear system of a chain by the native kernel.

  Arguments are as in `elimination_ops.eliminate`.
  """
  if modes.any_traced((weights, per_phase, per_edge)):
    indices = onp.array(modes.constant(indices))
    return elimination.eliminate(
      functools.partial(eliminate, fallback, indices),
      weights,
      per_phase,
      per_edge,
      transposed,
      gives_edges,
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
  operands: Sequence[modes.Array],
  options: Mapping[str, object],
) -> _T:
  """Computes moments of the absorption time by the native kernel.

  Arguments are as in `elimination_ops.moments`.
  """
  # The portable code computes moments by `eliminate`, which is differentiable.
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
  # The native call does not sum the terms of several parameters, as its sums
  # might differ in the last bit from NumPy's.
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
