"""Samples: their sets of values, their shapes, and whether they are smooth."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Result, ShapeLike, Tree

_NAMES = ("nonnegative", "nonnegative_integer")


@dataclasses.dataclass(frozen=True)
class Support:
  """The support of a distribution: a constraint, and perhaps bounds.

  Attributes:
    constraint: of each number: "nonnegative" or "nonnegative_integer".
    event_ndims: 0 for numbers, 1 for vectors of them.
    low: a lower bound, an array that broadcasts with values; None for zero.
    high: an upper bound, likewise, inf where there is none; None for none.

  Example: a count of trials.

    >>> from phasic.distributions import NegativeBinomialTrials
    >>> support = NegativeBinomialTrials(2, 0.5).support
    >>> support.constraint
    'nonnegative_integer'
    >>> bool(support.contains(2.5))
    False
  """

  constraint: str
  event_ndims: int = 0
  low: Array | None = dataclasses.field(default=None, repr=False, compare=False)
  high: Array | None = dataclasses.field(
    default=None, repr=False, compare=False
  )

  def __post_init__(self) -> None:
    """Raises TypeError or ValueError for arguments of another kind."""
    if not isinstance(self.constraint, str) or self.constraint not in _NAMES:
      raise ValueError(
        f"constraint is {raw_arguments.shown(self.constraint)}: it must be one "
        f"of {_NAMES}"
      )
    if raw_arguments.integer("event_ndims", self.event_ndims) not in (0, 1):
      raise ValueError(
        f"event_ndims is {raw_arguments.shown(self.event_ndims)}: it must be 0 "
        "or 1"
      )
    for name in ("low", "high"):
      bound = getattr(self, name)
      if bound is not None:
        dtypes.numeric(bound, name)

  def contains(self, value: ArrayLike) -> Result:
    """Returns whether each value is in the set, a vector with all its entries.

    Example:

      >>> from phasic.distributions import Support
      >>> bool(Support("nonnegative").contains(2.5))
      True
    """
    values = structures.cast(value)
    good = (values >= 0) & np.isfinite(values)
    if self.constraint == "nonnegative_integer":
      good = good & (np.floor(values) == values)
    if self.low is not None:
      good = good & (values >= self.low)
    if self.high is not None:
      good = good & (values <= self.high)
    return np.all(good, axis=-1) if self.event_ndims else good


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
  # NumPy stores integers of more than 64 bits as objects, which count as
  # integers here.
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
      raise TypeError(f"{wrong}; if it is traced, its length must be known")
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
