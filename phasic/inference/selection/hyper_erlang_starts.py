"""Starts for fits of acyclic chains, from mixtures of two Erlangs."""

from __future__ import annotations

import numpy as onp

from phasic.distributions.families import acyclic_phase_type
from phasic.distributions.families import hyper_erlang
from phasic.inference.data import observations as observations_lib
from phasic.inference.mle import mle
from phasic.inference.parameters.host_values import host_values
from phasic.inference.parameters.host_values import whole_number
from phasic.inference.results import fits
from phasic.inference.starts import initial_guess
from phasic.internal import static
from phasic.internal.arrays import Integer

# Factors of the first branch's rate; the second gets the inverse factor.
_FACTORS = (0.5, 2.0)
# The least mass of a phase and the relative distance of rates in a start.
_LEAST = 1e-2
_APART = 0.02


def hyper_erlang_starts(
  observations: observations_lib.Observations, num_phases: Integer
) -> list[acyclic_phase_type.AcyclicPhaseType]:
  """Returns acyclic chains near fitted mixtures of two Erlangs, as starts.

  Each split of the phases into two branches gives a mixture with three free
  parameters, whose fit is quick. A fit of an acyclic chain that starts there
  has its phases in series already; with ten phases or more, fits from random
  starts seldom find such a structure.

  Args:
    observations: positive numbers, (n,), not traced.
    num_phases: the number of phases, at least two.

  Returns:
    An `AcyclicPhaseType` for each split, num_phases // 2 of them.

  Raises:
    ImportError: SciPy is missing.
    TypeError: `observations` is not an `Observations`, or is traced.
    ValueError: there are fewer than two phases, or there is no event.

  Example:

    >>> from phasic import inference
    >>> data = inference.Observations([0.4, 0.5, 0.7, 1.0, 1.5, 3.0, 3.2, 3.5])
    >>> starts = inference.hyper_erlang_starts(data, 3)
    >>> [start.num_phases for start in starts]
    [3]
    >>> fit = inference.fit_mle(inference.initial_guess(data, 3), data, starts=starts)
    >>> print(f"{float(fit.distribution.mean()):.3f}")
    1.725

  References:
    A. Thuemmler, P. Buchholz, M. Telek, A novel approach for phase-type fitting
      with the EM algorithm, IEEE Trans. Dependable Secure Comput. 3, 2006.
  """
  num_phases = whole_number("num_phases", num_phases, 2)
  observations_lib.check_data(observations)
  mean = initial_guess.mean_of(observations)
  found = []
  for few in range(1, num_phases // 2 + 1):
    counts = (few, num_phases - few)
    fit = max(
      (_fit(observations, counts, mean, factor) for factor in _FACTORS),
      key=lambda fit: fit.log_likelihood,
    )
    found.append(_near(fit.distribution))
  return found


def _fit(
  observations: observations_lib.Observations,
  counts: tuple[int, int],
  mean: float,
  factor: float,
) -> fits.Fit[hyper_erlang.HyperErlang]:
  """Fits a mixture of two Erlangs with given numbers of phases."""
  dtype = static.dtype_name(observations.lower)
  rates = onp.asarray(counts) / mean * onp.asarray([factor, 1.0 / factor])
  start = hyper_erlang.HyperErlang(
    onp.asarray([0.5, 0.5], dtype), counts, onp.asarray(rates, dtype)
  )
  return mle.fit_mle(start, observations)


def _near(
  dist: hyper_erlang.HyperErlang,
) -> acyclic_phase_type.AcyclicPhaseType:
  """Returns a nearby acyclic chain with positive masses and distinct rates."""
  chain = acyclic_phase_type.AcyclicPhaseType.from_phase_type(dist)
  masses = onp.maximum(host_values("masses", chain.initial_probs), _LEAST)
  rates = host_values("rates", chain.rates)
  spread = (1.0 + _APART) ** onp.arange(1, len(rates) + 1)
  return acyclic_phase_type.AcyclicPhaseType(
    onp.asarray(masses / onp.sum(masses), dist.dtype),
    onp.asarray(rates * spread, dist.dtype),
  )
