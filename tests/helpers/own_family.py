"""A user-defined family, for tests of subclasses."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.families import named_family
from phasic.internal import structures
from phasic.math.model import edge_rates


@structures.register
class Detour(named_family.NamedFamily):
  """An exponential time plus, with some probability, another one."""

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {"rate": -1, "detour_prob": 0}

  rate: Any = declared.array(0, "positive", "r, (...), per unit of time.")
  detour_prob: Any = declared.array(
    0, "probability", "q, (...), of the second one."
  )
  repeats: int = declared.count("how often it is told, a Python int > 0.")

  def _chain_of(self, rate, detour_prob):
    stages = onp.arange(2)
    one = np.zeros((2, 1), self.dtype) + 1.0
    edges = edge_rates.EdgeRates(stages, stages + 1, rate[..., None], one)
    start = np.stack([detour_prob, 1.0 - detour_prob], axis=-1)
    return start, edges, None, np.zeros((), dtype=self.dtype)

  def _m_step(self, statistics):
    return self.copy(
      rate=self._m_step_rates(statistics)[..., 0],
      detour_prob=statistics.starts[..., 0] / statistics.total,
    )


class Named(Detour):
  """A class with a name only."""
