"""Steps of the EM algorithm, and their repetition until convergence."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base import method_results
from phasic.distributions.base import structure
from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import e_step
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike, Integer
from phasic.math.model import value_rules
from phasic.math.numeric import array_utils

MODE = "numpy"


_T = TypeVar("_T")


class EmStep(NamedTuple, Generic[DistributionT]):
  """The result of one EM step.

  Attributes:
    distribution: the distribution with the parameters of the M-step.
    log_likelihood: (...), the log likelihood of the distribution before the
      step.

  Example: of an exponential time one step finds the maximum, one over the mean.

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([0.5, 1.5, 4.0])
    >>> step = inference.em_step(Erlang(1, 1.0), data)
    >>> print(f"{float(step.distribution.rate):.4f}")
    0.5000
    >>> print(f"{float(step.log_likelihood):.4f}")
    -6.0000
  """

  distribution: DistributionT
  log_likelihood: Array


def em_step(
  dist: DistributionT, observations: observations_lib.Observations
) -> EmStep[DistributionT]:
  """Makes one EM step, which does not decrease the log likelihood.

  The E-step computes the expected sufficient statistics of the chain's paths
  given the observations: starts, times spent, jumps and absorptions. The M-step
  maximizes the likelihood of these, by ratios:

      alpha_i = starts_i / paths, S_ij = jumps_ij / time_i,
      s_i = exits_i / time_i

  for a general phase-type distribution. In discrete time numbers of steps take
  the place of time. Phases and edges that share a parameter have one ratio of
  sums. Zeros stay zeros: they are the structure.

  Each distribution of a batch makes its own step. In JAX the step can be
  compiled and mapped.

  Args:
    dist: (batch...), a general, acyclic (canonical form 1), Coxian,
      hyper-Erlang, Erlang, hyper- or hypoexponential distribution, or one of
      edges or of a graph; in discrete time one of a matrix, edges or a graph, a
      mixture of geometric distributions or a negative binomial one. Each of
      them can also have an extra mass at zero (`ZeroInflated`), be truncated,
      or have a change of time such as `MatrixWeibull`, whose own parameters a
      step keeps. Or `Epochs`, whose boundaries a step keeps.
    observations: `Observations`, of any kind; leading axes broadcast with the
      batch.

  Returns:
    The new distribution and the log likelihood of the old one. NaN where a
    value could not be computed, or an observation is impossible.

  Raises:
    NotImplementedError: the native kernel does not run.
    TypeError: the family of the distribution has no M-step.
    ValueError: the observations have causes, and the distribution has none.

  Example:

    >>> import math
    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([0.5, 2.0], [0.5, math.inf])
    >>> step = inference.em_step(Erlang(1, 2.0), data)
    >>> print(f"{float(step.distribution.rate):.3f}")
    0.400

  References:
    S. Asmussen, O. Nerman, M. Olsson, Fitting phase-type distributions via the
      EM algorithm, Scand. J. Statist. 23, 1996.
    M. Olsson, Estimation of phase-type distributions from censored data,
      Scand. J. Statist. 23, 1996.
  """
  check_arguments(dist, observations)
  observations = observations_lib.in_dtype_of(observations, dist)
  value = observations.log_likelihood(dist)
  updated = inferring.em_update(dist, *observations.counting())
  if updated is None:
    statistics = e_step.sufficient_statistics(dist, observations)
    updated = inferring.m_step(dist, statistics)
  _warn_of_nan(updated, dist, value)
  return EmStep(updated, value)


def _warn_of_nan(
  updated: Distribution, dist: Distribution, log_likelihood: Array
) -> None:
  """Warns of NaN in the new parameters, unless another warning did."""
  if (
    not user_warnings.warns_of_nan()
    or method_results.has_bad_parameters(dist)
    or array_utils.has_nan(log_likelihood)
  ):
    return
  for name, x in structure.leaves(inferring.arrays_of(updated)).items():
    if x is not None and array_utils.has_nan(x):
      nan = onp.isnan(onp.asarray(static.at_hand(x)))
      _, where = value_rules.first_place(nan)
      user_warnings.warn(
        f"em_step: {name}{where} is NaN, as what is expected of the paths could "
        "not be computed: too few digits would be left, memory did not suffice, "
        "or it asks for more steps than the work limit; start from rates nearer "
        "the data"
      )
      return


def check_arguments(dist: Distribution, observations: object) -> None:
  """Raises TypeError or ValueError unless EM is possible with the arguments."""
  observations_lib.check_data(observations)
  inferring.check_has_m_step(dist)


_COMPILED = control_flow.compiled(em_step)

Step: TypeAlias = Callable[[DistributionT], EmStep[DistributionT]]


class EmRun(NamedTuple, Generic[_T]):
  """The result of a sequence of EM steps from one start.

  Attributes:
    last: the last distribution, or parameters, with a finite log likelihood.
    log_likelihoods: the log likelihoods, from the start to `last`; empty if the
      log likelihood of the start is not finite.
    converged: whether EM ended because little was left to gain.
    message: why it ended.
  """

  last: _T
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
    return lambda at: em_step(at, observations)
  if MODE == "tf":
    import tensorflow

    @tensorflow.function(autograph=False)
    def step(arrays: dict[str, object]) -> tuple[dict[str, object], Array]:
      result = em_step(inferring.with_arrays(dist, arrays), observations)
      return inferring.arrays_of(result.distribution), result.log_likelihood

    def step_from(at: DistributionT) -> EmStep[DistributionT]:
      arrays, log_likelihood = step(inferring.arrays_of(at))
      return EmStep(inferring.with_arrays(at, arrays), log_likelihood)

    return step_from
  else:
    return lambda at: _COMPILED(at, observations)


def run(
  start: _T,
  step: Callable[[_T], tuple[_T, ArrayLike]],
  total: float,
  dtype: str,
  tolerance: float,
  max_steps: Integer,
  report: Callable[[int, float], object] | None,
) -> EmRun[_T]:
  """Makes EM steps until they converge.

  Args:
    start: the first distribution, without a batch, or the first parameters.
    step: returns what follows, and the log likelihood of what it was given; see
      `step_of`.
    total: the sum of the weights of the observations.
    dtype: of the parameters.
    tolerance: the gain per observation that may be left.
    max_steps: the largest number of steps.
    report: called with the number of steps and the log likelihood, or None.
  """
  at, before = start, start
  log_likelihoods: list[float] = []
  for count in range(max_steps + 1):
    with user_warnings.searching():
      following, value = step(at)
    log_likelihood = float(onp.asarray(static.concrete(value)))
    if not math.isfinite(log_likelihood):
      message = f"the log likelihood after step {count} cannot be computed"
      return EmRun(before, tuple(log_likelihoods), False, message)
    if log_likelihoods and log_likelihood < log_likelihoods[-1]:
      fall = log_likelihoods[-1] - log_likelihood
      size = abs(log_likelihoods[-1]) + total
      known = fall <= 64.0 * static.finfo_eps(dtype) * size
      message = "the log likelihood rises by no more than rounding"
      if not known:
        message = f"step {count} lost {fall:.3g}, more than rounding explains"
      return EmRun(before, tuple(log_likelihoods), known, message)
    log_likelihoods.append(log_likelihood)
    if report is not None:
      report(count, log_likelihood)
    if _left(log_likelihoods) <= tolerance * total:
      message = f"less than {tolerance:g} per observation is left to gain"
      return EmRun(at, tuple(log_likelihoods), True, message)
    at, before = following, at
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
