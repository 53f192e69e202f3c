"""Temporary."""

from __future__ import annotations

import numpy as np

from phasic.internal import static
from phasic.math.calls import evaluation


def log_phase_expectation(times, weights, initial, edges):
  """Temporary."""
  none = np.zeros((), dtype=static.dtype_name(times))
  t = static.shape(times)
  b = static.broadcast_shapes(
    static.shape(weights)[:-1], static.shape(edges.parameters)[:-1]
  )
  if b and b[-1] == 1:
    # many times
    w = weights
    w = np.broadcast_to(
      w, (*static.broadcast_shapes(b, t[:-1] + (1,)), static.shape(w)[-1])
    )
    edges = edges._replace(parameters=edges.parameters)
    return evaluation.value_of_arrays(
      "log_density", (initial, edges, times, w, none)
    )
  return evaluation.value_of_arrays(
    "log_density", (initial, edges, times, weights, none)
  )
