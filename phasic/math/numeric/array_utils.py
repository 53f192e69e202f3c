"""Concatenates arrays with broadcasting, and computes sequences of powers."""

from __future__ import annotations

import numpy as np

from phasic.internal import static
from phasic.internal.arrays import Array


def joined(*arrays: Array) -> Array:
  """Concatenates arrays (..., m) on the last axis; batch shapes broadcast."""
  shapes = [static.shape(x) for x in arrays]
  batch = static.broadcast_shapes(*(shape[:-1] for shape in shapes))
  full = [
    np.broadcast_to(x, (*batch, shape[-1]))
    for x, shape in zip(arrays, shapes, strict=True)
  ]
  return np.concatenate(full, axis=-1)


def powers(x: Array, last: int) -> Array:
  """Computes the powers x^0, ..., x^last along a new last axis."""
  found = np.ones_like(x)[..., None]
  factor, count = x[..., None], 1
  while count <= last:
    found = np.concatenate([found, found * factor], axis=-1)
    factor, count = factor * factor, 2 * count
  return found[..., : last + 1]
