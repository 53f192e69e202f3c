"""Per-time uniformization with central differences, compiled C++."""

import ctypes

import numpy as onp

from benchmarks import models
from benchmarks import native_library

EPSILON = 1e-7
LIBRARY = "per_time_uniformization"
# Its names in the rows of tables: for its values, and for its gradients.
NAME = "C++, each time by itself"
DIFFERENCES = f"{NAME}, central differences"


class PerTimeMethod:
  """log f and its gradient for one model at fixed times."""

  def __init__(self, model: models.Model, times: onp.ndarray):
    self._library = native_library.load(LIBRARY)
    present = onp.any(model.rates != 0.0, axis=2).T  # [target, source]
    targets, sources = onp.nonzero(present)
    counts = onp.bincount(targets, minlength=len(model.states))
    arrays = (
      onp.concatenate([[0], onp.cumsum(counts)]).astype(onp.int64),
      sources.astype(onp.int32),
      onp.ascontiguousarray(model.rates[sources, targets]),
      onp.ascontiguousarray(model.exits),
      onp.ascontiguousarray(model.initial_probs),
      onp.ascontiguousarray(model.theta),
      onp.ascontiguousarray(times),
    )
    self._kept = arrays  # The pointers below need them.
    self._pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]
    self._sizes = (
      ctypes.c_int64(len(model.states)),
      ctypes.c_int64(len(model.theta)),
    )
    self._count = ctypes.c_int64(len(times))
    self._values = onp.empty(len(times))
    self._gradient = onp.empty(1 + len(model.theta))

  def log_prob(self) -> onp.ndarray:
    """log f at all times."""
    self._library.per_time_log_density(
      *self._sizes,
      *self._pointers,
      self._count,
      self._values.ctypes.data_as(ctypes.c_void_p),
    )
    return self._values

  def value_and_gradient(self) -> tuple[float, onp.ndarray]:
    """sum log f and its derivatives in theta."""
    self._library.per_time_value_and_gradient(
      *self._sizes,
      *self._pointers,
      self._count,
      ctypes.c_double(EPSILON),
      self._gradient.ctypes.data_as(ctypes.c_void_p),
    )
    return self._gradient[0], self._gradient[1:]
