"""Rewards, and products of rewards with factors."""

from __future__ import annotations

from collections.abc import Mapping
import math

import numpy as np

from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike


def number(rewards: ArrayLike) -> int:
  """Returns the number of rewards R, given rewards (..., p, R).

  Raises:
    TypeError: rewards are None.
    ValueError: the array has less than two dimensions.
  """
  if rewards is None:
    raise TypeError("rewards is None: it must be an array (..., p, R)")
  shape = static.shape(structures.as_array(rewards, None, "rewards"))
  if len(shape) < 2:
    raise ValueError(f"rewards has shape {shape}: it must be (..., p, R)")
  return shape[-1]


def weighted_rewards(
  rewards: ArrayLike,
  factors: ArrayLike,
  name: str,
  other_arguments: Mapping[str, ArrayLike | None],
) -> Array:
  """Multiplies rewards by a factor each: computes r_ir f_r, (..., p, R).

  Args:
    rewards: r, (..., p, R).
    factors: f, (..., R).
    name: the name of the factors.
    other_arguments: further arguments by name, which enter the common dtype.

  Raises:
    TypeError: dtypes differ.
    ValueError: shapes do not fit.
  """
  number(rewards)
  values = {"rewards": rewards, name: factors, **other_arguments}
  dtype = dtypes.common_dtype(values)
  converted = structures.as_array(rewards, dtype, "rewards")
  weights = structures.as_array(factors, dtype, name)
  shape, own = static.shape(converted), static.shape(weights)
  if len(shape) < 2 or len(own) < 1 or own[-1] != shape[-1]:
    raise ValueError(
      f"rewards have shape {shape} and {name} {own}: the number of rewards R "
      "must agree in (..., p, R) and (..., R)"
    )
  try:
    static.broadcast_shapes(shape[:-2], own[:-1])
  except ValueError:
    raise ValueError(
      f"rewards have shape {shape} and {name} {own}: batch shapes do not "
      "broadcast"
    ) from None
  # Check both factors: the product of two negative numbers would look valid.
  good = (converted >= 0) & (weights >= 0)[..., None, :]
  return np.where(good, converted, math.nan) * weights[..., None, :]
