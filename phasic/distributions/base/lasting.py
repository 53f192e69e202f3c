"""The results that distributions keep between calls.

Only what is computed from arrays that never change is kept, see
`structures.are_lasting`: nothing of variables, of traced arrays, or of tensors
that a gradient tape may watch.
"""

from __future__ import annotations

import operator

from phasic.math.model import edge_rates
from phasic.math.model.model_types import Model

# The attributes of distributions that hold such results.
KEPT = ("_kept", "_moments", "_single")


def leaves(model: Model) -> tuple[object, ...]:
  """Returns the arrays of a chain, Nones among them."""
  initial, rates, exits, atom = model
  if isinstance(rates, edge_rates.EDGES):
    return (initial, *rates, exits, atom)
  return initial, rates, exits, atom


def are_same(kept: tuple[object, ...], arrays: tuple[object, ...]) -> bool:
  """Returns whether two tuples have the same objects."""
  return len(kept) == len(arrays) and all(map(operator.is_, kept, arrays))
