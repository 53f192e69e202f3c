"""Checks and conversions of sets of phases, of edges, and of rewards of phases."""

from __future__ import annotations

from collections.abc import Mapping
import math

import numpy as np
import numpy as onp

from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import operands
from phasic.math.model.model_types import Edges, Given


def indicator(phases: ArrayLike, initial_probs: ArrayLike) -> list[float]:
  """Returns the indicator of a set of phases, a list of p numbers 0 or 1.

  Args:
    phases: integers in [0, p).
    initial_probs: (..., p), of a known p.

  Raises:
    TypeError: `phases` holds anything but integers.
    ValueError: a number is out of range.
  """
  numbers: onp.ndarray = onp.atleast_1d(
    raw_arguments.host_array(phases, "phases")
  )
  if len(numbers) > 0 and numbers.dtype.kind not in "iu":
    raise TypeError(
      f"phases has dtype {numbers.dtype.name}: it must be integers"
    )
  probs = structures.as_array(initial_probs, None, "initial_probs")
  shape = static.shape(probs)
  if not shape:
    raise ValueError("initial_probs is a scalar: it must be (..., p)")
  p = shape[-1]
  chosen = {int(i) for i in numbers}
  wrong = [i for i in chosen if not 0 <= i < p]
  if wrong:
    raise ValueError(f"phases has the entry {wrong[0]}: it must be in [0, {p})")
  return [float(i in chosen) for i in range(p)]


def require_edges(edges: object, name: str) -> None:
  """Raises TypeError unless an argument is EdgeRates or EdgeProbs.

  Args:
    edges: the argument.
    name: "subgenerator" or "subtransition", which needs EdgeProbs.
  """
  kind = operands.EDGES[name]
  if not isinstance(edges, kind):
    raise TypeError(
      f"{name} is {type(edges).__name__}: it must be {kind.__name__}"
    )


def num_rewards(rewards: ArrayLike) -> int:
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
  """Computes weighted rewards r_ir f_r, an array of shape (..., p, R).

  Args:
    rewards: r, (..., p, R).
    factors: f, (..., R).
    name: the name of the factors.
    other_arguments: further arguments by name, which enter the common dtype.

  Raises:
    TypeError: dtypes differ.
    ValueError: shapes do not fit.
  """
  num_rewards(rewards)
  values = {"rewards": rewards, name: factors, **other_arguments}
  dtype = dtypes.common_dtype(values)
  converted = structures.as_array(rewards, dtype, "rewards")
  weights = structures.as_array(factors, dtype, name)
  shape, factors_shape = static.shape(converted), static.shape(weights)
  if len(shape) < 2 or len(factors_shape) < 1 or factors_shape[-1] != shape[-1]:
    raise ValueError(
      f"rewards have shape {shape} and {name} {factors_shape}: the number of "
      "rewards R must agree in (..., p, R) and (..., R)"
    )
  try:
    static.broadcast_shapes(shape[:-2], factors_shape[:-1])
  except ValueError:
    raise ValueError(
      f"rewards have shape {shape} and {name} {factors_shape}: batch shapes do "
      "not broadcast"
    ) from None
  # Check both factors: the product of two negative numbers would look valid.
  good = (converted >= 0) & (weights >= 0)[..., None, :]
  return np.where(good, converted, math.nan) * weights[..., None, :]


def num_phases(
  name: str, matrix: Given, given: int | None, num_causes: int = 1
) -> int:
  """Returns the number of phases of a model without initial masses.

  Args:
    name: "subgenerator" or "subtransition".
    matrix: (..., p, p), a sparse matrix or edges.
    given: the number for edges, or None: the largest target is absorption by
      the last cause, unless it is a source.
    num_causes: the number of causes of absorption.

  Raises:
    TypeError: `matrix` is None, or `given` is not an integer.
    ValueError: the number is not known, or not the number of rows, or < 1.
  """
  if matrix is None:
    raise TypeError(f"{name} is None: it must be an array")
  if given is not None:
    given = raw_arguments.integer("num_phases", given)
    if given < 1:
      raise ValueError(f"num_phases is {given}: it must be at least 1")
  if operands.is_edges(matrix):
    return given or _num_phases_of_edges(matrix, num_causes)
  shape = getattr(matrix, "shape", None)
  if shape is None:
    matrix = structures.as_array(matrix, None, name)
  sizes = tuple(static.shape(matrix) if shape is None else shape)
  if len(sizes) < 2 or sizes[-1] != sizes[-2]:
    raise ValueError(
      f"{name} has shape {sizes}: it must be square, (..., p, p)"
    )
  p = sizes[-1]
  if not isinstance(p, int) or p < 1:
    raise ValueError(
      f"{name} has shape {sizes}: the number of phases p, its last dimension, "
      "must be known and at least 1"
    )
  if given is not None and given != p:
    raise ValueError(
      f"num_phases is {given}: it must be {p}, the number of rows of {name}"
    )
  return p


def _num_phases_of_edges(edges: Edges, num_causes: int) -> int:
  """Returns the number of phases that edges lead from and to."""
  sources = static.concrete(structures.as_index_array(edges.sources, "sources"))
  targets = static.concrete(structures.as_index_array(edges.targets, "targets"))
  if sources is None or targets is None:
    raise ValueError(
      "num_phases is None: it must be the number of phases, since sources and "
      "targets are traced"
    )
  if len(sources) == 0:
    raise ValueError(
      "num_phases is None: it must be the number of phases, since there are no "
      "edges"
    )
  last_target = int(onp.max(targets))
  return max(int(onp.max(sources)) + 1, last_target + 1 - num_causes)
