"""Expected rewards of the first steps of discrete chains, and discounted ones.

Reference: M. L. Puterman, Markov decision processes, 1994, ch. 5.
"""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model.model_types import SubtransitionLike
from phasic.math.moments import partial_rewards


def accumulated_reward_means(
  value: ArrayLike,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the expected rewards of the first k steps, until absorption.

  They are the sums of alpha T^n r over n = 0, ..., k - 1: a reward is gathered
  at each step that leaves a phase.

  Args:
    value: k, (...), whole numbers >= 0, else results are NaN.
    rewards: r, (..., p, R), of a step from each phase, finite and >= 0, else
      results are NaN.
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p); None derives them from the row sums of T.
    prob_zero: z, (...); None derives it. It is checked, but not used.

  Returns:
    An array (..., R), with the common batch shape of all.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: throws of a die until the first six, at most two.

    >>> from phasic import math as pm
    >>> throws = pm.discrete_phase_type.accumulated_reward_means(
    ...   2, [[1.0]], [1.0], [[5 / 6]]
    ... )
    >>> print(f"{float(throws[0]):.6f}")
    1.833333
  """
  values = (initial_probs, subtransition, value, rewards, exit_probs, prob_zero)
  return partial_rewards.accumulated(values, True)


def discounted_reward_means(
  z: ArrayLike,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes expected rewards that are discounted by z in each step.

  They are the sums of z^n alpha T^n r over n = 0, 1, ..., which are alpha
  (I - z T)^-1 r; for z = 1 they are not discounted.

  Args:
    z: the discount of a step, (...), in [0, 1], else results are NaN.
    rewards: as for `accumulated_reward_means`, as are all others.
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p), or None.
    prob_zero: the mass at zero, (...), or None.

  Returns:
    An array (..., R); inf for z = 1 if a trap with a positive reward can be
    reached.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: one per throw of a die until the first six, each worth 0.9 of the one
  before.

    >>> from phasic import math as pm
    >>> worth = pm.discrete_phase_type.discounted_reward_means(
    ...   0.9, [[1.0]], [1.0], [[5 / 6]]
    ... )
    >>> print(f"{float(worth[0]):.6f}")
    4.000000
  """
  values = (initial_probs, subtransition, z, rewards, exit_probs, prob_zero)
  return partial_rewards.discounted(values, True)
