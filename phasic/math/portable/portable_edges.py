"""The portable path of sparse models, by dense matrices."""

from __future__ import annotations

from collections.abc import Callable
import functools

import numpy as np

from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import edge_rates
from phasic.math.portable import elimination
from phasic.math.portable import portable
from phasic.math.portable import portable_steps

# The largest number of entries of a mask, which is edges times phases.
MAX_MASK = 2**26


def also_for_edges(
  dense: Callable[..., Array], sparse: Callable[..., Array] | None = None
) -> Callable[..., Array]:
  """Wraps a function of the portable path so that it takes edges too.

  Args:
    dense: a function of a kind and five operands, e.g. `portable.phase_type`.
    sparse: the function for matrices that are made of edges; None for `dense`.

  Returns:
    A function of the same six arguments, and optionally of the arrays that
    `edge_rates.arrays` returns. With these the operand of the rates is the
    parameters of the edges, and the exits are weights of phases, if there are
    any; see `kernel_ops`.
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
    weights = exits
    rates, exits = densified(phases, rates, *edges)
    function = sparse or dense
    if static.shape(weights)[-1] == 0:
      return function(kind, initial_probs, rates, exits, prob_zero, times)
    return function(
      kind, initial_probs, rates, exits, prob_zero, times, weights=weights
    )

  return evaluate


phase_type = also_for_edges(portable.phase_type)
discrete_phase_type = also_for_edges(
  portable_steps.phase_type,
  functools.partial(portable_steps.phase_type, completes=True),
)


def fallback(discrete: bool) -> Callable[..., Array]:
  """Returns the array code that computes `kernel_ops.phase_type`."""
  return discrete_phase_type if discrete else phase_type


def densified(
  phases: int,
  parameters: Array,
  indices: Array,
  constants: Array,
  coefficients: Array,
) -> tuple[Array, Array]:
  """Computes the dense rates between phases (..., p, p), and exits (..., p).

  The diagonal holds the edges from a phase to itself.
  """
  sources, targets = indices[..., 0, :], indices[..., 1, :]
  m = static.shape(indices)[-1]
  if m * phases > MAX_MASK:
    raise ValueError(
      f"the model has {m} edges and {phases} phases: on the portable path the "
      f"product of both must be at most {MAX_MASK}; use the native kernel"
    )
  rates = edge_rates.values(parameters, constants, coefficients)
  lost = (sources < 0) | (sources >= phases) | (targets < 0)
  lost = lost | (targets > phases) | np.logical_not(rates >= 0.0)
  rates = np.where(lost, float("nan"), rates)
  # Edges with an index out of range or a negative rate add NaN to entry (0, p).
  sources = np.where(lost, 0, sources)
  targets = np.where(lost, phases, targets)
  from_phase = elimination.one_hot(sources, phases, rates.dtype)
  to_phase = elimination.one_hot(targets, phases + 1, rates.dtype)
  weighted = np.where(to_phase > 0, rates[..., None], 0.0)
  dense = np.matmul(np.moveaxis(from_phase, -1, -2), weighted)
  return dense[..., :phases], dense[..., phases]
