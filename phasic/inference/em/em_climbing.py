"""Steps of the EM algorithm, one after the other."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Generic, NamedTuple, TypeAlias

import numpy as onp

from phasic.distributions.base import inferring
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import em
from phasic.inference.parameters.distribution_types import Distribution
from phasic.inference.parameters.distribution_types import DistributionT
from phasic.inference.parameters.host_values import total_weight
from phasic.internal import static
from phasic.internal.arrays import Integer

MODE = "numpy"
if MODE == "tf":
  import tensorflow

  from phasic.inference.parameters import nested_arrays
else:
  from phasic.internal import control_flow

  _COMPILED = control_flow.compiled(em.em_step)

Step: TypeAlias = Callable[[DistributionT], em.EmStep[DistributionT]]


class Climb(NamedTuple, Generic[DistributionT]):
  """Where EM got to.

  Attributes:
    distribution: the last one whose log likelihood is known.
    heights: the log likelihoods, from that of the start to that of the
      distribution; none where that of the start is not known.
    converged: whether it ended by itself.
    message: why it ended.
  """

  distribution: DistributionT
  heights: tuple[float, ...]
  converged: bool
  message: str


def step_of(
  dist: DistributionT, observations: observations_lib.Observations
) -> Step[DistributionT]:
  """Returns EM's step from distributions with other parameters than one.

  It is compiled where the backend compiles, unless it needs the host.
  """
  if inferring.maximizes_on_host(dist):
    return lambda at: em.em_step(at, observations)
  if MODE == "tf":

    @tensorflow.function(autograph=False)
    def step(arrays: dict[str, object]) -> tuple[dict[str, object], object]:
      found = em.em_step(nested_arrays.with_arrays(dist, arrays), observations)
      return nested_arrays.arrays_of(found.distribution), found.log_likelihood

    def of_distribution(at: DistributionT) -> em.EmStep[DistributionT]:
      arrays, height = step(nested_arrays.arrays_of(at))
      return em.EmStep(nested_arrays.with_arrays(at, arrays), height)

    return of_distribution
  else:
    return lambda at: _COMPILED(at, observations)


def climb(
  start: DistributionT,
  step: Step[DistributionT],
  observations: observations_lib.Observations,
  tolerance: float,
  max_steps: Integer,
  report: Callable[[int, float], object] | None,
) -> Climb[DistributionT]:
  """Returns where EM steps lead to.

  Args:
    start: where they begin, without a batch.
    step: see `step_of`.
    observations: the data.
    tolerance: how much may be left to gain, for each observation.
    max_steps: the most steps.
    report: is told the number of steps and the log likelihood, or None.
  """
  least = tolerance * total_weight(observations)
  at, before = start, start
  heights: list[float] = []
  for count in range(max_steps + 1):
    found = step(at)
    height = float(onp.asarray(static.concrete(found.log_likelihood)))
    if not math.isfinite(height):
      message = f"step {count} led to what cannot be computed"
      return Climb(before, tuple(heights), False, message)
    if heights and height < heights[-1]:
      fall = heights[-1] - height
      known = fall <= _rounding(start, heights[-1], observations)
      message = "the log likelihood rises by no more than rounding"
      if not known:
        message = f"step {count} led down by {fall:.3g}, which is not rounding"
      return Climb(before, tuple(heights), known, message)
    heights.append(height)
    if report is not None:
      report(count, height)
    if _left(heights) <= least:
      message = f"less than {tolerance:g} is left to gain for each observation"
      return Climb(at, tuple(heights), True, message)
    at, before = found.distribution, at
  message = f"max_steps = {max_steps} steps were made: more would gain"
  return Climb(before, tuple(heights), False, message)


def _left(heights: list[float]) -> float:
  """Returns what is left to gain, if gains shrink as the last two did.

  The next one counts too, so that one short step is not the end.
  """
  if len(heights) < 3:
    return math.inf
  first, second = heights[-2] - heights[-3], heights[-1] - heights[-2]
  if second <= 0:
    return 0.0
  return math.inf if second >= first else second / (1.0 - second / first)


def _rounding(
  dist: Distribution, height: float, observations: observations_lib.Observations
) -> float:
  """Returns how far rounding may move a sum of log likelihoods."""
  eps = static.finfo_eps(dist.dtype)
  return 64.0 * eps * (abs(height) + total_weight(observations))
