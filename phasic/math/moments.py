"""Moments of continuous phase-type distributions, by elimination."""

import math

import numpy as np

from phasic.internal import control_flow
from phasic.internal import gradients
from phasic.internal import static
from phasic.math import chain as chain_lib
from phasic.math import elimination
from phasic.math import operands as operands_lib


def mean(initial_probs, subgenerator, exit_rates=None, prob_zero=None):
  """Returns E[X] = alpha (-S)^-1 1.

  Args:
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p).
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it. It does not enter, but is checked.

  Returns:
    An array with the model's batch shape: inf if absorption may never come,
    NaN where a value breaks a rule.

  Raises:
    TypeError: dtypes differ, or are complex, bool or half precision.
    ValueError: shapes do not fit, or an array is empty.
  """
  return _moments(initial_probs, subgenerator, exit_rates, prob_zero)[0]


def second_moment(initial_probs, subgenerator, exit_rates=None, prob_zero=None):
  """Returns E[X^2] = 2 alpha (-S)^-2 1; arguments are those of `mean`."""
  return _moments(initial_probs, subgenerator, exit_rates, prob_zero)[1]


def variance(initial_probs, subgenerator, exit_rates=None, prob_zero=None):
  """Returns E[X^2] - E[X]^2; arguments are those of `mean`.

  The difference loses at most a factor of about p in relative accuracy, as
  no phase-type variable with p phases has a variance below E[X]^2 / p.
  """
  return _moments(initial_probs, subgenerator, exit_rates, prob_zero)[2]


def _moments(initial_probs, subgenerator, exit_rates, prob_zero):
  """Returns mean, second moment and variance."""
  arguments = operands_lib.convert(
    initial_probs, subgenerator, 0.0, exit_rates, prob_zero
  )
  operands, layout = operands_lib.canonical(arguments)
  return tuple(
    operands_lib.result(layout, x[..., None]) for x in _run(*operands)
  )


def _evaluate(*operands):
  """Returns the moments for the kernel's operands, (batch...)."""
  dtype = static.dtype_name(operands[0])
  wide = [np.asarray(x, dtype=static.wide_float()) for x in operands]
  chain = chain_lib.derive(wide[:4], static.finfo_eps(dtype))
  exits, infinite = _proper_exits(chain)
  off = chain.off + np.zeros_like(exits)[..., None]
  recorded = elimination.eliminate(off, exits)
  first = elimination.solve(recorded, np.ones_like(exits))
  second = elimination.solve(recorded, first)
  one = np.sum(chain.initial * first, axis=-1)
  two = 2 * np.sum(chain.initial * second, axis=-1)
  poison = np.where(chain.bad, math.nan, 1.0)
  results = []
  for x in (one, two, two - one * one):
    x = np.where(infinite, math.inf, x) * poison
    results.append(np.asarray(x, dtype=dtype))
  return tuple(results)


_run = control_flow.compiled(_evaluate)


def _proper_exits(chain):
  """Returns exits made positive in closed classes, and whether one is met.

  From a closed class absorption never comes. Where alpha cannot reach one it
  does not matter, and the elimination needs some exit there; where it can the
  moments are infinite.
  """
  linked = gradients.stop_gradient(chain.off) > 0
  exits = chain.exits + np.zeros_like(chain.off[..., 0])
  full = np.zeros_like(exits + chain.initial)
  leaves = _closure(linked, exits + full > 0, -1)
  reached = _closure(linked, chain.initial + full > 0, -2)
  closed = ~leaves
  infinite = np.any(closed & reached, axis=-1)
  return np.where(closed, 1.0, exits), infinite


def _closure(linked, start, axis):
  """States that lead to `start` (axis -1) or are led to from it (axis -2)."""
  size = static.shape(start)[-1]

  def unfinished(carry):
    count, changed, _ = carry
    return changed & (count < size)

  def grow(carry):
    count, _, states = carry
    along = states[..., None, :] if axis == -1 else states[..., :, None]
    grown = states | np.any(linked & along, axis=axis)
    return count + 1, np.any(grown & ~states), grown

  init = (np.asarray(0), np.asarray(True), start)
  return control_flow.while_loop(unfinished, grow, init)[2]
