"""Modes of sums of exponential times, and of transformed Erlang variables.

With stages of rates r_1, ..., r_p and the density f_j of the first j,

    f_p'(t) = r_p (f_{p-1}(t) - f_p(t)),

so that no density is differentiated. f_p is log-concave, as a convolution of
log-concave densities: the sign of f_{p-1} - f_p changes once, from plus to
minus. The sum of the two fastest stages has its mode after 1 / r for the faster
rate r, and more stages make it later. A mode is within sqrt(3) standard
deviations of the mean. So it is between 1 / r and three means.

With n stages of rate r and an increasing g, the density of g(X) at g(x) is
proportional to x^(n-1) exp(-r x) / g'(x). The slope of its logarithm, times x,
decreases: so there is one mode, at zero or above. Equations without a closed
solution are solved by Newton's method, from a side where it does not overshoot.

Reference: S. Dharmadhikari, K. Joag-dev, Unimodality, convexity, and
  applications, 1988, ch. 1.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.model import edge_rates
from phasic.math.numeric import special

# A kernel call evaluates this number of times within the bracket, so that the
# bracket of log t shrinks to 1/32 of its length.
_PARTS = 31
_MAX_DIVISIONS = 20
# Rates above this multiple of the second slowest rate are capped: the error is
# of the order of the squared inverse ratio, which is negligible.
_MOST_UNLIKE = 2.0**27


def stages_mode(rates: Array) -> Array:
  """Computes the mode of a sum of independent exponential times.

  The relative error is below 1e-12 (float32: 1e-5) for up to 1000 stages.
  Derivatives up to the third order are implicit, by the equation of the mode.

  Args:
    rates: r_i, (..., p), > 0 and finite, else the result is NaN.

  Returns:
    An array of the batch shape; zero for one stage.
  """
  return _run_stages(kernel_ops.path(), rates)


def _stages_mode(path: str, rates: Array) -> Array:
  """Computes the mode; see `stages_mode`."""
  del path  # It is only a key of the compiler's cache.
  dtype = static.dtype_name(rates)
  rates = structures.cast(rates, static.wide_float())
  usable = np.all((rates > 0) & (rates < math.inf), axis=-1)
  rates = np.where(usable[..., None], rates, 1.0)
  rates = _slowest_last(rates)
  mode = np.zeros_like(rates[..., 0])
  if static.shape(rates)[-1] > 1:
    rates, shift = _capped(rates)
    mode = _bracketed(autodiff.stop_gradient(rates))
    for _ in range(_NEWTON_STEPS):
      mode = _improved(rates, mode)
    mode = mode + shift
  return structures.cast(np.where(usable, mode, math.nan), dtype)


_run_stages = control_flow.compiled(_stages_mode, static_argnums=(0,))


def _slowest_last(rates: Array) -> Array:
  """Swaps the slowest rate to the end.

  The densities of the sums of the first p - 1 and of all p stages, which the
  mode's equation compares, differ most in this order.
  """
  slowest = 0.0 - np.max(0.0 - rates, axis=-1)[..., None]
  equal = structures.cast(rates == slowest, "int32")
  first = (equal > 0) & (np.cumsum(equal, axis=-1) == 1)
  other_rates = np.where(first, rates[..., -1:], rates)
  # This sum has a single nonzero term; unlike an index it is differentiable.
  last = np.sum(np.where(first, rates, 0.0), axis=-1)[..., None]
  return np.concatenate([other_rates[..., :-1], last], axis=-1)


def _capped(rates: Array) -> tuple[Array, Array]:
  """Caps rates to the kernel's range; also returns the shift of the mode.

  A stage that is far faster than the two slowest ones shifts the density by its
  mean, up to the square of the ratio of rates. The kernel does not evaluate
  rates times times above 1e15.
  """
  second = 0.0 - np.max(0.0 - rates[..., :-1], axis=-1)[..., None]
  fast = rates / _MOST_UNLIKE > second
  capped = np.where(fast, _MOST_UNLIKE * np.where(fast, second, 1.0), rates)
  gap = np.where(fast, 1.0 / rates - 1.0 / capped, 0.0)
  return capped, np.sum(gap, axis=-1)


def _bracketed(rates: Array) -> Array:
  """Finds the mode by dividing a bracket repeatedly, in the scale of log t."""
  low = 0.5 / np.max(rates, axis=-1)
  high = 3.0 * np.sum(1.0 / rates, axis=-1)
  eps = static.finfo_eps(rates)
  shares = onp.arange(1.0, _PARTS + 1.0) / (_PARTS + 1.0)
  shape = (-1, *(1 for _ in static.shape(low)))
  parts = structures.cast(onp.reshape(shares, shape), static.wide_float())

  def unfinished(carry: tuple[Array, Array, Array]) -> Array:
    count, low, high = carry
    wide = high > low * (1.0 + 8.0 * eps)
    return (count < _MAX_DIVISIONS) & np.any(wide)

  def divide(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    count, low, high = carry
    times = low * np.exp(parts * np.log(high / low))
    # Times that are too late give NaN, so they count as beyond the mode.
    rising = _log_ratio(rates, times) > 0
    low = np.maximum(low, np.max(np.where(rising, times, 0.0), axis=0))
    later = np.where(rising, math.inf, times)
    high = np.minimum(high, 0.0 - np.max(0.0 - later, axis=0))
    return count + 1, low, high

  init = (np.asarray(0), low, high)
  _, low, high = control_flow.while_loop(unfinished, divide, init)
  return np.sqrt(low) * np.sqrt(high)


def _improved(rates: Array, mode: Array) -> Array:
  """Makes one Newton step for log f_{p-1}(t) - log f_p(t) = 0."""
  p = static.shape(rates)[-1]
  ratio = _log_ratio(rates, mode)
  before = (
    np.expm1(_log_ratio(rates[..., :-1], mode))
    if p > 2
    else np.zeros_like(ratio) - 1.0
  )
  slope = rates[..., -2] * before - rates[..., -1] * np.expm1(ratio)
  return mode - ratio / slope


def _log_ratio(rates: Array, times: Array) -> Array:
  """Computes log f_{p-1}(t) - log f_p(t), zero at the mode."""
  p = static.shape(rates)[-1]
  return _log_density(rates[..., :-1], p - 1, times) - _log_density(
    rates, p, times
  )


def _log_density(rates: Array, count: int, times: Array) -> Array:
  """Computes the log density f_j of the sum of the first j = `count` stages."""
  stages = onp.arange(count)
  edges = edge_rates.EdgeRates(stages, stages + 1, rates)
  start = structures.cast(onp.where(stages == 0, 1.0, 0.0), rates.dtype)
  atom = np.zeros((), dtype=rates.dtype)
  return evaluation.value("log_density", (start, edges, times, None, atom))


_MAX_ITERATIONS = 100
# Newton steps at the root make its derivatives correct: each step doubles the
# number of correct orders.
_NEWTON_STEPS = 2

# The arguments are the number of stages n, their rate r and the parameter k. A
# step also takes the current x.
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
