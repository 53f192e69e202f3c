"""Functions of X at times h(y) that are out of the kernel's range.

At early times the density of X is proportional to a power of time, and at late
times the logarithms of its density and survival function are linear in time. So
log h(y) is enough, from values at a time in range. Quotients, powers and roots of
times are right over the whole range of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_solves
from phasic.math.numeric import special
from phasic.math.quadrature import numerical_distributions

# The smallest normal numbers: subnormal numbers may have lost digits.
TINY = {"float64": 2.0**-1022, "float32": 2.0**-126}
# If a product of a rate and a time is this small, it is negligible.
_NEGLIGIBLE = {"float64": 2.0**-60, "float32": 2.0**-30}
# Once a log density or a log survival function is below this, it is linear in
# time, with a relative error of about 1e-12 (1e-6 in float32): its other terms
# are logarithms of time, rates and masses.
_LINEAR = {"float64": -1e13, "float32": -1e9}


class Places(NamedTuple):
  """Which times h(y) are out of range, and how far out of range they are.

  Attributes:
    is_early: whether h(y) is below the smallest normal number, (...).
    is_late: whether h(y) is later than the kernel's latest time, (...).
    log_early: log(h(y) / first) at early times, else zero, (...).
    log_late: log(h(y) / latest) at late times, else zero, (...).
    first: the early time in range, (...).
    latest: the late time in range, (...); an early one where none is needed.
  """

  is_early: Array
  is_late: Array
  log_early: Array
  log_late: Array
  first: Array
  latest: Array

  def placed(self, x: Array) -> Array:
    """Replaces times out of range by times in range."""
    return self.replaced(x, self.first, self.latest)

  def replaced(self, x: Array, early: Array, late: Array) -> Array:
    """Replaces entries at early and at late times."""
    return np.where(self.is_early, early, np.where(self.is_late, late, x))


def places(value: Array, log_time: Array, latest: Array) -> Places:
  """Finds the times h(y) that are out of range.

  Args:
    value: y, (...).
    log_time: log h(y) where y is positive and finite, (...).
    latest: `numerical_distributions.latest`, of the batch shape of X.
  """
  dtype = static.dtype_name(log_time)
  first = latest * (_NEGLIGIBLE[dtype] / numerical_distributions.MOST)
  usable = (value > 0.0) & (value < math.inf)
  is_early = usable & (log_time < math.log(TINY[dtype]))
  # The logarithm is -inf where h(y) was computed as a number and underflowed.
  is_early = is_early & (log_time > -math.inf) & (first >= TINY[dtype])
  is_late = usable & (log_time > np.log(latest)) & (log_time < math.inf)
  latest = np.where(np.any(is_late), latest, first)
  early, late = log_time - np.log(first), log_time - np.log(latest)
  return Places(
    is_early,
    is_late,
    np.where(is_early, early, 0.0),
    np.where(is_late, late, 0.0),
    first,
    latest,
  )


class EarlyLogs(NamedTuple):
  """Logarithms at early times; other entries are placeholders.

  Attributes:
    log_prob: the log density of X, (...).
    log_mass: log P(0 < X <= h(y)), (...).
    atom: P(X = 0), (...).
    is_early: whether the time is early, (...).
  """

  log_prob: Array
  log_mass: Array
  atom: Array
  is_early: Array

  def log_cdf(self) -> Array:
    """Computes the log distribution function of X."""
    has_atom = self.atom > 0.0
    log_atom = np.log(np.where(has_atom, self.atom, 1.0))
    both = special.logaddexp(log_atom, self.log_mass)
    return np.where(has_atom, both, self.log_mass)

  def cdf(self) -> Array:
    """Computes the distribution function of X.

    Where P(X > 0) underflows its derivatives are NaN, as they may be large.
    """
    least = math.log(TINY[static.dtype_name(self.log_mass)])
    lost = self.is_early & (self.log_mass < least)
    # It is -inf where X never ends.
    log_mass = np.where(self.log_mass > -math.inf, self.log_mass, 0.0)
    nothing = chain_solves.undefined(lost, log_mass[..., None])
    return self.atom + np.exp(self.log_mass) + nothing

  def log_survival(self) -> Array:
    """Computes the log survival function of X."""
    with onp.errstate(divide="ignore"):  # All may be the atom.
      return np.log1p(0.0 - self.cdf())

  def log_hazard(self) -> Array:
    """Computes the log hazard of X; NaN where all mass is in the atom."""
    with onp.errstate(divide="ignore", invalid="ignore"):
      return self.log_prob - np.log1p(0.0 - self.atom)


def early_logs(
  log_prob: Callable[[Array], Array], at: Places, atom: Array
) -> EarlyLogs:
  """Extends the log density to early times, where f(x) is c x^(k - 1).

  Args:
    log_prob: the log density of X as a function of times.
    at: the times.
    atom: P(X = 0), (...).
  """
  logs = _at_two(log_prob, at.first)
  # Both logarithms are -inf where X never ends. Then k does not matter.
  some = logs[0] > -math.inf
  drop = np.where(some, logs[0], 0.0) - np.where(some, logs[1], 0.0)
  order = autodiff.stop_gradient(np.floor(drop / math.log(2.0) + 0.5))
  log_density = logs[0] + order * at.log_early
  log_time = np.log(at.first) + at.log_early
  log_mass = log_density + log_time - np.log1p(order)
  return EarlyLogs(log_density, log_mass, atom, at.is_early)


def late_log(function: Callable[[Array], Array], at: Places) -> Array:
  """Extends a log density or log survival function to late times.

  It is NaN where the logarithm is not yet linear at the kernel's latest time.
  Other entries are placeholders.

  Args:
    function: takes times of X.
    at: the times.
  """
  logs = _at_two(function, at.latest)
  last, before = logs[0], logs[1]
  # Both logarithms are -inf where no exit is ever reached.
  some = before > -math.inf
  drop = np.where(some, last, 0.0) - np.where(some, before, 0.0)
  slope = 2.0 * drop  # per `latest`
  with onp.errstate(over="ignore", invalid="ignore"):
    late = last + slope * np.expm1(at.log_late)
  return np.where(is_linear(last), late, math.nan)


def is_linear(log: Array) -> Array:
  """Returns whether a log density or survival function is linear from here on."""
  return log < _LINEAR[static.dtype_name(log)]


def _at_two(function: Callable[[Array], Array], time: Array) -> Array:
  """Evaluates a function at a time and at half of it, (2, ...)."""
  return function(np.stack([time, 0.5 * time]))


def log_quotient(x: Array, y: Array) -> Array:
  """Computes log(x / y) for x, y > 0, also where x / y overflows."""
  log = np.log(x) - np.log(y)
  near = np.abs(log) < -0.9 * math.log(TINY[static.dtype_name(log)])
  return np.where(near, np.log(np.where(near, x, y) / y), log)


def power(x: Array, exponent: Array) -> Array:
  """Computes x^exponent; NaN exponents give NaN, also for x = 1."""
  known = exponent == exponent
  return np.where(known, x**exponent, math.nan)


def root(x: Array, degree: Array) -> Array:
  """Computes x^(1 / degree) for x >= 0, corrected for rounding of 1 / degree.

  One step of Newton's method finds them: a constant for derivatives.
  """
  zero = x <= 0
  rooted = power(np.where(zero, 1.0, x), 1.0 / degree)
  fixed = autodiff.stop_gradient
  some = (fixed(rooted) > 0) & (fixed(rooted) < math.inf) & (x < math.inf)
  near = np.where(some, fixed(rooted), 1.0)
  ratio = np.where(some & np.logical_not(zero), fixed(x), 1.0) / near ** fixed(
    degree
  )
  # A ratio far from one comes from a subnormal power, which cannot be used for
  # a correction.
  step = np.where(np.abs(ratio - 1.0) < 1e-3, (ratio - 1.0) / degree, 0.0)
  rooted = rooted * (1.0 + fixed(step))
  return np.where(zero & (degree == degree), 0.0, rooted)


def log_power(y: Array, exponent: Array) -> Array:
  """Computes exponent * log(y) for y >= 0, and its limit at y = 0."""
  zero = y <= 0
  limit = np.where(exponent > 0, -math.inf, np.zeros_like(exponent))
  limit = np.where(exponent < 0, math.inf, limit)
  return np.where(zero, limit, exponent * np.log(np.where(zero, 1.0, y)))
