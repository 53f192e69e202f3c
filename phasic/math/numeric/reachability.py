"""Reachability of states."""

from __future__ import annotations

import numpy as np

from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import Scalar

_Carry = tuple[Array, Scalar, Array]


def closure(linked: Array, start: Array, axis: int) -> Array:
  """Finds states that reach `start` (axis -1), or are reached (axis -2)."""
  size = static.shape(start)[-1]

  def unfinished(carry: _Carry) -> Scalar:
    count, changed, _ = carry
    return changed & (count < size)

  def grow(carry: _Carry) -> _Carry:
    count, _, states = carry
    along = states[..., None, :] if axis == -1 else states[..., :, None]
    grown = states | np.any(linked & along, axis=axis)
    return count + 1, np.any(grown & np.logical_not(states)), grown

  init = (np.asarray(0), np.asarray(True), start)
  return control_flow.while_loop(unfinished, grow, init)[2]
