"""Modes of hypoexponential distributions: sums of exponential times.

With stages of rates r_1, ..., r_p and the density f_j of the first j,

    f_p'(t) = r_p (f_{p-1}(t) - f_p(t)),

so that no density is differentiated. f_p is log-concave, as a convolution of
log-concave densities: the sign of f_{p-1} - f_p changes once, from plus to
minus. The sum of the two fastest stages has its mode after 1 / r for the faster
rate r, and more stages make it later. A mode is within sqrt(3) standard
deviations of the mean. So it is between 1 / r and three means.

Reference: S. Dharmadhikari, K. Joag-dev, Unimodality, convexity, and
  applications, 1988, ch. 1.
"""

from __future__ import annotations

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

# The number of times within the bracket that a kernel call evaluates: log t's
# bracket shrinks to 1/32.
_PARTS = 31
_MAX_ITERATIONS = 20
# Rates above this multiple of the second slowest rate are capped: the error is
# of the order of the squared inverse ratio, which is negligible.
_MOST_UNLIKE = 2.0**27
# Newton steps at the root make its derivatives correct: each step doubles the
# number of correct orders.
_NEWTON_STEPS = 2


def stages_mode(rates: Array) -> Array:
  """Computes the mode of a sum of independent exponential times.

  The relative error is below 1e-12 (float32: 1e-5) for up to 1000 stages.
  Derivatives up to the third order are implicit, by the equation of the mode.

  Args:
    rates: r_i, (..., p), > 0 and finite, else the result is NaN.

  Returns:
    An array of the batch shape; zero for one stage.
  """
  return _run(kernel_ops.path(), rates)


def _evaluate(path: str, rates: Array) -> Array:
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


_run = control_flow.compiled(_evaluate, static_argnums=(0,))


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
    return (count < _MAX_ITERATIONS) & np.any(wide)

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
