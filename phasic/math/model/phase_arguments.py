"""Checks of arguments that are sets of phases, or edges."""

from __future__ import annotations

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import ArrayLike
from phasic.math.model import operands


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
  p = shape[-1] if shape else 0
  given = {int(i) for i in numbers}
  wrong = [i for i in given if not 0 <= i < p]
  if wrong:
    raise ValueError(f"phases has {wrong[0]}: it must be in [0, {p})")
  return [float(i in given) for i in range(p)]


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
