"""Logarithms of Poisson weights, with small relative errors.

Loader's saddle-point form, log w_k(x) = -delta(k) - D(k, x) - log(2 pi k)/2,
where delta is the error of Stirling's formula and D(k, x) = k log(k/x) + x - k
is the deviance, avoids the cancellation in k log x - x - log k!.

References:
  C. Loader, Fast and accurate computation of binomial probabilities, 2000.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import structures
from phasic.internal.arrays import Array

_SERIES = 13  # Terms of the deviance's series; 0.25^26/27 is below 1e-17.


def log_weights(counts: onp.ndarray, x: Array) -> Array:
  """Computes log(x^k exp(-x) / k!).

  Args:
    counts: host array of counts k >= 0, broadcasting against `x`.
    x: means >= 0, finite.

  Returns:
    The logarithms; at x = 0 they are 0 for k = 0, with right derivatives, and
    -inf otherwise.
  """
  positive = x > 0
  safe = np.where(positive, x, 1.0)
  first = counts == 0
  k = structures.cast(onp.where(first, 1.0, counts), safe.dtype)
  offset = structures.cast(_offset(counts), safe.dtype)
  value = np.where(first, -safe, -offset - _deviance(k, safe))
  return np.where(positive, value, np.where(first, -x, -math.inf))


def _deviance(k: Array, x: Array) -> Array:
  """Computes the deviance k log(k/x) + x - k for k, x > 0."""
  difference = k - x
  v = difference / (k + x)
  near = (v > -0.25) & (v < 0.25)
  v = np.where(near, v, 0.0)
  square = v * v
  series: Array | float = 1.0 / (2 * _SERIES + 1)
  for j in range(_SERIES - 1, 0, -1):
    series = series * square + 1.0 / (2 * j + 1)
  close = difference * v + 2 * k * v * square * series
  ratio = np.where(near, 1.0, k / x)
  return np.where(near, close, k * np.log(ratio) - difference)


def _offset(counts: onp.ndarray) -> onp.ndarray:
  """Computes log k! - k log k + k on the host; it is 0 for k = 0."""
  k = onp.maximum(onp.asarray(counts, onp.float64), 1)
  r = 1 / (k * k)
  series = 1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))
  large = series / k
  small = [_stirling_error(i) for i in range(16)]
  index = onp.minimum(k, 15).astype(onp.int64)
  error = onp.where(k < 16, onp.asarray(small)[index], large)
  return onp.where(counts == 0, 0, error + onp.log(2 * onp.pi * k) / 2)


def _stirling_error(k: int) -> float:
  """Computes log k! minus Stirling's formula, for one small k."""
  if k == 0:
    return 0.0
  stirling = (k + 0.5) * math.log(k) - k + math.log(2 * math.pi) / 2
  return math.log(math.factorial(k)) - stirling
