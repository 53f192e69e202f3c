"""Reward transforms of continuous chains: distributions of total rewards."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_arguments
from phasic.math.model import chain as chain_lib
from phasic.math.model import edge_rates
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.rewards import stochastic_complement


def reward_transform(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> tuple[Array, Array | edge_rates.EdgeRates, Array | None, Array | None]:
  """Computes the phase-type model of Y = sum_i r_i (time spent in phase i).

  With + for phases with positive rewards, 0 for phases with zero rewards and
  N = (-S_00)^-1 the model is

      alpha* = alpha_+ + alpha_0 N S_0+
      S* = diag(r_+)^-1 (S_++ + S_+0 N S_0+)
      s* = diag(r_+)^-1 (s_+ + S_+0 N s_0)
      z* = z + alpha_0 N s_0,

  computed by elimination, without subtraction. Shapes do not depend on values:
  phases without reward remain, but are never entered. If the chain may stay in
  them for ever, Y ends there.

  A model of edges keeps its edges if rewards are positive. A concrete reward of
  zero turns it into a matrix. With edges, traced rewards must be positive;
  zeros give NaN.

  Derivatives exist in all arguments. The derivative in a reward of zero is NaN:
  a small reward has a density where a reward of zero has a mass. (Moments of Y
  are differentiable there; see `reward_moments`.)

  Args:
    rewards: r, (..., p), per unit of time, finite and >= 0.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or EdgeRates.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it.

  Returns:
    A tuple (alpha*, S*, s*, z*), the arguments of `PhaseType`: (..., p); (...,
    p, p) or EdgeRates; (..., p), or None with edges; and (...), with edges as
    given. NaN for invalid values.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, there are no phases, or a model of edges with
      rewards of zero has more than 4096 phases.

  Example: the total length of a coalescent tree, with 3 and then 2 lineages.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> tree = pm.phase_type.reward_transform(
    ...   [3.0, 2.0], [1.0, 0.0], [[-3.0, 3.0], [0.0, -1.0]]
    ... )
    >>> print(f"{float(pm.phase_type.mean(*tree)):.6f}")
    3.000000
    >>> print(f"{float(pm.phase_type.prob(1.0, *tree[:2])):.6f}")
    0.238651

  References:
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017, theorem 3.1.33.
  """
  model, (reward_array,), _, _ = chain_arguments.convert(
    (initial_probs, subgenerator, rewards, exit_rates, prob_zero),
    False,
    rewards=1,
  )
  known = static.concrete(reward_array)
  if model.edges is None or (known is not None and onp.any(known == 0)):
    matrix, exits = chain_arguments.dense(model)
    return _run(model.initial, matrix, exits, model.atom, reward_array)
  sources, targets, constants, coefficients = model.edges
  good = np.all((reward_array > 0) & np.isfinite(reward_array), axis=-1)
  units = np.where(good[..., None], reward_array, math.nan)
  rates = edge_rates.values(model.rates, constants, coefficients)
  rates = rates / np.take(units, sources, axis=-1)
  edges = edge_rates.EdgeRates(sources, targets, rates)
  atom = model.atom[..., 0] if static.shape(model.atom)[-1] else None
  return model.initial, edges, None, atom


def _evaluate(
  initial: Array, matrix: Array, exits: Array, atom: Array, rewards: Array
) -> tuple[Array, Array, Array, Array]:
  """Computes the reward transform of a dense model."""
  dtype = static.dtype_name(initial)
  wide = [
    structures.cast(x, static.wide_float())
    for x in (initial, matrix, exits, atom, rewards)
  ]
  chain = chain_lib.derive(wide[:4], static.finfo_eps(dtype))
  rewards = wide[4]
  idle = rewards == 0
  seen = stochastic_complement.complement(
    chain.initial, chain.off, chain.exits, chain.atom, idle
  )
  p = static.shape(rewards)[-1]
  units = np.where(idle, 1.0, rewards)
  off = seen.off * (1 - np.eye(p, dtype=rewards.dtype)) / units[..., None]
  exits = seen.exits / units
  totals = np.sum(off, axis=-1) + exits
  # A phase that is never entered gets an exit, so that it is not a trap.
  fastest = np.max(autodiff.stop_gradient(totals), axis=-1)[..., None]
  exits = exits + np.where(idle, np.where(fastest > 0, fastest, 1.0), 0.0)
  good = np.all(
    (rewards >= 0) & np.isfinite(rewards), axis=-1
  ) & np.logical_not(chain.bad)
  lost = np.where(good, 0.0, math.nan)
  lost = lost + stochastic_complement.no_derivative_at_zero(rewards)
  totals = (np.sum(off, axis=-1) + exits)[..., None]
  matrix = off - np.eye(p, dtype=rewards.dtype) * totals
  return (
    structures.cast(seen.initial + lost[..., None], dtype),
    structures.cast(matrix + lost[..., None, None], dtype),
    structures.cast(exits + lost[..., None], dtype),
    structures.cast(seen.atom + lost, dtype),
  )


_run = control_flow.compiled(_evaluate)
