"""Adds edges to the chain of an epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Edges


def with_trap(edges: Edges, p: int, rates: Array) -> edge_rates.EdgeRates:
  """Adds a phase p that is never left; absorption gets the index p + 1.

  Args:
    edges: `math.EdgeRates` of p phases, without coefficients.
    p: the number of phases.
    rates: at which phases lead to the trap, (..., p) or (..., 1) for all.
  """
  phases = onp.arange(p)
  targets = np.where(edges.targets == p, p + 1, edges.targets)
  return joined(edges, targets, [(phases, phases * 0 + p, rates)])


def with_exits(edges: Edges, p: int, rates: Array) -> edge_rates.EdgeRates:
  """Adds edges from the phases to absorption, at rates (..., p)."""
  phases = onp.arange(p)
  return joined(edges, edges.targets, [(phases, phases * 0 + p, rates)])


def joined(
  edges: Edges,
  targets: Array,
  parts: Sequence[tuple[onp.ndarray, onp.ndarray, Array]],
) -> edge_rates.EdgeRates:
  """Appends edges; a part (sources, targets, rate) has one rate (..., 1)."""
  shape = static.broadcast_shapes(
    static.shape(edges.parameters)[:-1],
    *(static.shape(rates)[:-1] for _, _, rates in parts),
  )
  m = static.shape(edges.parameters)[-1]
  weights = [np.broadcast_to(edges.parameters, (*shape, m))]
  weights += [
    np.broadcast_to(rates, (*shape, len(sources)))
    for sources, _, rates in parts
  ]
  ends = [
    [structures.cast(x, "int32") for x in (first, *others)]
    for first, others in (
      (edges.sources, [part[0] for part in parts]),
      (targets, [part[1] for part in parts]),
    )
  ]
  return edge_rates.EdgeRates(
    np.concatenate(ends[0]),
    np.concatenate(ends[1]),
    np.concatenate(weights, axis=-1),
  )
