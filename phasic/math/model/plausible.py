"""Fast checks on the host that accept values that are surely valid.

The rules are those of `value_checks`, which runs if a fast check is not sure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as onp

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal.arrays import Tree
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Edges, Given, Model

# Models whose arrays have more numbers in total are not checked.
MOST_NUMBERS = 100_000


def values_at_hand(arrays: Sequence[object]) -> list[Tree] | None:
  """Returns the values of arrays on the host, or None if unavailable.

  Args:
    arrays: arrays and Nones.

  Returns:
    A list, with None for None. None if an array is traced, on an accelerator or
    in another process, or if they have more than `MOST_NUMBERS` numbers.
  """
  values: list[onp.ndarray | None] = []
  total = 0
  for x in arrays:
    if type(x) is onp.ndarray:
      host: onp.ndarray = x
      total += host.size
      if total > MOST_NUMBERS:
        return None
    elif x is not None:
      x = x if hasattr(x, "shape") else onp.asarray(x)
      total += _size(x)
      x = static.at_hand(x) if total <= MOST_NUMBERS else None
      if x is None:
        return None
    values.append(x)
  return values


def _size(x: object) -> int:
  """Returns the number of entries; above MOST_NUMBERS if it is unknown."""
  size = 1
  for d in static.shape(x):
    size *= d if isinstance(d, int) else MOST_NUMBERS + 1
  return size


def is_given_model(model: Sequence[Given], discrete: bool) -> bool:
  """Returns whether a model, as a user passes it, seems valid.

  A model that is not on the host seems valid, and so does one whose types or
  shapes do not fit: the functions of `math` raise for it.

  Args:
    model: its four arguments.
    discrete: whether time is discrete.
  """
  try:
    return _is_valid(model, discrete) is not False
  except (IndexError, TypeError, ValueError):
    return True


def is_surely_model(model: Model, discrete: bool) -> bool:
  """Returns whether a model's arrays are on the host and surely valid."""
  return _is_valid(model, discrete) is True


def _is_valid(model: Sequence[Given], discrete: bool) -> bool | None:
  """Returns whether a model is surely valid; None if it is not on the host."""
  initial_probs, matrix, exits, prob_zero = model
  # One native call is enough for edges that need no conversion.
  if (
    isinstance(matrix, edge_rates.EDGES)
    and exits is None
    and kernel_ops.edges_meet_constraints(
      initial_probs, matrix, prob_zero, discrete
    )
  ):
    return _sum_to_one(initial_probs, prob_zero)
  known = host_model(model)
  if known is None:
    return None
  initial_probs, matrix, exits, prob_zero = known
  return is_model(initial_probs, matrix, exits, prob_zero, discrete)


def _sum_to_one(initial_probs: Given, prob_zero: Given) -> bool:
  """Returns whether given masses surely sum to one; true if one is derived."""
  if prob_zero is None:
    return True
  known = values_at_hand([initial_probs, prob_zero])
  return known is not None and sum_to_one(known[0], known[1])


def host_model(model: Sequence[Tree]) -> list[Tree] | None:
  """Returns the values of a model's arrays on the host; None if unavailable."""
  initial_probs, matrix, exits, prob_zero = model
  if not hasattr(matrix, "sources"):
    return values_at_hand(model)
  arrays = [initial_probs, *matrix, prob_zero]
  known = values_at_hand(arrays)
  if known is None:
    return None
  return [known[0], type(matrix)(*known[1:-1]), exits, known[-1]]


def is_parameter(
  x: onp.ndarray,
  constraint: str,
  exits: onp.ndarray | None = None,
  prob_zero: onp.ndarray | None = None,
) -> bool:
  """Returns whether a parameter surely meets its constraint.

  Args:
    x: its values on the host.
    constraint: as in `ParameterProperties`.
    exits: the exits that go with a matrix, or None.
    prob_zero: the atom that goes with initial masses, or None.
  """
  partner = prob_zero if constraint == "subprobabilities" else exits
  return kernel_ops.meets_constraint(x, constraint, partner)


def is_model(
  initial_probs: onp.ndarray,
  matrix: onp.ndarray | Edges,
  exits: onp.ndarray | None,
  prob_zero: onp.ndarray | None,
  discrete: bool,
) -> bool:
  """Returns whether the four arrays of a model on the host are surely valid.

  Args:
    initial_probs: alpha, (..., p).
    matrix: the rates, or the probabilities of a step; or edges.
    exits: (..., p), or None.
    prob_zero: (...), or None.
    discrete: whether time is discrete.
  """
  if not isinstance(matrix, edge_rates.EDGES):
    return kernel_ops.model_meets_constraints(
      initial_probs, matrix, exits, prob_zero, discrete
    )
  return (
    is_parameter(initial_probs, "subprobabilities", prob_zero=prob_zero)
    and (prob_zero is None or is_parameter(prob_zero, "probability"))
    and _sum_to_one(initial_probs, prob_zero)
    and are_edges(matrix, discrete)
  )


def sum_to_one(initial_probs: onp.ndarray, prob_zero: onp.ndarray) -> bool:
  """Returns whether initial masses and the atom surely sum to one."""
  total: onp.ndarray = initial_probs.sum(axis=-1, dtype="float64") + prob_zero
  return bool(onp.all(onp.abs(total - 1.0) <= _tolerance(initial_probs)))


def full_generator(x: onp.ndarray) -> int | None:
  """Finds the absorbing state in a generator of all states, or None.

  A generator that includes the absorbing state has row sums of zero, and one of
  the states that can be entered is never left.
  """
  never_left: onp.ndarray = (x == 0.0).all(axis=-1)
  if not never_left.any():
    return None
  sums: onp.ndarray = x.sum(axis=-1)
  scale: onp.ndarray = onp.abs(x).max(axis=-1)
  closed: onp.ndarray = onp.all(
    onp.abs(sums) <= 4 * _tolerance(x) * scale, axis=-1
  )
  absorbing: onp.ndarray = (
    never_left & (x > 0.0).any(axis=-2) & closed[..., None]
  )
  return int(onp.argwhere(absorbing)[0][-1]) if absorbing.any() else None


def full_transition_matrix(x: onp.ndarray) -> int | None:
  """Finds the absorbing state in a transition matrix of all states, or None.

  Args:
    x: probabilities of a step, (..., p, p), without exits.
  """
  eye = onp.eye(x.shape[-1], dtype=bool)
  stays: onp.ndarray = onp.diagonal(x, axis1=-2, axis2=-1) == 1.0
  if not stays.any():
    return None
  closed: onp.ndarray = (
    onp.abs(x.sum(axis=-1) - 1.0) <= 4 * _tolerance(x)
  ).all(axis=-1)
  entered: onp.ndarray = onp.where(eye, 0.0, x).max(axis=-2) > 0.0
  absorbing: onp.ndarray = stays & entered & closed[..., None]
  return int(onp.argwhere(absorbing)[0][-1]) if absorbing.any() else None


def largest_lost_exit(x: onp.ndarray, discrete: bool) -> float | None:
  """Finds the largest exit of a matrix, if all its exits count as zero.

  Args:
    x: rates or probabilities of a step, (..., p, p), without exits.
    discrete: whether they are probabilities.

  Returns:
    The largest of the first such matrix; None if there is none, or if all exits
    are exactly zero.
  """
  eps = float(onp.finfo("float32" if x.dtype == onp.float32 else "float64").eps)
  exits: onp.ndarray = float(discrete) - x.sum(axis=-1, dtype="float64")
  scale: onp.ndarray = onp.ones(()) if discrete else onp.abs(x).max(axis=-1)
  closed: onp.ndarray = onp.all(
    onp.abs(exits) <= 4 * x.shape[-1] * eps * scale, axis=-1
  )
  largest: onp.ndarray = exits.max(axis=-1)
  is_lost: onp.ndarray = closed & (largest > 0.0)
  return float(largest[is_lost][0]) if is_lost.any() else None


def are_single(x: onp.ndarray) -> onp.ndarray:
  """Returns which rows of a float64 array hold only float32 numbers.

  The result has shape (...).
  """
  if x.dtype != onp.float64:
    return onp.zeros(x.shape[:-1], bool)
  with onp.errstate(over="ignore"):
    return (x == x.astype(onp.float32)).all(axis=-1)


def single_tolerance(x: onp.ndarray) -> float:
  """Returns the tolerance 4 p eps for sums of p numbers rounded to float32."""
  return 4 * x.shape[-1] * float(onp.finfo(onp.float32).eps)


def _tolerance(x: onp.ndarray) -> float:
  wide = "float32" if x.dtype == onp.float32 else "float64"
  return 3 * x.shape[-1] * float(onp.finfo(wide).eps)


def are_edges(edges: Edges, discrete: bool) -> bool:
  """Returns whether the weights of edges on the host are surely valid."""
  values: onp.ndarray = _edge_values(edges)
  if not is_parameter(values, "nonnegative"):
    return False
  if not discrete:
    return True
  p = int(onp.max(edges.sources)) + 1
  sums: onp.ndarray = onp.zeros((*values.shape[:-1], p))
  onp.add.at(onp.transpose(sums), edges.sources, onp.transpose(values))
  return bool(onp.all(sums <= 1.0 + _tolerance(sums)))


def _edge_values(edges: Edges) -> onp.ndarray:
  constants = 0.0 if edges.constants is None else edges.constants
  with onp.errstate(all="ignore"):
    if edges.coefficients is None:
      return onp.asarray(edges.parameters) + constants
    linear: onp.ndarray = onp.matmul(
      edges.parameters, onp.transpose(edges.coefficients)
    )
    return linear + constants
