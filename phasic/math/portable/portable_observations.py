"""The portable path for observations, where each time has its own kind.

All functions are evaluated at all times, and one result is selected for each
time. Where a function is not selected, it is evaluated at a harmless time,
where its derivatives are finite: so their product with zero is zero.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import chain as chain_lib
from phasic.math.numeric import special
from phasic.math.portable import portable
from phasic.math.portable import portable_edges
from phasic.math.portable import portable_intervals

# Integer codes of function kinds, as in native/kernel/api/phase_type.h.
LOG_DENSITY = 0
LOG_SURVIVAL = 2
LOG_CDF = 4
LOG_INTERVAL = 6
NOTHING = 7
LOG_OBSERVATION = 8
# A difference of probabilities is not taken where it has less than a fraction
# exp(-_DIGITS) of the smaller one. It is NaN below exp(-_NO_DIGITS), where the
# bounds are not known, in compiled programs, or time is discrete.
_DIGITS, _NO_DIGITS = math.log(2.0**8), math.log(2.0**24)
_LEFT = 9  # log P(X <= u), where u is the next time


def phase_type(
  kind: str,
  initial_probs: Array,
  rates: Array,
  exit_rates: Array,
  prob_zero: Array,
  times: Array,
  *structure: Array,
  discrete: bool = False,
) -> Array:
  """Computes at each time the log function that its kind selects.

  Args:
    kind: not used.
    initial_probs: (batch..., p).
    rates: (batch..., p, p), or the parameters of the edges.
    exit_rates: as for `portable.phase_type`.
    prob_zero: as for `portable.phase_type`.
    times: (batch..., n).
    *structure: the arrays of the edges, if any; and kinds, (batch..., n).
    discrete: whether times are counts of steps.
  """
  *edges, kinds = structure
  edge_arrays = tuple(edges)
  harmless: Array | float
  if discrete:
    # At a negative number of steps no function depends on the model, so -1
    # stands for times that are not used.
    function, harmless = portable_edges.discrete_phase_type, -1.0
    times = np.where(kinds == LOG_DENSITY, times, _whole(kinds, times))
  else:
    function = portable.phase_type
    if edges:
      phases = static.shape(initial_probs)[-1]
      rates, exit_rates = portable_edges.densified(phases, rates, *edges)
      edge_arrays = ()
    harmless = _harmless_time(rates, exit_rates)

  def evaluate(kind: str, counts: Array) -> Array:
    used = static.concrete(counts)
    # The density gives results their shape.
    if kind != "log_density" and used is not None and not onp.any(used):
      return np.zeros_like(times)
    at = np.where(counts, times, harmless)
    return function(
      kind, initial_probs, rates, exit_rates, prob_zero, at, *edge_arrays
    )

  next_time = _after(times, math.nan)
  kinds = _resolved(kinds, times, next_time)
  is_left = kinds == _LEFT
  kinds = np.where(is_left, LOG_CDF, kinds)
  times = np.where(is_left, next_time, times)
  valid = (kinds == LOG_INTERVAL) & (_after(kinds, LOG_INTERVAL) == NOTHING)
  valid = valid & (times >= 0) & (times <= next_time) & (next_time < math.inf)
  is_upper = _before(structures.cast(valid, "int32"), 0) > 0
  log_density = evaluate("log_density", kinds == LOG_DENSITY)
  log_survival = evaluate(
    "log_survival", (kinds == LOG_SURVIVAL) | valid | is_upper
  )
  log_cdf = evaluate(
    "log_cdf", (kinds == LOG_CDF) | (valid & (times > 0)) | is_upper
  )
  at_zero = valid & (times == 0)
  mass_at_zero = evaluate("cdf", at_zero)

  def difference(counts: Array) -> Array:
    return special.log_interval_mass(
      counts,
      counts & at_zero,
      (log_survival, _after(log_survival, 0.0)),
      (log_cdf, _after(log_cdf, 0.0)),
      mass_at_zero,
    )

  fixed = autodiff.stop_gradient
  with onp.errstate(all="ignore"):
    size = fixed(difference(valid))
    # The smaller of the two numbers that are subtracted.
    whole = np.minimum(fixed(log_survival), _after(fixed(log_cdf), 0.0))
    known = static.concrete(valid & np.logical_not(whole - size < _DIGITS))
    if known is None or discrete:
      unsure = np.logical_not(whole - size < _NO_DIGITS)
      interval = np.where(valid & unsure, math.nan, 1.0) * difference(valid)
    else:
      interval = difference(valid & np.logical_not(known))
      if onp.any(known):
        exact = _intervals(
          (initial_probs, rates, exit_rates, prob_zero), times, next_time, known
        )
        interval = np.where(known, exact, interval)
  result = np.where(kinds == LOG_DENSITY, log_density, math.nan)
  result = np.where(kinds == LOG_SURVIVAL, log_survival, result)
  result = np.where(kinds == LOG_CDF, log_cdf, result)
  result = np.where(valid, interval, result)
  return np.where(kinds == NOTHING, 0.0, result)


def _intervals(
  model: tuple[Array, ...], lower: Array, upper: Array, wanted: onp.ndarray
) -> Array:
  """Computes log P(lower < X <= upper) where it is wanted, without subtraction."""
  dtype, wide = static.dtype_name(lower), static.wide_float()
  n = onp.shape(wanted)[-1]
  columns = onp.flatnonzero(onp.any(onp.reshape(wanted, (-1, n)), axis=0))
  lower = np.where(wanted, lower, 1.0)
  upper = np.where(wanted, upper, 2.0)
  chain = chain_lib.derive(
    tuple(structures.cast(x, wide) for x in model), static.finfo_eps(dtype)
  )
  chain = portable_intervals.with_batch(chain, static.shape(wanted)[:-1])
  parts = []
  for i in range(0, len(columns), portable_intervals.MOST):
    some = columns[i : i + portable_intervals.MOST]
    at = [
      structures.cast(np.take(x, some, axis=-1), wide) for x in (lower, upper)
    ]
    function, lost = portable_intervals.log_mass(chain, *at)
    parts.append(function(*chain[:5]) * np.where(lost, math.nan, 1.0))
  values = np.concatenate(parts, axis=-1)
  places = onp.searchsorted(columns, onp.arange(n)) % len(columns)
  return structures.cast(np.take(values, places, axis=-1), dtype)


_discrete = functools.partial(phase_type, discrete=True)


def fallback(discrete: bool) -> Callable[..., Array]:
  """Returns the function that evaluates observations on the portable path."""
  return _discrete if discrete else phase_type


def _whole(kinds: Array, times: Array) -> Array:
  """Rounds down numbers of steps, except those of exact observations."""
  first = (kinds == LOG_OBSERVATION) & (times == _after(times, math.nan))
  second = _before(structures.cast(first, "int32"), 0) > 0
  return np.where(first | second, times, np.floor(times))


def _resolved(kinds: Array, times: Array, next_time: Array) -> Array:
  """Replaces each observation's kind by density, survival, cdf or interval.

  The rules for pairs of times are those of native/kernel/api/phase_type.h.
  """
  is_pair = (kinds == LOG_OBSERVATION) & (_after(kinds, 0) == NOTHING)
  is_right = is_pair & (times < next_time) & (next_time == math.inf)
  is_left = (
    is_pair & (times < next_time) & (times < 0) & np.logical_not(is_right)
  )
  kinds = np.where(is_pair, LOG_INTERVAL, kinds)
  kinds = np.where(is_pair & (times == next_time), LOG_DENSITY, kinds)
  kinds = np.where(is_right, LOG_SURVIVAL, kinds)
  return np.where(is_left, _LEFT, kinds)


def _harmless_time(rates: Array, exit_rates: Array) -> Array:
  """Returns a time at which all functions are finite, (batch..., 1)."""
  largest = np.max(np.abs(autodiff.stop_gradient(rates)), axis=(-2, -1))
  if static.shape(exit_rates)[-1]:
    exits = np.max(np.abs(autodiff.stop_gradient(exit_rates)), axis=-1)
    largest = np.maximum(largest, exits)
  usable = (largest > 0) & (largest < math.inf)
  return np.where(usable, 1.0 / np.where(usable, largest, 1.0), 1.0)[..., None]


def _after(x: Array, last: float) -> Array:
  """Shifts the last axis of x to the left by one entry."""
  end = structures.cast(np.zeros_like(x[..., :1]) + last, x.dtype)
  return np.concatenate([x[..., 1:], end], axis=-1)


def _before(x: Array, first: float) -> Array:
  """Shifts the last axis of x to the right by one entry."""
  end = structures.cast(np.zeros_like(x[..., :1]) + first, x.dtype)
  return np.concatenate([end, x[..., :-1]], axis=-1)
