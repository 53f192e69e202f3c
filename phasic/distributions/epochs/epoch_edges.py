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
from phasic.math.numeric import array_utils


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
  own = edges.parameters
  weights = [(static.shape(own)[-1], own)]
  weights += [(len(sources), rates) for sources, _, rates in parts]
  return edge_rates.EdgeRates(
    joined_ends([edges.sources, *(part[0] for part in parts)]),
    joined_ends([targets, *(part[1] for part in parts)]),
    joined_rates(weights),
  )


def joined_ends(parts: Sequence[Array | onp.ndarray]) -> Array:
  """Concatenates sources, or targets, of edges."""
  return np.concatenate([structures.cast(x, "int32") for x in parts])


def joined_rates(parts: Sequence[tuple[int, Array]]) -> Array:
  """Concatenates rates of edges; a part has their number, and may be one rate.

  Args:
    parts: numbers n of edges with their rates, (..., n) or (..., 1).
  """
  wide = [
    rates if static.shape(rates)[-1] == n else rates * onp.ones(n)
    for n, rates in parts
  ]
  return array_utils.joined(*wide)
