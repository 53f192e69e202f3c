"""Reward transforms of discrete chains: distributions of total rewards."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_arguments
from phasic.math.model import chain as chain_lib
from phasic.math.model.model_types import SubtransitionLike
from phasic.math.rewards import reward_stages
from phasic.math.rewards import stochastic_complement


def discrete_reward_transform(
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
  *,
  impulse_rewards: ArrayLike | None = None,
) -> tuple[Array, Array, Array, Array]:
  """Computes the discrete phase-type model of the sum of integer rewards.

  Y adds r_i for each step that starts in phase i, and c_ij for each step from
  i to j. With rewards in {0, 1}, + for phases with reward, 0 for phases
  without, and N = (I - T_00)^-1 the model is

      alpha* = alpha_+ + alpha_0 N T_0+
      T* = T_++ + T_+0 N T_0+
      t* = t_+ + T_+0 N t_0
      z* = z + alpha_0 N t_0,

  computed by elimination, without subtraction. Shapes do not depend on values:
  phases without reward remain, but are never entered. If the chain may stay in
  them for ever, Y ends there.

  Larger rewards, and rewards of jumps, must be concrete. A visit with reward k
  becomes k phases in series; jumps with different rewards share these phases.
  There are about sum_j max_i (r_j + c_ij) phases.

  Derivatives exist in all arguments except rewards.

  Args:
    rewards: r, (..., p), integers >= 0. Traced rewards must be 0 or 1; others
      give NaN.
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or EdgeProbs, which become a matrix.
    exit_probs: t, (..., p); None derives them from the row sums of T.
    prob_zero: z, (...); None derives it.
    impulse_rewards: c, (..., p, p + 1), integers >= 0, the last column for
      jumps to absorption; None for zeros.

  Returns:
    A tuple (alpha*, T*, t*, z*) of shapes (..., n), (..., n, n), (..., n) and
    (...), the arguments of discrete phase-type models. n is p if rewards are 0
    or 1 and jumps have no reward. NaN for invalid values.

  Raises:
    TypeError: dtypes differ, or are complex or bool; rewards
      of jumps are traced.
    ValueError: shapes do not fit, there are no phases, concrete rewards are not
      integers >= 0, or more than 4096 phases are needed.

  Example: heads until the first tail, where each head counts two.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> model = pm.discrete_phase_type.reward_transform(
    ...   [0], [1.0], [[0.5]], impulse_rewards=[[2, 0]]
    ... )
    >>> alpha, matrix, exits, atom = model
    >>> value = pm.discrete_phase_type.prob(4, alpha, matrix, exits, atom)
    >>> print(f"{float(value):.6f}")
    0.125000

  References:
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017, section 5.2.
    A. Hobolth, I. Rivas-Gonzalez, M. Bladt, A. Futschik, Phase-type
      distributions in mathematical population genetics, Theor. Popul. Biol.
      157, 2024.
  """
  model, (reward_array,), _, _ = chain_arguments.convert(
    (initial_probs, subtransition, rewards, exit_probs, prob_zero),
    True,
    rewards=1,
  )
  p = static.shape(model.initial)[-1]
  completes = model.edges is not None
  matrix, exits = chain_arguments.dense(model)
  parts = (model.initial, matrix, exits, model.atom, reward_array)
  stages = _stages(reward_array, impulse_rewards, p)
  if stages is None:
    return _run(completes, *parts)
  return _run_stages(completes, *parts[:4], *_arrays(stages, model.initial))


def _stages(
  rewards: Array, impulse_rewards: ArrayLike | None, p: int
) -> reward_stages.Stages | None:
  """Expands phases into stages; None if every reward is 0 or 1.

  Traced rewards without impulse rewards give None too.
  """
  visits = static.concrete(rewards)
  jumps = onp.zeros((p, p + 1), int)
  if impulse_rewards is not None:
    dtypes.numeric(impulse_rewards, "impulse_rewards")
    known = static.concrete(impulse_rewards)
    if known is None or visits is None:
      raise TypeError(
        "rewards or impulse_rewards are traced: both must be concrete if jumps "
        "have rewards, as the number of phases depends on them"
      )
    jumps = _integers("impulse_rewards", known)
    shape = onp.shape(jumps)
    if shape[-2:] != (p, p + 1):
      raise ValueError(
        f"impulse_rewards have shape {shape}: they must be (..., p, p + 1) "
        f"with p = {p}"
      )
  if visits is None:
    return None
  visits = _integers("rewards", visits)
  if impulse_rewards is None and onp.all(visits <= 1):
    return None
  return reward_stages.stages(visits, jumps)


def _integers(name: str, x: onp.ndarray) -> onp.ndarray:
  """Converts concrete rewards to integers; ValueError for other numbers."""
  x = onp.asarray(x)
  is_integer = onp.isfinite(x) & (x >= 0) & (x == onp.floor(x))
  if not onp.all(is_integer):
    wrong = x[onp.logical_not(is_integer)][0]
    raise ValueError(f"{name} has an entry {wrong}: they must be integers >= 0")
  return onp.asarray(x, int)


def _arrays(stages: reward_stages.Stages, like: Array) -> tuple[Array, ...]:
  """Converts the fields of `Stages` to arrays that broadcast with `like`."""
  rank = static.rank(like) - 1

  def laid_out(x: onp.ndarray, event_rank: int) -> Array:
    missing = rank - (onp.ndim(x) - event_rank)
    x = onp.reshape(x, (*(1,) * missing, *onp.shape(x)))
    return structures.cast(x, static.wide_float())

  return (
    np.asarray(onp.asarray(stages.phases, onp.int32)),
    laid_out(1.0 * stages.rewards, 1),
    laid_out(stages.starts, 1),
    laid_out(stages.transitions, 2),
    laid_out(stages.descents, 2),
    laid_out(stages.ends, 1),
    laid_out(stages.last, 1),
  )


def _chain(
  completes: bool,
  initial_probs: Array,
  subtransition: Array,
  exit_probs: Array,
  prob_zero: Array,
) -> tuple[Array, Array, Array, Array, Array]:
  """Derives alpha, T, t, z, and whether the model is invalid, (...)."""
  wide = [
    structures.cast(x, static.wide_float())
    for x in (initial_probs, subtransition, exit_probs, prob_zero)
  ]
  eps = static.finfo_eps(static.dtype_name(initial_probs))
  chain = chain_lib.derive_steps(wide, eps, completes)
  eye = np.eye(static.shape(chain.off)[-1], dtype=chain.off.dtype)
  matrix = wide[1]
  if completes:
    matrix = chain.off + eye * (chain.keep - chain.lose)[..., None]
  return chain.initial, matrix, chain.exits, chain.atom, chain.bad


def _evaluate(
  completes: bool,
  initial: Array,
  matrix: Array,
  exits: Array,
  prob_zero: Array,
  rewards: Array,
) -> tuple[Array, Array, Array, Array]:
  """Computes the reward transform for rewards of 0 and 1, without stages."""
  dtype = static.dtype_name(initial)
  *chain, bad = _chain(completes, initial, matrix, exits, prob_zero)
  bad = bad | np.any((rewards != 0) & (rewards != 1), axis=-1)
  return _result(dtype, chain, rewards == 0, bad)


def _evaluate_stages(
  completes: bool,
  initial: Array,
  matrix: Array,
  exits: Array,
  prob_zero: Array,
  *stages: Array,
) -> tuple[Array, Array, Array, Array]:
  """Computes the reward transform of the chain on the stages."""
  dtype = static.dtype_name(initial)
  initial, matrix, exits, atom, bad = _chain(
    completes, initial, matrix, exits, prob_zero
  )
  phases, rewards, starts, transitions, descents, ends, last = stages
  p = static.shape(initial)[-1]
  rows = np.where(phases < p, phases, 0)
  exits = exits + np.zeros_like(matrix[..., 0])
  matrix = matrix + np.zeros_like(exits)[..., None]
  is_integer = np.concatenate([matrix, exits[..., None]], axis=-1)
  is_integer = np.take(np.take(is_integer, rows, axis=-2), phases, axis=-1)
  chain = (
    np.take(initial, rows, axis=-1) * starts,
    is_integer * transitions + descents,
    np.take(exits, rows, axis=-1) * ends + last,
    atom,
  )
  return _result(dtype, chain, rewards == 0, bad)


def _result(
  dtype: str, chain: Sequence[Array], idle: Array, bad: Array
) -> tuple[Array, Array, Array, Array]:
  """Eliminates phases without reward; returns alpha, T, t, z of the rest."""
  initial, off, exits, atom = chain
  seen = stochastic_complement.complement(initial, off, exits, atom, idle)
  lost = np.where(bad, math.nan, 0.0)
  exits = seen.exits + np.where(idle, 1.0, 0.0)
  return (
    structures.cast(seen.initial + lost[..., None], dtype),
    structures.cast(seen.off + lost[..., None, None], dtype),
    structures.cast(exits + lost[..., None], dtype),
    structures.cast(seen.atom + lost, dtype),
  )


_run = control_flow.compiled(_evaluate, static_argnums=(0,))
_run_stages = control_flow.compiled(_evaluate_stages, static_argnums=(0,))
