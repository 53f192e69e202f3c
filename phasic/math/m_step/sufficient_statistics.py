"""What paths of a chain are expected to have done."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phasic.internal.arrays import Array


class SufficientStatistics(NamedTuple):
  """Expected numbers, summed over observations, for each model of a batch.

  Attributes:
    starts: (..., p), of paths that start in each phase.
    visits: (..., p), the time spent in each phase; in discrete time the number
      of steps made from it.
    jumps: (..., p, p), of jumps from phase to phase; of a model of edges (...,
      m), of passages of each edge, exits among them. Zero from a phase to
      itself.
    exits: (..., p), of absorptions from each phase.
    stays: (..., p), of steps from a phase to itself; zero in continuous time.
    atom: (...), of values that are zero by the atom.
  """

  starts: Array
  visits: Array
  jumps: Array
  exits: Array
  stays: Array
  atom: Array

  @property
  def total(self) -> Array:
    """The number of paths (...), those that were never seen among them."""
    return np.sum(self.starts, axis=-1) + self.atom
