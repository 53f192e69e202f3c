"""Max-plus scaling: a diagonal similarity that prevents underflow.

Forty transitions of probability 1e-9 have probability 1e-360 together. After
scaling each state by the largest weight of a path to it, the scaled probability
is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import Scalar
from phasic.math.numeric import exact_sums

NEVER = -1e9

_Carry = tuple[Array, Scalar, tuple[Array, Array, Array]]


class Scaling(NamedTuple):
  """Scales of states, and the fewest steps to each state and from it to an end.

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


def find(initial: Array, jumps: Array, end: Array, lowest: float) -> Scaling:
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

  def unfinished(carry: _Carry) -> Scalar:
    count, changed, _ = carry
    return changed & (count < size)

  def relax(carry: _Carry) -> _Carry:
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
