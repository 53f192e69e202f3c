"""One step of the EM algorithm."""

from __future__ import annotations

from typing import Generic, NamedTuple

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base import nan_reasons
from phasic.distributions.base import structure
from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import e_step
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.math.model import value_rules
from phasic.math.numeric import array_utils


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
  if not user_warnings.warns_of_nan() or nan_reasons.has_bad_parameters(dist):
    return
  if array_utils.has_nan(log_likelihood):
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
