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
from typing import Any

import tensorflow as tf

from phasic.substrates.tf.internal import elimination_op
from phasic.substrates.tf.internal import kernel_ops
from phasic.substrates.tf.internal import moments_op
from phasic.substrates.tf.internal import static


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
    ValueError: shapes do not fit. Indices out of range and eliminations that
      are too large are InvalidArgumentError when the op runs.
  """
  if kernel_ops.path_of_call() == "portable":
    return fallback(
      indices, weights, per_phase, per_edge, transposed, gives_edges
    )
  weights = tf.convert_to_tensor(weights)
  per_phase = tf.convert_to_tensor(per_phase, weights.dtype)
  indices = tf.convert_to_tensor(indices, tf.int32)
  shapes = [static.shape(weights)[:-1], static.shape(per_phase)[:-2]]
  if per_edge is not None:
    per_edge = tf.convert_to_tensor(per_edge, weights.dtype)
    shapes.append(static.shape(per_edge)[:-2])
  batch = static.broadcast_shapes(static.shape(indices)[:-2], *shapes)

  def full(x: tf.Tensor, event_rank: int) -> tf.Tensor:
    event = static.shape(x)[len(x.shape) - event_rank :]
    return tf.broadcast_to(x, tf.stack([*batch, *event]))

  results = elimination_op.eliminate(
    indices,
    full(weights, 1),
    full(per_phase, 2),
    None if per_edge is None else full(per_edge, 2),
    transposed,
    gives_edges,
  )
  return tuple(results) if gives_edges else results[0]


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
  if kernel_ops.path_of_call() == "portable":
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
  parameters = tf.convert_to_tensor(parameters)
  dtype = parameters.dtype
  batched = [
    tf.convert_to_tensor(x, dtype) for x in (parameters, initial, atom, stay)
  ]
  batch = static.broadcast_shapes(*(static.shape(x)[:-1] for x in batched))
  parameters, initial, atom, stay = (
    tf.broadcast_to(x, tf.stack([*batch, static.shape(x)[-1]])) for x in batched
  )
  ones = [1] * len(batch)
  indices = tf.convert_to_tensor(indices, tf.int32)
  indices, coefficients, constants = (
    tf.reshape(x, tf.stack([*ones, *static.shape(x)]))
    for x in (
      indices,
      tf.convert_to_tensor(coefficients, dtype),
      tf.convert_to_tensor(constants, dtype),
    )
  )
  return moments_op.moments(
    fallback,
    [indices, parameters, coefficients, constants, initial, atom, stay],
    gives_variance=gives_variance,
    discrete=discrete,
    gives_root=gives_root,
    epsilon=epsilon,
  )
