"""Sums of exponential distributions."""

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
from phasic.math.quadrature import modes


@structures.register
class Hypoexponential(named_family.NamedFamily):
  """The sum of independent exponential times, with a rate for each.

  With rates r_i the Laplace transform is prod_i r_i / (r_i + u), the mean
  sum_i 1 / r_i. No partial fractions are made: rates may be equal, or near.

  The density is log-concave, so it has one maximum; `mode` is found by
  iteration, to 1e-12 (float32: 1e-5) of itself for up to 1000 stages.

  Example:

    >>> from phasic.distributions import Hypoexponential
    >>> dist = Hypoexponential([1.0, 2.0, 2.0])
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(1.0)):.6f}")
    2.000000, 0.388835

  References:
    S. M. Ross, Introduction to probability models, 2019, sec. 5.2.4.
  """

  rates: declared.Required = declared.array(
    1,
    "positive",
    "r_i, (..., p), > 0, per unit of time, in any order. Zero, which "
    "`validate_args` refuses, means a phase that is never left.",
  )

  def _check_shapes(self) -> None:
    self._last_size("rates")

  def _chain_of(self, rates: Array) -> Model:
    p = self._last_size("rates")
    phases = onp.arange(p)
    edges = edge_rates.EdgeRates(phases, phases + 1, rates)
    start = named_family.first_of(p, self.dtype)
    return start, edges, None, np.zeros((), dtype=self.dtype)

  def _mode(self) -> Array:
    return modes.stages_mode(self._own()["rates"])

  def _erlang_parts(self) -> tuple[int, Array] | None:
    if self._last_size("rates") > 1:
      return None
    return 1, named_family.positive(self._own()["rates"][..., 0])

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    return self.copy(rates=self._m_step_rates(statistics))
