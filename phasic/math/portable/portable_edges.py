"""The portable path of models whose edges are given one by one."""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import edge_rates
from phasic.math.portable import portable
from phasic.math.portable import portable_steps

# Of the mask that the portable path makes: edges times phases.
MAX_MASK = 2**26


def of_edges_too(
  dense: Callable[..., Array], sparse: Callable[..., Array] | None = None
) -> Callable[..., Array]:
  """Returns a function of the portable path that takes edges as well.

  Args:
    dense: a function of a kind and five operands, `portable.phase_type` say.
    sparse: the same, for a model that edges add up to; None for `dense`.

  Returns:
    A function of the same six, where the operand of the rates may be the
    parameters of the edges, and of none or what `arrays` returns.
  """

  def evaluate(
    kind: str,
    initial_probs: Array,
    rates: Array,
    exits: Array,
    prob_zero: Array,
    times: Array,
    *edges: Array,
  ) -> Array:
    if not edges:
      return dense(kind, initial_probs, rates, exits, prob_zero, times)
    phases = static.shape(initial_probs)[-1]
    rates, exits = densified(phases, rates, *edges)
    function = sparse or dense
    return function(kind, initial_probs, rates, exits, prob_zero, times)

  return evaluate


phase_type = of_edges_too(portable.phase_type)
discrete_phase_type = of_edges_too(
  portable_steps.phase_type,
  functools.partial(portable_steps.phase_type, completes=True),
)


def densified(
  phases: int,
  parameters: Array,
  indices: Array,
  constants: Array,
  coefficients: Array,
) -> tuple[Array, Array]:
  """Returns sums of rates between phases (..., p, p), and exits (..., p).

  The diagonal holds those of edges from a phase to itself.
  """
  sources, targets = indices[..., 0, :], indices[..., 1, :]
  m = static.shape(indices)[-1]
  if m * phases > MAX_MASK:
    raise ValueError(
      f"{m} edges and {phases} phases: the portable path takes them only up to "
      f"a product of {MAX_MASK}"
    )
  rates = edge_rates.values(parameters, constants, coefficients)
  lost = (sources < 0) | (sources >= phases) | (targets < 0)
  lost = lost | (targets > phases) | np.logical_not(rates >= 0.0)
  rates = np.where(lost, float("nan"), rates)
  # What is out of range must be seen somewhere.
  sources = np.where(lost, 0, sources)
  targets = np.where(lost, phases, targets)
  from_phase = _mask(sources, phases, rates.dtype)
  to_phase = _mask(targets, phases + 1, rates.dtype)
  weighted = np.where(to_phase > 0, rates[..., None], 0.0)
  dense = np.matmul(np.moveaxis(from_phase, -1, -2), weighted)
  return dense[..., :phases], dense[..., phases]


def _mask(indices: Array, size: int, dtype: Any) -> Array:
  """Returns (..., m, size), one where the index is, else zero."""
  positions = structures.cast(np.arange(size), indices.dtype)
  return structures.cast(indices[..., None] == positions, dtype)
