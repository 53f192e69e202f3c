"""Derivatives of mixed moments and of mark probabilities, as functions.

See `elimination_derivatives`: they are laid out alike.
"""

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.math.calls import evaluation
from phasic.math.model import named_phases
from phasic.math.model import operands
from phasic.math.model import reward_operands
from phasic.math.moments import mark_probs
from phasic.math.moments import mixed_moments
from phasic.math.numpy_derivatives import chain_companions
from phasic.math.numpy_derivatives import count_derivatives

_MOMENT = chain_companions.Rule(
  mixed_moments.moment,
  count_derivatives.push_moment,
  count_derivatives.pull_moment,
)
_PROBS = chain_companions.Rule(
  mark_probs.probs,
  count_derivatives.push_probs,
  count_derivatives.pull_probs,
)
_NAMES = operands.REWARD_ARGUMENTS
_MARK_NAMES = (*_NAMES[:3], "mark_rates", *_NAMES[3:])


def mixed_moment_vjp(
  initial_probs,
  subgenerator,
  rewards,
  exit_rates=None,
  prob_zero=None,
  *,
  orders,
  cotangent,
  wanted=None,
):
  """Returns `mixed_moment` and the cotangents of its five arguments."""
  size = reward_operands.number(rewards)
  orders = mixed_moments.checked_orders(orders, size)
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_companions.vjp(
    _MOMENT, orders, values, _NAMES, cotangent, wanted, (2,)
  )


def mixed_moment_jvp(
  initial_probs,
  subgenerator,
  rewards,
  exit_rates=None,
  prob_zero=None,
  *,
  orders,
  tangents,
):
  """Returns `mixed_moment` and its derivative along five tangents."""
  size = reward_operands.number(rewards)
  orders = mixed_moments.checked_orders(orders, size)
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_companions.jvp(_MOMENT, orders, values, _NAMES, tangents, (2,))


def joint_mark_probs_vjp(
  initial_probs,
  subgenerator,
  rewards,
  mark_rates,
  exit_rates=None,
  prob_zero=None,
  *,
  max_counts,
  cotangent,
  wanted=None,
):
  """Returns `joint_mark_probs` and the cotangents of its six arguments."""
  wanted = evaluation.checked_names(wanted, _MARK_NAMES)
  rates, rewards, factors = _rates(
    initial_probs, rewards, mark_rates, exit_rates, prob_zero
  )
  counts = mark_probs.checked_counts(max_counts, static.shape(rates)[-1])
  values = (initial_probs, subgenerator, rates, exit_rates, prob_zero)
  value, bars = chain_companions.vjp(
    _PROBS, counts, values, _NAMES, cotangent, None, (2,)
  )
  found = (
    *bars[:2],
    _summed(bars[2] * factors[..., None, :], static.shape(rewards)),
    _summed(np.sum(bars[2] * rewards, axis=-2), static.shape(factors)),
    *bars[3:],
  )
  return value, tuple(
    x if name in wanted else None
    for name, x in zip(_MARK_NAMES, found, strict=True)
  )


def joint_mark_probs_jvp(
  initial_probs,
  subgenerator,
  rewards,
  mark_rates,
  exit_rates=None,
  prob_zero=None,
  *,
  max_counts,
  tangents,
):
  """Returns `joint_mark_probs` and its derivative along six tangents."""
  named_phases.check_tangents(tangents, _MARK_NAMES)
  rates, rewards, factors = _rates(
    initial_probs, rewards, mark_rates, exit_rates, prob_zero
  )
  counts = mark_probs.checked_counts(max_counts, static.shape(rates)[-1])
  of_rewards = evaluation.tangent("rewards", rewards, tangents[2])
  of_factors = evaluation.tangent("mark_rates", factors, tangents[3])
  moved = of_rewards * factors[..., None, :]
  moved = moved + rewards * of_factors[..., None, :]
  values = (initial_probs, subgenerator, rates, exit_rates, prob_zero)
  tangents = (*tangents[:2], moved, *tangents[4:])
  return chain_companions.jvp(_PROBS, counts, values, _NAMES, tangents, (2,))


def _rates(initial_probs, rewards, mark_rates, exit_rates, prob_zero):
  """Returns rates of marks (..., p, R), and what they are products of."""
  others = {
    "initial_probs": initial_probs,
    "exit_rates": exit_rates,
    "prob_zero": prob_zero,
  }
  rates = reward_operands.weighted_rewards(
    rewards, mark_rates, "mark_rates", others
  )
  dtype = static.dtype_name(rates)
  rewards = structures.as_array(rewards, dtype, "rewards")
  factors = structures.as_array(mark_rates, dtype, "mark_rates")
  return rates, rewards, factors


def _summed(x, shape):
  """Returns x summed over what an array of the shape was broadcast along."""
  extra = static.rank(x) - len(shape)
  axes = [
    i
    for i, size in enumerate(static.shape(x))
    if i < extra or (shape[i - extra] == 1 and size != 1)
  ]
  total = np.sum(x, axis=tuple(axes)) if axes else x
  return np.reshape(total, shape)
