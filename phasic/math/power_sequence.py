"""The power sequence of a uniformized chain, kept in range by scaling.

With q at least every rate and P = I + S/q, the sequence is v_k = alpha P^k and
what is asked for are its end values a_k = v_k . end. All terms are products of
non-negative numbers, so each is accurate to its own size. Nothing here may
underflow that matters: states are scaled by powers of two, each by the weight
of the heaviest path to it, and v_k by a common power of two now and then.
Scales are constants for every derivative.
"""

from typing import Any, NamedTuple

import numpy as np

from phasic.internal import control_flow
from phasic.internal import gradients
from phasic.internal import static
from phasic.math import exact_sums

_LOG2 = 0.6931471805599453
_NEVER = -1e9


class _Range(NamedTuple):
  """Exponents for a floating dtype: floor of scales, big and small steps."""

  floor: float
  big: int
  small: int


_RANGES = {
  "float64": _Range(-900.0, 512, 64),
  "float32": _Range(-90.0, 64, 32),
}


class Sequence(NamedTuple):
  """End values a_k = values * exp(logs), k along the last axis.

  Attributes:
    values: (..., K).
    logs: (..., K), constants.
    log_rest: log of max(end) times the mass left after K steps (...).
    reached: whether any state with an end weight can be reached (...).
    rate: the uniformization rate q (...), a constant.
  """

  values: Any
  logs: Any
  log_rest: Any
  reached: Any
  rate: Any


def uniformization_rate(totals):
  """Returns the largest rate (one if all are zero), as a constant."""
  rate = gradients.stop_gradient(np.max(totals, axis=-1))
  return np.where(rate > 0, rate, 1.0)


def sequence(initial, off, totals, end, steps):
  """Returns the first `steps` end values of the uniformized chain.

  Args:
    initial: initial masses (..., m).
    off: rates between states (..., m, m), zero on the diagonal.
    totals: rates of leaving the states (..., m).
    end: end weights (..., m).
    steps: the number of values, static.
  """
  span = _RANGES[static.dtype_name(initial)]
  rate = uniformization_rate(totals)
  jumps = off / rate[..., None, None]
  keep, lose = _stay(totals, rate[..., None])
  scale, reach = _scales(initial, jumps, span)
  reached = np.any(reach & (end > 0), axis=-1)
  log_end = np.log(gradients.stop_gradient(np.max(end, axis=-1)))
  initial, jumps, end, shift = _scaled(initial, jumps, end, scale)

  def step(carry, _):
    v, log_scale = carry
    value = np.sum(v * end, axis=-1)
    out = (value, log_scale + np.zeros_like(value))
    moved = np.matmul(v[..., None, :], jumps)[..., 0, :]
    v = v * keep - v * lose + moved
    largest = gradients.stop_gradient(np.max(v, axis=-1))
    factor, change = _rescale(largest, span)
    return (v * factor[..., None], log_scale + change), out

  # The carry has its full batch shape from the start.
  start = initial + np.zeros_like(end * totals) + np.zeros_like(jumps[..., 0])
  logs = np.zeros_like(start[..., 0])
  (last, last_log), (values, logs) = control_flow.scan(
    step, (start, logs), None, steps
  )
  mass = gradients.stop_gradient(last) * exact_sums.power_of_two(scale)
  log_rest = np.log(np.sum(mass, axis=-1)) + last_log + log_end
  return Sequence(
    np.moveaxis(values, 0, -1),
    np.moveaxis(logs, 0, -1) + (shift * _LOG2)[..., None],
    log_rest,
    reached,
    rate,
  )


def _stay(totals, rate):
  """Returns (keep, lose): staying has probability keep - lose = 1 - r/q.

  The difference is taken where it is exact, else left to the multiplication:
  1 - r/q would be rounded once and the error repeated in each step.
  """
  share = totals / rate
  fast = share > 0.5
  keep = np.where(fast, (rate - totals) / rate, 1.0)
  return keep, np.where(fast, 0.0, share)


def _scales(initial, jumps, span):
  """Returns log2 weights of the heaviest paths and which states are reached.

  Bellman-Ford in the (max, +) semiring on exponents. States that cannot be
  reached, or hardly, get the weight 2**floor.
  """
  initial = gradients.stop_gradient(initial)
  jumps = gradients.stop_gradient(jumps)
  weight = exact_sums.exponent(jumps, _NEVER)
  linked = jumps > 0
  batch = np.zeros_like(jumps[..., 0])
  scale = exact_sums.exponent(initial, span.floor) + batch
  reach = np.where(initial + batch > 0, 1.0, 0.0)
  size = static.shape(initial)[-1]

  def unfinished(carry):
    count, changed, _, _ = carry
    return changed & (count < size)

  def relax(carry):
    count, _, scale, reach = carry
    longer = np.max(scale[..., :, None] + weight, axis=-2)
    next_scale = np.maximum(scale, longer)
    further = np.max(np.where(linked, reach[..., :, None], 0.0), axis=-2)
    next_reach = np.maximum(reach, further)
    changed = np.any((next_scale > scale) | (next_reach > reach))
    return count + 1, changed, next_scale, next_reach

  init = (np.asarray(1), np.asarray(True), scale, reach)
  _, _, scale, reach = control_flow.while_loop(unfinished, relax, init)
  return scale, reach > 0


def _scaled(initial, jumps, end, scale):
  """Applies the diagonal similarity; returns the end's exponent as well."""
  initial = initial * exact_sums.power_of_two(-scale)
  between = scale[..., :, None] - scale[..., None, :]
  jumps = jumps * exact_sums.power_of_two(between)
  weight = scale + exact_sums.exponent(gradients.stop_gradient(end), _NEVER)
  shift = np.max(weight, axis=-1)
  shift = np.where(shift > _NEVER / 2, shift, 0.0)
  by = scale - shift[..., None]
  half = np.floor(by / 2)
  end = end * exact_sums.power_of_two(half)
  end = end * exact_sums.power_of_two(by - half)
  return initial, jumps, end, shift


def _rescale(largest, span):
  """Returns a power of two to multiply with, and minus its logarithm."""
  tiny = (largest > 0) & (largest < 2.0**-span.big)
  low = (largest > 0) & (largest < 2.0**-span.small)
  high = largest > 2.0**span.small
  log_factor = np.where(
    tiny,
    1.0 * span.big,
    np.where(low, 1.0 * span.small, np.where(high, -1.0 * span.small, 0.0)),
  )
  factor = np.where(
    tiny,
    2.0**span.big,
    np.where(low, 2.0**span.small, np.where(high, 2.0**-span.small, 1.0)),
  )
  # The sum keeps the dtype of `largest` in each backend.
  zero = np.zeros_like(largest)
  return factor + zero, log_factor * -_LOG2 + zero
