"""Checks of the shape of samples."""

from __future__ import annotations

import math

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ShapeLike

_MOST_SAMPLES = 2**40


def checked_shape(sample_shape: ShapeLike) -> tuple[int, ...]:
  """Checks a sample shape, and returns it as a tuple of ints."""
  wrong = (
    f"sample_shape is {raw_arguments.shown(sample_shape)}: it must be an integer or a tuple of "
    "integers"
  )
  try:
    sizes = static.concrete(sample_shape)
  # The nested sequence is ragged.
  except ValueError:
    raise TypeError(wrong) from None
  if sizes is None:
    raise TypeError("sample_shape is traced: it must be known statically")
  integers = sizes.dtype.kind in "iu" or onp.size(sizes) == 0
  # NumPy stores integers of more than 64 bits as objects.
  if sizes.dtype.kind == "O":
    integers = all(isinstance(d, int) for d in onp.ravel(sizes))
  if not integers or onp.ndim(sizes) > 1:
    raise TypeError(wrong)
  shape = tuple(int(d) for d in onp.ravel(sizes))
  if any(d < 0 for d in shape):
    raise ValueError(f"sample_shape is {shape}: sizes must be >= 0")
  if math.prod(shape) > _MOST_SAMPLES:
    raise ValueError(
      f"sample_shape is {raw_arguments.shown(sample_shape)}: at most 2**40 samples can be drawn at "
      "once; draw them in parts"
    )
  return shape
