"""Modes of transformed Erlang variables.

With n stages of rate r and an increasing g, the density of g(X) at g(x) is
proportional to x^(n-1) exp(-r x) / g'(x). The slope of its logarithm, times x,
decreases: so there is one mode, at zero or above. Equations without a closed
solution are solved by Newton's method, from a side where it does not overshoot.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.numeric import special

_MAX_ITERATIONS = 100
# Newton steps at the root make its derivatives correct: each step doubles the
# number of correct orders.
_NEWTON_STEPS = 2

# Arguments are the number of stages n, their rate r, the parameter k, and for a
# step the current x.
_Step = Callable[[int, Array, Array, Array], Array]
_Start = Callable[[int, Array, Array], Array]


def power_mode(count: int, rate: Array, power: Array) -> Array:
  """Computes x at the mode of g(X) for g(x) = x^(1/k).

  It is (n - 1/k) / r, or zero if that is negative.

  Args:
    count: n, an int.
    rate: r, (...).
    power: k, (...).

  Reference: E. W. Stacy, A generalization of the gamma distribution, Ann. Math.
    Stat. 33, 1962.
  """
  return np.maximum(count - 1.0 / power, 0.0) / rate


def logarithm_mode(count: int, rate: Array, growth: Array) -> Array:
  """Computes x at the mode of g(X) for g(x) = log(1 + b x) / b.

  It solves (n - 1) / x - r + b / (1 + b x) = 0, or is zero. Arguments are as in
  `power_mode`, with b for k.
  """
  slow = growth <= rate
  share = np.where(slow, growth / rate, 1.0)
  gap = count * share - 1.0
  root = np.sqrt(np.square(gap) + 4.0 * share * (count - 1.0))
  late = gap >= 0
  mode = np.where(
    late,
    (gap + root) / (2.0 * share),
    2.0 * (count - 1.0) / np.where(late, 1.0, root - gap),
  )
  share = np.where(slow, 1.0, rate / growth)
  gap = count - share
  root = np.sqrt(np.square(gap) + 4.0 * share * (count - 1.0))
  return np.where(slow, mode, 0.5 * (gap + root)) / rate


def log_normal_mode(count: int, rate: Array, power: Array) -> Array:
  """Computes log(1 + m), with m the mode of g(X) for g(x) = exp(x^(1/k)) - 1.

  L = log(1 + m) solves L + r k L^k = n k - 1, or is zero. The relative error is
  1e-13 (float32: 1e-6). Arguments are as in `power_mode`.
  """
  return _run(_LOG_NORMAL, count, rate, power)


def log_logistic_mode(count: int, rate: Array, power: Array) -> Array:
  """Computes x at the mode of g(X) for g(x) = c (exp(x) - 1)^(1/k).

  It solves n - 1 + (1 - 1/k) x / (exp(x) - 1) = (r + 1/k) x, or is zero; the
  relative error is 1e-13 (float32: 1e-6). Arguments are as in `power_mode`.
  """
  return _run(_LOG_LOGISTIC, count, rate, power)


_LOG_NORMAL, _LOG_LOGISTIC = "log_normal", "log_logistic"


def _evaluate(kind: str, count: int, rate: Array, power: Array) -> Array:
  dtype = static.dtype_name(rate)
  wide = static.wide_float()
  rate, power = structures.cast(rate, wide), structures.cast(power, wide)
  rate, power = rate + np.zeros_like(power), power + np.zeros_like(rate)
  some = count * power > 1.0
  usable = some & (rate > 0) & (rate < math.inf) & (power < math.inf)
  rate = np.where(usable, rate, 1.0)
  power = np.where(usable, power, 2.0)
  step, start = _log_normal if kind == _LOG_NORMAL else _log_logistic
  fixed = autodiff.stop_gradient
  mode = _iterated(step, start, count, fixed(rate), fixed(power))
  for _ in range(_NEWTON_STEPS):
    mode = mode + step(count, rate, power, mode)
  if kind == _LOG_NORMAL:
    mode = np.exp(mode)
  mode = np.where(some, mode, 0.0)
  return structures.cast(
    np.where(usable | np.logical_not(some), mode, math.nan), dtype
  )


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1))


def _iterated(
  step: _Step, start: _Start, count: int, rate: Array, power: Array
) -> Array:
  """Repeats Newton steps from a start value until convergence."""
  eps = static.finfo_eps(rate)

  def unfinished(carry: tuple[Array, Array, Array]) -> Array:
    done, x, change = carry
    far = np.abs(change) > 4.0 * eps * np.abs(x)
    return (done < _MAX_ITERATIONS) & np.any(far)

  def advance(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    done, x, _ = carry
    change = step(count, rate, power, x)
    return done + 1, x + change, change

  x = start(count, rate, power)
  init = (np.asarray(0), x, np.ones_like(x) * math.inf)
  return control_flow.while_loop(unfinished, advance, init)[1]


def _log_normal_step(count: int, rate: Array, power: Array, x: Array) -> Array:
  """Computes Newton's step for log(e^x + r k e^(k x)) = log(n k - 1)."""
  total = special.logaddexp(x, np.log(rate * power) + power * x)
  share = np.exp(x - total)
  slope = share + power * (1.0 - share)
  return (np.log(count * power - 1.0) - total) / slope


def _log_normal_start(count: int, rate: Array, power: Array) -> Array:
  log_total = np.log(count * power - 1.0)
  return np.minimum(log_total, (log_total - np.log(rate * power)) / power)


def _log_logistic_step(
  count: int, rate: Array, power: Array, x: Array
) -> Array:
  """Computes Newton's step for the equation of `log_logistic_mode`."""
  more, less = 1.0 - 1.0 / power, rate + 1.0 / power
  small = x < 1e-6
  some = np.minimum(np.where(small, 1.0, x), 80.0)
  growth = np.expm1(some)
  quotient = np.where(small, 1.0 - 0.5 * x, some / growth)
  fall = np.where(small, -0.5, (1.0 - some - some / growth) / growth)
  value = count - 1.0 + more * quotient - less * x
  return value / (less - more * fall)


def _log_logistic_start(count: int, rate: Array, power: Array) -> Array:
  right = (count - 1.0) / (rate + 1.0 / power)
  return np.where(power > 1.0, 0.0, right)


_log_normal = (_log_normal_step, _log_normal_start)
_log_logistic = (_log_logistic_step, _log_logistic_start)
