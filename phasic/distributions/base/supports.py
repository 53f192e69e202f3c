"""Supports of distributions: their sets of values, as data."""

from __future__ import annotations

import dataclasses

import numpy as np

from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result

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
    """Returns whether each value is in the set, with all entries of a vector.

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
