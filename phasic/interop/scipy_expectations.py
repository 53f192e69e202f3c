"""Expectations, skewness and kurtosis for `interop.scipy`."""

from __future__ import annotations

from collections.abc import Callable
import itertools
import math
from typing import Any
import warnings

import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.base import distribution as distribution_lib
from phasic.internal import frameworks
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.math.numeric import special
from phasic.math.quadrature import quadrature_points

_CHUNK = 100_000
_MOST_TERMS = 10_000_000
# The log of the relative mass beyond the last summed count.
_LOG_LEFT = -69.0
# Integrals are split at the quantiles of these log tail probabilities, since a
# heavy tail extends over many orders of magnitude.
_LOG_TAILS = (
  -1e-6,
  -1e-3,
  -0.1,
  -0.7,
  *range(-2, -30, -4),
  -60,
  -120,
  -250,
  -500,
)
# The tolerated errors of each part of an integral and of the sum of all parts,
# relative to the sum of the absolute values of the parts.
_ABSOLUTE = 1e-13
_MOST_ERROR = 1e-8
# Skewness and kurtosis are computed by quadrature instead if the error of their
# formula may exceed this.
_ERRORS = {"float64": 1e-7, "float32": 1e-4}


def log_mass(frozen: Any, low: float, high: float) -> float:
  """Computes log P(low <= X <= high), from the nearer tail."""
  before = frozen.below(low)
  more, less = frozen.logcdf(high), frozen.logcdf(before)
  if not more < -0.7:
    more, less = frozen.logsf(before), frozen.logsf(high)
  if more == -onp.inf:
    return float(more)
  return float(more + special.log1mexp(onp.minimum(less - more, 0.0)))


def continuous(
  frozen: Any,
  func: Callable[[float], ArrayLike],
  low: float,
  high: float,
  log_total: float,
) -> float:
  """Computes E[func(X)] given low <= X <= high, in continuous time.

  Args:
    frozen: a `FrozenContinuous`.
    func: a function of a number.
    low: the lower bound.
    high: the upper one.
    log_total: the `log_mass` between them.
  """

  def term(x: float) -> float:
    weight = float(onp.exp(frozen.logpdf(x) - log_total)) if x > 0 else 0.0
    if weight != weight and frozen.sf(x) == 0.0:
      # At so late a time the density is NaN, and negligible as P(X > x) is 0.
      weight = 0.0
    # The function may overflow where the density is zero; of a number of NumPy
    # a power that overflows elsewhere is infinite.
    return float(func(onp.float64(x))) * weight if weight != 0.0 else 0.0  # type: ignore[arg-type]

  inner = {float(x) for x in _cuts(frozen, low, high, log_total)}
  bounds = [low, *sorted(x for x in inner if low < x < high), high]
  total = 0.0
  if low == 0.0 and frozen.cdf(0.0) > 0.0:
    total = float(func(0.0)) * float(onp.exp(frozen.logcdf(0.0) - log_total))  # type: ignore[arg-type]
  size, error = abs(total), 0.0
  for start, end in itertools.pairwise(bounds):
    found, lost = _integral(term, start, end, _ABSOLUTE * size)
    total, size, error = total + found, size + abs(found), error + lost
  if error <= _MOST_ERROR * size or total != total:
    return total
  warnings.warn(
    f"expect is NaN: quadrature found {total:.6g}, with an error of up to "
    f"{error:.2g}",
    RuntimeWarning,
    stacklevel=4,
  )
  return math.nan


def _integral(
  function: Callable[[float], float], low: float, high: float, epsabs: float
) -> tuple[float, float]:
  """Integrates a function, in log x on wide ranges; returns value and error."""
  with frameworks.needed_by("expect"):
    import scipy.integrate

  def of_log(x: float) -> float:
    return function(math.exp(x)) * math.exp(x)

  many = 0.0 < low < high / 8.0 < math.inf
  found = scipy.integrate.quad(
    of_log if many else function,
    math.log(low) if many else low,
    math.log(high) if many else high,
    epsabs=epsabs,
    epsrel=1e-10,
    limit=200,
    full_output=True,
  )
  return found[0], found[1]


def _cuts(
  frozen: Any, low: float, high: float, log_total: float
) -> onp.ndarray:
  """Returns quantiles of X given low < X <= high, where integrals are split."""
  dtype = frozen.distribution.dtype
  tails = onp.asarray(_LOG_TAILS)
  if frozen.logcdf(high) < -0.7:
    less = frozen.logcdf(frozen.below(low))
    logs = special.logaddexp(less, log_total + special.log1mexp(tails))
    logs = onp.minimum(onp.asarray(logs, dtype), 0.0)
    return frozen.distribution.quantile_log_cdf(logs)
  logs = special.logaddexp(frozen.logsf(high), log_total + tails)
  logs = onp.minimum(onp.asarray(logs, dtype), 0.0)
  return frozen.distribution.quantile_log_survival(logs)


def discrete(
  frozen: Any,
  func: Callable[[Result], ArrayLike],
  low: float,
  high: float,
  log_total: float,
) -> float:
  """Computes E[func(N)] given low <= N <= high; `func` takes arrays.

  Raises:
    ValueError: there are more than ten million counts.
  """
  dtype = frozen.distribution.dtype
  first = int(onp.ceil(low))
  left = onp.asarray(frozen.logsf(frozen.below(low)) + _LOG_LEFT, dtype)
  end = float(frozen.distribution.quantile_log_survival(left))
  last = onp.floor(min(high, end))
  if not last - first < _MOST_TERMS:
    raise ValueError(
      f"expect sums over {last - first:.3g} counts: they must be at most "
      f"{_MOST_TERMS:.0e}; give closer lb and ub"
    )
  total = 0.0
  for start in range(first, int(last) + 1, _CHUNK):
    counts = onp.arange(start, min(start + _CHUNK, int(last) + 1))
    counts = onp.asarray(counts, dtype)
    weights = onp.exp(frozen.logpmf(counts) - log_total)
    terms = onp.where(weights > 0, func(counts), 0.0) * weights
    total = total + float(onp.sum(terms))
  return total


def standardized(
  dist: distribution_lib.Distribution, k: int, central: Result, size: Result
) -> Result:
  """Divides a central moment by a power of the standard deviation.

  Args:
    dist: the distribution.
    k: the moment's order.
    central: what raw moments give for it.
    size: the sum of the sizes of the terms of that.
  """
  mean, std, dtype = dist.mean(), dist.stddev(), dist.dtype
  lost = 8.0 * onp.finfo(dtype).eps * size / std**k > _ERRORS[dtype]
  if not onp.any(lost):
    return central / std**k
  nodes = comparable.nodes_of(dist)  # type: ignore[arg-type]
  powers = ((nodes.values - mean) / std) ** k
  found = 0.0 - quadrature_points.expected(
    nodes, powers, (0.0 - mean / std) ** k
  )
  return onp.where(lost, onp.asarray(found, dtype), central / std**k)[()]
