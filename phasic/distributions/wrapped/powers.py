"""Quotients, powers and roots of times, right over the whole range of numbers."""

from __future__ import annotations

import math

import numpy as np

from phasic.distributions.wrapped import far_times
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array


def log_quotient(x: Array, y: Array) -> Array:
  """Computes log(x / y) for x, y > 0, also where x / y overflows."""
  log = np.log(x) - np.log(y)
  near = np.abs(log) < -0.9 * math.log(far_times.TINY[static.dtype_name(log)])
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
  found = power(np.where(zero, 1.0, x), 1.0 / degree)
  fixed = autodiff.stop_gradient
  some = (fixed(found) > 0) & (fixed(found) < math.inf) & (x < math.inf)
  near = np.where(some, fixed(found), 1.0)
  ratio = np.where(some & np.logical_not(zero), fixed(x), 1.0) / near ** fixed(
    degree
  )
  # A ratio far from one comes from a subnormal power: nothing is corrected.
  step = np.where(np.abs(ratio - 1.0) < 1e-3, (ratio - 1.0) / degree, 0.0)
  found = found * (1.0 + fixed(step))
  return np.where(zero & (degree == degree), 0.0, found)


def log_power(y: Array, exponent: Array) -> Array:
  """Computes exponent * log(y) for y >= 0, and its limit at y = 0."""
  zero = y <= 0
  limit = np.where(exponent > 0, -math.inf, np.zeros_like(exponent))
  limit = np.where(exponent < 0, math.inf, limit)
  return np.where(zero, limit, exponent * np.log(np.where(zero, 1.0, y)))
