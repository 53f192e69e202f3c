"""Chains with an entry phase of rate one before each phase.

The expected time in an entry phase is the expected number of visits to its
phase. This solution of a linear system is right wherever it can be represented.
The number of visits is also a rate times the expected time in a phase, but one
of these factors may be out of range.
"""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal import structures
from phasic.math.elimination import chain_solves

# Entry phases make elimination several times slower. So larger graphs do
# without them, and their expected times must be in range as well.
MAX_PHASES = 1024


def are_affordable(system: chain_solves.System) -> bool:
  """Returns whether the system is small enough to add entry phases."""
  return static.shape(system.initial)[-1] <= MAX_PHASES


def with_entry_phases(system: chain_solves.System) -> chain_solves.System:
  """Adds an entry phase p + j before each phase j.

  All edges into a phase and its initial mass lead to its entry phase; edges
  from a phase to itself stay.

  Returns:
    A system of 2 p phases and m + p edges, in the model's own unit of time.
  """
  system = chain_solves.natural(system)
  p = static.shape(system.initial)[-1]
  indices = structures.cast(system.indices, "int32")
  sources, targets = indices[0], indices[1]
  # The index of absorption changes from p to 2 p, after the entry phases.
  ahead = np.where(targets == sources, 0, p)
  targets = targets + structures.cast(ahead, "int32")
  phases = structures.cast(onp.arange(p), "int32")
  joined = [
    np.concatenate([sources, phases + p]),
    np.concatenate([targets, phases]),
  ]
  weights = system.weights
  ones = np.ones_like(weights[..., :1])
  ones = np.broadcast_to(ones, (*static.shape(weights)[:-1], p))
  initial = [np.zeros_like(system.initial), system.initial]
  return system._replace(
    indices=np.stack(joined),
    weights=np.concatenate([weights, ones], axis=-1),
    initial=np.concatenate(initial, axis=-1),
  )
