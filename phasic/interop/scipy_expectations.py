"""Expectations, skewness and kurtosis for `interop.scipy`."""

from __future__ import annotations

from collections.abc import Callable
import itertools
import math
from typing import Any, TypeAlias

import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.internal import dtypes
from phasic.internal import frameworks
from phasic.internal import raw_arguments
from phasic.internal import user_warnings
from phasic.internal.arrays import ArrayLike, Result
from phasic.math.numeric import special
from phasic.math.quadrature import quadrature_points

_Func: TypeAlias = Callable[[Any], Any]
_CHUNK, _MOST_TERMS = 100_000, 10_000_000
# A sum over counts ends where the remaining mass, relative to the mass from the
# lower bound on, has this logarithm.
_LOG_LEFT = -69.0
# Integrals are split at the quantiles of these log tail probabilities, since a
# heavy tail extends over many orders of magnitude.
_LOG_TAILS = onp.r_[-1e-6, -1e-3, -0.1, -0.7, -2:-30:-4, -60, -120, -250, -500]
# The tolerated errors of each part of an integral and of the sum of all parts,
# relative to the sum of the absolute values of the parts.
_ABSOLUTE, _MOST_ERROR = 1e-13, 1e-8
# Skewness and kurtosis are computed by quadrature where the rounding errors of
# raw moments may exceed these.
_ERRORS = {"float64": 1e-7, "float32": 1e-4}


def expect(
  frozen: Any,
  func: Callable[[Result], ArrayLike] | None = None,
  lb: float | None = None,
  ub: float | None = None,
  conditional: bool = False,
) -> Result:
  """Computes E[func(X)] over lb <= X <= ub for a distribution without a batch.

  An atom at zero counts. In discrete time `func` takes arrays, and there are at
  most ten million counts. In continuous time `scipy.integrate.quad` integrates
  between quantiles; the result is NaN, with a warning, where the error is above
  1e-8 of the absolute values that it adds.
  """
  if func is not None:
    raw_arguments.check_callable("func", func, " of a number")
  raw_arguments.check_flags(conditional=conditional)
  for name, bound in (("lb", lb), ("ub", ub)):
    if bound is not None and dtypes.numeric(bound, name) and onp.ndim(bound):
      raise ValueError(
        f"{name} has shape {onp.shape(bound)}: it must be a number"
      )
  frozen.check_single("expect")
  dist, discrete = frozen.distribution, hasattr(frozen, "pmf")
  low, high = (float(x) for x in frozen.support())
  low = low if lb is None else max(low, float(lb))
  high = high if ub is None else min(high, float(ub))
  # This x has P(X <= x) = P(X < low), so that the mass at the lower bound, such
  # as an atom at zero, counts.
  before = onp.ceil(low) - 1.0 if discrete else low if low > 0.0 else -1.0
  # The mass is a difference of two values of the cdf or, in the upper tail, of
  # the survival function, which keeps more digits there.
  upper = not frozen.logcdf(high) < -0.7
  log_tail = frozen.logsf if upper else frozen.logcdf
  more, less = map(log_tail, (before, high) if upper else (high, before))
  log_mass = -math.inf
  if not (low > high or more == -math.inf):
    log_mass = float(more + special.log1mexp(onp.minimum(less - more, 0.0)))
  mass = onp.exp(log_mass)
  if not log_mass > -math.inf:
    return onp.float64("nan") if conditional else mass
  function: _Func = (lambda x: x) if func is None else func
  if discrete:
    left = onp.asarray(frozen.logsf(before) + _LOG_LEFT, dist.dtype)
    last = min(high, float(dist.quantile_log_survival(left)))
    mean = _sum(dist, function, [before + 1.0, last], log_mass)
  else:
    tails = _LOG_TAILS if upper else special.log1mexp(_LOG_TAILS)
    logs = onp.asarray(special.logaddexp(less, log_mass + tails), dist.dtype)
    inverse = dist.quantile_log_survival if upper else dist.quantile_log_cdf
    cuts = map(float, inverse(onp.minimum(logs, 0.0)))
    ends = sorted({low, high, *(x for x in cuts if low < x < high)})
    mean = _integral(dist, function, ends, log_mass)
  return onp.float64(mean if conditional else mean * mass)


def _sum(dist: Any, f: _Func, ends: list[float], log_mass: float) -> float:
  """Sums f(k) P(N = k) / exp(log_mass) over the whole numbers between two."""
  first, last = (onp.floor(x) for x in ends)
  if not last - first < _MOST_TERMS:
    raise ValueError(
      f"expect sums over {last - first:.3g} counts: they must be at most "
      f"{_MOST_TERMS:.0e}; give closer lb and ub"
    )
  total, end = 0.0, int(last) + 1
  for low in range(int(first), end, _CHUNK):
    counts = onp.asarray(onp.arange(low, min(low + _CHUNK, end)), dist.dtype)
    weights = onp.exp(dist.log_prob(counts) - log_mass)
    total += float(onp.sum(onp.where(weights > 0, f(counts), 0.0) * weights))
  return total


def _integral(dist: Any, f: _Func, ends: list[float], log_mass: float) -> float:
  """Integrates f(x) times the density / exp(log_mass), with an atom at zero."""
  with frameworks.needed_by("expect"):
    import scipy.integrate

  def term(x: float) -> float:
    weight = float(onp.exp(dist.log_prob(x) - log_mass)) if x > 0 else 0.0
    if weight != weight and dist.survival_function(x) == 0.0:
      # The density may be NaN at a time so late that P(X > x) is 0: it is
      # negligible there.
      weight = 0.0
    # The function is not called where the density is zero, since it may
    # overflow there. Its argument is a number of NumPy, so that powers overflow
    # to inf elsewhere, and do not raise.
    return float(f(onp.float64(x))) * weight if weight != 0.0 else 0.0

  total = 0.0
  if ends[0] == 0.0 and dist.cdf(0.0) > 0.0:
    total = float(f(0.0)) * float(onp.exp(dist.log_cdf(0.0) - log_mass))
  size, error = abs(total), 0.0
  for low, high in itertools.pairwise(ends):
    wide = 0.0 < low < high / 8.0 < math.inf
    part, lost, *_ = scipy.integrate.quad(
      (lambda y: term(math.exp(y)) * math.exp(y)) if wide else term,
      *(map(math.log, (low, high)) if wide else (low, high)),
      epsabs=_ABSOLUTE * size,
      epsrel=1e-10,
      limit=200,
      full_output=True,
    )
    total, size, error = total + part, size + abs(part), error + lost
  if error <= _MOST_ERROR * size or total != total:
    return total
  user_warnings.warn(
    f"expect is NaN: quadrature found {total:.6g}, with an error of up to "
    f"{error:.2g}"
  )
  return math.nan


def statistic(dist: Any, k: int) -> Result:
  """Computes the mean, variance, skewness or excess kurtosis, for k = 1 to 4.

  The last two are made of raw moments or, where these would lose their digits,
  by quadrature, to 1e-9 (float32: 1e-4) or they are NaN.
  """
  if k < 3:
    return dist.mean() if k == 1 else dist.variance()
  mean, std, dtype = dist.mean(), dist.stddev(), dist.dtype
  raw = [math.comb(k, j) * dist.moment(j) for j in range(2, k + 1)]
  raw = [(k - 1.0) * mean, *raw]  # The first is of orders 0 and 1.
  values, size = (onp.polyval(raw, x) / std**k for x in (0.0 - mean, mean))
  lost = 8.0 * onp.finfo(dtype).eps * size > _ERRORS[dtype]
  if onp.any(lost):
    nodes = comparable.nodes_of(dist)
    powers = ((nodes.values - mean) / std) ** k
    entropy = quadrature_points.expected(nodes, powers, (0.0 - mean / std) ** k)
    values = onp.where(lost, 0.0 - entropy, values)
  return onp.asarray(values - 3.0 * (k - 3), dtype)[()]
