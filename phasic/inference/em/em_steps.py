"""Repeats EM steps until convergence."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Generic, NamedTuple, TypeAlias

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import em
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Integer

MODE = "numpy"
if MODE != "tf":
  from phasic.internal import control_flow

  _COMPILED = control_flow.compiled(em.em_step)

Step: TypeAlias = Callable[[DistributionT], em.EmStep[DistributionT]]


class EmRun(NamedTuple, Generic[DistributionT]):
  """The result of a sequence of EM steps from one start.

  Attributes:
    distribution: the last distribution with a finite log likelihood.
    log_likelihoods: the log likelihoods, from the start to `distribution`;
      empty if the log likelihood of the start is not finite.
    converged: whether EM ended because little was left to gain.
    message: why it ended.
  """

  distribution: DistributionT
  log_likelihoods: tuple[float, ...]
  converged: bool
  message: str


def step_of(
  dist: DistributionT, observations: observations_lib.Observations
) -> Step[DistributionT]:
  """Returns a function that makes an EM step, compiled where possible.

  The function is compiled where the backend compiles, unless the M-step runs on
  the host.
  """
  if inferring.m_step_on_host(dist):
    return lambda at: em.em_step(at, observations)
  if MODE == "tf":
    import tensorflow

    from phasic.internal.arrays import Array

    @tensorflow.function(autograph=False)
    def step(arrays: dict[str, object]) -> tuple[dict[str, object], Array]:
      result = em.em_step(inferring.with_arrays(dist, arrays), observations)
      return inferring.arrays_of(result.distribution), result.log_likelihood

    def step_from(at: DistributionT) -> em.EmStep[DistributionT]:
      arrays, log_likelihood = step(inferring.arrays_of(at))
      return em.EmStep(inferring.with_arrays(at, arrays), log_likelihood)

    return step_from
  else:
    return lambda at: _COMPILED(at, observations)


def run(
  start: DistributionT,
  step: Step[DistributionT],
  observations: observations_lib.Observations,
  tolerance: float,
  max_steps: Integer,
  report: Callable[[int, float], object] | None,
) -> EmRun[DistributionT]:
  """Makes EM steps until they converge.

  Args:
    start: the first distribution, without a batch.
    step: see `step_of`.
    observations: the data.
    tolerance: the gain per observation that may be left.
    max_steps: the largest number of steps.
    report: called with the number of steps and the log likelihood, or None.
  """
  least = tolerance * observations_lib.total_weight(observations)
  at, before = start, start
  log_likelihoods: list[float] = []
  for count in range(max_steps + 1):
    with user_warnings.searching():
      result = step(at)
    log_likelihood = float(onp.asarray(static.concrete(result.log_likelihood)))
    if not math.isfinite(log_likelihood):
      message = f"the log likelihood after step {count} cannot be computed"
      return EmRun(before, tuple(log_likelihoods), False, message)
    if log_likelihoods and log_likelihood < log_likelihoods[-1]:
      fall = log_likelihoods[-1] - log_likelihood
      known = fall <= _rounding(start, log_likelihoods[-1], observations)
      message = "the log likelihood rises by no more than rounding"
      if not known:
        message = f"step {count} lost {fall:.3g}, more than rounding explains"
      return EmRun(before, tuple(log_likelihoods), known, message)
    log_likelihoods.append(log_likelihood)
    if report is not None:
      report(count, log_likelihood)
    if _left(log_likelihoods) <= least:
      message = f"less than {tolerance:g} per observation is left to gain"
      return EmRun(at, tuple(log_likelihoods), True, message)
    at, before = result.distribution, at
  message = f"EM made max_steps = {max_steps} steps: more would gain"
  return EmRun(before, tuple(log_likelihoods), False, message)


def _left(log_likelihoods: list[float]) -> float:
  """Estimates the gain of log likelihood that remains, by Aitken's formula.

  The estimate includes the last gain, so that one short step is not the end.
  """
  if len(log_likelihoods) < 3:
    return math.inf
  first, second = (
    log_likelihoods[-2] - log_likelihoods[-3],
    log_likelihoods[-1] - log_likelihoods[-2],
  )
  if second <= 0:
    return 0.0
  return math.inf if second >= first else second / (1.0 - second / first)


def _rounding(
  dist: Distribution,
  log_likelihood: float,
  observations: observations_lib.Observations,
) -> float:
  """Returns a bound on the rounding error of a total log likelihood."""
  eps = static.finfo_eps(dist.dtype)
  total = observations_lib.total_weight(observations)
  return 64.0 * eps * (abs(log_likelihood) + total)
