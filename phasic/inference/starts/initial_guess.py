"""Distributions that a fit can start from."""

from __future__ import annotations

from typing import Literal, overload

import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import discrete_phase_type
from phasic.distributions.absorption import phase_type
from phasic.distributions.families import acyclic_phase_type
from phasic.distributions.families import mixtures
from phasic.distributions.families import series
from phasic.distributions.wrapped import zero_inflated
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters.host_values import whole_number
from phasic.inference.starts import forms
from phasic.inference.starts import screening
from phasic.inference.starts import starts as starts_lib
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Integer

# Exact values are taken to be counts if all are whole numbers, and if each
# value occurs at least this often on average. Times that were rounded to days
# seldom repeat so often.
_EQUAL = 5
# Rates are scaled by the inverse of the mean. This inverse must be at least
# `_LEAST` times the smallest normal number, and at most the inverse of that
# product.
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
) -> series.Coxian: ...


@overload
def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: Literal["hyper-erlang"],
) -> mixtures.HyperErlang: ...


@overload
def initial_guess(
  observations: observations_lib.Observations,
  num_phases: Integer,
  form: Literal["hyperexponential"],
) -> mixtures.Hyperexponential: ...


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
  form: Literal["discrete"],
) -> discrete_phase_type.DiscretePhaseType: ...


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
  """Returns a distribution near the data, as a start for a fit.

  Mixtures of up to three Erlang distributions, of different numbers of stages and
  for data cut at different quantiles, are brought to the form. The one that is
  likeliest after some steps of EM is returned. With more than 64 phases it is a
  chain with rates near the inverse of the mean.

  Args:
    observations: one data set of shape (n,), with concrete values >= 0.
      Censored times and late entries are taken into account; zeros become the
      mass at zero of the result.
    num_phases: how many phases, at most 4096.
    form: "acyclic" (`AcyclicPhaseType`, any chain without cycles), "coxian",
      "discrete" (`DiscretePhaseType` of steps to later phases), "hyper-erlang",
      whose numbers of stages are chosen too, "hyperexponential" or "general"
      (`PhaseType` with all rates positive).

  Returns:
    A distribution of the form. If some observations are zero, a `ZeroInflated`
    one, with the mass that they have.

  Raises:
    TypeError: `observations` is not an `Observations`, or is traced.
    ValueError: there is no such form, `num_phases` is out of range, there are
      several data sets, no event, or causes, or rates for times of this size
      overflow or underflow.

  Example:

    >>> from phasic import inference
    >>> data = inference.Observations([0.5, 1.0, 1.5, 3.0])
    >>> dist = inference.initial_guess(data, 2)
    >>> print(f"{float(dist.mean()):.6f}")
    1.500000

  References:
    A. Thuemmler, P. Buchholz, M. Telek, A novel approach for phase-type fitting
      with the EM algorithm, IEEE Trans. Dependable Secure Comput. 3, 2006.
  """
  if not isinstance(form, str) or form not in forms.FORMS:
    raise ValueError(
      f"form is {raw_arguments.shown(form)}: it must be in {forms.FORMS}"
    )
  p = whole_number("num_phases", num_phases, 1, _MOST_PHASES)
  starts_lib.check_one_data_set(observations)
  if observations.cause is not None:
    raise ValueError(
      "observations have causes, and the distribution of a form has none: leave "
      "them out, or start from a distribution of a graph that names its causes"
    )
  mean = mean_of(observations)
  lower, upper, weights = observations_lib.host_arrays(observations)
  if form != "discrete" and _are_counts(lower, upper):
    user_warnings.warn(
      f"all observations are whole numbers, and form is {form!r}, of continuous "
      "times: if they are numbers of steps, take form='discrete'"
    )
  dtype = static.dtype_name(observations.lower)
  least = _LEAST * float(onp.finfo(dtype).tiny)
  if not least <= 1.0 / mean <= 1.0 / least:
    raise ValueError(
      f"the mean of the observations is about {mean:.3g}: rates for it "
      "underflow or overflow; give the times in another unit"
    )
  guess: absorption_time.AbsorptionTime = forms.spread(form, p, mean, dtype)
  is_zero = (upper == 0) & (weights > 0)
  weights = weights / onp.max(weights)
  share = float(onp.sum(weights[is_zero]) / onp.sum(weights))
  if share > 0:
    guess = zero_inflated.ZeroInflated(guess, onp.asarray(share, dtype))
  starts = screening.starts_like(guess, observations, any_counts=True)
  return starts[0].distribution if starts else guess


def _are_counts(lower: onp.ndarray, upper: onp.ndarray) -> bool:
  """Returns whether exact values are whole numbers, of which many are equal."""
  values = lower[lower == upper]
  if not onp.all(values == onp.rint(values)):
    return False
  return len(values) >= _EQUAL * max(len(onp.unique(values)), 1)


def mean_of(observations: observations_lib.Observations) -> float:
  """Estimates the mean of an exponential distribution from the observations."""
  lower, upper, weights = observations_lib.host_arrays(observations)
  # The weights are normalized so that no sum overflows.
  weights = weights / max(float(onp.max(weights)), 1e-300) / len(weights)
  ended = upper < onp.inf
  middle = observations_lib.middles(lower, upper)
  events = float(onp.sum(onp.where(ended, weights, 0.0)))
  total = float(onp.sum(weights * middle))
  if not events > 0 or not total > 0:
    raise ValueError(
      "there is no event later than zero: a start needs an observation with "
      "a finite upper end above zero"
    )
  return total / events
