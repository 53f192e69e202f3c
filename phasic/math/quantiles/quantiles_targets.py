"""Targets of the quantile search, and the error of a Newton step.

The target is F(q) or 1 - F(q), whichever is at most one half, so that both
tails keep their digits. Newton's method works on the mass between the target
and the nearer limit: F - F(0) or F(inf) - F.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.quantiles import quantiles_limits

LOG_HALF = -0.6931471805599453


class Targets(NamedTuple):
  """Values that F or 1 - F must reach, one for each entry.

  Attributes:
    upper: whether the target is a survival probability, else one of F.
    value: the target, at most about one half; zero if only its logarithm can be
      represented.
    log_value: the logarithm of the target.
    bad: whether the entry is invalid.
  """

  upper: Array
  value: Array
  log_value: Array
  bad: Array


class Ends(NamedTuple):
  """The limit of F, at zero or infinity, from which each target is measured.

  Attributes:
    rising: whether the mass is F - F(0), else F(inf) - F.
    ratio: c with (M' - r) / (M - r) = 1 + c (M' / M - 1), where M is the target
      and r its value at that end; one if r is zero.
    is_plain: whether r is zero.
    first: whether the quantile is zero.
    never: whether the quantile is inf.
    bound: an upper bound of the quantile, by Markov's inequality.
  """

  rising: Array
  ratio: Array
  is_plain: Array
  first: Array
  never: Array
  bound: Array


def read(form: str, x: Array) -> Targets:
  """Converts probabilities in one of several forms to `Targets`.

  Args:
    form: the form of entries: u in [0, 1]; log u; log(1 - u);
      or -log(1 - u) for positive entries, else log u.
    x: the array.
  """
  bad = x != x
  if form == "cdf":
    bad = bad | (x < 0) | (x > 1)
    x = np.where(bad, 0.5, x)
    upper = x > 0.5
    value = np.where(upper, 1.0 - x, x)
    with onp.errstate(divide="ignore"):
      return Targets(upper, value, np.log(value), bad)
  if form == "folded":
    size = -np.abs(np.where(bad, LOG_HALF, x))
    return Targets(x > 0, np.exp(size), size, bad)
  bad = bad | (x > 0)
  x = np.where(bad, LOG_HALF, x)
  near = x > LOG_HALF
  value = np.where(near, -np.expm1(np.where(near, x, LOG_HALF)), np.exp(x))
  with onp.errstate(divide="ignore"):
    log_value = np.where(near, np.log(np.where(near, value, 1.0)), x)
  upper = near if form == "log_cdf" else np.logical_not(near)
  return Targets(upper, value, log_value, bad)


def ends(targets: Targets, limits: quantiles_limits.Limits) -> Ends:
  """Chooses a limit of F for each target; finds quantiles that are 0 or inf."""
  upper, value, log_value, _ = targets
  nothing = log_value == -math.inf
  below = (value <= limits.atom) & (limits.atom > 0)
  first = np.where(upper, value >= limits.positive, below | nothing)
  above = (value <= limits.caught) & (limits.caught > 0)
  never = np.where(upper, above | nothing, value >= limits.absorbed)
  never = never & np.logical_not(first)
  start = np.where(upper, limits.positive, limits.atom)
  end = np.where(upper, limits.caught, limits.absorbed)
  range_of_mass = np.abs(end - start)
  rising = np.abs(value - start) <= 0.5 * range_of_mass
  reference = np.where(rising, start, end)
  is_plain = reference == 0
  usable = np.logical_not(is_plain | first | never)
  mass = np.where(usable, value - reference, 1.0)
  ratio = np.where(usable, value, 1.0) / mass
  ahead = np.where(rising, 0.5 * range_of_mass, np.abs(value - end))
  tiny = onp.finfo(static.dtype_name(value)).tiny
  with onp.errstate(over="ignore"):
    bound = 4.0 * limits.time / np.maximum(ahead, tiny)
  return Ends(rising, ratio, is_plain, first, never, bound)


def mass_error(ends_: Ends, change: Array) -> Array:
  """Computes the log of the ratio of the current mass to the target mass.

  The ratio is (M' - r) / (M - r), and change = log(M' / M). M is the target, M'
  the value at the current time and r the limit of F from which masses are
  measured; see `Ends`.

  The result is NaN if M' and r are too close to have a difference with digits.
  """

  def measured(change: Array) -> Array:
    few = np.minimum(np.maximum(change, -40.0), 40.0)
    eps = float(onp.finfo(static.dtype_name(change)).eps)
    shift = ends_.ratio * np.expm1(few)
    near = np.abs(shift) < 0.5
    known = 1.0 + shift > 8.0 * eps * np.abs(ends_.ratio)
    far = np.where(known, np.log(np.where(known, 1.0 + shift, 1.0)), math.nan)
    error = np.where(near, np.log1p(np.where(near, shift, 0.0)), far)
    return np.where(ends_.is_plain, change, error)

  some = np.any(np.logical_not(ends_.is_plain))
  return control_flow.cond(some, measured, lambda x: x, change)
