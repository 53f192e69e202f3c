"""Models with a reward for each phase, laid out for array code."""

import numpy as np

from phasic.internal import static
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
