"""Moments of discrete phase-type distributions, by elimination.

They are sums of nonnegative terms. Each function takes `EdgeProbs` instead of
T, without `exit_probs`.

Phases from which absorption cannot be reached make moments infinite, and their
derivatives NaN, if alpha can reach them; otherwise they count as absorption.

With `exit_probs`, derivatives are in the probabilities of leaving a phase: t
and the off-diagonals of T. The diagonal is one minus these, and its derivative
is zero.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
"""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike, Integer
from phasic.math.elimination import chain_calls
from phasic.math.elimination import moment_chains
from phasic.math.model.model_types import SubtransitionLike
from phasic.math.moments import moments


def mean(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[N] = alpha (I - T)^-1 1.

  Args:
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p); None derives them from the row sums of T.
    prob_zero: z, (...); None derives it. It is checked, but not used.

  Returns:
    An array with the model's batch shape: inf if absorption is not certain, NaN
    for invalid values.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: tosses of a coin until the second head.

    >>> from phasic import math as pm
    >>> matrix = [[0.5, 0.5], [0.0, 0.5]]
    >>> print(f"{float(pm.discrete_phase_type.mean([1.0, 0.0], matrix)):.6f}")
    4.000000
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.spread(chain_calls.MEAN, values, True)


def second_moment(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[N^2]; arguments are as in `mean`.

  Example: tosses of a coin until the first head, of mean 2 and variance 2.

    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.second_moment([1.0], [[0.5]])
    >>> print(f"{float(value):.6f}")
    6.000000
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.spread(chain_calls.SECOND_MOMENT, values, True)


def raw_moments(
  order: Integer,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[N^k] for k = 1, ..., order.

  E[N^k] = sum_j S(k, j) j! alpha T^(j-1) (I - T)^-j 1 with Stirling numbers of
  the second kind. Arguments are as in `mean`, and `order`, a positive integer.

  Returns:
    An array (..., order).

  Example: throws of a die until the first six.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0], [1], [1 / 6])
    >>> values = pm.discrete_phase_type.raw_moments(2, [1.0], edges)
    >>> [f"{float(value):.6f}" for value in values]
    ['6.000000', '66.000000']
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return moments.power(values, order, True)


def reward_moments(
  order: Integer,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[Y^k], Y = sum_i r_i (steps from phase i), k = 1, ..., order.

  Other arguments and errors are as in `mean`.

  Args:
    order: a positive integer.
    rewards: r, (..., p), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., order), where (...) is the common batch shape.

  Example: each toss of a coin costs three until the first head.

    >>> from phasic import math as pm
    >>> values = pm.discrete_phase_type.reward_moments(2, [3.0], [1.0], [[0.5]])
    >>> [f"{float(value):.6f}" for value in values]
    ['6.000000', '54.000000']
  """
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  return moments.power(values, order, True, rewards=1)


def variance(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[N^2] - E[N]^2; arguments are as in `mean`.

  The variance is a sum over steps of squared changes in the expected number of
  steps. So it is accurate even if it is tiny relative to E[N]^2.

  Example: throws of a die until the first six, (5 / 6) / (1 / 6)^2.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0], [1], [1 / 6])
    >>> print(f"{float(pm.discrete_phase_type.variance([1.0], edges)):.4f}")
    30.0000
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.spread(chain_calls.VARIANCE, values, True)


def stddev(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the standard deviation; arguments are as in `mean`.

  Example: tosses of a coin until the second head, whose variance is 2 + 2.

    >>> from phasic import math as pm
    >>> matrix = [[0.5, 0.5], [0.0, 0.5]]
    >>> print(f"{float(pm.discrete_phase_type.stddev([1.0, 0.0], matrix)):.6f}")
    2.000000
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.spread(chain_calls.STDDEV, values, True)


def reward_covariance(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the covariances of totals Y_a = sum_i r_ia (steps from i).

  They are sums over jumps of products of the changes in the expected totals,
  and take one solution for each reward.

  Args:
    rewards: r, (..., p, R), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subtransition: as in `mean`.
    exit_probs: as in `mean`.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., R, R), NaN where a total's mean is infinite.

  Example: tosses of a coin until the second head, and those after the first.

    >>> from phasic import math as pm
    >>> rewards = [[1.0, 0.0], [1.0, 1.0]]
    >>> model = [1.0, 0.0], [[0.5, 0.5], [0.0, 0.5]]
    >>> found = pm.discrete_phase_type.reward_covariance(rewards, *model)
    >>> [[f"{float(x):.6f}" for x in row] for row in found]
    [['4.000000', '2.000000'], ['2.000000', '2.000000']]
  """
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  return chain_calls.value(moment_chains.covariance, values, True, rewards=2)


def reward_cross_moments(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[Y_a Y_b] for all pairs of totals.

  The result has shape (..., R, R), and is inf where the mean of a total is
  infinite. Arguments are as in `reward_covariance`.

  Example: tosses of a coin for the first and for the second head.

    >>> from phasic import math as pm
    >>> rewards = [[1.0, 0.0], [0.0, 1.0]]
    >>> model = [1.0, 0.0], [[0.5, 0.5], [0.0, 0.5]]
    >>> found = pm.discrete_phase_type.reward_cross_moments(rewards, *model)
    >>> [[f"{float(x):.6f}" for x in row] for row in found]
    [['6.000000', '4.000000'], ['4.000000', '6.000000']]
  """
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  return chain_calls.value(moment_chains.cross_moments, values, True, rewards=2)
