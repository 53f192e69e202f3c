"""Values of arrays on the host, where fits are."""

from __future__ import annotations

import operator
from typing import Any, Protocol, SupportsIndex

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike


def known(name: str, x: ArrayLike, rule: str) -> onp.ndarray:
  """Returns an array on the host, in its dtype.

  Args:
    name: what the message calls it.
    x: the array.
    rule: what the message says of it.

  Raises:
    TypeError: it is traced.
  """
  values = static.concrete(x)
  if values is None:
    raise TypeError(f"{name} is traced: {rule}")
  return values


def host_values(
  name: str, x: ArrayLike, rule: str = "a fit needs its values"
) -> onp.ndarray:
  """Returns an array's values as float64, see `known`."""
  return onp.asarray(known(name, x, rule), onp.float64)


class Intervals(Protocol):
  """The ends of `Observations`, and their weights."""

  @property
  def lower(self) -> Array:
    """The lower ends."""

  @property
  def upper(self) -> Array:
    """The upper ends."""

  @property
  def weights(self) -> Array | None:
    """The weights."""


def observation_values(
  observations: Intervals,
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray]:
  """Returns lower and upper ends, and weights, of `Observations`."""
  lower = host_values("lower", observations.lower)
  upper = host_values("upper", observations.upper)
  if observations.weights is None:
    return lower, upper, onp.ones(onp.shape(lower))
  return lower, upper, host_values("weights", observations.weights)


def total_weight(observations: Intervals) -> float:
  """Returns the sum of the weights of `Observations`."""
  _, _, weights = observation_values(observations)
  return float(onp.sum(weights))


def number(name: str, x: Any) -> float:
  """Returns an argument as a float.

  Raises:
    TypeError: the argument is not a number.
    ValueError: the argument is an integer beyond the range of floats.
  """
  try:
    if not isinstance(x, str):
      return float(x)
  except OverflowError:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be below 1.8e308"
    ) from None
  except (TypeError, ValueError):
    pass
  raise TypeError(f"{name} is {raw_arguments.shown(x)}: it must be a number")


def whole_number(
  name: str, x: SupportsIndex, least: int, most: int | None = None
) -> int:
  """Returns an argument as an int.

  Args:
    name: what messages call the argument.
    x: the argument.
    least: the smallest number allowed.
    most: the largest number allowed, or None.

  Raises:
    TypeError: the argument is not a whole number.
    ValueError: the argument is out of range.
  """
  try:
    found = operator.index(x)
  except TypeError:
    raise TypeError(
      f"{name} is {raw_arguments.shown(x)}: it must be a whole number"
    ) from None
  if found < least:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be >= {least}"
    )
  if most is not None and found > most:
    raise ValueError(
      f"{name} is {raw_arguments.shown(x)}: it must be <= {most}"
    )
  return found
