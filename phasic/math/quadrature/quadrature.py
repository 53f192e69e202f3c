"""Quadrature rules for integrals over times and sums over steps.

Each rule contains a coarser rule, which uses part of its points. The difference
of their two sums bounds the error.

References:
  H. Takahasi, M. Mori, Double exponential formulas for numerical integration,
    Publ. RIMS 9, 1974.
  L. N. Trefethen, J. A. C. Weideman, The exponentially convergent trapezoidal
    rule, SIAM Review 56, 2014.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array

# Integrals over u start here, where t is below exp(-46) times the shortest time
# scale.
_LOWEST = -3.75
# The number of quadrature points of the finer rule.
_COUNT = 2049
# The distance of an interval's last quadrature point from its end is exp(-_LOG_NEAR)
# times its length.
_LOG_NEAR = 45.0
# Above this, not every integer is a float.
_MOST_STEPS = 2.0**53


class QuadratureRule(NamedTuple):
  """Points and weights of a quadrature rule, and of a coarser rule to check it.

  Attributes:
    points: the quadrature points, (n, ...).
    log_weights: log weights, (n, ...); -inf for an unused point.
    coarse: factors of the weights in the coarser rule, (n, 1...).
    tolerance: the largest difference of the two rules, relative to the sum of
      absolute values.
  """

  points: Array
  log_weights: Array
  coarse: Array
  tolerance: float


def times(
  log_rate: Array, last: Array, phases: int, dtype: str
) -> QuadratureRule:
  """Builds a rule for integrals over (0, inf).

  It is the trapezoidal rule in u, with t = exp(u - exp(-u)) / rate, so that all
  time scales from the shortest to the longest have points. The error of the
  finer rule is about the square of the error of the coarser rule.

  Args:
    log_rate: log of the largest rate, (...).
    last: a time beyond which the mass is negligible, (...).
    phases: the number of phases; densities may be as narrow as 1 /
      sqrt(phases).
    dtype: the dtype of densities.
  """
  count = (_COUNT - 1) * _refinement(phases, 1024) + 1
  grid = onp.arange(count) / (count - 1)
  grid = onp.reshape(grid, (-1, *(1 for _ in static.shape(log_rate))))
  wide = static.wide_float()
  steps = structures.cast(grid, wide)
  # If the chain has no finite time scales, or all its times are later than
  # `last`, the points are NaN.
  usable = (last < math.inf) & (log_rate > -math.inf)
  last, log_rate = (np.where(usable, x, math.nan) for x in (last, log_rate))
  width = np.log(last) + log_rate - _LOWEST
  width = np.where(width > 0.0, width, math.nan)
  u = _LOWEST + width * steps
  log_times = u - np.exp(-u) - log_rate
  log_weights = log_times + np.log1p(np.exp(-u))
  log_weights = log_weights + np.log(width / (count - 1))
  info = onp.finfo(dtype)
  inside = np.minimum(
    np.maximum(log_times, math.log(info.tiny) + 1.0), math.log(info.max) - 1.0
  )
  coarse = 2.0 * (onp.arange(count) % 2 == 0)
  return QuadratureRule(
    np.exp(inside),
    log_weights,
    structures.cast(onp.reshape(coarse, onp.shape(steps)), wide),
    max(1e-6, 256.0 * float(info.eps)),
  )


def interval(
  log_rate: Array, length: Array, phases: int, dtype: str
) -> QuadratureRule:
  """Builds a rule for integrals over (0, length).

  Points u of the rule for the half line are mapped to t = u / (1 + u / length),
  with derivatives in the length.

  Args:
    log_rate: log of the largest rate, (...).
    length: (...), NaN where there is no rule.
    phases: the number of phases.
    dtype: the dtype of densities.
  """
  rate = np.maximum(log_rate, 0.0 - np.log(length))
  fixed = autodiff.stop_gradient
  last = fixed(length * math.exp(_LOG_NEAR))
  rule = times(fixed(rate), last, phases, dtype)
  share = rule.points / length
  return rule._replace(
    points=rule.points / (1.0 + share),
    log_weights=rule.log_weights - 2.0 * np.log1p(share),
  )


def counts(last: Array, phases: int, dtype: str) -> QuadratureRule:
  """Builds a rule for sums over 0, 1, 2, ...

  The first integers are all points. Then each doubling has two panels of n
  points, with weights that are exact for polynomials of degrees below n.

  Args:
    last: a number of steps beyond which the mass is negligible, (...).
    phases: the number of phases.
    dtype: the dtype of probabilities.
  """
  panels = _panels(32 * _refinement(phases, 64))
  shape = (-1, *(1 for _ in static.shape(last)))
  points, weights, coarse = (
    structures.cast(onp.reshape(x, shape), static.wide_float())
    for x in (panels[0], onp.log(panels[1]), panels[2])
  )
  # Above _MOST_STEPS not every integer is a float: then the points are NaN.
  known = last < _MOST_STEPS
  points = points + np.zeros_like(last)
  inside = points <= last
  weights = np.where(inside, weights + np.zeros_like(points), -math.inf)
  return QuadratureRule(
    np.where(known, np.where(inside, points, 0.0), math.nan),
    weights,
    coarse,
    max(1e-9, 256.0 * float(onp.finfo(dtype).eps)),
  )


def total(rule: QuadratureRule, terms: Array, floor: float = 0.0) -> Array:
  """Sums terms over the points; NaN if the coarser rule differs too much.

  Args:
    rule: the rule.
    terms: values times weights, (n, ...).
    floor: an absolute difference that is always allowed.
  """
  # An infinite sum is accepted without a check.
  with onp.errstate(invalid="ignore"):
    integral = np.sum(terms, axis=0)
    size = np.sum(np.abs(terms), axis=0)
    off = np.abs(np.sum((1.0 - rule.coarse) * terms, axis=0))
  good = (off <= rule.tolerance * size + floor) | (size == math.inf)
  # Multiply by NaN, so that the derivatives become NaN as well.
  return integral * np.where(good, 1.0, math.nan)


def masses(logs: Array, log_weights: Array | float) -> Array:
  """Computes exp(logs) times the weights; zero where a log density is -inf."""
  some = logs > -math.inf
  mass = np.exp(np.where(some, logs, 0.0) + log_weights)
  lost = np.where(np.isnan(logs), math.nan, 0.0)
  return np.where(some, mass, lost)


def _refinement(phases: int, most: int) -> int:
  """Returns the factor by which the number of points grows with the phases."""
  return max(1, math.ceil(math.sqrt(phases / most)))


@functools.lru_cache(maxsize=8)
def _panels(n: int) -> tuple[onp.ndarray, ...]:
  """Computes points and weights for sums over 0, 1, 2, ..., in panels.

  Returns the points, their weights, and the factors of the weights in the
  coarser rule.
  """
  start = 2 * n * n
  points = [onp.arange(float(start))]
  weights = [onp.ones(start)]
  coarse = [onp.ones(start)]
  positions = (1 - onp.cos((2 * onp.arange(n) + 1) * math.pi / (2 * n))) / 2
  doublings = math.ceil(math.log2(_MOST_STEPS / start))
  for first in (start * 2.0**k for k in range(doublings)):
    size = int(first) // 2
    places = onp.floor(positions * size)
    fine = _panel_weights(places, size)
    half = onp.zeros(n)
    half[::2] = _panel_weights(places[::2], size)
    for begin in (first, first + size):
      points.append(begin + places)
      weights.append(fine)
      coarse.append(half / fine)
  return tuple(onp.concatenate(x) for x in (points, weights, coarse))


def _panel_weights(places: onp.ndarray, size: int) -> onp.ndarray:
  """Computes weights that sum polynomials over 0, ..., size - 1 exactly."""
  n = len(places)
  legendre = onp.polynomial.legendre
  values: onp.ndarray = legendre.legvander(2 * (places + 0.5) / size - 1, n - 1)
  return onp.linalg.solve(values.T, _legendre_sums(n, size))


def _legendre_sums(n: int, size: int) -> onp.ndarray:
  """Sums Legendre polynomials over the midpoints of `size` cells."""
  legendre = onp.polynomial.legendre
  if size <= 2**14:
    midpoints = 2 * (onp.arange(size) + 0.5) / size - 1
    return onp.sum(legendre.legvander(midpoints, n - 1), axis=0)
  # Too many cells to add up: the Euler-Maclaurin formula replaces the sum by an
  # integral and derivatives at both ends.
  width = 2 / size
  degrees = onp.arange(n)
  sums = onp.where(degrees == 0, 2.0, 0.0)
  for order, factor in ((1, -1 / 24), (3, 7 / 5760), (5, -31 / 967680)):
    slope = onp.ones(n)
    for k in range(order):
      slope = slope * (degrees + k + 1) * (degrees - k) / (2 * (k + 1))
    between = onp.where(degrees % 2 == 0, 2.0, 0.0) * slope
    sums = sums + factor * width ** (order + 1) * between
  return sums / width
