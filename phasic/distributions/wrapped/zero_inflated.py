"""Zero-inflated phase-type distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from phasic.distributions.absorption import kept_chain
from phasic.distributions.base import declared
from phasic.distributions.base import inferring
from phasic.distributions.wrapped import wrapped_distribution
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.m_step import rate_updates
from phasic.math.model.model_types import Model


@structures.register
class ZeroInflated(wrapped_distribution.OnSamePhases):
  """Zero with probability z, and else a phase-type variable X.

  With alpha and z_0 of X, which may have an atom itself, the masses of the
  phases are (1 - z) alpha, and the atom's is z + (1 - z) z_0.

  Example: a queue that is empty in one of four cases.

    >>> from phasic.distributions import Erlang, ZeroInflated
    >>> dist = ZeroInflated(Erlang(2, 1.0), 0.25)
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.cdf(0.0)):.6f}")
    1.500000, 0.250000

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  """

  # The masses are the masses of X, whose sum may differ from one.
  _FREE_START = True
  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "distribution": 1,
    "prob_zero": 0,
  }
  _WRAPPED_RULE = (
    "of phase type; truncate and delay last, e.g. "
    "TruncatedPhaseType(ZeroInflated(X, z), 0.0, high)"
  )

  prob_zero: declared.Required = declared.array(
    0,
    "probability",
    "z, (...), in [0, 1]; its shape broadcasts with the batch of the "
    "distribution.",
  )

  def _is_reparameterized(self) -> bool:
    base = self.distribution._is_reparameterized()
    return base and super()._is_reparameterized()

  def _may_be_zero(self) -> bool:
    return True

  def _chain_of(self, prob_zero: Array) -> Model:
    initial_probs, matrix, exits, _ = self.distribution._model()
    inner_atom = kept_chain.mass_at_zero(self.distribution)
    rest = 1.0 - prob_zero
    atom = prob_zero + rest * inner_atom
    return rest[..., None] * initial_probs, matrix, exits, atom

  def _mode(self) -> Array:
    self._missing(
      "mode", "there may be a maximum at zero and another one beyond"
    )

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    # The expected number of zeros is divided between z and the atom of X, in
    # proportion to their masses.
    inner, extra = self.distribution, self._arrays()["prob_zero"]
    inner_atom = (1.0 - extra) * kept_chain.mass_at_zero(inner)
    known = extra + inner_atom != 0
    share = extra / np.where(known, extra + inner_atom, 1.0)
    rest = inner_atom / np.where(known, extra + inner_atom, 1.0)
    within = statistics._replace(atom=statistics.atom * rest)
    return self.copy(
      distribution=inferring.m_step(inner, within),
      prob_zero=rate_updates.updated(
        statistics.atom * share, statistics.total, extra
      ),
    )
