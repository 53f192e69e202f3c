"""Expected sufficient statistics of the paths of a chain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phasic.internal.arrays import Array


class SufficientStatistics(NamedTuple):
  """Expected counts and times, summed over observations, for each model.

  Attributes:
    starts: (..., p), the number of paths that start in each phase.
    visits: (..., p), the time spent in each phase; in discrete time the number
      of steps made from it.
    jumps: (..., p, p), the number of jumps between phases, zero from a phase to
      itself; for a model of edges (..., m), the number of jumps along each
      edge, including exits.
    exits: (..., p), the number of absorptions from each phase.
    stays: (..., p), the number of steps from a phase to itself; zero in
      continuous time.
    atom: (...), the number of observations of zero that are due to the mass at
      zero.
  """

  starts: Array
  visits: Array
  jumps: Array
  exits: Array
  stays: Array
  atom: Array

  @property
  def total(self) -> Array:
    """Returns the number of paths (...), including unobserved ones."""
    return np.sum(self.starts, axis=-1) + self.atom
