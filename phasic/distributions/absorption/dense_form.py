"""Conversion of chains with edges to chains with matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from phasic.distributions.absorption import absorption_time
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.math.model import chain
from phasic.math.model import edge_rates
from phasic.math.model import operands

_T = TypeVar("_T", bound=absorption_time.AbsorptionTime)


def dense_form(
  distribution: absorption_time.AbsorptionTime, family: Callable[..., _T]
) -> _T:
  """Returns the PhaseType or DiscretePhaseType with the same chain.

  Exits are given where edges or exits were: nothing is subtracted.

  Args:
    distribution: the distribution.
    family: the class of the result.

  Raises:
    ValueError: there are more than 4096 phases.
  """
  initial_probs, matrix, exits, prob_zero = distribution._chain()
  discrete = distribution._DISCRETE
  if operands.is_edges(matrix):
    dtype = distribution.dtype
    p = static.shape(initial_probs)[-1]
    matrix, exits = edge_rates.dense(p, edge_rates.convert(matrix, dtype))
    leaving = np.sum(matrix, axis=-1) + exits
    diagonal = -leaving
    if discrete:
      # The diagonal already has the edges from a phase to itself. One minus the
      # sum of each row is added to it, unless this is rounding error.
      tolerance = 4 * p * static.finfo_eps(initial_probs)
      diagonal = chain.snap(1.0 - leaving, tolerance)
    matrix = matrix + np.eye(p, dtype=dtype) * diagonal[..., None]
  with user_warnings.derived():
    return family(
      initial_probs,
      matrix,
      exits,
      prob_zero,
      validate_args=distribution.validate_args,
      allow_nan_stats=distribution.allow_nan_stats,
      name=distribution.name,
    )
