"""Solves linear systems of Markov chains, as array functions.

They run on the native kernel or on the portable path.

A chain on p phases has edges e from phase i_e to phase j_e, or to absorption,
j_e = p, with weights w_e >= 0. With -S the matrix of its linear system
(-S_ii sums the weights of the edges that leave phase i, S_ij the weights of the
edges from i to j) and U = (-S)^-1 >= 0 there are two maps, each the transpose
of the other:

    x = U (b + sum_e c_e unit(i_e)),  d_e = x[i_e] - x[j_e]
    y = U^T (b + sum_e c_e (unit(i_e) - unit(j_e))),  z_e = y[i_e]

x, y and the differences d are computed without subtraction. Edges from a phase
to itself are ignored. See native/elimination/api/elimination.h.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Literal, overload

import numpy as onp

from phasic.internal import elimination_calls
from phasic.internal import kernel_ops
from phasic.internal.arrays import Array

# The edge indices of a model that is specified by a matrix: it has no edges.
NO_EDGES = onp.zeros((2, 0), onp.int32)


@overload
def eliminate(
  fallback: Callable[..., Array | tuple[Array, Array]],
  indices: Array | onp.ndarray,
  weights: Array,
  per_phase: Array,
  per_edge: Array | None = None,
  transposed: bool = False,
  gives_edges: Literal[False] = False,
) -> Array: ...


@overload
def eliminate(
  fallback: Callable[..., Array | tuple[Array, Array]],
  indices: Array | onp.ndarray,
  weights: Array,
  per_phase: Array,
  per_edge: Array | None = None,
  transposed: bool = False,
  gives_edges: bool = False,
) -> Array | tuple[Array, Array]: ...


def eliminate(
  fallback: Callable[..., Array | tuple[Array, Array]],
  indices: Array | onp.ndarray,
  weights: Array,
  per_phase: Array,
  per_edge: Array | None = None,
  transposed: bool = False,
  gives_edges: bool = False,
) -> Array | tuple[Array, Array]:
  """Solves a chain's linear system (-S) x = b, or the transposed system.

  Returns x or, transposed, y of the module's docstring; with `gives_edges` also
  the result per edge, d or z.

  Derivatives exist with respect to all arguments except the indices.

  Args:
    fallback: the portable function of the six other arguments.
    indices: sources, then targets, int32 (..., 2, m).
    weights: (..., m); negative, infinite or NaN ones make results NaN.
    per_phase: b, (..., p, r).
    per_edge: c, (..., m, r), or None for zeros.
    transposed: whether to solve the transposed system.
    gives_edges: whether to return the result per edge.

  Returns:
    An array (..., p, r); with `gives_edges` also one (..., m, r). All
    arguments have the same number of batch dimensions, each 1 or the common
    size.

  Raises:
    ValueError: shapes do not fit, an index is out of range, or the elimination
      is too large. In JAX the last two are errors of the running program, in
      TensorFlow InvalidArgumentError of the running op.
    MemoryError: memory does not suffice, in NumPy.
  """
  call: Callable[..., Array | tuple[Array, Array]] = fallback
  if kernel_ops.path_of_call() != "portable":
    call = functools.partial(elimination_calls.eliminate, fallback)
  return call(indices, weights, per_phase, per_edge, transposed, gives_edges)


def moments(
  fallback: Callable[..., tuple[Array, ...]],
  indices: Array | onp.ndarray,
  weights: Array,
  exits: Array,
  initial: Array,
  atom: Array,
  stay: Array,
  **options: object,
) -> tuple[Array, ...]:
  """Computes the mean and optionally the variance of the absorption time.

  Derivatives exist with respect to the weights, the exits and the initial
  masses. In discrete time the weights that leave a phase change its probability
  of staying.

  Args:
    fallback: the portable function of the other arguments.
    indices: sources, then targets, int32 (2, m); `NO_EDGES` for a matrix.
    weights: of edges, (..., m), or a matrix S or T, (..., p, p).
    exits: for a matrix (..., p), or (..., 0) to derive them from the row sums;
      in a model with edges (..., 0).
    initial: alpha, (..., p).
    atom: (..., 1), or (..., 0) for one minus the sum of initial masses.
    stay: probabilities of staying for a step, (..., p), or (..., 0) for one
      minus the weights; in continuous time and for a matrix always (..., 0).
    **options: `discrete`, whether time is counted in steps; `gives_variance`,
      whether to return the variance; `gives_root`, whether to return the
      standard deviation instead; and `epsilon`: sums within 4 p epsilon of zero
      are zero.

  Returns:
    A tuple of one or two arrays (...), NaN for invalid values. All arguments
    except the indices have the same number of batch dimensions, each 1 or the
    common size.

  Raises:
    ValueError: as in `eliminate`.
  """
  if kernel_ops.path_of_call() == "portable":
    return fallback(indices, weights, exits, initial, atom, stay, **options)
  operands = (indices, weights, exits, initial, atom, stay)
  return elimination_calls.moments(fallback, operands, options)


def moments_of_edges(
  weights_of: Callable[..., Array],
  initial: object,
  edges: tuple[object, ...],
  atom: object,
  **options: object,
) -> tuple[Array, ...] | None:
  """Computes moments of one sparse model in one call, without conversions.

  Args:
    weights_of: a function that computes the weights of edges from parameters,
      constants and coefficients.
    initial: alpha.
    edges: sources, targets, parameters, coefficients and constants.
    atom: the mass at zero, or None.
    **options: as in `moments`.

  Returns:
    A tuple as in `moments`. None if an array needs conversion, if something
    does not fit, or if the backend has no such call; then `moments` has to be
    called.
  """
  if kernel_ops.path_of_call() == "portable":
    return None
  return elimination_calls.moments_of_edges(
    weights_of, initial, edges, atom, options
  )
