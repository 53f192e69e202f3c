"""Hazards: how likely absorption is next, where there was none yet.

In continuous time the hazard is minus the slope of the log survival function,
which the kernel divides before anything can underflow: so it is right however
far in the tail.

Reference: D. R. Cox, D. Oakes, Analysis of survival data, 1984, ch. 2.
"""

import math

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.math.calls import evaluation
from phasic.math.model import operands

# Quotients below it may have lost digits, or be gone.
_SMALL = {"float64": 1e-280, "float32": 1e-30}


def hazard(initial_probs, subgenerator, times, exit_rates=None, prob_zero=None):
  """Returns f(t) / P(X > t), the rate of absorption at t, per unit of time.

  Arguments and errors are those of `log_density`. At t = 0 it is the limit
  from the right, alpha s / sum(alpha), whatever the atom is. It is zero for t
  < 0, and NaN at infinity and where rates times times are above 1e12.

  Returns:
    An array with the broadcast shape of `times` and the model's batch.

  Example:

    >>> from phasic import math as pm
    >>> value = pm.hazard([1.0], [[-2.0]], 1e6)
    >>> print(f"{float(value):.6f}")
    2.000000
  """
  arguments = operands.convert(
    initial_probs, subgenerator, times, exit_rates, prob_zero
  )
  if kernel_ops.path() == "portable":
    # There are no derivatives in NumPy.
    return np.exp(_quotient(arguments))
  return _rate(arguments)


def log_hazard(
  initial_probs, subgenerator, times, exit_rates=None, prob_zero=None
):
  """Returns the logarithm of `hazard`, also where that is too small.

  Arguments and errors are those of `log_density`.

  Example:

    >>> from phasic import math as pm
    >>> value = pm.log_hazard([1.0], [[-2.0]], 1e6)
    >>> print(f"{float(value):.6f}")
    0.693147
  """
  arguments = operands.convert(
    initial_probs, subgenerator, times, exit_rates, prob_zero
  )
  quotient = _quotient(arguments)
  if kernel_ops.path() == "portable":
    return quotient
  rate = _rate(arguments)
  small = rate < _SMALL[static.dtype_name(rate)]
  # The smallest are those of early times, where survival is near one.
  return np.where(small, quotient, np.log(np.where(small, 1.0, rate)))


def discrete_hazard(
  initial_probs, subtransition, counts, exit_probs=None, prob_zero=None
):
  """Returns P(N = k) / P(N >= k), the probability of absorption in step k.

  Arguments and errors are those of `discrete_phase_type_log_prob`. At k = 0 it
  is P(N = 0). It is zero at what is no whole number, and NaN at infinity and
  where absorption has come for certain.

  Example: the first six of a die.

    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type_hazard([1.0], [[5 / 6]], 1000.0)
    >>> print(f"{float(value):.6f}")
    0.166667
  """
  return np.exp(
    discrete_log_hazard(
      initial_probs, subtransition, counts, exit_probs, prob_zero
    )
  )


def discrete_log_hazard(
  initial_probs, subtransition, counts, exit_probs=None, prob_zero=None
):
  """Returns the logarithm of `discrete_hazard`, with the same arguments.

  It is a difference of logarithms: its absolute error is up to 16 eps times
  |log P(N >= k)|.
  """
  arguments = operands.convert(
    initial_probs,
    subtransition,
    counts,
    exit_probs,
    prob_zero,
    names=operands.DISCRETE_ARGUMENTS,
  )
  initial_probs, subtransition, counts, exit_probs, prob_zero = arguments
  log_prob = evaluation.value("log_density", arguments, discrete=True)
  before = (initial_probs, subtransition, counts - 1.0, exit_probs, prob_zero)
  log_left = evaluation.value("log_survival", before, discrete=True)
  return log_prob - _where_some_are_left(log_left)


def _rate(arguments):
  """Returns the hazard as a slope."""
  times = arguments[2]
  # Slopes at infinity are those of nothing.
  last = times == math.inf
  finite = np.where(last, 0.0, times)
  moved = (*arguments[:2], finite, *arguments[3:])
  tangents = (None, None, np.ones_like(finite), None, None)
  _, slope = evaluation.jvp("log_survival", moved, tangents)
  # Before the start there is no hazard, if the model is one.
  known = slope == slope
  rate = np.where((times < 0) & known, 0.0, 0.0 - slope)
  return rate * np.where(last, math.nan, np.ones_like(rate))


def _quotient(arguments):
  """Returns the logarithm of the hazard as a difference."""
  initial_probs, subgenerator, times, exit_rates, _ = arguments
  # Without an atom the density at zero is the limit from the right.
  none = np.zeros((), dtype=static.dtype_name(times))
  log_density = evaluation.value(
    "log_density", (initial_probs, subgenerator, times, exit_rates, none)
  )
  log_left = evaluation.value("log_survival", arguments)
  return log_density - _where_some_are_left(log_left)


def _where_some_are_left(log_left):
  """Returns it, NaN where nothing survives."""
  none = log_left == -math.inf
  return log_left + np.where(none, math.nan, np.zeros_like(log_left))
