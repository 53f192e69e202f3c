"""Joint transforms and densities of several rewards of one chain."""

from __future__ import annotations

import math

import numpy as np

from phasic.internal import control_flow
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing
from phasic.math.model import chain as chain_lib
from phasic.math.model import phase_arguments
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.numeric import array_utils
from phasic.math.rewards import feed_forward


def joint_laplace_transform(
  u: ArrayLike,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[exp(-u_1 Y_1 - ... - u_R Y_R)], Y_r = sum_i r_ir (time in i).

  It is alpha (Delta - S)^-1 s + z with Delta_ii = sum_r r_ir u_r: the
  probability that the chain is absorbed before it is killed at these rates. It
  is computed without subtraction. If the chain may stay in phases without
  reward for ever, Y ends there.

  Args:
    u: (..., R), finite and >= 0, else results are NaN.
    rewards: r, (..., p, R), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it.

  Returns:
    An array (...).

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example:

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> matrix = np.asarray([[-1.0, 1.0], [0.0, -2.0]])
    >>> value = pm.phase_type.joint_laplace_transform(
    ...   [1.0, 2.0], np.eye(2), [1.0, 0.0], matrix
    ... )
    >>> print(f"{float(value):.6f}")
    0.250000

  References:
    V. Kulkarni, A new class of multivariate phase type distributions, Oper.
      Res. 37, 1989.
  """
  rates = phase_arguments.weighted_rewards(
    rewards,
    u,
    "u",
    {
      "initial_probs": initial_probs,
      "exit_rates": exit_rates,
      "prob_zero": prob_zero,
    },
  )
  values = (
    initial_probs,
    subgenerator,
    np.sum(rates, axis=-1),
    exit_rates,
    prob_zero,
  )
  return chain_calls.value(_survival, values, False, rewards=1)


def _survival(system: chain_solves.System, rates: Array) -> Array:
  """Computes the probability of absorption before killing at given rates."""
  good = np.all((rates >= 0) & np.isfinite(rates), axis=-1)
  # Use the model's own unit of time: in the scaled unit rates may be out of
  # range.
  system = chain_solves.natural(system)
  system, ends = killing.killed_or_absorbed(system, rates)
  none = np.zeros_like(rates)[..., None]
  x = chain_solves.solve(system, none, ends[..., None])[..., 0]
  total = np.sum(system.initial * x, axis=-1) + system.atom
  total = array_utils.at_most(total, 1.0)
  return chain_solves.checked(system, total + np.where(good, 0.0, math.nan))


def joint_log_prob(
  value: ArrayLike,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the joint log density of rewards of a feed-forward chain.

  Each phase has at most one of the rewards, and no block of phases with the
  same reward is entered again after a later block. With blocks in the order of
  the rewards, and rates in units of the rewards,

      f(y) = alpha exp(S_1 y_1) S_12 exp(S_2 y_2) ... exp(S_R y_R) s_R, y > 0.

  Rewards that are conditionally independent given the first phase have this
  form if each first phase has separate phases. The base measure for each reward
  is Lebesgue's on (0, inf) plus a unit mass at 0: a value y_r = 0 belongs to
  paths that do not visit block r.

  Derivatives exist in all arguments. Derivatives in rewards of zero are NaN, as
  positive rewards there would change the form of the density. If rewards or
  rates are traced, chains that are not feed-forward in the order of the rewards
  give NaN.

  Args:
    value: y, (..., R).
    rewards: r, (..., p, R), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates` of up to 4096 phases.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it.

  Returns:
    An array (...): -inf for negative, infinite and impossible values. It is NaN
    if the densities after a block differ by factors above e^700, and the small
    ones matter.

  Raises:
    NotImplementedError: the chain does not have this form. No formula is known
      for the density of other rewards; moments, transforms, projections and
      samples exist.
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: the times in two stages.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> matrix = np.asarray([[-1.0, 1.0], [0.0, -2.0]])
    >>> value = pm.phase_type.joint_log_prob(
    ...   [1.0, 2.0], np.eye(2), [1.0, 0.0], matrix
    ... )
    >>> print(f"{float(value):.6f}")
    -4.306853

  References:
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017, chapter 8.
  """
  names = {
    "initial_probs": initial_probs,
    "rewards": rewards,
    "value": value,
    "exit_rates": exit_rates,
    "prob_zero": prob_zero,
  }
  value_array = structures.as_array(value, dtypes.common_dtype(names), "value")
  model, (reward_array,), batch, dtype = chain_arguments.convert(
    (initial_probs, subgenerator, rewards, exit_rates, prob_zero),
    False,
    rewards=2,
  )
  size, shape = static.shape(reward_array)[-1], static.shape(value_array)
  if len(shape) < 1 or shape[-1] != size:
    raise ValueError(
      f"value has shape {shape}: it must be (..., R), R = {size}"
    )
  batch = static.broadcast_shapes(batch, shape[:-1])
  matrix, exits = chain_arguments.dense(model)
  structure = feed_forward.blocks(reward_array, matrix)
  parts = (model.initial, matrix, exits, model.atom)
  x = _log_density(structure, dtype, reward_array, value_array, *parts)
  return np.broadcast_to(x, tuple(batch))


def _evaluate(
  structure: feed_forward.Blocks,
  dtype: str,
  rewards: Array,
  values: Array,
  *model: Array,
) -> Array:
  """Computes the joint log density, (...), in the given dtype."""
  wide = static.wide_float()
  rewards, values, *parts = (
    structures.cast(x, wide) for x in (rewards, values, *model)
  )
  chain = chain_lib.derive(parts, static.finfo_eps(dtype))
  x = feed_forward.log_density(structure, chain, rewards, values)
  return structures.cast(x, dtype)


_log_density = control_flow.compiled(_evaluate, static_argnums=(0, 1))
