"""Limits of functions of a chain at late times, which traps may change."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array


def limit(
  quantity: str,
  initial: Array,
  off: Array,
  exits: Array,
  atom: Array,
  times: Array,
) -> Array | float:
  """Returns the limit of a function as the time tends to infinity.

  The result is a number, or an array of shape (..., 1).

  Args:
    quantity: "density", "survival" or "cdf".
    initial: initial masses, (..., p).
    off: rates or probabilities between phases, (..., p, p).
    exits: exit rates or probabilities, (..., p).
    atom: the mass at zero, (...).
    times: where the function is evaluated, (..., n).
  """
  certain = 1.0 if quantity == "cdf" else 0.0
  known = static.concrete(autodiff.stop_gradient(times))
  is_used = known is None or bool(onp.any(known == math.inf))
  if quantity == "density" or not is_used:
    return certain
  return _run(quantity, initial, off, exits, atom)


def _limit(
  quantity: str, initial: Array, off: Array, exits: Array, atom: Array
) -> Array:
  """Computes the limit of a survival function or cdf, (..., 1).

  It is NaN if some paths are absorbed and others may be caught: then it needs
  the probability of that. If none is absorbed, the limit has no derivatives, as
  any exit rate above zero changes it.
  """
  fixed = autodiff.stop_gradient
  size = static.shape(initial)[-1]
  dtype = static.dtype_name(initial)
  steps = structures.cast(fixed(off) > 0.0, dtype) + np.eye(size, dtype=dtype)
  # Repeated squaring finds all pairs of states that a path of any length joins.
  for _ in range((size - 1).bit_length()):
    steps = np.minimum(np.matmul(steps, steps), 1.0)
  starts = structures.cast(fixed(initial) > 0.0, dtype)
  ends = structures.cast(fixed(exits) > 0.0, dtype)
  reached = np.matmul(starts[..., None, :], steps)[..., 0, :] > 0.0
  exiting = np.matmul(steps, ends[..., None])[..., 0] > 0.0
  is_caught = np.any(reached & np.logical_not(exiting), axis=-1)
  absorbs = np.any(reached & exiting, axis=-1)
  is_cdf = quantity == "cdf"
  caught_value = atom if is_cdf else np.sum(initial, axis=-1)
  # The square root has no derivative at zero: this makes the derivatives NaN.
  nothing = np.where(is_caught, 0.0 * np.sum(exits, axis=-1), 1.0)
  caught_value = caught_value + np.where(is_caught, np.sqrt(nothing), 0.0)
  caught_value = np.where(absorbs, math.nan, caught_value)
  mass = np.where(is_caught, caught_value, 1.0 if is_cdf else 0.0)
  return mass[..., None]


_run = control_flow.compiled(_limit, static_argnums=(0,))
