"""Mixtures of exponential, of Erlang and of geometric distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import ClassVar, Self

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.base import structure
from phasic.distributions.families import named_family
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.m_step import rate_updates
from phasic.math.model import edge_probs
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
  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "mixture_probs": 0,
    "rates": -1,
  }

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
    parameters = self._own()
    mixture_probs, rates = parameters["mixture_probs"], parameters["rates"]
    good = (mixture_probs >= 0) & (rates > 0) & (rates < math.inf)
    mode = named_family.no_atom(mixture_probs)
    return np.where(np.all(good, axis=-1), mode, math.nan)

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

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "mixture_probs": 0,
    "rates": -1,
  }

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
    # A zero is appended at index n, for the phases in which no component
    # starts.
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


@structures.register
class GeometricMixture(named_family.DiscreteFamily):
  """A mixture of geometric numbers of trials until the first success.

  With mixture probabilities p_i and success probabilities q_i

      P(N = k) = sum_i p_i (1 - q_i)^(k - 1) q_i, k = 1, 2, ...

  These fall, so the mode is one.

  Example:

    >>> from phasic.distributions import GeometricMixture
    >>> dist = GeometricMixture([0.5, 0.5], [0.5, 0.125])
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(2)):.6f}")
    5.000000, 0.179688

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  """

  mixture_probs: declared.Required = declared.array(
    1,
    "probabilities",
    "p_i, (..., p), the probabilities of the components; where their sum is "
    "not one within 4 p eps, results are NaN.",
  )
  success_probs: declared.Required = declared.array(
    1,
    "positive probability",
    "q_i, (..., p), in (0, 1]. Of zero, which `validate_args` refuses, "
    "success never comes.",
  )

  def _check_shapes(self) -> None:
    self._last_size("success_probs", self._last_size("mixture_probs"))

  def _chain_of(self, mixture_probs: Array, success_probs: Array) -> Model:
    p = self._last_size("success_probs")
    phases = onp.arange(p)
    # Failures are edges too, so that the exit keeps the exact weight q of a
    # success if q is tiny and 1 - q rounds to one.
    edges = edge_probs.EdgeProbs(
      onp.concatenate([phases, phases]),
      onp.concatenate([onp.full(p, p), phases]),
      np.concatenate([success_probs, 1.0 - success_probs], axis=-1),
    )
    atom = named_family.no_atom(mixture_probs)
    return mixture_probs, edges, None, atom

  def _mode(self) -> Array:
    parameters = self._own()
    weights, probs = parameters["mixture_probs"], parameters["success_probs"]
    good = (weights >= 0) & (probs > 0) & (probs <= 1)
    mode = named_family.no_atom(weights) + 1.0
    return np.where(np.all(good, axis=-1), mode, math.nan)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    arrays = self._arrays()
    return self.copy(
      mixture_probs=rate_updates.updated(
        statistics.starts, statistics.total[..., None], arrays["mixture_probs"]
      ),
      success_probs=rate_updates.updated(
        statistics.exits, statistics.visits, arrays["success_probs"]
      ),
    )
