"""The power sequence of a uniformized chain, kept in range by scaling.

With q above every rate and P = I + S/q, the sequence is v_k = alpha P^k, and
its end values are a_k = v_k . end. They are computed in blocks,

  a_(j B + i) = (alpha P^(j B)) . (P^i end),   0 <= i < B,

the right factors by doubling, the left ones by a scan; `block_length` chooses
B. That takes (B + K / B) products with a vector for K values instead of K.

All terms are products of nonnegative numbers, so each has a small relative
error. States are scaled by powers of two (max-plus scaling), and each left
factor is normalized to size one. The remaining underflow is bounded, and the
bounds are returned. Scales are constants for derivatives.
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
from phasic.math.numeric import exact_sums
from phasic.math.numeric import semirings
from phasic.math.portable import transition_power

_LOG2 = math.log(2)


class _ScaleRange(NamedTuple):
  """Exponents of two that keep numbers of a floating dtype in range.

  Attributes:
    scale: the least scale of a state.
    least: the least exponent of a number.
    most: the largest exponent of a uniformization rate.
    floor: sums of products that underflowed are below 2**floor.
  """

  scale: float
  least: float
  most: float
  floor: int


_RANGES = {
  "float64": _ScaleRange(-900.0, -1000.0, 999.0, -1000),
  "float32": _ScaleRange(-90.0, -126.0, 125.0, -114),
}


class Sequence(NamedTuple):
  """The sequence a_k = alpha P^k end = values * 2**exponents, k < K.

  Attributes:
    values: (..., K).
    underflow: bounds of the underflow in the values (..., K).
    exponents: (..., K), constants.
    log_rest: log of max(end) times the mass in the states after K steps (...).
    reached: whether any state with an end weight can be reached (...).
  """

  values: Array
  underflow: Array
  exponents: Array
  log_rest: Array
  reached: Array


def uniformization_rate(totals: Array) -> Array:
  """Returns the uniformization rate, a power of two, as a constant.

  Division by a power of two is exact; a rounding error in P would act in the
  same direction in each step. The rate is at least 16/15 of the largest rate:
  so the probability of staying in a state is at least 1/16, and its powers stay
  in range. It is NaN if the dtype has no such power of two.
  """
  span = _RANGES[static.dtype_name(totals)]
  largest = autodiff.stop_gradient(np.max(totals, axis=-1)) * (16 / 15)
  power = np.minimum(exact_sums.exponent(largest, span.least), span.most)
  rate = array_ops.power_of_two(power)
  rate = np.where(rate < largest, 2 * rate, rate)
  rate = np.where(rate < largest, math.nan, rate)
  return np.where(largest > 0, rate, 1.0)


def sequence(
  initial: Array,
  off: Array,
  totals: Array,
  absorbed: Array,
  end: Array,
  steps: int,
) -> Sequence:
  """Computes at least `steps` terms alpha P^k end of the uniformized chain.

  Args:
    initial: initial masses (..., m).
    off: rates between states (..., m, m), zero on the diagonal.
    totals: rates of leaving the states (..., m).
    absorbed: absorption rates (..., m).
    end: end weights (..., m).
    steps: the number of values, static; rounded up to full blocks.
  """
  rate = uniformization_rate(totals)
  keep, lose = transition_power.uniformized(totals, rate)
  # Broadcast the end weights to the full batch shape.
  end = end + np.zeros_like(totals)
  jumps, absorbed = off / rate[..., None, None], absorbed / rate[..., None]
  return chain_terms(initial, jumps, keep, lose, absorbed, end, steps)


def chain_terms(
  initial: Array,
  jumps: Array,
  keep: Array,
  lose: Array,
  absorbed: Array,
  end: Array,
  steps: int,
) -> Sequence:
  """Computes at least `steps` terms alpha P^k end of a discrete-time chain.

  Args:
    initial: initial masses (..., m).
    jumps: probabilities between states (..., m, m), zero on the diagonal.
    keep: the first part of the diagonal, which is keep - lose (..., m).
    lose: the second part of the diagonal (..., m).
    absorbed: probabilities of absorption (..., m).
    end: end weights (..., m).
    steps: the number of values, static; rounded up to full blocks.
  """
  dtype = static.dtype_name(initial)
  span = _RANGES[dtype]
  scaling = semirings.max_plus_scaling(initial, jumps, end, span.scale)
  log_end = np.log(autodiff.stop_gradient(np.max(end, axis=-1)))
  initial, jumps, end, shift = semirings.scaled(
    initial, jumps, end, scaling.scale
  )
  weights = array_ops.power_of_two(scaling.scale)
  power = transition_power.Power(jumps, keep, lose, absorbed * weights)
  batch = np.zeros_like(jumps[..., 0])
  batch = batch + np.zeros_like(initial * end * keep * absorbed)
  size = static.shape(initial)[-1]
  block = transition_power.block_length(steps, size, dtype)
  columns, power = _columns(power, end + batch, weights, block)
  count = -(-steps // block)
  rows, underflow, exponents, last = _rows(
    power, initial + batch, scaling.arrival, count, block, span
  )
  early = -onp.arange(float(block))
  reachable = structures.cast(
    scaling.departure[..., None] >= early, batch.dtype
  )
  missed = reachable * 2.0**span.floor
  fixed = autodiff.stop_gradient
  underflow = np.matmul(underflow, fixed(columns) + missed)
  underflow = underflow + np.matmul(fixed(rows), missed)
  exponents = exponents + shift
  exponents = np.moveaxis(exponents, 0, -1)[..., None] + np.zeros_like(
    underflow
  )
  mass = fixed(last[0]) * weights
  log_rest = np.log(np.sum(mass, axis=-1)) + last[1] * _LOG2
  values = np.matmul(rows, columns)
  flat = (*static.shape(values)[:-2], count * block)
  return Sequence(
    np.reshape(values, flat),
    np.reshape(underflow, flat),
    np.reshape(exponents, flat),
    log_rest + log_end,
    np.any(scaling.arrival + scaling.departure > semirings.NEVER, axis=-1),
  )


def _columns(
  power: transition_power.Power, end: Array, weights: Array, block: int
) -> tuple[Array, transition_power.Power]:
  """Computes P^i end for i < block (..., m, block), and P^block."""
  columns = end[..., None]
  for _ in range(block.bit_length() - 1):
    columns = np.concatenate(
      [columns, transition_power.after(power, columns)], axis=-1
    )
    power = transition_power.squared(power, weights)
  return columns, power


def _rows(
  power: transition_power.Power,
  initial: Array,
  arrival: Array,
  count: int,
  block: int,
  span: _ScaleRange,
) -> tuple[Array, Array, Array, tuple[Array, Array]]:
  """Computes alpha P^(j block) for j < count, scaled to a maximum near one.

  Returns:
    The rows (..., count, m), bounds of their underflow (..., count, m), their
    exponents (count, ...), and the row and the exponent after the last.
  """
  fixed = autodiff.stop_gradient
  constant = transition_power.Power(*(fixed(x) for x in power))

  def step(
    carry: tuple[Array, Array, Array], index: Array
  ) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    row, underflow, exponent = carry
    out = (row, underflow, exponent)
    row = transition_power.before(row, power)
    underflow = transition_power.before(underflow, constant)
    # Only states that alpha reaches within these steps can underflow.
    present = np.where(arrival + (index + 1) * block >= 0, 1.0, 0.0)
    size = 1 + np.sum(fixed(row), axis=-1)
    underflow = underflow + 2.0**span.floor * size[..., None] * present
    row, underflow, change = _normalized(row, underflow, span)
    return (row, underflow, exponent + change), out

  start, none, change = _normalized(initial, np.zeros_like(initial), span)
  indices = structures.cast(onp.arange(float(count)), initial.dtype)
  last, (rows, underflow, exponents) = control_flow.scan(
    step, (start, none, change), indices
  )
  return (
    np.moveaxis(rows, 0, -2),
    np.moveaxis(underflow, 0, -2),
    exponents,
    (last[0], last[2]),
  )


def _normalized(
  row: Array, underflow: Array, span: _ScaleRange
) -> tuple[Array, Array, Array]:
  """Multiplies by 2^-n, so that max(row) is near one; returns also n."""
  largest = autodiff.stop_gradient(np.max(row, axis=-1))
  change = exact_sums.exponent(largest, span.least)
  change = np.where(largest > 0, change, 0.0)
  factor = array_ops.power_of_two(-change)[..., None]
  return row * factor, underflow * factor, change
