"""Mixtures of geometric distributions."""

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
from phasic.math.model import edge_probs
from phasic.math.model.model_types import Model


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
    own = self._own()
    weights, probs = own["mixture_probs"], own["success_probs"]
    good = (weights >= 0) & (probs > 0) & (probs <= 1)
    found = named_family.no_atom(weights) + 1.0
    return np.where(np.all(good, axis=-1), found, math.nan)

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
