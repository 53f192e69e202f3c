"""Quantiles of discrete phase-type distributions, by an exact search.

Newton's method proposes a count, as if the tail were geometric. The cdf at the
proposal brackets the quantile, and the search ends when the bracket is one step
wide. See `quantiles_search`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model.model_types import EdgeArrays, ModelArrays
from phasic.math.portable import portable_edges
from phasic.math.quantiles import quantiles_search
from phasic.math.quantiles import quantiles_targets
from phasic.math.quantiles import quantiles_targets as targets_lib

MAX_ITERATIONS = 300
# The largest counts: above these, not every integer is a float.
MAX_COUNT = {"float32": 2.0**24, "float64": 2.0**52}


def find(
  form: str,
  x: Array,
  targets: targets_lib.Targets,
  limits: quantiles_targets.Limits,
  model: ModelArrays,
  edges: EdgeArrays,
) -> Array:
  """Computes quantiles (batch..., n), NaN where the search fails.

  Args:
    form: the form of probabilities, see `quantiles_targets.read`.
    x: the probabilities.
    targets: the targets of x.
    limits: `Limits`.
    model: the kernel's four operands of a model.
    edges: its arrays of edges.
  """
  ends = targets_lib.ends(targets, limits)
  special = targets.bad | ends.first | ends.never
  special = special | (limits.time != limits.time)
  one = np.ones_like(targets.value)
  zero = np.zeros_like(targets.value + limits.time)
  none = np.zeros_like(structures.cast(zero, "int32"))
  sign = np.where(targets.upper, -one, one)
  side = np.where(
    targets.upper, quantiles_search.SURVIVAL, quantiles_search.CDF
  )
  most = MAX_COUNT[static.dtype_name(targets.value)]

  def unfinished(carry: tuple[Array, ...]) -> Array:
    count, *_, done = carry
    return (count < MAX_ITERATIONS) & np.any(np.logical_not(done))

  def improve(carry: tuple[Array, ...]) -> tuple[Array, ...]:
    count, k, low, high, slow, failed, failed_at, beyond, done = carry
    kind = np.where(done, quantiles_search.NOTHING, side)
    measured, log_prob = quantiles_search.values(
      model, edges, k, kind, _portable, True
    )
    fails = np.logical_not(done) & (measured != measured)
    with onp.errstate(all="ignore"):
      change = measured - targets.log_value
      below = (sign * change < 0) & np.logical_not(fails)
      above = np.logical_not(below) & np.logical_not(fails)
      low_now = np.where(below, k, low)
      high_now = np.where(above, k, high)
      halved = high_now - low_now <= 0.5 * (high - low)
      slow_now = np.where(halved | fails, none, slow + 1)
      newton = _newton(k, change, log_prob, targets, ends)
      inside = np.minimum(np.maximum(newton, low_now + 1), high_now - 1)
      # Evaluating a count costs time in proportion to it: grow the count
      # gradually.
      inside = np.minimum(inside, 16.0 * k)
      middle = _middle(low_now, high_now, k)
      valid = (newton == newton) & (slow_now < 3)
      then = np.where(valid, inside, middle)
      shorter = np.where(low_now > 0, np.sqrt(low_now * k), 1e-3 * k)
      failed_at = np.where(fails, np.minimum(k, failed_at), failed_at)
      leaves = below & (then >= failed_at)
      far = then >= quantiles_search.FAR_FAILED * failed_at
      steps = np.where(far, none + quantiles_search.MAX_BEYOND, none + 1)
      near_failed = leaves & (k * quantiles_search.NEAR_FAILED >= failed_at)
      between = np.floor(np.sqrt(k) * np.sqrt(failed_at))
      then = np.where(leaves, np.maximum(between, low_now + 1), then)
      then = np.where(fails, np.maximum(np.floor(shorter), 1.0), then)
    finished = high_now - low_now <= 1
    failed_now = failed + structures.cast(fails, "int32")
    beyond = beyond + np.where(near_failed, steps, none)
    given_up = failed_now > quantiles_search.MAX_FAILED
    given_up = given_up | (beyond >= quantiles_search.MAX_BEYOND)
    given_up = given_up | (low_now >= most)
    given_up = given_up & np.logical_not(finished)
    answer = np.where(given_up, math.nan, high_now)
    then = np.minimum(np.where(finished | given_up, answer, then), most)
    return (
      count + 1,
      np.where(done, k, then),
      np.where(done, low, low_now),
      np.where(done, high, high_now),
      np.where(slow_now < 3, slow_now, none),
      failed_now,
      failed_at,
      beyond,
      done | finished | given_up,
    )

  usable = (limits.time >= 1) & (limits.time < most)
  start = np.floor(np.where(usable, limits.time, 1.0))
  init: tuple[Array, ...] = (
    np.asarray(0),
    zero + start,
    zero,
    zero + math.inf,
    none,
    none,
    zero + math.inf,
    none,
    special | (zero != 0),
  )
  _, k, *_, done = control_flow.while_loop(unfinished, improve, init)
  k = np.where(done & np.logical_not(special), k, math.nan)
  k = _settled(form, x, k, targets, model, edges)
  k = np.where(ends.first, 0.0, np.where(ends.never, math.inf, k))
  return np.where(targets.bad | (limits.time != limits.time), math.nan, k)


def _newton(
  k: Array,
  change: Array,
  log_prob: Array,
  targets: targets_lib.Targets,
  ends: targets_lib.Ends,
) -> Array:
  """Computes the count that Newton's method proposes; NaN if there is none."""
  error = targets_lib.mass_error(ends, change)
  log_mass = targets.log_value - np.log(np.abs(ends.ratio)) + error
  share = np.exp(log_prob - log_mass)
  in_log = k * np.exp(np.minimum(-error / (k * share), 600.0))
  in_steps = k + error / np.log1p(share)
  proposal = np.where(ends.rising, in_log, in_steps)
  usable = (share > 0) & (share < math.inf) & np.isfinite(error)
  return np.where(usable, -np.floor(-proposal), math.nan)


def _middle(low: Array, high: Array, k: Array) -> Array:
  """Bisects the bracket (low, high), or returns 16 k if high is infinite."""
  wide = high > 4.0 * (low + 1.0)
  half = low + np.floor(0.5 * (high - low))
  root = np.floor(np.sqrt(low + 1.0) * np.sqrt(high))
  inside = np.maximum(np.where(wide, root, half), low + 1.0)
  return np.where(high < math.inf, inside, 16.0 * k)


def _settled(
  form: str,
  x: Array,
  k: Array,
  targets: targets_lib.Targets,
  model: ModelArrays,
  edges: EdgeArrays,
) -> Array:
  """Corrects quantiles by at most one step, with the function to be inverted.

  The search works with a logarithm or with 1 - F, and rounding may put it on
  the wrong side of a target that F meets exactly.
  """
  if form == "folded":
    return k
  regular = k >= 1
  counts = np.where(regular, k, 1.0)
  values = kernel_ops.phase_type(
    form,
    (*model, np.concatenate([counts - 1.0, counts], axis=-1)),
    portable_edges.fallback(True),
    edges,
    discrete=True,
  )
  n = static.shape(k)[-1]
  before, here = values[..., :n], values[..., n:]
  if form == "log_survival":
    before, here, decides = before <= x, here <= x, targets.upper
  else:
    before, here = before >= x, here >= x
    decides = np.logical_not(targets.upper)
  then = np.where(decides & np.logical_not(here), counts + 1.0, counts)
  return np.where(regular, np.where(before, counts - 1.0, then), k)


def _portable(
  kind: str,
  initial: Array,
  matrix: Array,
  exits: Array,
  atom: Array,
  counts: Array,
  *structure: Array,
) -> Array:
  """Evaluates, in array code, the log function that each of `kinds` selects.

  Args:
    kind: not used, as `kinds` replaces it; `kernel_ops.phase_type` passes it.
    initial: masses of the phases.
    matrix: the matrix, or the parameters of edges.
    exits: exit probabilities.
    atom: the mass at zero.
    counts: (batch..., n).
    *structure: the arrays of edges, if there are any; last `kinds`, for each
      count DENSITY, SURVIVAL, CDF or NOTHING of `quantiles_search`.
  """
  *edges, kinds = structure
  result = np.zeros_like(counts)
  for name, number in (
    ("log_density", quantiles_search.DENSITY),
    ("log_survival", quantiles_search.SURVIVAL),
    ("log_cdf", quantiles_search.CDF),
  ):
    logs = portable_edges.fallback(True)(
      name, initial, matrix, exits, atom, counts, *edges
    )
    result = np.where(kinds == number, logs, result)
  return result
