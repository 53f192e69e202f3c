"""Sets of values, declared as data."""

from __future__ import annotations

import dataclasses

import numpy as np

from phasic.distributions.base import bijectors
from phasic.distributions.base import methods
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result


@dataclasses.dataclass(frozen=True)
class Support:
  """The set of a distribution's values.

  Attributes:
    constraint: of each number: "nonnegative" or "nonnegative_integer".
    event_ndims: 0 for numbers, 1 for vectors of them.
    low: a lower bound, an array that broadcasts with values; None for zero.
    high: an upper bound, likewise, inf where there is none; None for none.
  """

  constraint: str
  event_ndims: int = 0
  low: Array | None = dataclasses.field(default=None, repr=False, compare=False)
  high: Array | None = dataclasses.field(
    default=None, repr=False, compare=False
  )

  def contains(self, value: ArrayLike) -> Result:
    """Returns whether values are in the set, without event dimensions.

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


class Supports(methods.Methods):
  """Methods for the support of a distribution."""

  @property
  def support(self) -> Support:
    """The set of values, without inf and sets of probability zero.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> PhaseType([1.0], [[-2.0]]).support
      Support(constraint='nonnegative', event_ndims=0)
    """
    return self._support()

  def experimental_default_event_space_bijector(self) -> bijectors.Bijector:
    """Returns a smooth map from all real numbers onto the support's inner part.

    That is (0, inf) but for truncated distributions. It is called as in
    TensorFlow Probability. Where there is an atom it covers the rest.

    Raises:
      NotImplementedError: values are whole numbers.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> bijector = dist.experimental_default_event_space_bijector()
      >>> print(f"{float(bijector.forward(1.0)):.6f}")
      2.718282
    """
    support = self._support()
    if support.constraint != "nonnegative":
      self._missing(
        "experimental_default_event_space_bijector",
        "its values are whole numbers, which no smooth map reaches",
      )
    if support.low is None:
      return bijectors.Exp(support.event_ndims)
    high = float("inf") if support.high is None else support.high
    return bijectors.Interval(support.low, high, support.event_ndims)

  def _support(self) -> Support:
    self._missing("support")

  def _counts(self) -> bool:
    return self._support().constraint == "nonnegative_integer"
