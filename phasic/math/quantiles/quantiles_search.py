"""Quantiles of continuous phase-type distributions, by Newton's method.

Let D(t) be the mass between F(t) and the nearer limit of F, F(0) or F(inf); see
`quantiles_targets`. The search solves D(t) = D for the given D. For small t,
D(t) is about c t^k, so log D is nearly linear in log t. For large t, D(t) is
about c exp(-d t), so log D is nearly linear in t. Newton's method on log D in
this scale of time converges quadratically. Times below and above the quantile
bracket it. If a step leaves the bracket, or steps do not get shorter, the
bracket is halved in the scale of log t.

Each iteration is one call of the kernel for all quantiles. It evaluates the log
density and the logarithm of F or 1 - F, whichever is below one half. A
probability has only thirteen digits if its logarithm is -700. If that is not
enough, one more step uses F and 1 - F themselves.
"""

from __future__ import annotations

from collections.abc import Callable
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
from phasic.math.portable import portable_observations
from phasic.math.quantiles import quantiles_targets
from phasic.math.quantiles import quantiles_targets as targets_lib

MAX_ITERATIONS = 200
# The kernel returns NaN at times that are too late. Then the search tries an
# earlier time. It gives up after this number of NaN values.
MAX_FAILED = 8
# Times just below a failed one are the most expensive to evaluate. So the
# search also gives up after MAX_BEYOND Newton steps that start within a factor
# NEAR_FAILED of a failed time and lead beyond it, or after a single step to
# FAR_FAILED times the failed time.
MAX_BEYOND = 2
NEAR_FAILED, FAR_FAILED = 64.0, 4.0

DENSITY = portable_observations.LOG_DENSITY
SURVIVAL = portable_observations.LOG_SURVIVAL
CDF = portable_observations.LOG_CDF
NOTHING = portable_observations.NOTHING


def find(
  targets: targets_lib.Targets,
  limits: quantiles_targets.Limits,
  model: ModelArrays,
  edges: EdgeArrays,
) -> Array:
  """Computes quantiles (batch..., n), NaN where the search fails.

  Args:
    targets: `Targets`, (batch..., n).
    limits: `Limits`.
    model: the kernel's four operands of a model.
    edges: its arrays of edges.
  """
  failed = limits.time != limits.time
  usable = (limits.time > 0) & (limits.time < math.inf)
  typical = np.where(usable, limits.time, 1.0)

  ends = targets_lib.ends(targets, limits)
  special = targets.bad | ends.first | ends.never | failed
  start = np.zeros_like(targets.value) + typical
  t, slope = _search(targets, ends, special, model, edges, start)
  t = _refined(t, slope, targets, ends, model, edges)
  t = np.where(ends.first, 0.0, np.where(ends.never, math.inf, t))
  return np.where(targets.bad | failed, math.nan, t)


def _search(
  targets: targets_lib.Targets,
  ends: targets_lib.Ends,
  special: Array,
  model: ModelArrays,
  edges: EdgeArrays,
  start: Array,
) -> tuple[Array, Array]:
  """Searches for quantiles; NaN where the search fails.

  Returns the quantiles and the slopes of log D in log t there.

  Args:
    targets: `Targets`.
    ends: their `Ends`.
    special: where no search is needed.
    model: the kernel's four operands of a model.
    edges: its arrays of edges.
    start: times to start from, (batch..., n).
  """
  dtype = static.dtype_name(targets.value)
  eps, tiny = float(onp.finfo(dtype).eps), float(onp.finfo(dtype).tiny)
  side = np.where(targets.upper, SURVIVAL, CDF)
  zero = np.zeros_like(start)
  done = special | (zero != 0)
  none = np.zeros_like(structures.cast(done, "int32"))
  log_mass = targets.log_value - np.log(np.abs(ends.ratio))
  # Smaller changes are rounding errors of the evaluated logarithm.
  exact = eps * (1.0 + 0.5 * np.abs(targets.log_value))
  # Newton's method converges quadratically: after a relative step of at most
  # this size the remaining error is below rounding.
  short = eps**0.54

  def unfinished(carry: tuple[Array, ...]) -> Array:
    return (carry[0] < MAX_ITERATIONS) & np.any(np.logical_not(carry[-1]))

  def improve(carry: tuple[Array, ...]) -> tuple[Array, ...]:
    count, t, low, high, slope, last, slow, *counts, done = carry
    failed, failed_at, beyond, is_above = counts
    kind = np.where(done, NOTHING, side)
    measured, log_density = values(model, edges, t, kind)
    change = measured - targets.log_value
    known = measured == measured
    below = (change < 0) != targets.upper
    low = np.where(below & known, t, low)
    high = np.where(below | np.logical_not(known), high, t)
    with onp.errstate(all="ignore"):
      error = targets_lib.mass_error(ends, change)
      new_slope = np.exp(np.log(t) + log_density - log_mass - error)
      slope = np.where(done, slope, new_slope)
      factor = _factor(ends.rising, error / slope)
      step = np.abs(factor - 1.0)
      newton = np.maximum(t * factor, tiny)
      slow = np.where(step > 0.5 * last, slow + 1, none)
      halving = (slow >= 3) & (low > 0) & (high < math.inf)
      fits = (newton > low) & (newton < high) & np.logical_not(halving)
      middle = np.sqrt(np.maximum(low, tiny)) * np.sqrt(high)
      then = np.where(fits, newton, np.where(high < math.inf, middle, 16 * t))
      # After NaN, step back from a time that is too late. If a later time has
      # succeeded, the time was too early instead.
      too_small = is_above > 0
      is_above = np.where(known & np.logical_not(below), none + 1, is_above)
      # The first time may be hundreds of decades too late, so the steps back
      # grow.
      decades = 6.0 * 2.0 ** np.minimum(structures.cast(failed, dtype), 6.0)
      retreat = np.maximum(t * 10.0 ** (-decades), tiny)
      shorter = np.where(low > 0, np.sqrt(low) * np.sqrt(t), retreat)
      back = np.where(too_small, np.sqrt(t) * np.sqrt(high), shorter)
      failed_at = np.where(
        known | done | too_small, failed_at, np.minimum(t, failed_at)
      )
      leaves = known & below & (then >= failed_at)
      steps = np.where(
        then >= FAR_FAILED * failed_at, none + MAX_BEYOND, none + 1
      )
      near_failed = leaves & (t * NEAR_FAILED >= failed_at)
      then = np.where(leaves, np.sqrt(t) * np.sqrt(failed_at), then)
      then = np.where(known, then, back)
      ends_here = (step <= short) & (np.abs(error) < 0.01)
      stays = (np.abs(change) <= exact) | (high <= low * (1.0 + 4.0 * eps))
    # A quantile below the least normal number is returned as zero.
    vanishes = known & np.logical_not(below) & (t <= tiny)
    failed = failed + structures.cast(np.logical_not(known), "int32")
    beyond = beyond + np.where(near_failed, steps, none)
    settled = (ends_here | stays) & known
    given_up = (failed > MAX_FAILED) | (beyond >= MAX_BEYOND)
    given_up = given_up & np.logical_not(settled)
    then = np.where(ends_here, newton, np.where(stays & known, t, then))
    then = np.where(vanishes, 0.0, np.where(given_up, math.nan, then))
    finished = settled | vanishes | given_up
    return (
      count + 1,
      np.where(done, t, then),
      low,
      high,
      slope,
      np.where(halving, math.inf, step),
      np.where(halving, none, slow),
      failed,
      failed_at,
      beyond,
      is_above,
      done | finished,
    )

  # Use Markov's bound only for a mass F - F(0): for a mass F(inf) - F it is far
  # above the quantile.
  bound = np.where(ends.rising & (ends.bound > 0), ends.bound, math.inf)
  init = (np.asarray(0), start, zero, zero + bound, zero + 1.0, zero + math.inf)
  carry: tuple[Array, ...] = (
    *init,
    none,
    none,
    zero + math.inf,
    none,
    none,
    done,
  )
  carry = control_flow.while_loop(unfinished, improve, carry)
  return np.where(carry[-1], carry[1], math.nan), carry[4]


def values(
  model: ModelArrays,
  edges: EdgeArrays,
  times: Array,
  kind: Array,
  fallback: Callable[..., Array] = portable_observations.phase_type,
  discrete: bool = False,
) -> tuple[Array, Array]:
  """Computes log functions of the given kinds, and log densities.

  Args:
    model: the kernel's four operands of a model.
    edges: its arrays of edges.
    times: (batch..., n); counts if `discrete`.
    kind: which function is computed at each time: SURVIVAL, CDF or NOTHING.
    fallback: the portable function, see `kernel_ops.phase_type`.
    discrete: whether time is discrete.

  Returns:
    The log functions and the log densities, or log probabilities if `discrete`.
    Both are (batch..., n), and zero where `kind` is NOTHING.
  """
  density = np.where(kind == NOTHING, NOTHING, DENSITY)
  kinds = np.concatenate([kind, density], axis=-1)
  logs = kernel_ops.phase_type(
    "log_density",
    (*model, np.concatenate([times, times], axis=-1)),
    fallback,
    edges,
    kinds=structures.cast(kinds, "int32"),
    discrete=discrete,
  )
  n = static.shape(times)[-1]
  return logs[..., :n], logs[..., n:]


def _factor(rising: Array, ratio: Array) -> Array:
  """Computes the ratio of the next time to the current one in Newton's method.

  Args:
    rising: whether the step is in the scale of log t, else of t.
    ratio: the error of log D over its slope in log t.
  """
  power = np.where(rising, np.minimum(-ratio, 600.0), np.maximum(ratio, -3.0))
  in_time = np.logical_not(rising) & (ratio > -0.5)
  multiplied = np.exp(np.where(in_time, 0.0, power))
  return np.where(in_time, 1.0 + np.minimum(ratio, 15.0), multiplied)


def _refined(
  t: Array,
  slope: Array,
  targets: targets_lib.Targets,
  ends: targets_lib.Ends,
  model: ModelArrays,
  edges: EdgeArrays,
) -> Array:
  """Makes one more Newton step with F or 1 - F instead of its logarithm.

  This is done where rounding of the logarithm dominates the error.
  """
  tiny = float(onp.finfo(static.dtype_name(t)).tiny)
  regular = (t > 0) & (t < math.inf) & (targets.value >= 16 * tiny)
  rough = regular & (np.abs(targets.log_value) > 8.0 * (1.0 + slope))

  def step(t: Array) -> Array:
    parts = []
    for kind, counts in (
      ("cdf", np.logical_not(targets.upper)),
      ("survival", targets.upper),
    ):
      at = np.where(rough & counts, t, 0.0)
      parts.append(
        kernel_ops.phase_type(
          kind, (*model, at), portable_edges.fallback(False), edges
        )
      )
    value = np.where(targets.upper, parts[1], parts[0])
    with onp.errstate(all="ignore"):
      # Take the log of the quotient: the difference of value and target may be
      # below the least normal number.
      change = np.log(value / targets.value)
      error = targets_lib.mass_error(ends, change)
      refined = t * _factor(ends.rising, error / slope)
    return np.where(rough & (np.abs(error) < 0.1), refined, t)

  return control_flow.cond(np.any(rough), step, lambda t: t, t)
