"""Linear systems of Markov chains as array functions: kernel or portable path.

A chain on p phases has edges e from phase i_e to phase j_e, or to absorption,
j_e = p, with weights w_e >= 0. With -S the matrix of its linear system
(-S_ii sums the weights of the edges that leave phase i, S_ij those from i to
j) and U = (-S)^-1 >= 0 there are two maps, each the other's transpose:

    x = U (b + sum_e c_e unit(i_e)),  d_e = x[i_e] - x[j_e]
    y = U^T (b + sum_e c_e (unit(i_e) - unit(j_e))),  z_e = y[i_e]

Nothing is subtracted to find x, y or the differences d. An edge from a phase
to itself is not looked at. See native/elimination/api/elimination.h.
"""

from collections.abc import Callable
import functools
from typing import Any

import numpy as onp

from phasic.internal import kernel_common
from phasic.internal import kernel_ops
from phasic.internal.tape import elimination
from phasic.internal.tape import modes


def eliminate(
  fallback: Callable[..., Any],
  indices: Any,
  weights: Any,
  per_phase: Any,
  per_edge: Any = None,
  transposed: bool = False,
  gives_edges: bool = False,
) -> Any:
  """Returns x or, transposed, y; with `gives_edges` also d or z.

  Derivatives exist in everything but the indices.

  Args:
    fallback: the portable function of the six other arguments.
    indices: sources, then targets, int32 (..., 2, m).
    weights: (..., m); negative, infinite or NaN ones make results NaN.
    per_phase: b, (..., p, r).
    per_edge: c, (..., m, r), or None for zeros.
    transposed: which of the two maps.
    gives_edges: whether the result that belongs to edges is wanted.

  Returns:
    An array (..., p, r); with `gives_edges` also one (..., m, r). All
    arguments have the same number of batch dimensions, each 1 or the common
    size.

  Raises:
    ValueError: shapes do not fit, an index is out of range, or the elimination
      is too large; numbers are given.
    MemoryError: memory does not suffice.
  """
  if kernel_ops.path_of_call() == "portable":
    return fallback(
      indices, weights, per_phase, per_edge, transposed, gives_edges
    )
  if modes.any_traced((weights, per_phase, per_edge)):
    indices = onp.array(modes.without_derivative(indices))
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
  fallback: Callable[..., Any],
  indices: Any,
  parameters: Any,
  coefficients: Any,
  constants: Any,
  initial: Any,
  atom: Any,
  stay: Any,
  discrete: bool,
  gives_variance: bool,
  gives_root: bool,
  epsilon: float,
) -> Any:
  """Returns the mean and, where wanted, variance of the time until absorption.

  Derivatives exist in the parameters and in the initial masses. In discrete time
  what leaves a phase changes the probability of staying.

  Args:
    fallback: the portable function of the eleven other arguments.
    indices: sources, then targets, int32 (2, m).
    parameters: theta, (..., d); the weights (..., m) without coefficients.
    coefficients: (m, d), or (m, 0).
    constants: (m,), added to the weights; or (0,).
    initial: alpha, (..., p).
    atom: (..., 1), or (..., 0): what the initial masses leave.
    stay: probabilities of staying for a step, (..., p), or (..., 0): what the
      weights leave; in continuous time the latter.
    discrete: whether time is counted in steps.
    gives_variance: whether the variance is wanted.
    gives_root: whether its root is, in its place.
    epsilon: sums within 4 p epsilon of zero are zero.

  Returns:
    A tuple of one or two arrays (...), NaN where a value breaks a rule. All
    arguments have the same number of batch dimensions, each 1 or the common
    size.

  Raises:
    ValueError: as `eliminate`.
  """
  # Where there are derivatives, those of its eliminations are the ones.
  if kernel_ops.path_of_call() == "portable" or modes.any_traced(
    (parameters, coefficients, constants, initial, atom, stay)
  ):
    return fallback(
      indices,
      parameters,
      coefficients,
      constants,
      initial,
      atom,
      stay,
      discrete,
      gives_variance,
      gives_root,
      epsilon,
    )
  ones = (1,) * (onp.ndim(parameters) - 1)
  shared = (onp.asarray(indices, dtype=onp.int32), coefficients, constants)
  indices, coefficients, constants = (
    onp.reshape(x, (*ones, *onp.shape(x))) for x in shared
  )
  return kernel_common.load()[0].moments(
    indices,
    onp.asarray(parameters),
    coefficients,
    constants,
    *(onp.asarray(x) for x in (initial, atom, stay)),
    discrete,
    gives_variance,
    gives_root,
    epsilon,
  )
