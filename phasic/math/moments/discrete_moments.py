"""Moments of discrete phase-type distributions, by elimination.

They are sums of what is not negative. Each function takes `EdgeProbs` in the
place of T, without `exit_probs`.

Phases from which absorption cannot be reached make moments infinite, and their
derivatives NaN, where alpha can reach them; where it cannot they count as
absorption.

With `exit_probs` derivatives are those in what leaves a phase, the entries of T
off the diagonal and t: the diagonal is what is left, and has none.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
"""

from __future__ import annotations

from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Integer
from phasic.math.elimination import chain_calls
from phasic.math.elimination import mean_variance
from phasic.math.elimination import moment_chains
from phasic.math.model import operands
from phasic.math.model.model_types import SubtransitionLike
from phasic.math.moments import moments

_NAMES = ("initial_probs", "subtransition", "exit_probs", "prob_zero")


def mean(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[N] = alpha (I - T)^-1 1.

  Args:
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p); None derives them from the row sums of T.
    prob_zero: z, (...); None derives it. It does not enter, but is checked.

  Returns:
    An array with the model's batch shape: inf if absorption may never come,
    NaN where a value breaks a rule.

  Raises:
    TypeError: dtypes differ, or are complex, bool or half precision.
    ValueError: shapes do not fit, or an array is empty.
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.spread(mean_variance.MEAN, values, _NAMES)


def second_moment(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[N^2]; arguments are those of `mean`."""
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.spread(mean_variance.SECOND_MOMENT, values, _NAMES)


def raw_moments(
  order: Integer,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[N^k] for k = 1, ..., order.

  E[N^k] = sum_j S(k, j) j! alpha T^(j-1) (I - T)^-j 1 with Stirling numbers of
  the second kind. Arguments are those of `mean`, and `order`, a positive
  integer.

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
  return moments.power(values, order, _NAMES)


def reward_moments(
  order: Integer,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[Y^k], Y = sum_i r_i (steps made from phase i), k = 1, ..., order.

  Other arguments and errors are those of `mean`.

  Args:
    order: a positive integer.
    rewards: r, (..., p), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., order), where (...) is the common batch shape.
  """
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  return moments.power(values, order, operands.DISCRETE_REWARD_ARGUMENTS)


def variance(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[N^2] - E[N]^2; arguments are those of `mean`.

  The variance is a sum over steps of what each changes in the expected number
  of steps, so that nothing is lost however small it is beside E[N]^2.
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.spread(mean_variance.VARIANCE, values, _NAMES)


def stddev(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns the root of the variance; arguments are those of `mean`."""
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.spread(mean_variance.STDDEV, values, _NAMES)


def reward_covariance(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns the covariances of totals Y_a = sum_i r_ia (steps made from i).

  They are sums over jumps of the products of what each changes in the expected
  totals, and take one solution for each reward.

  Args:
    rewards: r, (..., p, R), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subtransition: as in `mean`.
    exit_probs: as in `mean`.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., R, R), NaN where a total's mean is infinite.
  """
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  return chain_calls.value(
    moment_chains.covariance,
    None,
    values,
    operands.DISCRETE_REWARD_ARGUMENTS,
    (2,),
  )


def reward_cross_moments(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[Y_a Y_b], (..., R, R); arguments as for `reward_covariance`.

  It is infinite where a total's mean is.
  """
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  return chain_calls.value(
    moment_chains.cross_moments,
    None,
    values,
    operands.DISCRETE_REWARD_ARGUMENTS,
    (2,),
  )
