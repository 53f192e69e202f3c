"""Checks of the shape of samples, and of the number of jumps of paths."""

from __future__ import annotations

import math

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Integer
from phasic.internal.arrays import ShapeLike

_MOST_SAMPLES = 2**40
# The limit on the jumps of all paths together; each jump takes 12 bytes.
_MOST_JUMPS = 2**27


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


def checked_path_sizes(
  sample_shape: ShapeLike, num_jumps: Integer, batch: static.Shape
) -> tuple[tuple[int, ...], int]:
  """Checks a sample shape and a number of jumps, and returns both.

  Args:
    sample_shape: an int or a tuple of ints.
    num_jumps: how many jumps of each path are followed.
    batch: the batch shape of the distribution.

  Raises:
    TypeError: a size is no integer.
    ValueError: a size is negative, or there are too many jumps.
  """
  shape = checked_shape(sample_shape)
  jumps = _checked_jumps(num_jumps)
  known = [d for d in batch if isinstance(d, int)]
  total = math.prod(shape) * jumps * math.prod(known)
  if total > _MOST_JUMPS:
    raise ValueError(
      f"num_jumps is {jumps}: with sample_shape {shape} and batch shape "
      f"{batch} all paths together have {total} jumps: they must have at "
      f"most {_MOST_JUMPS}; sample in parts"
    )
  return shape, jumps


def _checked_jumps(num_jumps: Integer) -> int:
  """Checks a number of jumps, and returns it as an int."""
  integer = isinstance(num_jumps, (int, onp.integer))
  if not integer or isinstance(num_jumps, bool):
    raise TypeError(
      f"num_jumps is {type(num_jumps).__name__}: it must be a Python int, since "
      "it sets the size of the result"
    )
  if num_jumps < 0:
    raise ValueError(f"num_jumps is {int(num_jumps)}: it must be >= 0")
  return int(num_jumps)
