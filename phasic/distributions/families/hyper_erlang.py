"""Mixtures of Erlang distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.base import structure
from phasic.distributions.families import named_family
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.m_step import rate_updates
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Model


@structures.register
class HyperErlang(named_family.NamedFamily):
  """A mixture of Erlang distributions.

  With probabilities p_i, concentrations k_i and rates r_i the density is

      f(t) = sum_i p_i r_i^k_i t^(k_i - 1) exp(-r_i t) / (k_i - 1)!, t > 0.

  It has sum_i k_i phases. The concentrations are structure: distributions that
  share them share a compilation.

  Example:

    >>> from phasic.distributions import HyperErlang
    >>> dist = HyperErlang([0.75, 0.25], (1, 3), [2.0, 1.0])
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(1.0)):.6f}")
    1.125000, 0.248988

  References:
    A. Thummler, P. Buchholz, M. Telek, A novel approach for phase-type fitting
      with the EM algorithm, IEEE Trans. Dependable Secure Comput. 3, 2006.
  """

  mixture_probs: declared.Required = declared.array(
    1,
    "probabilities",
    "p_i, (..., n), the probabilities of the components; where their sum is "
    "not one within 4 n eps, results are NaN.",
  )
  concentrations: Sequence[int] = declared.static(
    "k_i, n Python ints > 0, for all of the batch.",
    convert=structure.static_counts,
  )
  rates: declared.Required = declared.array(
    1,
    "positive",
    "r_i, (..., n), > 0, per unit of time. Zero, which `validate_args` "
    "refuses, means a phase that is never left.",
  )

  def _check_shapes(self) -> None:
    self._last_size("mixture_probs", len(self.concentrations))
    self._last_size("rates", len(self.concentrations))

  def _chain_of(self, mixture_probs: Array, rates: Array) -> Model:
    counts = onp.asarray(self.concentrations)
    n, p = len(counts), int(onp.sum(counts))
    component = onp.repeat(onp.arange(n), counts)
    last = onp.cumsum(counts) - 1
    phases = onp.arange(p)
    targets = onp.where(onp.isin(phases, last), p, phases + 1)
    of_component = onp.asarray(component[:, None] == onp.arange(n), self.dtype)
    edges = edge_rates.EdgeRates(phases, targets, rates, of_component)
    # Phases in which no component starts get the index n of the appended zero.
    starts = onp.where(onp.isin(phases, last - counts + 1), component, n)
    zero = np.zeros_like(mixture_probs[..., :1])
    start = np.take(
      np.concatenate([mixture_probs, zero], axis=-1), starts, axis=-1
    )
    return start, edges, None, named_family.no_atom(mixture_probs)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    counts = onp.asarray(self.concentrations)
    starts = np.take(statistics.starts, onp.cumsum(counts) - counts, axis=-1)
    mixture_probs = self._arrays()["mixture_probs"]
    return self.copy(
      mixture_probs=rate_updates.updated(
        starts, statistics.total[..., None], mixture_probs
      ),
      rates=self._m_step_rates(statistics),
    )
