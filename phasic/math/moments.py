"""Moments of continuous phase-type distributions, by elimination.

The chain is scaled by a power of two to rates near one, and second moments are
in units of the longest mean time M from any phase, so that neither the standard
deviation nor derivatives go through numbers that are out of range. Only where
it is below about 1e-146 M (1e-15 M where there is nothing wider than float32)
would digits be lost: second moments are then NaN.
"""

import math
from typing import Any

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import elimination_ops
from phasic.internal import gradients
from phasic.internal import static
from phasic.math import chain as chain_lib
from phasic.math import elimination
from phasic.math import exact_sums
from phasic.math import operands as operands_lib
from phasic.math import reachability


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
  return _moment("mean", initial_probs, subgenerator, exit_rates, prob_zero)


def second_moment(initial_probs, subgenerator, exit_rates=None, prob_zero=None):
  """Returns E[X^2] = 2 alpha (-S)^-2 1; arguments are those of `mean`."""
  return _moment(
    "second_moment", initial_probs, subgenerator, exit_rates, prob_zero
  )


def variance(initial_probs, subgenerator, exit_rates=None, prob_zero=None):
  """Returns E[X^2] - E[X]^2; arguments are those of `mean`.

  The difference loses at most a factor of about p in relative accuracy, as
  no phase-type variable with p phases has a variance below E[X]^2 / p.
  """
  return _moment("variance", initial_probs, subgenerator, exit_rates, prob_zero)


def stddev(initial_probs, subgenerator, exit_rates=None, prob_zero=None):
  """Returns the root of the variance; arguments are those of `mean`.

  It is right where it can be represented, though the variance may not be.
  """
  return _moment("stddev", initial_probs, subgenerator, exit_rates, prob_zero)


def _moment(which, initial_probs, subgenerator, exit_rates, prob_zero):
  """Returns the moment that has the name of one of the functions above."""
  if operands_lib.is_edges(subgenerator):
    raise TypeError(
      f"subgenerator is {type(subgenerator).__name__}: it must be an array here"
    )
  arguments = operands_lib.convert(
    initial_probs, subgenerator, 0.0, exit_rates, prob_zero
  )
  operands, layout = operands_lib.canonical(arguments)
  return operands_lib.result(layout, _run(which, *operands)[..., None])


def _evaluate(which, *operands):
  """Returns a moment for the kernel's operands, (batch...)."""
  dtype = static.dtype_name(operands[0])
  wide = [np.asarray(x, dtype=static.wide_float()) for x in operands]
  chain = chain_lib.derive(wide[:4], static.finfo_eps(dtype))
  # Of powers of two the roots are kept: they may be out of range themselves.
  slower, _ = _powers(_rate_exponent(chain))
  chain = chain._replace(
    off=_times_square(chain.off, slower[..., None, None]),
    exits=_times_square(chain.exits, slower[..., None]),
  )
  exits, infinite = _proper_exits(chain)
  off = chain.off + np.zeros_like(exits)[..., None]
  first = _solution(off, exits, np.ones_like(exits))
  one = np.sum(chain.initial * first, axis=-1)
  if which == "mean":
    x = _times_square(one, slower)
  else:
    longest = gradients.stop_gradient(np.max(first, axis=-1))
    down, up = _powers(exact_sums.exponent(longest, -math.inf))
    second = _solution(off, exits, _times_square(first, down[..., None]))
    two = 2 * np.sum(chain.initial * second, axis=-1)
    x = _in_units(
      which, _times_square(one, down), _times_square(two, down), up * slower
    )
  # Factors, so that derivatives of what is infinite are not zero.
  x = x * np.where(infinite, math.inf, 1.0) * np.where(chain.bad, math.nan, 1.0)
  return np.asarray(x, dtype=dtype)


_run = control_flow.compiled(_evaluate, static_argnums=(0,))


def _solution(off, exits, b):
  """Returns (-S)^-1 b for rates between phases and exits."""
  p = static.shape(exits)[-1]
  phases = onp.arange(p, dtype=onp.int32)
  indices = onp.stack(
    [
      onp.concatenate([onp.repeat(phases, p), phases]),
      onp.concatenate([onp.tile(phases, p), onp.full(p, p, onp.int32)]),
    ]
  )
  batch = static.shape(exits)[:-1]
  rates = np.reshape(off, (*batch, p * p))
  x = elimination_ops.eliminate(
    elimination.eliminate,
    np.reshape(
      np.asarray(indices, dtype="int32"), (*(1 for _ in batch), 2, -1)
    ),
    np.concatenate([rates, exits], axis=-1),
    b[..., None],
  )
  return x[..., 0]


def _in_units(which, one, two, root):
  """Returns a second moment from E[X] and E[X^2] in units of root^2."""
  info = onp.finfo(static.wide_float())
  # Below, terms of the sum may have underflowed.
  lost = (one > 0) & (two < float(info.tiny / info.eps))
  two = np.where(lost, math.nan, two)
  if which == "second_moment":
    return _times_square(_times_square(two, root), root)
  spread = two - one * one
  if which == "stddev":
    return _times_square(np.sqrt(spread), root)
  return _times_square(_times_square(spread, root), root)


def _rate_exponent(chain):
  """Returns n with the largest rate near 2^n (...).

  It is smaller where a positive rate divided by 2^n would underflow.
  """
  _, lowest = _exponent_range()
  high: Any = -math.inf
  low: Any = math.inf
  for rates, axes in ((chain.off, (-2, -1)), (chain.exits, (-1,))):
    rates = gradients.stop_gradient(rates)
    exponents = exact_sums.exponent(rates, lowest)
    high = np.maximum(high, np.max(exponents, axis=axes))
    opposite = np.where(rates > 0, -exponents, lowest)
    low = np.minimum(low, -np.max(opposite, axis=axes))
  return np.minimum(high, low - lowest)


def _powers(n):
  """Returns the roots of 2^-n and of 2^n, for n rounded to an even number."""
  highest, lowest = _exponent_range()
  half = np.floor(np.minimum(np.maximum(n, lowest), highest) / 2)
  return exact_sums.power_of_two(-half), exact_sums.power_of_two(half)


def _times_square(x, factor):
  """Returns x factor^2; the square alone may be out of range."""
  return x * factor * factor


def _exponent_range():
  """Returns the largest and about the smallest exponent of normal numbers."""
  info = onp.finfo(static.wide_float())
  return float(info.maxexp), float(info.minexp + 24)


def _proper_exits(chain):
  """Returns exits made positive in closed classes, and whether one is met.

  From a closed class absorption never comes. Where alpha cannot reach one it
  does not matter, and the elimination needs some exit there; where it can the
  moments are infinite.
  """
  linked = gradients.stop_gradient(chain.off) > 0
  exits = chain.exits + np.zeros_like(chain.off[..., 0])
  full = np.zeros_like(exits + chain.initial)
  leaves = reachability.closure(linked, exits + full > 0, -1)
  reached = reachability.closure(linked, chain.initial + full > 0, -2)
  closed = ~leaves
  infinite = np.any(closed & reached, axis=-1)
  return exits + np.where(closed, 1.0, 0.0), infinite
