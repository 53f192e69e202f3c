"""One step of the EM algorithm."""

from typing import Generic, NamedTuple

from phasic.distributions.base import inferring
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import paths as paths_lib
from phasic.inference.parameters.distribution_types import D
from phasic.inference.parameters.distribution_types import Distribution
from phasic.internal.arrays import Array


class EmStep(NamedTuple, Generic[D]):
  """What a step of the EM algorithm gives.

  Attributes:
    distribution: with the parameters of the M-step.
    log_likelihood: (...), of the distribution that the step started from.
  """

  distribution: D
  log_likelihood: Array


def em_step(dist: D, observations: observations_lib.Observations) -> EmStep[D]:
  """Returns a distribution whose log likelihood is at least as large.

  The E-step finds what the chain's paths are expected to have done, given the
  observations: starts, times spent, jumps and absorptions. The M-step takes the
  parameters that are likeliest for that, which are ratios of these numbers:

      alpha_i = starts_i / paths, S_ij = jumps_ij / time_i,
      s_i = exits_i / time_i

  of a general phase-type distribution, and in discrete time with numbers of
  steps in the place of time. Phases and edges that share a parameter have one
  ratio of sums. Zeros stay zeros: they are the structure.

  A batch is a step for each of its distributions. In JAX the step can be
  compiled and mapped.

  Args:
    dist: (batch...), a general, acyclic (canonical form 1), Coxian,
      hyper-Erlang, Erlang, hyper- or hypoexponential one, one of edges or of a
      graph whose weights are linear in parameters; in discrete time those of
      matrices, edges and graphs, mixtures of geometric and negative binomial
      ones. Each of them also with an extra mass at zero (`ZeroInflated`),
      truncated, or with a change of time, `MatrixWeibull` say, whose own
      parameters a step keeps.
    observations: `Observations`, of any kind; leading axes broadcast with the
      batch.

  Returns:
    The new distribution and the log likelihood of the old one. NaN where a
    number could not be computed, or an observation is impossible.

  Raises:
    NotImplementedError: the native kernel does not run.
    TypeError: there is no M-step for the distribution's family.
    ValueError: there are causes, and the distribution has none.

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
  value = observations.log_likelihood(dist)
  paths = paths_lib.expected_paths(dist, observations)
  return EmStep(inferring.maximized(dist, paths), value)


def check_arguments(dist: Distribution, observations: object) -> None:
  """Raises TypeError unless EM can be done with these."""
  observations_lib.check_type(observations)
  inferring.check_has_maximum(dist)
