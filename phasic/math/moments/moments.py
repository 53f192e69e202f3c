"""Moments of continuous phase-type distributions, by elimination.

Mean, variance and second moment are right wherever they can be represented, and
so are their derivatives; XLA takes numbers below the smallest normal one for
zeros. Others are where the rates are not more than about 1e150 apart: beyond,
higher moments, those of rewards, their derivatives and what the portable path
computes may be infinite, NaN or lose digits. Each function takes `EdgeRates` in
the place of the subgenerator, without `exit_rates`.

Phases from which absorption cannot be reached make moments infinite, and their
derivatives NaN, where alpha can reach them; where it cannot they count as
absorption.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
    probability, 2017, ch. 3 and 8.
"""

from __future__ import annotations

from collections.abc import Sequence

from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Integer
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import mean_variance
from phasic.math.elimination import moment_chains
from phasic.math.model import operands
from phasic.math.model.model_types import SubgeneratorLike

_NAMES = ("initial_probs", "subgenerator", "exit_rates", "prob_zero")


def mean(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[X] = alpha (-S)^-1 1.

  Args:
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it. It does not enter, but is checked.

  Returns:
    An array with the model's batch shape: inf if absorption may never come,
    NaN where a value breaks a rule.

  Raises:
    TypeError: dtypes differ, or are complex, bool or half precision.
    ValueError: shapes do not fit, or an array is empty.
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.spread(mean_variance.MEAN, values, _NAMES)


def second_moment(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[X^2] = 2 alpha (-S)^-2 1; arguments are those of `mean`."""
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.spread(mean_variance.SECOND_MOMENT, values, _NAMES)


def raw_moments(
  order: Integer,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[X^k] = k! alpha (-S)^-k 1 for k = 1, ..., order.

  Arguments are those of `mean`, and `order`, a positive integer.

  Returns:
    An array (..., order).

  Example: the time until the second of two equal stages ends.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> matrix = np.asarray([[-1.0, 1.0], [0.0, -1.0]])
    >>> values = pm.phase_type.raw_moments(3, [1.0, 0.0], matrix)
    >>> [f"{float(value):.6f}" for value in values]
    ['2.000000', '6.000000', '24.000000']
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return power(values, order, _NAMES)


def reward_moments(
  order: Integer,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[Y^k], Y = sum_i r_i (time spent in phase i), k = 1, ..., order.

  E[Y^k] = k! alpha ((-S)^-1 diag(r))^k 1. Other arguments and errors are those
  of `mean`.

  Args:
    order: a positive integer.
    rewards: r, (..., p), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., order), where (...) is the common batch shape.
  """
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return power(values, order, operands.REWARD_ARGUMENTS)


def variance(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[X^2] - E[X]^2; arguments are those of `mean`.

  The variance is a sum over jumps of what each changes in the expected time
  until absorption, so that nothing is lost however small it is beside E[X]^2.
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.spread(mean_variance.VARIANCE, values, _NAMES)


def stddev(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns the root of the variance; arguments are those of `mean`.

  It is right where it can be represented, though the variance may not be.
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.spread(mean_variance.STDDEV, values, _NAMES)


def reward_means(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[Y_a], (..., R); arguments are those of `reward_covariance`.

  It is infinite where a reward may be earned for ever.
  """
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_calls.value(
    moment_chains.means, None, values, operands.REWARD_ARGUMENTS, (2,)
  )


def reward_covariance(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns the covariances of totals Y_a = sum_i r_ia (time spent in i).

  They are sums over jumps of the products of what each changes in the expected
  totals, and take one solution for each reward.

  Args:
    rewards: r, (..., p, R), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: as in `mean`.
    exit_rates: as in `mean`.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., R, R), NaN where a total's mean is infinite.
  """
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_calls.value(
    moment_chains.covariance, None, values, operands.REWARD_ARGUMENTS, (2,)
  )


def reward_cross_moments(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E[Y_a Y_b], (..., R, R); arguments as for `reward_covariance`.

  It is infinite where a total's mean is.
  """
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_calls.value(
    moment_chains.cross_moments, None, values, operands.REWARD_ARGUMENTS, (2,)
  )


def power(
  values: chain_arguments.Values, order: Integer, names: Sequence[str]
) -> Array:
  """Returns raw moments 1, ..., order.

  Args:
    values: a model, with rewards in its third place or without.
    order: a positive integer.
    names: of the values.
  """
  order = chain_calls.checked_order(order)
  ranks = (1,) * (len(values) - 4)
  return chain_calls.value(
    moment_chains.raw_moments, order, values, names, ranks
  )
