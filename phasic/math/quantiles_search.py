"""Quantiles of continuous phase-type distributions, by Newton's method.

With D(t) the mass between F(t) and the nearer end of F, see `targets`, the
equation is D(t) = D. Towards zero D is near c t^k, so that log D is nearly
linear in log t; towards infinity it is near c exp(-d t), log D nearly linear in
t. Newton's method on log D in that scale of time converges quadratically; what
was found above and below the quantile brackets it, and where a step leaves the
bracket, or steps do not get shorter, it is halved in the scale of log t.

Each iteration is one call of the kernel, for all quantiles: F or 1 - F, whichever
is below one half, and the density, as logarithms. A logarithm of -700 has only
thirteen digits of what it is the logarithm of; where that is not enough, one
step is made with F and 1 - F themselves.
"""

import math

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.math import evaluation
from phasic.math import portable_observations
from phasic.math import quantiles_targets as targets_lib

MAX_ITERATIONS = 200
# Values that may be NaN before the search is given up: where the kernel cannot
# compute them times are too large, and shorter ones are tried.
MAX_LOST = 8

DENSITY = portable_observations.LOG_DENSITY
SURVIVAL = portable_observations.LOG_SURVIVAL
CDF = portable_observations.LOG_CDF
NOTHING = portable_observations.NOTHING


def find(targets, limits, model, edges):
  """Returns quantiles (batch..., n), NaN where they are not found.

  Args:
    targets: `Targets`, (batch..., n).
    limits: `Limits`.
    model: the kernel's four operands of a model.
    edges: its arrays of edges.
  """
  ends = targets_lib.ends(targets, limits)
  special = targets.bad | ends.first | ends.never
  special = special | (limits.time != limits.time)
  dtype = static.dtype_name(targets.value)
  eps = onp.finfo(dtype).eps
  side = np.where(targets.upper, SURVIVAL, CDF)
  one = np.ones_like(targets.value)
  zero = np.zeros_like(targets.value + limits.time)
  none = np.zeros_like(np.asarray(zero, dtype="int32"))
  sign = np.where(targets.upper, -one, one)
  # Where the rounding of what is measured is all that is left.
  exact = float(eps) * (1.0 + 0.5 * np.abs(targets.log_value))
  short = float(eps) ** 0.6

  def unfinished(carry):
    count, _, _, _, _, _, _, _, done = carry
    return (count < MAX_ITERATIONS) & np.any(~done)

  def improve(carry):
    count, t, low, high, _, last, slow, lost, done = carry
    kind = np.where(done, NOTHING, side)
    measured, log_density = values(model, edges, t, kind)
    change = measured - targets.log_value
    is_lost = ~done & (measured != measured)
    below = sign * change < 0
    low_now = np.where(below & ~is_lost, t, low)
    high_now = np.where(~below & ~is_lost, t, high)
    with onp.errstate(all="ignore"):
      error = targets_lib.mass_error(ends, change)
      slope = _slope(t, log_density, targets, ends, error)
      factor = _factor(ends.rising, error / slope)
      newton = np.maximum(t * factor, _tiny(dtype))
      step = np.abs(factor - 1.0)
      fits = (newton > low_now) & (newton < high_now)
      slow_now = np.where(step > 0.5 * last, slow + 1, none)
      halving = (slow_now >= 3) & (low_now > 0) & (high_now < math.inf)
      middle = _middle(dtype, low_now, high_now)
      middle = np.where(high_now < math.inf, middle, 16.0 * t)
      then = np.where(fits & ~halving, newton, middle)
      # Halfway back to what could be computed.
      shorter = np.where(low_now > 0, _middle(dtype, low_now, t), 1e-6 * t)
      then = np.where(is_lost, shorter, then)
      closed = (high_now <= low_now * (1.0 + 4.0 * float(eps))) & ~is_lost
      meets = np.abs(change) <= exact
      ends_here = (step <= short) & (np.abs(error) < 0.01)
      # Below the least number that has all its digits it is zero.
      vanishes = ~below & (t <= _tiny(dtype)) & ~is_lost
    found = np.where(ends_here, newton, t)
    found = np.where(vanishes, 0.0, found)
    finished = done | meets | ends_here | closed | vanishes
    lost_now = lost + np.asarray(is_lost, dtype="int32")
    given_up = is_lost & (lost_now > MAX_LOST)
    found = np.where(given_up, math.nan, found)
    return (
      count + 1,
      np.where(done, t, np.where(finished | given_up, found, then)),
      np.where(done, low, low_now),
      np.where(done, high, high_now),
      np.where(done, carry[4], slope),
      np.where(halving, math.inf, step),
      np.where(halving, none, slow_now),
      lost_now,
      finished | given_up,
    )

  usable = (limits.time > 0) & (limits.time < math.inf)
  start = zero + np.where(usable, limits.time, 1.0)
  # Markov's bound is no time to look at where it is far away.
  bound = np.where(ends.rising & (ends.bound > 0), ends.bound, math.inf)
  _, t, _, _, slope, _, _, _, done = control_flow.while_loop(
    unfinished,
    improve,
    (
      np.asarray(0),
      start,
      zero,
      zero + bound,
      zero + 1.0,
      zero + math.inf,
      none,
      none,
      special | (zero != 0),
    ),
  )
  t = np.where(done, t, math.nan)
  t = _refined(t, slope, targets, ends, model, edges)
  t = np.where(ends.first, 0.0, np.where(ends.never, math.inf, t))
  return np.where(targets.bad | (limits.time != limits.time), math.nan, t)


def values(model, edges, times, kind, with_density=True):
  """Returns logarithms of what kinds say, and of the density (batch..., n)."""
  kinds, at = kind, times
  if with_density:
    density = np.where(kind == NOTHING, NOTHING, DENSITY)
    kinds = np.concatenate([kind, density], axis=-1)
    at = np.concatenate([times, times], axis=-1)
  found = kernel_ops.phase_type(
    "log_density",
    (*model, at),
    portable_observations.phase_type,
    edges,
    kinds=np.asarray(kinds, dtype="int32"),
  )
  n = static.shape(times)[-1]
  return found[..., :n], found[..., n:]


def _slope(t, log_density, targets, ends, error):
  """Returns t |D'(t)| / D(t), where log D is off by the error."""
  log_mass = targets.log_value - np.log(np.abs(ends.ratio)) + error
  return np.exp(np.log(t) + log_density - log_mass)


def _factor(rising, ratio):
  """Returns by what Newton's step multiplies a time.

  Args:
    rising: whether it is made in the scale of log t, else of t.
    ratio: the error of log D over its slope in log t.
  """
  in_log = np.exp(np.minimum(-ratio, 600.0))
  back = np.exp(np.maximum(ratio, -3.0))
  in_time = np.where(ratio > -0.5, 1.0 + np.minimum(ratio, 15.0), back)
  return np.where(rising, in_log, in_time)


def _middle(dtype, low, high):
  """Returns the geometric mean; of zero takes the least normal number."""
  return np.sqrt(np.maximum(low, _tiny(dtype))) * np.sqrt(high)


def _tiny(dtype):
  return float(onp.finfo(dtype).tiny)


def _refined(t, slope, targets, ends, model, edges):
  """Makes a step with F and 1 - F where their logarithms' rounding matters."""
  tiny = _tiny(static.dtype_name(t))
  regular = (t > 0) & (t < math.inf) & (targets.value >= 16 * tiny)
  rough = regular & (np.abs(targets.log_value) > 8.0 * (1.0 + slope))

  def step(t):
    parts = []
    for kind, counts in (("cdf", ~targets.upper), ("survival", targets.upper)):
      at = np.where(rough & counts, t, 0.0)
      parts.append(
        kernel_ops.phase_type(
          kind, (*model, at), evaluation.fallback(False), edges
        )
      )
    value = np.where(targets.upper, parts[1], parts[0])
    with onp.errstate(all="ignore"):
      # Not their difference, which may be below the least normal number.
      change = np.log(value / targets.value)
      error = targets_lib.mass_error(ends, change)
      moved = t * _factor(ends.rising, error / slope)
    return np.where(rough & (np.abs(error) < 0.1), moved, t)

  return control_flow.cond(np.any(rough), step, lambda t: t, t)
