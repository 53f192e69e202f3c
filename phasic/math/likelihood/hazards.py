"""Hazards: the rate or probability of absorption given none so far.

In continuous time the hazard is minus the slope of the log survival function.
The kernel divides before anything can underflow: so hazards are accurate in far
tails. If rates times times are too large for slopes, the hazard is computed as
a quotient, or NaN if the quotient has too few digits.

Reference: D. R. Cox, D. Oakes, Analysis of survival data, 1984, ch. 2.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import evaluation
from phasic.math.likelihood import interval_probs
from phasic.math.model import operands
from phasic.math.model.model_types import (
  Given,
  Model,
  SubgeneratorLike,
  SubtransitionLike,
  TimedModel,
)
from phasic.math.moments import weighted_models
from phasic.math.numeric import special

# A hazard below this, computed as a derivative, may have underflowed.
_SMALL = {"float64": 1e-280, "float32": 1e-30}


def hazard_function(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes f(t) / P(X > t), the rate of absorption at t, per unit of time.

  Arguments and errors are as in `log_prob`. At t = 0 it is the limit from the
  right, alpha s / sum(alpha), with or without an atom. It is zero for t < 0,
  and NaN at infinity. It is also NaN if |log P(X > t)| is so large that neither
  a slope nor a quotient has six digits (three if all is in single precision).

  Returns:
    An array with the broadcast shape of `value` and the model's batch.

  Example:

    >>> from phasic import math as pm
    >>> value = pm.phase_type.hazard_function(1e6, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6f}")
    2.000000
  """
  arguments = (initial_probs, subgenerator, value, exit_rates, prob_zero)
  return evaluate(arguments, False)


def log_hazard_function(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the log hazard, also where the hazard underflows.

  Arguments and errors are as in `log_prob`.

  Example:

    >>> from phasic import math as pm
    >>> value = pm.phase_type.log_hazard_function(1e6, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6f}")
    0.693147
  """
  arguments = (initial_probs, subgenerator, value, exit_rates, prob_zero)
  return evaluate_log(arguments, False)


def discrete_hazard_function(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes P(N = k) / P(N >= k), the probability of absorption in step k.

  Arguments and errors are as in `log_prob`. At k = 0 it is P(N = 0). It is zero
  if k is not an integer. It is NaN at infinity, if P(N >= k) is zero, and if
  |log P(N >= k)| is so large that less than six digits are left (three if all
  is in single precision).

  Example: the first six of a die.

    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.hazard_function(1000.0, [1.0], [[5 / 6]])
    >>> print(f"{float(value):.6f}")
    0.166667
  """
  arguments = (initial_probs, subtransition, value, exit_probs, prob_zero)
  return evaluate(arguments, True)


def discrete_log_hazard_function(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the log hazard in discrete time, also where the hazard underflows.

  It is a difference of logarithms in the widest precision: its absolute error
  is up to 16 eps times |log P(N >= k)|, with that precision's eps. It is NaN if
  less than six digits are left (three in single precision).

  Example: the first six of a die, -log(6).

    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.log_hazard_function(9, [1.0], [[5 / 6]])
    >>> print(f"{float(value):.4f}")
    -1.7918
  """
  arguments = (initial_probs, subtransition, value, exit_probs, prob_zero)
  return evaluate_log(arguments, True)


def evaluate(arguments: Sequence[Given], discrete: bool) -> Array:
  """Computes the hazard, given initial masses, rates, times, exits and atom."""
  # On the portable path a derivative is many times slower than the quotient.
  if discrete or kernel_ops.path_of_call() == "portable":
    return np.exp(evaluate_log(arguments, discrete))
  return _rate(operands.convert(*arguments))


def evaluate_log(arguments: Sequence[Given], discrete: bool) -> Array:
  """Computes the logarithm of `evaluate`, also where the hazard underflows."""
  names = operands.argument_names(discrete, "value")
  converted = operands.convert(*arguments, names=names)
  if discrete:
    widened = _widened(converted, True)
    initial_probs, matrix, value, exits, prob_zero = widened
    before = (initial_probs, matrix, value - 1.0, exits, prob_zero)
    return _log_quotient(widened, before, True, static.dtype_name(converted[0]))
  quotient = _quotient(converted)
  if kernel_ops.path_of_call() == "portable":
    return quotient
  rate = _slope(converted)
  # Tiny hazards occur at early times, where the quotient is accurate.
  known = rate >= _SMALL[static.dtype_name(rate)]
  return np.where(known, np.log(np.where(known, rate, 1.0)), quotient)


def log_hazard_below(
  model: Model, times: Array, high: Array, discrete: bool
) -> Array:
  """Computes log f(t) - log P(t < X <= high), the log hazard given X <= high.

  Args:
    model: initial masses, a matrix or edges, exits or None, mass at zero or
      None.
    times: t, (...); in discrete time counts k, with P(k <= N <= high) as the
      second probability.
    high: (...), inf for no bound.
    discrete: whether time is discrete.

  Returns:
    An array of the common batch shape, computed in the widest precision; NaN if
    the second probability is zero, and where `hazard_function` is NaN.
  """
  initial_probs, matrix, exits, prob_zero = model
  dtype = static.dtype_name(times)
  names = operands.argument_names(discrete, "value")
  arguments = operands.convert(
    initial_probs, matrix, times, exits, prob_zero, names=names
  )
  arguments = _widened(arguments, discrete)
  initial_probs, matrix, times, exits, prob_zero = arguments
  log_prob = evaluation.value(
    "log_density",
    arguments if discrete else _right_continuous(arguments),
    discrete=discrete,
  )
  log_left = interval_probs.log_interval_prob(
    initial_probs,
    matrix,
    times - 1.0 if discrete else times,
    structures.cast(high, static.dtype_name(times)),
    exits,
    prob_zero,
    discrete,
  )
  log_hazard = special.log_conditional(log_prob, log_left)
  return structures.cast(log_hazard, dtype)


def cause_hazard(
  part: Model, model: Model, times: Array, discrete: bool
) -> Array:
  """Computes the cause-specific hazard: the rate of absorption by one cause.

  It is given no absorption before, by any cause.

  Args:
    part: the four arguments of the defective model of time and cause.
    model: the four arguments of the model of the time.
    times: (...).
    discrete: whether time is discrete; then hazards are relative to P(N >= k).
  """
  dtype = static.dtype_name(times)
  initial_probs, matrix, exits, prob_zero = part
  timed_part = (initial_probs, matrix, times, exits, prob_zero)
  initial_probs, matrix, exits, prob_zero = model
  before = times - 1.0 if discrete else times
  timed_model = (initial_probs, matrix, before, exits, prob_zero)
  log_hazard = _log_quotient(
    _widened(timed_part, discrete),
    _widened(timed_model, discrete),
    discrete,
    static.wide_float(),
  )
  return structures.cast(np.exp(log_hazard), dtype)


def _widened(arguments: TimedModel, discrete: bool) -> TimedModel:
  """Converts a model and times to the widest available precision."""
  initial_probs, matrix, times, exits, prob_zero = arguments
  initial_probs, matrix, exits, prob_zero = weighted_models.widened(
    (initial_probs, matrix, exits, prob_zero), discrete
  )
  times = structures.cast(times, static.dtype_name(initial_probs))
  return initial_probs, matrix, times, exits, prob_zero


def _rate(arguments: TimedModel) -> Array:
  """Computes the hazard by `_slope`, or by `_quotient` where it is NaN."""
  slope = _slope(arguments)
  known = static.concrete(slope)
  if known is not None and not onp.any(onp.isnan(known)):
    return slope
  lost = np.isnan(slope)
  quotient = np.exp(np.where(lost, _quotient(arguments), 0.0))
  return np.where(lost, quotient, slope)


def _slope(arguments: TimedModel) -> Array:
  """Computes the hazard as minus the time derivative of log P(X > t)."""
  times = arguments[2]
  # The time derivative does not exist at infinity: evaluate it at zero instead.
  last = times == math.inf
  finite = np.where(last, 0.0, times)
  slope = evaluation.slope(
    "log_survival", (*arguments[:2], finite, *arguments[3:])
  )
  # Before time zero the hazard is zero, or NaN if the model is invalid.
  known = slope == slope
  rate = np.where((times < 0) & known, 0.0, 0.0 - slope)
  return rate * np.where(last, math.nan, np.ones_like(rate))


def _quotient(arguments: TimedModel) -> Array:
  """Computes log f - log(1 - F), the log hazard; NaN if few digits remain."""
  dtype = static.dtype_name(arguments[0])
  arguments = _widened(arguments, False)
  return _log_quotient(_right_continuous(arguments), arguments, False, dtype)


def _right_continuous(arguments: TimedModel) -> TimedModel:
  """Returns arguments for which the density at zero is its right limit.

  The atom is set to zero if a time may be zero. At other times the atom does
  not matter, and the kernel recognizes the model of the survival function,
  whose squared powers it keeps.
  """
  times = arguments[2]
  known = static.concrete(times)
  if known is not None and not onp.any(known == 0.0):
    return arguments
  return (*arguments[:4], np.zeros((), dtype=static.dtype_name(times)))


def _log_quotient(
  part: TimedModel, whole: TimedModel, discrete: bool, dtype: str
) -> Array:
  """Computes log f - log(1 - F); NaN if too few digits would remain.

  Args:
    part: the widened arguments of f.
    whole: the widened arguments of F.
    discrete: whether time is discrete.
    dtype: of the result.
  """
  log_prob = evaluation.value("log_density", part, discrete=discrete)
  log_left = evaluation.value("log_survival", whole, discrete=discrete)
  return structures.cast(special.log_conditional(log_prob, log_left), dtype)
