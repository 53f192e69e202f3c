"""Accurate logarithms and exponentials, of sums, quotients and intervals."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array

# Taylor coefficients of (exp(z) - 1) / z and log(1 + z) / z. There are enough
# terms to make a few derivatives accurate too.
_EXPM1 = tuple(1.0 / math.factorial(n + 1) for n in range(20))
# The coefficients B_2n / (2n (2n - 1)) of Stirling's series.
_STIRLING = (
  1 / 12,
  -1 / 360,
  1 / 1260,
  -1 / 1680,
  1 / 1188,
  -691 / 360360,
  1 / 156,
  -3617 / 122400,
)
# The largest |log| that is subtracted. In float64 a difference of two
# logarithms has an error of up to 16 eps |log|, so that six digits are left. In
# float32 the logarithms are rounded from more digits: the error of the
# difference is up to eps |log|, and three digits are left.
_LARGEST_LOG = {"float64": 1e-6 / 2.0**-48, "float32": 1e-3 / 2.0**-23}
_LOG1P = tuple((-1.0) ** n / (n + 1) for n in range(20))


def log1mexp(x: Array) -> Array:
  """Computes log(1 - exp(x)) accurately for x <= 0, else NaN.

  References:
    M. Maechler, Accurately computing log(1 - exp(-|a|)), 2012.
  """
  small = x > -0.6931471805599453
  none = x == 0.0
  with onp.errstate(invalid="ignore", over="ignore"):
    near = np.log(-np.expm1(np.where(small & np.logical_not(none), x, -1.0)))
  near = np.where(none, -float("inf"), near)
  far = np.log1p(-np.exp(np.where(small, -1.0, x)))
  return np.where(small, near, far)


def log_sum(x: Array) -> Array:
  """Computes log(x) of sums x >= 0, with infinite derivatives at zero.

  A cotangent of zero stays zero there, unlike with `np.log`: if a caller masks
  an entry that is -inf, derivatives of the others are right. Derivatives are
  infinite up to the third, higher ones are zero.
  """
  none = x == 0.0
  zero = np.where(none, x, 0.0)
  # The slope is a product of two finite factors, because a single infinite
  # factor would turn a cotangent of zero into NaN.
  steep = float(onp.finfo(static.dtype_name(x)).max) / 8
  slope = zero * (1.0 - zero * (1.0 - zero)) * steep
  slope = np.where(none, slope, 0.0) * steep
  logs = np.log(np.where(none, 1.0, x))
  return np.where(none, -math.inf, logs) + slope


def log_both(u: Array) -> tuple[Array, Array]:
  """Computes log(u) and log(1 - u) for u in [0, 1], else NaN; never warns."""
  u = np.where((u >= 0.0) & (u <= 1.0), u, float("nan"))
  none, one = u == 0.0, u == 1.0
  log_u = np.log(np.where(none, 1.0, u))
  log_rest = np.log1p(np.where(one, 0.0, -u))
  return (
    np.where(none, -float("inf"), log_u),
    np.where(one, -float("inf"), log_rest),
  )


def logaddexp(x: Array, y: Array) -> Array:
  """Computes log(exp(x) + exp(y)); either may be -inf."""
  top = np.maximum(x, y)
  finite = np.where(np.isfinite(top), top, 0.0)
  total = np.exp(x - finite) + np.exp(y - finite)
  none = top == float("-inf")
  log_total = finite + np.log(np.where(none, 1.0, total))
  return np.where(none, top, log_total)


def log_conditional(log_part: Array, log_whole: Array) -> Array:
  """Computes log P(A, B) - log P(B), the log of a conditional probability.

  It is NaN, as are its derivatives in log P(B), if P(B) is zero, or if |log P(B)|
  is so large that less than six digits would be left (three in float32).
  """
  known = log_whole > -_LARGEST_LOG[static.dtype_name(log_whole)]
  # Unlike a selection, the product with NaN makes derivatives NaN as well.
  one = np.ones_like(log_whole)
  return log_part - log_whole * np.where(known, one, math.nan)


def expm1_quotient(z: Array) -> Array:
  """Computes (exp(z) - 1) / z for z >= 0, and one at zero.

  Its derivatives are accurate too, thanks to the series. The derivatives of the
  quotient itself are differences that lose all digits near zero.
  """
  small = z < 0.5
  z_far = np.where(small, 1.0, z)
  near = _series(_EXPM1, np.where(small, z, 0.0))
  return np.where(small, near, np.expm1(z_far) / z_far)


def log1p_quotient(z: Array) -> Array:
  """Computes log(1 + z) / z for z >= 0, and one at zero.

  Its derivatives are accurate too, as in `expm1_quotient`.
  """
  small = z < 0.0625
  z_far = np.where(small, 1.0, z)
  near = _series(_LOG1P, np.where(small, z, 0.0))
  return np.where(small, near, np.log1p(z_far) / z_far)


def log_factorial(x: Array) -> Array:
  """Computes log(x!) for x >= 0, as a constant for derivatives.

  By Stirling's series at x + 9, divided by the numbers between.
  """
  x = autodiff.stop_gradient(x)
  y = x + 9.0
  factors = np.log(x + 1.0)
  for k in range(2, 9):
    factors = factors + np.log(x + float(k))
  series = _series(_STIRLING, 1.0 / (y * y)) / y
  half_log = 0.5 * math.log(2.0 * math.pi)
  return (y - 0.5) * np.log(y) - y + half_log + series - factors


def _series(coefficients: Sequence[float], z: Array) -> Array:
  """Computes the polynomial sum_n coefficients[n] z^n by Horner's scheme."""
  total = np.zeros_like(z)
  for coefficient in reversed(coefficients):
    total = total * z + coefficient
  return total


def log_interval_mass(
  counts: Array,
  at_zero: Array,
  log_survival: tuple[Array, Array],
  log_cdf: tuple[Array, Array],
  atom: Array,
) -> Array:
  """Computes log P(l < X <= u) from survival functions or cdfs.

  The result is log(P(X > l) - P(X > u)) or log(P(X <= u) - P(X <= l)): the
  smaller pair loses fewer digits. Masked entries are finite placeholders with
  zero derivatives.

  Args:
    counts: (...), whether the entry is used; all other entries are masked.
    at_zero: (...), whether l is zero; then log P(X <= l), which may be -inf, is
      not read.
    log_survival: log P(X > l) and log P(X > u), (...) each.
    log_cdf: log P(X <= l) and log P(X <= u), (...) each.
    atom: P(X <= 0), (...), read where l is zero.
  """
  early, late = log_survival
  before, until = log_cdf
  by_survival = counts & (early <= until)
  by_cdf = counts & np.logical_not(by_survival) & np.logical_not(at_zero)
  by_atom = counts & np.logical_not(by_survival) & at_zero
  survival_drop = np.where(by_survival, late - early, -1.0)
  cdf_drop = np.where(by_cdf, before - until, -1.0)
  share = np.where(by_atom, atom * np.exp(np.minimum(-until, 700.0)), 0.0)
  below = np.where(by_atom, np.log1p(-share), log1mexp(cdf_drop))
  above = early + log1mexp(survival_drop)
  return np.where(by_survival, above, until + below)
