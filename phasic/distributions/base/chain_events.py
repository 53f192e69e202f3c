"""Maps observations of a distribution to events of its chain."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from phasic.internal.arrays import Array
from phasic.internal.arrays import Tree
from phasic.math.model.model_types import Model


class HasModel(Protocol):
  """A distribution of the time until a chain's absorption."""

  @property
  def _DISCRETE(self) -> bool:
    """Whether time is discrete."""
    ...

  def _model(self) -> Model:
    """Returns the chain's checked initial masses, rates, exits, mass at zero."""
    ...

  def _model_of_data(self) -> Model:
    """Returns the chain, with NaN for masses that do not sum to one."""
    ...

  def _linear_chain(self) -> tuple[Tree, float]:
    """Returns the chain for the E-step, and its absorption time minus X."""
    ...


class ChainEvents(NamedTuple):
  """Observations of a distribution, as events of a chain's absorption time Y.

  The log likelihood of an observation is

      log P(lower < Y <= upper) - log P(given_lower < Y <= given_upper) + offset

  where pairs of ends are as those of `Observations`: equal ones are an exact
  time, and stand for the density.

  Attributes:
    chain: the distribution of Y, with a batch of shape (..., 1) or ().
    lower: (..., n).
    upper: (..., n); None where all are exact, and nothing is given.
    given: the ends of what the observations are conditional on, (..., n) or
      (..., 1); None where that is certain.
    offset: (..., n), what does not depend on the chain: logarithms of slopes,
      -inf of what cannot be, NaN of what is not known; or None.
    is_cut: whether values above `given` are outside the support, and were not
      only not seen yet.
  """

  chain: HasModel
  lower: Array
  upper: Tree
  given: tuple[Array, Array] | None
  offset: Array | None
  is_cut: bool = False

  @property
  def model(self) -> Model:
    """The chain's initial masses, rates, exits and mass at zero, for data."""
    return self.chain._model_of_data()

  @property
  def is_discrete(self) -> bool:
    """Whether the chain is one in discrete time."""
    return self.chain._DISCRETE


def entered(
  chain: HasModel, lower: Array, upper: Array | None, entry: Array | None
) -> ChainEvents:
  """Returns a chain's events for observations with delayed entry."""
  if entry is None:
    return ChainEvents(chain, lower, upper, None, None)
  upper = lower if upper is None else upper
  forever = np.zeros_like(entry) + math.inf
  within, upper, offset = cut(lower, upper, entry, upper)
  return ChainEvents(chain, within, upper, (entry, forever), offset)


def cut(
  lower: Array, upper: Array, after: Array, until: Array
) -> tuple[Array, Array, Array]:
  """Intersects observations with (after, until]; the offset is -inf if empty.

  Where a bound is NaN the ends are NaN, and so are derivatives.
  """
  exact = lower == upper
  start, end = np.maximum(lower, after), np.minimum(upper, until)
  possible = np.where(exact, (lower > after) & (upper <= until), start < end)
  unknown = np.isnan(start) | np.isnan(end)
  # An empty intersection gets placeholder ends, and the offset -inf.
  start = np.where(exact, lower, start)
  end = np.where(exact, upper, end)
  start = np.where(possible, start, -1.0)
  end = np.where(possible, end, math.inf)
  offset = np.where(possible | unknown, np.zeros_like(start), -math.inf)
  start = np.where(unknown, math.nan, start)
  return start, np.where(unknown, math.nan, end), offset
