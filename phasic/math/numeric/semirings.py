"""Paths through a chain, in semirings where nothing underflows.

Forty transitions of probability 1e-9 have probability 1e-360 together, which is
zero in float64. Boolean matrices show which paths exist. The max-plus semiring
gives the largest weight of a path to each state; after scaling the states by it,
a diagonal similarity, the scaled probability is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal.arrays import Array, Scalar
from phasic.math.numeric import exact_sums

NEVER = -1e9

_Relaxed = tuple[Array, Scalar, tuple[Array, Array, Array]]
_Grown = tuple[Array, Scalar, Array]


class Scaling(NamedTuple):
  """The scale of each state, and the fewest steps from a start and to an end.

  All are constants for derivatives.

  Attributes:
    scale: log2 of the largest weight of a path to each state, an integer, at
      least `lowest` (..., m).
    arrival: minus the least number of steps to each state, `NEVER` or less if
      there is no path (..., m).
    departure: minus the least number of steps from each state to one with an
      end weight, `NEVER` or less if there is no path (..., m).
  """

  scale: Array
  arrival: Array
  departure: Array


def max_plus_scaling(
  initial: Array, jumps: Array, end: Array, lowest: float
) -> Scaling:
  """Finds the scales by the Bellman-Ford algorithm in the max-plus semiring.

  Args:
    initial: initial masses (..., m).
    jumps: probabilities between states (..., m, m), zero on the diagonal.
    end: end weights (..., m).
    lowest: the least scale.
  """
  initial, jumps, end = (
    autodiff.stop_gradient(x) for x in (initial, jumps, end)
  )
  weight = exact_sums.exponent(jumps, NEVER)
  link = np.where(jumps > 0, -1.0, NEVER) + np.zeros_like(jumps)
  batch = np.zeros_like(jumps[..., 0]) + np.zeros_like(initial + end)
  scale = exact_sums.exponent(initial, lowest) + batch
  arrival = np.where(initial + batch > 0, 0.0, NEVER) + batch
  departure = np.where(end + batch > 0, 0.0, NEVER) + batch
  size = static.shape(initial)[-1]

  def unfinished(carry: _Relaxed) -> Scalar:
    count, changed, _ = carry
    return changed & (count < size)

  def relax(carry: _Relaxed) -> _Relaxed:
    count, _, now = carry
    scale, arrival, departure = now
    later = (
      np.maximum(scale, np.max(scale[..., :, None] + weight, axis=-2)),
      np.maximum(arrival, np.max(arrival[..., :, None] + link, axis=-2)),
      np.maximum(departure, np.max(departure[..., None, :] + link, axis=-1)),
    )
    changed = [np.any(b > a) for a, b in zip(now, later, strict=True)]
    return count + 1, changed[0] | changed[1] | changed[2], later

  init = (np.asarray(1), np.asarray(True), (scale, arrival, departure))
  return Scaling(*control_flow.while_loop(unfinished, relax, init)[2])


def scaled(
  initial: Array, jumps: Array, end: Array, scale: Array
) -> tuple[Array, Array, Array, Array]:
  """Scales a chain's arrays; also returns n, as results are scaled by 2^-n."""
  initial = initial * array_ops.power_of_two(-scale)
  between = scale[..., :, None] - scale[..., None, :]
  jumps = jumps * array_ops.power_of_two(between)
  weight = scale + exact_sums.exponent(autodiff.stop_gradient(end), NEVER)
  shift = np.max(weight, axis=-1)
  shift = np.where(shift > NEVER / 2, shift, 0.0)
  by = scale - shift[..., None]
  half = np.floor(by / 2)
  end = end * array_ops.power_of_two(half)
  end = end * array_ops.power_of_two(by - half)
  return initial, jumps, end, shift


def reachable_step_counts(
  initial: Array, transitions: Array, end: Array, count: int, block: int
) -> Array:
  """Returns which terms alpha P^k end are truly > 0.

  The result has shape (..., count * block). A term may be zero because no path
  has that many steps, as in a periodic chain, or because it underflowed.
  Boolean powers distinguish the two cases.

  Sets of states are arrays of zeros and ones. P^B is computed by squaring,
  columns P^i end for i < B by doubling, and rows alpha P^(j B) by a scan.

  Args:
    initial: initial masses (..., m).
    transitions: the matrix (..., m, m), its diagonal too.
    end: end weights (..., m).
    count: the number of blocks, static.
    block: their length B, static and a power of two.
  """
  row, power, end = (_indicator(x) for x in (initial, transitions, end))
  batch = np.zeros_like(power[..., 0]) + np.zeros_like(row * end)
  columns = (end + batch)[..., None]
  for _ in range(block.bit_length() - 1):
    columns = np.concatenate([columns, _product(power, columns)], axis=-1)
    power = _product(power, power)

  def step(state: Array, _: Array) -> tuple[Array, Array]:
    return _product(state[..., None, :], power)[..., 0, :], state

  indices = np.zeros((count,), dtype=batch.dtype)
  _, rows = control_flow.scan(step, row + batch, indices)
  reachable = _product(np.moveaxis(rows, 0, -2), columns) > 0
  shape = (*static.shape(reachable)[:-2], count * block)
  return np.reshape(reachable, shape)


def _indicator(x: Array) -> Array:
  """Returns one where x is positive, else zero."""
  x = autodiff.stop_gradient(x)
  return np.where(x > 0, np.ones_like(x), 0.0)


def _product(a: Array, b: Array) -> Array:
  return _indicator(np.matmul(a, b))


def can_reach(linked: Array, start: Array) -> Array:
  """Returns which states can reach a set of states.

  Args:
    linked: boolean (..., m, m), whether state i has a transition to state j.
    start: boolean (..., m), whether each state is in the set.

  Returns:
    A boolean array (..., m), which includes the set itself.
  """
  size = static.shape(start)[-1]

  def unfinished(carry: _Grown) -> Scalar:
    count, changed, _ = carry
    return changed & (count < size)

  def grow(carry: _Grown) -> _Grown:
    count, _, states = carry
    grown = states | np.any(linked & states[..., None, :], axis=-1)
    return count + 1, np.any(grown & np.logical_not(states)), grown

  init = (np.asarray(0), np.asarray(True), start)
  return control_flow.while_loop(unfinished, grow, init)[2]
