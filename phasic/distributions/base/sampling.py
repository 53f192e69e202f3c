"""Samples: checks of their shape, and whether they are differentiable."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import ShapeLike
from phasic.internal.arrays import Tree

MODE = "numpy"
_TRACED = "sample_shape is traced: it must be known statically"


def checked_shape(sample_shape: ShapeLike) -> static.Shape:
  """Checks a sample shape, and returns it as a tuple of ints.

  In TensorFlow traced sizes are scalar int32 tensors.
  """
  wrong = (
    f"sample_shape is {raw_arguments.shown(sample_shape)}: it must be an integer or a tuple of "
    "integers"
  )
  try:
    sizes = static.concrete(sample_shape)
  # The nested sequence is ragged.
  except ValueError:
    raise TypeError(wrong) from None
  # TensorFlow does not convert lists of traced tensors to the host.
  except NotImplementedError:
    sizes = None
  if sizes is None:
    return _traced_shape(sample_shape, wrong)
  integers = sizes.dtype.kind in "iu" or onp.size(sizes) == 0
  # NumPy stores integers of more than 64 bits as objects.
  if sizes.dtype.kind == "O":
    integers = all(isinstance(d, int) for d in onp.ravel(sizes))
  if not integers or onp.ndim(sizes) > 1:
    raise TypeError(wrong)
  shape = tuple(int(d) for d in onp.ravel(sizes))
  if any(d < 0 for d in shape):
    raise ValueError(f"sample_shape is {shape}: sizes must be >= 0")
  if math.prod(shape) > raw_arguments.MOST_ENTRIES:
    raise ValueError(
      f"sample_shape is {raw_arguments.shown(sample_shape)}: at most 2^31 samples "
      "can be drawn at once; draw them in parts"
    )
  return shape


def static_shape(sample_shape: ShapeLike) -> tuple[int, ...]:
  """Checks a sample shape; raises TypeError if it is traced."""
  shape = checked_shape(sample_shape)
  if not all(isinstance(d, int) for d in shape):
    raise TypeError(_TRACED)
  return shape


def _traced_shape(sample_shape: ShapeLike, wrong: str) -> static.Shape:
  """Returns a traced sample shape as a tuple; raises TypeError except in TF."""
  if MODE == "tf":
    if isinstance(sample_shape, (list, tuple)):
      return tuple(_traced_size(size, wrong) for size in sample_shape)
    traced = np.asarray(sample_shape)
    if static.rank(traced) == 0:
      return (_traced_size(traced, wrong),)
    length = static.shape(traced)[0]
    if static.rank(traced) > 1 or not isinstance(length, int):
      raise TypeError(f"{wrong}; a traced one needs a known length")
    return tuple(_traced_size(traced[i], wrong) for i in range(length))
  else:
    raise TypeError(_TRACED)


def _traced_size(size: ArrayLike, wrong: str) -> Tree:
  """Checks one size; returns it as an int, or as an int32 tensor if traced."""
  known = static.concrete(size)
  if known is not None:
    (checked,) = checked_shape([known])
    return checked
  size = np.asarray(size)
  if static.rank(size) > 0 or not static.dtype_name(size).startswith("int"):
    raise TypeError(wrong)
  message = "sample_shape has a negative size: sizes must be >= 0"
  return structures.cast(array_ops.check(size >= 0, message, size), "int32")


class ReparameterizationType:
  """A named constant, which is compared with `is`.

  Example: samples of a continuous time are differentiable.

    >>> from phasic.distributions import FULLY_REPARAMETERIZED, Erlang
    >>> Erlang(2, 1.0).reparameterization_type is FULLY_REPARAMETERIZED
    True
  """

  def __init__(self, name: str):
    self.name = name

  def __repr__(self) -> str:
    return f"<ReparameterizationType {self.name}>"

  # Copying returns the same object, so that comparisons by `is` hold.
  def __copy__(self) -> ReparameterizationType:
    return self

  def __deepcopy__(self, memo: dict) -> ReparameterizationType:
    return self


NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")
FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
