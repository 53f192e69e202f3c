"""Poisson mixtures of a power sequence, f(x) = sum_k w_k(x) a_k.

Counts are grouped: with k = g + i and g the group's first count,
w_k(x) = w_g(x) x^i / ((g + 1) ... (g + i)). So a group is a polynomial with
nonnegative coefficients, and all groups are one matrix product. Only the first
weight of a group needs a logarithm and an exponential.

Logarithms of weights have Loader's saddle-point form, log w_k(x) = -delta(k) -
D(k, x) - log(2 pi k)/2, where delta is the error of Stirling's formula and
D(k, x) = k log(k/x) + x - k is the deviance: it avoids the cancellation in
k log x - x - log k!.

References:
  C. Loader, Fast and accurate computation of binomial probabilities, 2000.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.numeric import array_utils
from phasic.math.numeric import special
from phasic.math.portable import power_sequence

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


class _WeightRange(NamedTuple):
  """Constants that depend on the range of a floating dtype.

  Attributes:
    group: the number of counts in a group: powers of means up to 2^18 stay in
      range. It is also the number of derivatives that exist at x = 0.
    lift: powers of means below 2**(-lift / group) are multiplied by 2**lift:
      all powers of 1e-80 (float32: 1e-21) stay in range.
    cap: the largest logarithm that is exponentiated.
    tiny: products below it may have underflowed.
  """

  group: int
  lift: int
  cap: float
  tiny: float


_RANGES = {
  "float64": _WeightRange(8, 900, 700.0, 2.0**-1000),
  "float32": _WeightRange(4, 100, 80.0, 2.0**-114),
}
_LOG2 = math.log(2)
_CHUNK = 2**20  # The most entries of a table of weights.

OK, SHORT, UNDERFLOW = 0, 1, 2


def mix(sequence: power_sequence.Sequence, means: Array) -> tuple[Array, ...]:
  """Computes Poisson mixtures of a power sequence, in blocks of means.

  Args:
    sequence: a `power_sequence.Sequence`, (..., K).
    means: x, (..., n), finite and not negative.

  Returns:
    The logarithms, the values and codes (..., n): `OK`; `SHORT` if more than K
    terms are needed; `UNDERFLOW` if a term that matters underflowed. Logarithm
    and value are NaN unless the code is `OK`.
  """
  grouped = _grouped(sequence)
  coefficients = grouped[0]
  n = static.shape(means)[-1]
  sizes = [d for d in static.shape(coefficients) if isinstance(d, int)]
  per_time = math.prod(sizes) // _group_size(means)
  block = max(1, _CHUNK // per_time)
  if not isinstance(n, int) or n <= block:
    return _mix_block(sequence, grouped, means)
  count = -(-n // block)
  # The padding repeats the last mean. At another mean, such as zero,
  # derivatives may be infinite, and their products with cotangents of zero are
  # NaN.
  padding = np.broadcast_to(
    means[..., -1:], (*static.shape(means)[:-1], count * block - n)
  )
  padded = np.concatenate([means, padding], axis=-1)
  batch = static.shape(means)[:-1]
  blocks = np.moveaxis(np.reshape(padded, (*batch, count, block)), -2, 0)
  _, parts = control_flow.scan(
    lambda carry, x: (carry, _mix_block(sequence, grouped, x)),
    np.zeros_like(means[..., 0]),
    blocks,
  )
  return tuple(_joined(part)[..., :n] for part in parts)


def _joined(blocks: Array) -> Array:
  """Joins blocks (count, ..., block) along the last axis."""
  blocks = np.moveaxis(blocks, 0, -2)
  return array_utils.merged(blocks, 2)


def _group_size(x: Array) -> int:
  return _RANGES[static.dtype_name(x)].group


def _grouped(sequence: power_sequence.Sequence) -> tuple[Array, Array, Array]:
  """Splits a sequence into groups of terms, each a polynomial in the mean.

  Returns coefficients and bounds of their underflow, (..., group, K / group),
  and logarithms of their scales, (..., K / group).
  """
  size = _group_size(sequence.values)
  steps = static.shape(sequence.values)[-1]
  count = -(-steps // size)

  def split(x: Array, fill: float) -> Array:
    x = _padded(x, count * size - steps, fill)
    return np.reshape(x, (*static.shape(x)[:-1], count, size))

  exponents = split(sequence.exponents, -math.inf)
  common = np.max(exponents, axis=-1)
  firsts = size * onp.arange(count)[:, None]
  factors = firsts + onp.maximum(onp.arange(size), 1)
  factors = onp.where(onp.arange(size) == 0, 1.0, factors)
  scale = structures.cast(
    1 / onp.cumprod(factors, axis=-1), sequence.values.dtype
  )
  lower = np.maximum(exponents - common[..., None], -1000.0)
  scale = scale * array_ops.power_of_two(lower)
  coefficients = split(sequence.values, 0.0)
  tiny = _RANGES[static.dtype_name(scale)].tiny
  flushed = (coefficients > 0) & (coefficients * scale < tiny)
  coefficients = coefficients * scale
  underflow = split(sequence.underflow, 0.0) * scale + np.where(
    flushed, tiny, 0.0
  )
  return (
    np.moveaxis(coefficients, -1, -2),
    np.moveaxis(underflow, -1, -2),
    common * _LOG2,
  )


def _padded(x: Array, count: int, fill: float) -> Array:
  """Appends `count` entries to the last axis."""
  if count == 0:
    return x
  shape = (*static.shape(x)[:-1], count)
  return np.concatenate(
    [x, np.broadcast_to(structures.cast(fill, x.dtype), shape)], axis=-1
  )


def _mix_block(
  sequence: power_sequence.Sequence,
  grouped: tuple[Array, Array, Array],
  means: Array,
) -> tuple[Array, Array, Array]:
  """Computes the mixture's logarithm, value and status code at all means.

  The sequence enters the sum linearly, scaled by a constant. So derivatives in
  entries of the sequence that are zero are right too.
  """
  coefficients, underflow, logs = grouped
  span = _RANGES[static.dtype_name(means)]
  constant = autodiff.stop_gradient
  size, count = static.shape(coefficients)[-2:]
  powers, lifted = _powers(means, size, span.lift)
  sums = np.matmul(powers, coefficients)
  firsts = size * onp.arange(count)
  log_terms = log_weights(firsts, means[..., None])
  log_terms = log_terms + logs[..., None, :] - lifted[..., None]
  sizes = np.log(np.where(sums > 0, sums, 1.0))
  sizes = np.where(sums > 0, log_terms + sizes, -math.inf)
  largest = constant(np.max(sizes, axis=-1))
  largest = np.where(largest > -math.inf, largest, 0.0)
  weights = np.exp(np.minimum(log_terms - largest[..., None], span.cap))
  total = np.sum(weights * sums, axis=-1)
  log_value = largest + special.log_sum(total)
  # Bound the underflow of the sequence and of powers of a tiny mean.
  fixed = constant(powers)
  small = (fixed < span.tiny) & (constant(means)[..., None] > 0)
  missed = np.where(small, span.tiny, 0.0) + np.zeros_like(fixed)
  gone = np.matmul(fixed + missed, underflow)
  gone = gone + np.matmul(missed, constant(coefficients))
  gone = np.sum(constant(weights) * gone, axis=-1)
  out_of_range = gone > static.finfo_eps(means) * constant(total)
  # Compare the truncated terms with the value, or with the bound of its
  # underflow if that is larger: more terms do not help after underflow.
  size = largest + np.log(np.maximum(constant(total), gone))
  short = _short(sequence, constant(means), size)
  code = np.where(
    short, 1.0 * SHORT, np.where(out_of_range, 1.0 * UNDERFLOW, 0.0)
  )
  # Multiplication by NaN makes the derivatives NaN as well.
  poison = np.where(code == OK, 1.0, math.nan)
  return log_value * poison, np.exp(largest) * total * poison, code


def _powers(x: Array, size: int, lift: int) -> tuple[Array, Array]:
  """Computes c x^i for i < size, and log c; c > 1 raises powers of a tiny x."""
  low = (x > 0) & (x < 2.0 ** (-lift / size))
  powers = [np.where(low, 2.0**lift, 1.0) + np.zeros_like(x)]
  for _ in range(size - 1):
    powers.append(powers[-1] * x)
  lifted = np.where(low, lift * _LOG2, 0.0) + np.zeros_like(x)
  return np.stack(powers, axis=-1), lifted


def _short(
  sequence: power_sequence.Sequence, means: Array, log_size: Array
) -> Array:
  """Returns where truncated terms may matter, relative to exp(log_size)."""
  steps = static.shape(sequence.values)[-1]
  ratio = means / (steps + 1)
  converges = ratio < 1
  log_tail = log_weights(onp.asarray(steps), means) - np.log1p(
    -np.where(converges, ratio, 0.0)
  )
  rest = sequence.log_rest[..., None] + log_tail
  eps = static.finfo_eps(means)
  complete = converges & (rest <= log_size + math.log(eps / 8))
  is_zero = np.logical_not(sequence.reached[..., None]) | (means == 0)
  return np.logical_not(complete) & np.logical_not(is_zero)
