"""Erlang distributions."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.families import named_family
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.m_step import rate_updates
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Model


@structures.register
class Erlang(named_family.NamedFamily):
  """The sum of k independent exponential times with the same rate.

  It is the gamma distribution with an integer concentration k,

      f(t) = r^k t^(k-1) exp(-r t) / (k - 1)!, t > 0.

  The mode is (k - 1) / r. The concentration is structure: distributions that
  share it share a compilation.

  Example:

    >>> from phasic.distributions import Erlang
    >>> dist = Erlang(3, 2.0)
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(1.0)):.6f}")
    1.500000, 0.541341

  References:
    W. Feller, An introduction to probability theory and its applications,
      vol. 2, 1971, sec. I.3.
  """

  concentration: declared.Count = declared.count(
    "k, a Python int > 0, for all of the batch."
  )
  rate: declared.Required = declared.array(
    0,
    "positive",
    "r, (...), > 0, per unit of time. Zero, which `validate_args` refuses, "
    "means a phase that is never left.",
  )

  def _chain_of(self, rate: Array) -> Model:
    k = self.concentration
    stages = onp.arange(k)
    edges = edge_rates.EdgeRates(
      stages, stages + 1, rate[..., None], np.zeros((k, 1), self.dtype) + 1.0
    )
    start = named_family.first_of(k, self.dtype)
    return start, edges, None, np.zeros((), dtype=self.dtype)

  def _mode(self) -> Array:
    count, rate = self._erlang_parts()
    return (count - 1.0) / rate

  def _erlang_parts(self) -> tuple[int, Array]:
    rate = self._own()["rate"]
    return self.concentration, named_family.positive(rate)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    return self.copy(rate=self._m_step_rates(statistics)[..., 0])
