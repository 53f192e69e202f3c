"""Moments of continuous phase-type distributions, by elimination.

Mean, variance and second moment are right wherever they can be represented, and
so are their derivatives; XLA flushes subnormal numbers to zero. Higher moments,
moments of rewards, their derivatives and results of the portable path are right
if the rates differ by factors up to about 1e150. For more extreme rates they
may be infinite, NaN or lose digits. Each function takes `EdgeRates` instead of
the subgenerator, without `exit_rates`.

Phases from which absorption cannot be reached make moments infinite, and their
derivatives NaN, if alpha can reach them; otherwise they count as absorption.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
    probability, 2017, ch. 3 and 8.
"""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike, Integer
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import moment_chains
from phasic.math.model.model_types import SubgeneratorLike


def mean(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[X] = alpha (-S)^-1 1.

  Args:
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it. It is checked, but not used.

  Returns:
    An array with the model's batch shape: inf if absorption is not certain, NaN
    for invalid values.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: a mixture of exponential times of rates one and two.

    >>> from phasic import math as pm
    >>> matrix = [[-1.0, 0.0], [0.0, -2.0]]
    >>> print(f"{float(pm.phase_type.mean([0.5, 0.5], matrix)):.6f}")
    0.750000
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.spread(chain_calls.MEAN, values, False)


def second_moment(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[X^2] = 2 alpha (-S)^-2 1; arguments are as in `mean`.

  Example: an exponential time of rate two, 2 / 2^2.

    >>> from phasic import math as pm
    >>> print(f"{float(pm.phase_type.second_moment([1.0], [[-2.0]])):.6f}")
    0.500000
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.spread(chain_calls.SECOND_MOMENT, values, False)


def raw_moments(
  order: Integer,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[X^k] = k! alpha (-S)^-k 1 for k = 1, ..., order.

  Arguments are as in `mean`, and `order`, a positive integer.

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
  return power(values, order, False)


def reward_moments(
  order: Integer,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[Y^k], Y = sum_i r_i (time in phase i), k = 1, ..., order.

  E[Y^k] = k! alpha ((-S)^-1 diag(r))^k 1. Other arguments and errors are as in
  `mean`.

  Args:
    order: a positive integer.
    rewards: r, (..., p), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., order), where (...) is the common batch shape.

  Example: an exponential time of rate two that costs three per unit of time.

    >>> from phasic import math as pm
    >>> values = pm.phase_type.reward_moments(2, [3.0], [1.0], [[-2.0]])
    >>> [f"{float(value):.6f}" for value in values]
    ['1.500000', '4.500000']
  """
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return power(values, order, False, rewards=1)


def variance(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[X^2] - E[X]^2; arguments are as in `mean`.

  The variance is a sum over jumps of squared changes in the expected time until
  absorption. So it is accurate even if it is tiny relative to E[X]^2.

  Example: two stages of rates one and two, 1 + 1 / 4.

    >>> from phasic import math as pm
    >>> matrix = [[-1.0, 1.0], [0.0, -2.0]]
    >>> print(f"{float(pm.phase_type.variance([1.0, 0.0], matrix)):.6f}")
    1.250000
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.spread(chain_calls.VARIANCE, values, False)


def stddev(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the standard deviation; arguments are as in `mean`.

  It is right wherever it can be represented, even if the variance cannot.

  Example: an exponential time, whose standard deviation equals its mean.

    >>> from phasic import math as pm
    >>> print(f"{float(pm.phase_type.stddev([1.0], [[-2.0]])):.6f}")
    0.500000
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.spread(chain_calls.STDDEV, values, False)


def reward_means(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the means E[Y_a] of all totals, an array of shape (..., R).

  Arguments are as in `reward_covariance`. A mean is infinite if a trap with a
  positive reward can be reached.

  Example: the time in two stages, and the time in the second one alone.

    >>> from phasic import math as pm
    >>> rewards = [[1.0, 0.0], [1.0, 1.0]]
    >>> matrix = [[-1.0, 1.0], [0.0, -2.0]]
    >>> values = pm.phase_type.reward_means(rewards, [1.0, 0.0], matrix)
    >>> [f"{float(value):.6f}" for value in values]
    ['1.500000', '0.500000']
  """
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_calls.value(moment_chains.means, values, False, rewards=2)


def reward_covariance(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the covariances of totals Y_a = sum_i r_ia (time in phase i).

  They are sums over jumps of products of the changes in the expected totals,
  and take one solution for each reward.

  Args:
    rewards: r, (..., p, R), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: as in `mean`.
    exit_rates: as in `mean`.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., R, R), NaN where a total's mean is infinite.

  Example: the time in two stages, and the time in the second one alone. The
    covariance of the two is the variance of the second one.

    >>> from phasic import math as pm
    >>> rewards = [[1.0, 0.0], [1.0, 1.0]]
    >>> matrix = [[-1.0, 1.0], [0.0, -2.0]]
    >>> found = pm.phase_type.reward_covariance(rewards, [1.0, 0.0], matrix)
    >>> [[f"{float(x):.6f}" for x in row] for row in found]
    [['1.250000', '0.250000'], ['0.250000', '0.250000']]
  """
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_calls.value(moment_chains.covariance, values, False, rewards=2)


def reward_cross_moments(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[Y_a Y_b] for all pairs of totals.

  The result has shape (..., R, R), and is inf where the mean of a total is
  infinite. Arguments are as in `reward_covariance`.

  Example: the times in two stages, which are independent.

    >>> from phasic import math as pm
    >>> rewards = [[1.0, 0.0], [0.0, 1.0]]
    >>> matrix = [[-1.0, 1.0], [0.0, -2.0]]
    >>> found = pm.phase_type.reward_cross_moments(rewards, [1.0, 0.0], matrix)
    >>> [[f"{float(x):.6f}" for x in row] for row in found]
    [['2.000000', '0.500000'], ['0.500000', '0.500000']]
  """
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_calls.value(
    moment_chains.cross_moments, values, False, rewards=2
  )


def power(
  values: chain_arguments.Values,
  order: Integer,
  discrete: bool,
  **event_ranks: int,
) -> Array:
  """Computes raw moments of the time, or of a total reward.

  The result has shape (..., order).

  Args:
    values: a model, optionally with rewards in the third place.
    order: a positive integer.
    discrete: whether time is counted in steps.
    **event_ranks: rewards=1 where there are rewards.
  """
  order = chain_calls.checked_order(order)
  return chain_calls.value(
    moment_chains.raw_moments, values, discrete, (order,), **event_ranks
  )
