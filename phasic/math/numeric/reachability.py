"""Reachability of states."""

from __future__ import annotations

import numpy as np

from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import Scalar

_Carry = tuple[Array, Scalar, Array]


def closure(linked: Array, start: Array) -> Array:
  """Returns which states can reach a set of states.

  Args:
    linked: boolean (..., m, m), whether state i has a transition to state j.
    start: boolean (..., m), whether each state is in the set.

  Returns:
    A boolean array (..., m), which includes the set itself.
  """
  size = static.shape(start)[-1]

  def unfinished(carry: _Carry) -> Scalar:
    count, changed, _ = carry
    return changed & (count < size)

  def grow(carry: _Carry) -> _Carry:
    count, _, states = carry
    grown = states | np.any(linked & states[..., None, :], axis=-1)
    return count + 1, np.any(grown & np.logical_not(states)), grown

  init = (np.asarray(0), np.asarray(True), start)
  return control_flow.while_loop(unfinished, grow, init)[2]
