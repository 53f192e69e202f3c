"""Acyclic phase-type distributions in canonical form 1 (CF1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self, Unpack

import numpy as np
import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import kept_chain
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import declared
from phasic.distributions.families import canonical_form
from phasic.distributions.families import named_family
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.m_step import ascending_rates
from phasic.math.m_step import rate_updates
from phasic.math.model import chain as chain_lib
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Model


@structures.register
class AcyclicPhaseType(named_family.NamedFamily):
  """A series of phases with ascending rates (CF1), started in any phase.

  From phase i one gets to phase i + 1 at rate r_i, from the last one to
  absorption. With masses alpha the Laplace transform is

      sum_i alpha_i prod_{j >= i} r_j / (r_j + u) + z.

  Every phase-type distribution whose chain has no cycles has this form,
  canonical form 1, with as many phases, and so has every one with two phases:
  the 2 p - 1 free parameters are the fewest there are.

  Example: a chain with branches in this form.

    >>> from phasic.distributions import AcyclicPhaseType, PhaseType
    >>> dist = PhaseType([0.5, 0.5], [[-3.0, 1.0], [0.0, -2.0]])
    >>> form = AcyclicPhaseType.from_phase_type(dist)
    >>> [f"{float(x):.6f}" for x in form.initial_probs]
    ['0.333333', '0.666667']
    >>> print(f"{float(form.prob(1.0)):.6f}, {float(dist.prob(1.0)):.6f}")
    0.270671, 0.270671

  References:
    A. Cumani, On the canonical representation of homogeneous Markov processes
      modelling failure-time distributions, Microelectron. Reliab. 22, 1982.
    Q.-M. He, H. Zhang, Spectral polynomial algorithms for computing bi-diagonal
      representations for phase type distributions, Stochastic Models 22, 2006.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "initial_probs": 0,
    "rates": -1,
    "prob_zero": 0,
  }

  initial_probs: declared.Required = declared.array(
    1,
    "subprobabilities",
    "alpha, (..., p), the masses of the phases at time zero.",
  )
  rates: declared.Required = declared.array(
    1,
    "increasing",
    "r_i, (..., p), > 0, ascending, per unit of time. In another order the "
    "distribution is that of the formula, but the form not canonical. Zero, which "
    "`validate_args` refuses, means a phase that is never left.",
  )
  prob_zero: declared.Derived = kept_chain.prob_zero()

  @classmethod
  def from_phase_type(
    cls,
    distribution: absorption_time.AbsorptionTime,
    **options: Unpack[declared.Options],
  ) -> Self:
    """Returns the canonical form of a chain that is acyclic or has two phases.

    It is made on the host, and has no derivatives. Each of its entries is
    accurate to its own size but for what a change of the distribution's rates
    by a few p eps does, equal and near rates included.

    Args:
      distribution: a continuous time until absorption.
      **options: `validate_args`, `allow_nan_stats` and `name`.

    Raises:
      TypeError: time is discrete, or the distribution's parameters are traced.
      ValueError: the chain has a cycle and more than two phases, a phase that
        nothing leaves, values that break a rule, or more than 4096 phases.
    """
    name = f"distribution is {type(distribution).__name__}"
    if not isinstance(distribution, absorption_time.AbsorptionTime):
      raise TypeError(
        f"{name}: it must be the distribution of a time until absorption, e.g. "
        "PhaseType"
      )
    if distribution._DISCRETE:
      raise TypeError(f"{name}: it must be in continuous time")
    dense = absorption_time.dense_form(distribution, phase_type.PhaseType)
    dtype = dense.dtype
    alpha, matrix, exits, atom = dense._chain()
    # `dense_form` always returns a matrix, never edges.
    assert not isinstance(matrix, tuple)
    none = np.zeros((0,), dtype=dtype)
    operands = (
      alpha,
      matrix,
      none if exits is None else exits,
      none if atom is None else atom[..., None],
    )
    chain = chain_lib.derive(operands, static.finfo_eps(dtype))
    parts = (chain.initial, chain.off, chain.exits, chain.atom, chain.bad)
    known = [static.concrete(x) for x in parts]
    if any(x is None for x in known):
      raise TypeError(
        "the distribution's parameters are traced: they must be concrete; call "
        "it outside jit"
      )
    initial, off, leaving, mass, bad = (
      onp.asarray(x, onp.float64) for x in known
    )
    if onp.any(bad):
      raise ValueError(
        "the distribution's values break a rule: they must be valid; call its "
        "method `diagnose` for the reason"
      )
    masses, rates = (
      onp.asarray(x, dtype)
      for x in canonical_form.canonical_forms(initial, off, leaving)
    )
    prob_zero = onp.asarray(mass, dtype) if onp.any(mass) else None
    return cls(masses, rates, prob_zero, **options)

  def _check_shapes(self) -> None:
    self._last_size("rates", self._last_size("initial_probs"))

  def _chain_of(
    self, initial_probs: Array, rates: Array, prob_zero: Array | None
  ) -> Model:
    phases = onp.arange(self._last_size("rates"))
    edges = edge_rates.EdgeRates(phases, phases + 1, rates)
    return initial_probs, edges, None, prob_zero

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    arrays = self._arrays()
    start = rate_updates.start(
      arrays["initial_probs"], arrays["prob_zero"], statistics
    )
    masses, rates = ascending_rates.maximized(
      arrays["initial_probs"],
      start["initial_probs"],
      self._m_step_rates(statistics),
      statistics,
    )
    return self.copy(**{**start, "initial_probs": masses, "rates": rates})
