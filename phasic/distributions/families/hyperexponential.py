"""Mixtures of exponential distributions."""

from __future__ import annotations

import math
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
class Hyperexponential(named_family.NamedFamily):
  """A mixture of exponential distributions.

  With probabilities p_i and rates r_i the density is

      f(t) = sum_i p_i r_i exp(-r_i t), t > 0.

  It falls, so the mode is zero; its hazard falls too, and its coefficient of
  variation is at least one.
  Derivatives in `mixture_probs` follow this formula, not projected on the
  simplex.

  Example: short calls and a few long ones.

    >>> from phasic.distributions import Hyperexponential
    >>> dist = Hyperexponential([0.9, 0.1], [3.0, 0.2])
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(1.0)):.6f}")
    0.800000, 0.150800

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  """

  _FALLS = True

  mixture_probs: declared.Required = declared.array(
    1,
    "probabilities",
    "p_i, (..., p), the probabilities of the components; where their sum is "
    "not one within 4 p eps, results are NaN.",
  )
  rates: declared.Required = declared.array(
    1,
    "positive",
    "r_i, (..., p), > 0, per unit of time. Zero, which `validate_args` "
    "refuses, means a phase that is never left.",
  )

  def _check_shapes(self) -> None:
    self._last_size("rates", self._last_size("mixture_probs"))

  def _chain_of(self, mixture_probs: Array, rates: Array) -> Model:
    p = self._last_size("rates")
    phases = onp.arange(p)
    edges = edge_rates.EdgeRates(phases, onp.full(p, p), rates)
    return mixture_probs, edges, None, named_family.no_atom(mixture_probs)

  def _mode(self) -> Array:
    own = self._own()
    mixture_probs, rates = own["mixture_probs"], own["rates"]
    good = (mixture_probs >= 0) & (rates > 0) & (rates < math.inf)
    found = named_family.no_atom(mixture_probs)
    return np.where(np.all(good, axis=-1), found, math.nan)

  def _erlang_parts(self) -> tuple[int, Array] | None:
    if self._last_size("rates") > 1:
      return None
    rate = named_family.positive(self._own()["rates"][..., 0])
    return 1, rate + self._mode()

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    mixture_probs = self._arrays()["mixture_probs"]
    return self.copy(
      mixture_probs=rate_updates.updated(
        statistics.starts, statistics.total[..., None], mixture_probs
      ),
      rates=self._m_step_rates(statistics),
    )
