"""Which phases lead where."""

import numpy as np

from phasic.internal import control_flow
from phasic.internal import static


def closure(linked, start, axis):
  """States that lead to `start` (axis -1) or are led to from it (axis -2)."""
  size = static.shape(start)[-1]

  def unfinished(carry):
    count, changed, _ = carry
    return changed & (count < size)

  def grow(carry):
    count, _, states = carry
    along = states[..., None, :] if axis == -1 else states[..., :, None]
    grown = states | np.any(linked & along, axis=axis)
    return count + 1, np.any(grown & np.logical_not(states)), grown

  init = (np.asarray(0), np.asarray(True), start)
  return control_flow.while_loop(unfinished, grow, init)[2]
