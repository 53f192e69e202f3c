"""Expected rewards until a time, and discounted ones.

Both are sums of nonnegative terms. A reward until a time is an integral over
time, of a killed chain whose killed mass counts in proportion to the reward of
its phase, see `killed_chains`. A discounted reward is the whole reward of a chain
that is killed at the rate of the discount.

Reference: M. L. Puterman, Markov decision processes, 1994, ch. 5 and 11.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killed_chains
from phasic.math.elimination import killing
from phasic.math.elimination import moment_chains
from phasic.math.model import operands
from phasic.math.model.model_types import Given, SubgeneratorLike


def accumulated_reward_means(
  value: ArrayLike,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the expected rewards gathered until a time, or absorption.

  They are the integrals of alpha exp(S u) r over u from 0 to t. As t grows they
  tend to `reward_means`; they are finite where the chain may never end, too.

  Args:
    value: t, (...), finite and >= 0, else results are NaN.
    rewards: r, (..., p, R), per unit of time in each phase, finite and >= 0,
      else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it. It is checked, but not used.

  Returns:
    An array (..., R), with the common batch shape of all.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: what a machine earns in its first year, until it fails.

    >>> from phasic import math as pm
    >>> start, matrix = [1.0, 0.0], [[-1.0, 1.0], [0.0, -2.0]]
    >>> gains = pm.phase_type.accumulated_reward_means(
    ...   1.0, [[10.0], [4.0]], start, matrix
    ... )
    >>> print(f"{float(gains[0]):.6f}")
    7.120358
  """
  values = (initial_probs, subgenerator, value, rewards, exit_rates, prob_zero)
  return accumulated(values, False)


def discounted_reward_means(
  u: ArrayLike,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes expected rewards that are discounted at the rate u.

  They are the integrals of exp(-u t) alpha exp(S t) r over t > 0, which are
  alpha (u I - S)^-1 r; for u = 0 they are `reward_means`.

  Args:
    u: (...), per unit of time, finite and >= 0, else results are NaN.
    rewards: as for `accumulated_reward_means`, as are all others.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None.
    prob_zero: the mass at zero, (...), or None.

  Returns:
    An array (..., R); inf for u = 0 if a trap with a positive reward can be
    reached.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: the present value of an income until a machine fails.

    >>> from phasic import math as pm
    >>> start, matrix = [1.0, 0.0], [[-1.0, 1.0], [0.0, -2.0]]
    >>> worth = pm.phase_type.discounted_reward_means(
    ...   0.05, [[10.0], [4.0]], start, matrix
    ... )
    >>> print(f"{float(worth[0]):.6f}")
    11.382114
  """
  values = (initial_probs, subgenerator, u, rewards, exit_rates, prob_zero)
  return discounted(values, False)


def accumulated(values: tuple[Given, ...], discrete: bool) -> Array:
  """Computes rewards until a time: a model with times and rewards inside."""
  has_stays = discrete and not operands.is_edges(values[1])
  option = killed_chains.Option(discrete, has_stays)
  return chain_calls.value(
    _until, values, discrete, (option,), value=0, rewards=2
  )


def discounted(values: tuple[Given, ...], discrete: bool) -> Array:
  """Computes discounted rewards: a model with discounts and rewards inside."""
  name = "z" if discrete else "u"
  return chain_calls.value(
    _killed_rewards, values, discrete, (discrete,), **{name: 0}, rewards=2
  )


def _until(
  option: killed_chains.Option,
  system: chain_solves.System,
  times: Array,
  rewards: Array,
) -> Array:
  """Computes rewards until given times, (..., R)."""
  killed = killed_chains.kill(option, system, times[..., None])
  p = static.shape(system.initial)[-1]
  phases = onp.arange(p)
  good = (rewards >= 0) & (rewards < math.inf)
  rewards = np.moveaxis(np.where(good, rewards, math.nan), -1, -2)
  fixed = autodiff.stop_gradient(rewards)
  largest = np.max(np.where(fixed > 0, fixed, 0.0), axis=-1)[..., None]
  largest = np.where(largest > 0, largest, 1.0)
  # Killed mass enters phase p in proportion to the reward, and else phase
  # p + 1, as absorbed mass does. What leaves phase p is counted.
  begins = [killed.sources, phases, phases, onp.asarray([p])]
  reaches = [
    np.where(killed.targets == p, p + 1, killed.targets),
    phases * 0 + p,
    phases * 0 + p + 1,
    onp.asarray([p + 2]),
  ]
  rates = killed.rates
  weights = [
    (killed.keep * killed.weights)[..., None, :],
    rates * (rewards / largest),
    rates * ((largest - rewards) / largest),
    rates + np.zeros_like(rewards[..., :1]),
  ]
  initial = system.initial[..., None, :]
  none = np.zeros_like(initial[..., :1]) + onp.zeros(2)
  parts = [
    (begin, reach, weight)
    for begin, reach, weight in zip(begins, reaches, weights, strict=True)
  ]
  means = killed_chains.integral(
    option,
    killed_chains.Integral(1),
    killed,
    np.concatenate([initial, none], axis=-1),
    parts,
  )
  return chain_solves.checked_entries(system, means * largest[..., 0])


def _killed_rewards(
  discrete: bool, system: chain_solves.System, discount: Array, rewards: Array
) -> Array:
  """Computes discounted rewards, (..., R)."""
  rate, weights = discount[..., None], system.weights
  if discrete:
    good = (discount >= 0) & (discount <= 1)
    rate, weights = 1.0 - rate, rate * weights
  else:
    system = chain_solves.natural(system)
    good = (discount >= 0) & (discount < math.inf)
    weights = system.weights
  rate = np.where(good[..., None], rate, 1.0)
  killed = killing.with_killing(system, weights, rate)
  means = moment_chains.means(killed._replace(unscaled=killed.weights), rewards)
  return np.where(good[..., None], means, math.nan)
