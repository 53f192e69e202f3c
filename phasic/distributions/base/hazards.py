"""Hazard functions of a distribution."""

from __future__ import annotations

import math

import numpy as np

from phasic.distributions.base import methods
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result


class Hazards(methods.Methods):
  """Methods for hazards.

  Errors are as for `log_prob`.
  """

  def hazard_function(self, value: ArrayLike) -> Result:
    """Returns f(t) / P(X > t), broadcast over value and batch.

    It is right however far in the tail. At t = 0 it is the limit from the
    right, f(0+) / P(X > 0), whatever the atom is; the atom is in
    `cumulative_hazard`. It is zero for t < 0, and NaN at infinity and where it
    would have less than six digits: rates times times are above 1e8 then.

    In discrete time it is P(N = k) / P(N >= k), the probability of the end in
    step k, and at zero that of the atom; zero at values that are not whole, NaN
    at infinity and where the end has come for certain. Its relative error is
    up to 16 eps |log P(N >= k)|, with eps of the widest precision there is; it
    is NaN where that leaves less than six digits (three in single precision).

    Example: the hazard of an exponential time is its rate.

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> print(f"{float(dist.hazard_function(1e6)):.6f}")
      2.000000

    Reference: D. R. Cox, D. Oakes, Analysis of survival data, 1984, ch. 2.
    """
    return structures.as_result(self._hazard_function(self._value(value)))

  def log_hazard_function(self, value: ArrayLike) -> Result:
    """Computes the log hazard, also where the hazard underflows.

    Example: a stage has to end before 1e-300, and another one at that time.

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0, 0.0], [[-1.0, 1.0], [0.0, -1.0]])
      >>> print(f"{float(dist.log_hazard_function(1e-300)):.6f}")
      -690.775528
    """
    return structures.as_result(self._log_hazard_function(self._value(value)))

  def cumulative_hazard(self, value: ArrayLike) -> Result:
    """Returns -log P(X > t), broadcast over value and batch.

    It is the integral of the hazard, and where there is an atom that starts at
    -log(1 - z). In discrete time it is the sum of -log(1 - hazard).

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> print(f"{float(dist.cumulative_hazard(1e6)):.1f}")
      2000000.0
    """
    return structures.as_result(
      0.0 - self._log_survival_function(self._value(value))
    )

  def _hazard_function(self, value: Array) -> Array:
    return np.exp(self._log_hazard_function(value))

  def _log_hazard_function(self, value: Array) -> Array:
    log_prob = self._log_prob(value)
    log_left = self._log_survival_function(value)
    neither = (log_prob == -math.inf) & (log_left == -math.inf)
    return log_prob - np.where(neither, math.nan, log_left)

  def _log_prob(self, value: Array) -> Array:
    del value
    self._missing("log_prob")

  def _log_survival_function(self, value: Array) -> Array:
    del value
    self._missing("log_survival_function")
