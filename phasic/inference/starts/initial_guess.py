"""Distributions that a fit can start from."""

from __future__ import annotations

from typing import Literal, overload

import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import phase_type
from phasic.distributions.base.distribution import DistributionT
from phasic.distributions.families import acyclic_phase_type
from phasic.distributions.families import coxian
from phasic.distributions.families import hyper_erlang
from phasic.distributions.families import hyperexponential
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters.host_values import host_values
from phasic.inference.parameters.host_values import whole_number
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Integer

_FORMS = ("acyclic", "coxian", "general", "hyper-erlang", "hyperexponential")
# Rates are spaced geometrically from 1 / _SPREAD to _SPREAD.
_SPREAD = 4.0
# The least scale factor of rates, relative to the smallest normal number. The
# largest scale factor is the inverse of the least.
_LEAST = 1e8
# The limit on phases: a fit needs memory for each pair of phases.
_MOST_PHASES = 4096


@overload
def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: Literal["acyclic"] = ...,
) -> acyclic_phase_type.AcyclicPhaseType: ...


@overload
def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: Literal["coxian"],
) -> coxian.Coxian: ...


@overload
def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: Literal["hyper-erlang"],
) -> hyper_erlang.HyperErlang: ...


@overload
def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: Literal["hyperexponential"],
) -> hyperexponential.Hyperexponential: ...


@overload
def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: Literal["general"],
) -> phase_type.PhaseType: ...


@overload
def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: str,
) -> absorption_time.AbsorptionTime: ...


def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: str = "acyclic",
) -> absorption_time.AbsorptionTime:
  """Returns a distribution with the mean of the data, as a start for a fit.

  Its rates are near each other, and all different, so that no two phases are
  exchangeable, which an optimizer could not change.

  Args:
    observations: positive numbers, (n,), known.
    num_phases: how many phases, at most 4096.
    form: "acyclic" (`AcyclicPhaseType`, any chain without cycles), "coxian",
      "hyper-erlang" (two branches, or one for one phase), "hyperexponential" or
      "general" (`PhaseType` with all rates positive).

  Raises:
    TypeError: `observations` is not an `Observations`, or is traced.
    ValueError: there is no such form, `num_phases` is out of range, there is no
      event, or rates for times of this size overflow or underflow.

  Example:

    >>> from phasic import inference
    >>> data = inference.Observations([0.5, 1.0, 1.5, 3.0])
    >>> dist = inference.initial_guess(data, 2)
    >>> print(f"{float(dist.mean()):.6f}")
    1.500000
  """
  if not isinstance(form, str) or form not in _FORMS:
    raise ValueError(
      f"form is {raw_arguments.shown(form)}: it must be in {_FORMS}"
    )
  p = whole_number("num_phases", num_phases, 1, _MOST_PHASES)
  observations_lib.check_data(observations)
  mean = mean_of(observations)
  dtype = static.dtype_name(observations.lower)

  def array(x: onp.ndarray) -> onp.ndarray:
    return onp.asarray(x, dtype)

  spread = onp.geomspace(1.0 / _SPREAD, _SPREAD, p) if p > 1 else onp.ones(1)
  uniform = onp.full(p, 1.0 / p)
  found: absorption_time.AbsorptionTime
  if form in ("acyclic", "coxian"):
    fast = spread[::-1]
    found = coxian.Coxian(array(0.8 * fast[:-1]), array(_exits(fast)))
    if form == "acyclic":
      found = acyclic_phase_type.AcyclicPhaseType.from_phase_type(found)
  elif form == "hyperexponential":
    found = hyperexponential.Hyperexponential(array(uniform), array(spread))
  elif form == "hyper-erlang":
    counts = (p,) if p == 1 else (p // 2, p - p // 2)
    rates = onp.asarray(counts) * onp.geomspace(0.5, 2.0, len(counts))
    masses = onp.full(len(counts), 1.0 / len(counts))
    found = hyper_erlang.HyperErlang(array(masses), counts, array(rates))
  else:
    between = onp.outer(spread[::-1], onp.linspace(1.0, 2.0, p)) / p
    between = onp.where(onp.eye(p, dtype=bool), 0.0, between)
    exits = spread[::-1] * onp.linspace(0.5, 1.5, p)
    total = onp.sum(between, axis=-1) + exits
    matrix = between - onp.diag(total)
    found = phase_type.PhaseType(
      array(uniform), array(matrix), exit_rates=array(exits)
    )
  factor = float(host_values("mean", found.mean())) / mean
  least = _LEAST * float(onp.finfo(dtype).tiny)
  if not least <= factor <= 1.0 / least:
    raise ValueError(
      f"the mean of the observations is about {mean:.3g}: rates for it "
      "underflow or overflow; give the times in another unit"
    )
  return _scaled(found, factor)


def _exits(rates: onp.ndarray) -> onp.ndarray:
  """Returns the exit rates of a Coxian, from the total rates of its phases."""
  last = onp.arange(len(rates)) == len(rates) - 1
  return onp.where(last, rates, 0.2 * rates)


def _scaled(dist: DistributionT, factor: float) -> DistributionT:
  """Multiplies all rates of a distribution by a factor."""
  names = ("rates", "progression_rates", "exit_rates", "subgenerator")
  arrays = dist.parameters
  return dist.copy(
    **{
      name: onp.asarray(host_values(name, arrays[name]) * factor, dist.dtype)
      for name in names
      if arrays.get(name) is not None
    }
  )


def mean_of(observations: observations_lib.Observations) -> float:
  """Estimates the mean of an exponential distribution from the observations."""
  lower, upper, weights = observations_lib.host_arrays(observations)
  # The weights are normalized so that no sum overflows.
  weights = weights / max(float(onp.max(weights)), 1e-300) / len(weights)
  ended = upper < onp.inf
  middle = onp.maximum(lower, 0.0)
  middle = middle / 2 + onp.where(ended, upper, middle) / 2
  events = float(onp.sum(onp.where(ended, weights, 0.0)))
  total = float(onp.sum(weights * middle))
  if not events > 0 or not total > 0:
    raise ValueError(
      "there is no event later than zero: a start needs an observation with "
      "a finite upper end above zero"
    )
  return total / events
