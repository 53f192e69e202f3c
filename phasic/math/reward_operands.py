"""Models with a reward for each phase, laid out for array code."""

import math

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.math import operands as operands_lib


def check_batch(arguments, names=operands_lib.REWARD_ARGUMENTS):
  """Raises ValueError unless rewards fit the model; returns the batch shape.

  Args:
    arguments: what `operands.convert` returns: the rewards, (..., p), in the
      middle.
    names: what they are called.
  """
  initial_probs, subgenerator, rewards, exit_rates, prob_zero = arguments
  batch = operands_lib.check_shapes(
    initial_probs, subgenerator, exit_rates, prob_zero, names
  )
  shape = static.shape(rewards)
  phases = static.shape(initial_probs)[-1]
  if len(shape) < 1 or shape[-1] != phases:
    raise ValueError(
      f"rewards have shape {shape}: it must be (..., p) with p = {phases}, as "
      "in initial_probs"
    )
  try:
    return static.broadcast_shapes(batch, shape[:-1])
  except ValueError:
    raise ValueError(
      f"rewards have shape {shape} and the model has batch shape {batch}: they "
      "do not broadcast"
    ) from None


def same_rank(arguments):
  """Returns the five with as many batch dimensions; None becomes (..., 0).

  The atom is (..., 1).
  """
  initial_probs, subgenerator, rewards, exit_rates, prob_zero = arguments
  if prob_zero is not None:
    prob_zero = prob_zero[..., None]
  given = [
    (initial_probs, 1),
    (subgenerator, 2),
    (rewards, 1),
    (exit_rates, 1),
    (prob_zero, 1),
  ]
  rank = max(static.rank(x) - event for x, event in given if x is not None)
  laid_out = []
  for x, event in given:
    if x is None:
      empty = (*(1 for _ in range(rank)), 0)
      laid_out.append(np.zeros(empty, dtype=initial_probs.dtype))
      continue
    missing = rank - (static.rank(x) - event)
    laid_out.append(np.reshape(x, (*(1,) * missing, *static.shape(x))))
  return laid_out


def check_vectors(arguments):
  """Raises ValueError unless rewards (..., p, R) fit; returns the batch shape.

  Args:
    arguments: what `operands.convert` returns for `REWARD_ARGUMENTS`.
  """
  initial_probs, subgenerator, rewards, exit_rates, prob_zero = arguments
  batch = operands_lib.check_shapes(
    initial_probs,
    subgenerator,
    exit_rates,
    prob_zero,
    operands_lib.REWARD_ARGUMENTS,
  )
  shape, phases = static.shape(rewards), static.shape(initial_probs)[-1]
  if len(shape) < 2 or shape[-2] != phases:
    raise ValueError(
      f"rewards have shape {shape}: it must be (..., p, R) with p = {phases}, "
      "as in initial_probs"
    )
  try:
    return static.broadcast_shapes(batch, shape[:-2])
  except ValueError:
    raise ValueError(
      f"rewards have shape {shape} and the model has batch shape {batch}: they "
      "do not broadcast"
    ) from None


def weighted_rewards(rewards, factors, name, others):
  """Returns r_ir f_r, (..., p, R).

  Args:
    rewards: r, (..., p, R).
    factors: f, (..., R).
    name: what the factors are called.
    others: further arguments by their names, which decide on the dtype.

  Raises:
    TypeError: dtypes differ.
    ValueError: shapes do not fit.
  """
  values = {"rewards": rewards, name: factors, **others}
  dtype = structures.common_dtype(values)
  rewards = structures.as_array(rewards, dtype, "rewards")
  factors = structures.as_array(factors, dtype, name)
  shape, own = static.shape(rewards), static.shape(factors)
  if len(shape) < 2 or len(own) < 1 or own[-1] != shape[-1]:
    raise ValueError(
      f"rewards have shape {shape} and {name} {own}: the number of rewards R "
      "must agree in (..., p, R) and (..., R)"
    )
  try:
    static.broadcast_shapes(shape[:-2], own[:-1])
  except ValueError:
    raise ValueError(
      f"rewards have shape {shape} and {name} {own}: batch shapes do not "
      "broadcast"
    ) from None
  # Where the signs of two bad ones would cancel.
  good = (rewards >= 0) & (factors >= 0)[..., None, :]
  return np.where(good, rewards, math.nan) * factors[..., None, :]
