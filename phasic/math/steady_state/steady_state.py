"""Stationary distributions and long-run averages, by elimination.

A chain that starts in a state r and ends when it next enters r spends an
expected time y_j in each state j: a sum of nonnegative terms, which the
elimination of absorbing chains computes. The stationary probabilities are
y_j / sum_i y_i. So each of them has a small relative error, even if it is tiny.

References:
  W. K. Grassmann, M. I. Taksar, D. P. Heyman, Regenerative analysis and steady
    state distributions for Markov chains, Oper. Res. 33, 1985.
  C. A. O'Cinneide, Entrywise perturbation theory and error analysis for Markov
    chains, Numer. Math. 65, 1993.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing
from phasic.math.model.model_types import SubgeneratorLike, SubtransitionLike
from phasic.math.numeric import array_utils
from phasic.math.numeric import exact_sums
from phasic.math.numeric import kept_indices
from phasic.math.steady_state import state_chains

_SEVERAL = (
  "the chain has several recurrent classes, so that its distribution in the "
  "long run depends on its start; give one class, or make the other states "
  "lead to it"
)

# Cycles start in another state if the chain spends so many times longer in it.
_MUCH_LONGER = 16.0


def stationary_distribution(
  generator: SubgeneratorLike | SubtransitionLike, discrete: bool = False
) -> Array:
  """Computes the stationary distribution of a chain without absorption.

  It is the vector of probabilities pi with pi Q = 0, in discrete time with
  pi P = pi: the share of time that the chain spends in each state in the long
  run. Transient states have probability zero. No number is subtracted, so each
  probability has a small relative error, however rare its state is.

  Derivatives exist in the entries off the diagonal, or in the parameters of
  edges; the diagonal is taken to follow from them.

  Args:
    generator: Q, (..., p, p), rows that sum to zero, dense or sparse; or
      `EdgeRates` without edges to absorption, whose states count to the largest
      source. In discrete time the transition matrix P, or `EdgeProbs`.
    discrete: whether `generator` is a matrix of probabilities.

  Returns:
    An array (..., p). It is NaN where a value breaks its rule, or where there
    are several recurrent classes; a call whose values are known warns of it.

  Raises:
    TypeError: the dtype is complex or bool, edges have the wrong class for
      `discrete`, or their indices are traced.
    ValueError: shapes do not fit, or an edge leads to absorption.

  Example: a machine that fails once in 100 days and is repaired in two.

    >>> from phasic import math as pm
    >>> rates = [[-0.01, 0.01], [0.5, -0.5]]
    >>> probs = pm.stationary_distribution(rates)
    >>> [f"{float(x):.6f}" for x in probs]
    ['0.980392', '0.019608']

  Reference: W. K. Grassmann, M. I. Taksar, D. P. Heyman, Regenerative analysis
    and steady state distributions for Markov chains, Oper. Res. 33, 1985.
  """
  chain = state_chains.read(generator, discrete)
  return evaluate("stationary_distribution", chain)


def long_run_reward_rate(
  rewards: ArrayLike,
  generator: SubgeneratorLike | SubtransitionLike,
  discrete: bool = False,
) -> Array:
  """Computes the reward per unit of time in the long run, sum_j pi_j r_j.

  Args:
    rewards: r, (..., p), finite rewards per unit of time (in discrete time per
      step) in the states. With ones in some states and zeros in the others, the
      result is the share of time in these states.
    generator: as in `stationary_distribution`.
    discrete: as in `stationary_distribution`.

  Returns:
    An array (...), the common batch shape of rewards and chains.

  Raises:
    TypeError: as `stationary_distribution`, or dtypes differ.
    ValueError: as `stationary_distribution`.

  Example: an hour of work earns 20, an hour of repair costs 100.

    >>> from phasic import math as pm
    >>> rates = [[-0.01, 0.01], [0.5, -0.5]]
    >>> print(f"{float(pm.long_run_reward_rate([20.0, -100.0], rates)):.6f}")
    17.647059
  """
  chain = state_chains.read(generator, discrete)
  return evaluate_reward_rate("long_run_reward_rate", chain, rewards)


def evaluate_reward_rate(
  name: str, chain: state_chains.StateChain, rewards: ArrayLike
) -> Array:
  """Computes `long_run_reward_rate` for a function with a given name."""
  dtype = dtypes.common_dtype({"rewards": rewards}, default=chain.dtype)
  if dtype != chain.dtype:
    raise TypeError(
      f"rewards are {dtype} and the chain is {chain.dtype}: they must have one "
      "dtype"
    )
  rewards = structures.as_array(rewards, dtype, "rewards")
  shape = static.shape(rewards)
  if shape[-1:] != (chain.num_states,):
    raise ValueError(
      f"rewards has shape {shape}: it must be (..., {chain.num_states}), a "
      "number for each state"
    )
  known = static.concrete(rewards)
  if known is not None and not onp.all(onp.isfinite(known)):
    user_warnings.warn(f"{name}: rewards must be finite; the result is NaN")
  return evaluate(name, chain, structures.cast(rewards, static.wide_float()))


def evaluate(
  name: str, chain: state_chains.StateChain, rewards: Array | None = None
) -> Array:
  """Computes stationary probabilities, or their sum with factors `rewards`.

  Args:
    name: the name of the public function, for warnings.
    chain: the chain.
    rewards: (..., p), in the widest precision, or None.
  """
  with onp.errstate(all="ignore"):
    probs, unique = _probs(chain)
  if not array_utils.are_true(unique & chain.good):
    probs = probs * np.where(unique & chain.good, 1.0, math.nan)[..., None]
    if array_utils.has_nan(probs) and user_warnings.warns_of_nan():
      why = state_chains.reason(chain) or _SEVERAL
      user_warnings.warn(f"{name} is NaN: {why}")
  if rewards is not None:
    finite = np.where(np.isfinite(rewards), rewards, math.nan)
    probs = exact_sums.compensated_sum(probs * finite)
  return structures.cast(probs, chain.dtype)


def _probs(chain: state_chains.StateChain) -> tuple[Array, Array]:
  """Returns the stationary probabilities, and whether they are unique, (...).

  Cycles start in the first state, or in a state where the chain spends most
  time, if that is much longer: of rare cycles derivatives would have few
  digits, and expected times may be out of range.
  """
  fixed = autodiff.stop_gradient
  constant = chain._replace(weights=fixed(chain.weights))
  zeros = np.zeros_like(chain.leaving)
  states = zeros + onp.arange(chain.num_states)
  first = np.where(states == 0, 1.0, zeros)
  times = _cycle(chain, first, first)
  known = fixed(times)
  most = np.max(known, axis=-1)
  least = float(onp.finfo(static.wide_float()).tiny)
  visits_all = np.all((known >= least) & (known < math.inf), axis=-1)
  usual = visits_all & (known[..., 0] * _MUCH_LONGER >= most)
  if array_utils.are_true(usual):
    return _shares(times), usual
  fits = known >= most[..., None]
  everywhere = np.ones_like(zeros)
  are_visited = array_utils.are_true(visits_all)
  if not are_visited:
    # Only where the first state is transient, times in recurrent states are
    # infinite.
    endless = _cycle(constant, first, everywhere) == math.inf
    fits = np.where(np.any(endless, axis=-1)[..., None], endless, fits)
  place = np.max(np.where(fits, states, -1.0), axis=-1)
  place = np.where(usual, 0.0, place)[..., None]
  start = np.where(states == place, 1.0, zeros)
  times = _cycle(chain, start, start)
  if are_visited:
    return _shares(times), visits_all
  # If every state leads to the start, the start is in the only recurrent class.
  returns = _cycle(constant, start, everywhere)
  unique = np.all(returns < math.inf, axis=-1)
  return _shares(np.where(unique[..., None], times, 1.0)), unique


def _cycle(
  chain: state_chains.StateChain, start: Array, initial: Array
) -> Array:
  """Computes expected times in the states until one of them is entered, (..., p).

  Args:
    chain: the chain.
    start: 1 for the state in which a cycle ends, else 0, (..., p). If it is
      never left, the cycle ends at rate one.
    initial: the initial masses, (..., p).
  """
  p = chain.num_states
  enters = np.take(start, chain.targets, axis=-1) > 0
  back = array_ops.segment_sum(
    np.where(enters, chain.weights, 0.0), chain.sources, p
  )
  stuck = (start > 0) & (chain.leaving == 0)
  ends = back + np.where(stuck, 1.0, 0.0)
  (indices,) = kept_indices.evaluate(
    killing.killed_ends, chain.sources, chain.targets, p
  )
  weights = array_utils.joined(np.where(enters, 0.0, chain.weights), ends)
  system = chain_solves.Weighted(indices, weights)
  return chain_solves.solve(system, initial[..., None], transposed=True)[..., 0]


def _shares(times: Array) -> Array:
  """Divides times by their sum, (..., p)."""
  largest = np.max(autodiff.stop_gradient(times), axis=-1)[..., None]
  shares = times / np.where(largest > 0, largest, 1.0)
  return shares / exact_sums.compensated_sum(shares)[..., None]
