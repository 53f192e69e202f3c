"""The chains, in continuous and discrete time, that the portable path derives.

The native kernel derives the same quantities by the same rules, so both paths
agree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model.model_types import KernelArrays
from phasic.math.numeric import array_utils
from phasic.math.numeric import exact_sums


class Chain(NamedTuple):
  """A continuous-time Markov chain with an exit rate from each state.

  Attributes:
    initial: initial masses (..., m).
    off: rates between states (..., m, m), zero on the diagonal.
    totals: rates of leaving the states (..., m).
    exits: exit rates (..., m).
    atom: mass at zero (...).
    bad: whether the values are invalid, so that results are NaN (...).
  """

  initial: Array
  off: Array
  totals: Array
  exits: Array
  atom: Array
  bad: Array


def derive(operands: KernelArrays, eps: float) -> Chain:
  """Derives exit rates, mass at zero and total rates from the operands.

  Args:
    operands: initial_probs (..., p); subgenerator (..., p, p); exit_rates
      (..., p), or (..., 0) to derive them from the row sums; prob_zero
      (..., 1), or (..., 0) to derive it from `initial_probs`.
    eps: the precision of the dtype that the user gave the operands in; sums
      within 4 p eps of zero count as zero.
  """
  initial_probs, subgenerator, exit_rates, prob_zero = operands
  p = static.shape(initial_probs)[-1]
  tolerance = 4 * p * eps
  eye = np.eye(p, dtype=subgenerator.dtype) > 0
  off = np.where(eye, 0.0, subgenerator)
  if static.shape(exit_rates)[-1] == 0:
    row_sums = exact_sums.compensated_sum(subgenerator)
    scale = np.max(np.abs(subgenerator), axis=-1)
    exits = snap(-row_sums, tolerance * scale)
    totals = -np.sum(np.where(eye, subgenerator, 0.0), axis=-1)
  else:
    exits = exit_rates
    totals = exact_sums.compensated_sum(_append(off, exits[..., None]))
  atom = derive_atom(initial_probs, prob_zero, tolerance)
  good = (
    good_start(initial_probs, atom)
    & np.all((exits >= 0) & np.isfinite(exits), axis=-1)
    & np.all((totals >= 0) & np.isfinite(totals), axis=-1)
    & np.all(np.all((off >= 0) & np.isfinite(off), axis=-1), axis=-1)
  )
  return Chain(initial_probs, off, totals, exits, atom, np.logical_not(good))


def derive_atom(
  initial_probs: Array, prob_zero: Array, tolerance: float
) -> Array:
  """Derives the mass at zero from the kernel's operands, as `derive` does.

  The result has shape (...).
  """
  if static.shape(prob_zero)[-1] > 0:
    return prob_zero[..., 0]
  ones = np.ones_like(initial_probs[..., :1])
  parts = np.concatenate([ones, -initial_probs], axis=-1)
  return snap(exact_sums.compensated_sum(parts), tolerance)


def proper_masses(initial_probs: Array, prob_zero: Array | None) -> Array:
  """Returns initial masses, NaN where they and the atom do not sum to one.

  The tolerance is 64 (p + 1) eps, for masses that were computed from others.
  """
  if prob_zero is None:
    return initial_probs
  fixed = autodiff.stop_gradient
  p = static.shape(initial_probs)[-1]
  tolerance = 64 * (p + 1) * static.finfo_eps(initial_probs)
  total = np.sum(fixed(initial_probs), axis=-1) + fixed(prob_zero)
  near = np.abs(total - 1.0) <= tolerance
  if array_utils.are_true(near):
    return initial_probs
  good = np.where(near, np.ones_like(total), math.nan)
  return initial_probs * good[..., None]


def good_start(initial_probs: Array, atom: Array) -> Array:
  """Returns whether the initial masses and the atom are valid.

  The result has shape (...).
  """
  good = (initial_probs >= 0) & (initial_probs < math.inf)
  return np.all(good, axis=-1) & (atom >= 0) & (atom <= 1)


def snap(x: Array, tolerance: Array | float) -> Array:
  """Rounds |x| <= tolerance to zero; the derivative stays 1."""
  near = autodiff.stop_gradient(np.where(np.abs(x) <= tolerance, x, 0.0))
  return x - near


def with_absorbing_state(chain: Chain) -> Chain:
  """Adds absorption as a state whose initial mass is the atom at zero.

  Its mass at time t is the cumulative distribution function.
  """
  initial = _append(chain.initial, chain.atom[..., None], 1)
  off = _with_exits(chain)
  totals = np.concatenate(
    [chain.totals, np.zeros_like(chain.totals[..., :1])], axis=-1
  )
  return Chain(initial, off, totals, chain.exits, chain.atom, chain.bad)


def _with_exits(chain: Chain | StepChain) -> Array:
  """Returns the weights between states, (..., m + 1, m + 1), with absorption."""
  off = _append(chain.off, chain.exits[..., None])
  return np.concatenate([off, np.zeros_like(off[..., :1, :])], axis=-2)


def _append(x: Array, last: Array, event_rank: int = 2) -> Array:
  """Appends entries to the last axis, broadcasting the batch shapes."""
  batch = static.broadcast_shapes(
    static.shape(x)[:-event_rank], static.shape(last)[:-event_rank]
  )
  parts = [
    np.broadcast_to(part, (*batch, *static.shape(part)[-event_rank:]))
    for part in (x, last)
  ]
  return np.concatenate(parts, axis=-1)


class StepChain(NamedTuple):
  """A discrete-time Markov chain with an exit probability from each state.

  Attributes:
    initial: initial masses (..., m).
    off: probabilities between states (..., m, m), zero on the diagonal.
    keep: the probability of staying is keep - lose. It is stored in two parts
      where the difference would lose digits (..., m).
    lose: the part that is subtracted from `keep` (..., m).
    exits: probabilities of absorption (..., m).
    atom: mass at zero (...).
    bad: whether the values are invalid, so that results are NaN (...).
  """

  initial: Array
  off: Array
  keep: Array
  lose: Array
  exits: Array
  atom: Array
  bad: Array


def derive_steps(
  operands: KernelArrays, eps: float, completes: bool
) -> StepChain:
  """Derives the discrete-time chain from the kernel's operands.

  Args:
    operands: initial_probs (..., p); subtransition (..., p, p); exit_probs
      (..., p), or (..., 0) to derive them from the row sums; prob_zero
      (..., 1), or (..., 0) to derive it from `initial_probs`.
    eps: the precision of the dtype that the user gave the operands in; sums
      within 4 p eps of one count as one.
    completes: whether the probability of staying is one minus the probabilities
      of leaving, also for derivatives, as for edges; otherwise the matrix's
      diagonal is an independent variable.
  """
  initial_probs, matrix, exit_probs, prob_zero = operands
  p = static.shape(initial_probs)[-1]
  tolerance = 4 * p * eps
  eye = np.eye(p, dtype=matrix.dtype)
  off = np.where(eye > 0, 0.0, matrix)
  stay = np.sum(np.where(eye > 0, matrix, 0.0), axis=-1)
  if static.shape(exit_probs)[-1] == 0:
    rest = _rest(matrix)
    exits = snap(rest, tolerance)
  else:
    exits = exit_probs
    rest = _rest(_append(matrix, exits[..., None]))
  good = rest >= -tolerance
  if completes:
    leaving = exact_sums.compensated_sum(_append(off, exits[..., None]))
    slow = leaving < 0.5
    fixed = autodiff.stop_gradient
    kept = stay + np.where(rest > tolerance, rest, 0.0)
    keep = np.where(slow, 1.0, fixed(kept) - (leaving - fixed(leaving)))
    lose = np.where(slow, leaving, 0.0)
  else:
    slow = stay > 0.5
    keep = np.where(slow, 1.0, stay)
    lose = np.where(slow, 1.0 - stay, 0.0)
    if static.shape(exit_probs)[-1] > 0:
      good = good & (rest <= tolerance)
  atom = derive_atom(initial_probs, prob_zero, tolerance)
  good = good & (exits >= 0) & np.all(matrix >= 0, axis=-1)
  bad = np.logical_not(np.all(good, axis=-1) & good_start(initial_probs, atom))
  return StepChain(initial_probs, off, keep, lose, exits, atom, bad)


def steps_with_absorbing_state(chain: StepChain) -> StepChain:
  """Adds absorption as a state whose initial mass is the atom at zero.

  Its mass after k steps is the cumulative distribution function.
  """
  initial = _append(chain.initial, chain.atom[..., None], 1)
  off = _with_exits(chain)
  ones = np.ones_like(chain.keep[..., :1])
  keep = np.concatenate([chain.keep, ones], axis=-1)
  lose = np.concatenate([chain.lose, 0.0 * ones], axis=-1)
  exits = 0.0 * np.concatenate([chain.exits, chain.exits[..., :1]], axis=-1)
  return chain._replace(
    initial=initial, off=off, keep=keep, lose=lose, exits=exits
  )


def _rest(parts: Array) -> Array:
  """Computes one minus the sum over the last axis, in twice the precision."""
  ones = np.ones_like(parts[..., :1])
  parts = np.concatenate([ones, -parts], axis=-1)
  return exact_sums.compensated_sum(parts)
