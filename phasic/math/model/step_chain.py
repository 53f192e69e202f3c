"""The discrete-time chain that the portable path derives from a model.

The native kernel derives the same quantities by the same rules.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import chain as chain_lib
from phasic.math.model.model_types import KernelArrays
from phasic.math.numeric import exact_sums


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


def derive(operands: KernelArrays, eps: float, completes: bool) -> StepChain:
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
    exits = chain_lib.snap(rest, tolerance)
  else:
    exits = exit_probs
    rest = _rest(_append(matrix, exits))
  good = rest >= -tolerance
  if completes:
    leaving = exact_sums.compensated_sum(_append(off, exits))
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
  atom = chain_lib.derive_atom(initial_probs, prob_zero, tolerance)
  good = good & (exits >= 0) & np.all(matrix >= 0, axis=-1)
  bad = np.logical_not(
    np.all(good, axis=-1) & chain_lib.good_start(initial_probs, atom)
  )
  return StepChain(initial_probs, off, keep, lose, exits, atom, bad)


def with_absorbing_state(chain: StepChain) -> StepChain:
  """Adds absorption as a state, which has the atom as initial mass.

  Its mass after k steps is the cumulative distribution function.
  """
  initial = _append_entry(chain.initial, chain.atom)
  off = _append(chain.off, chain.exits)
  off = np.concatenate([off, np.zeros_like(off[..., :1, :])], axis=-2)
  ones = np.ones_like(chain.keep[..., 0])
  keep = _append_entry(chain.keep, ones)
  lose = _append_entry(chain.lose, 0.0 * ones)
  exits = _append_entry(0.0 * chain.exits, 0.0 * chain.exits[..., 0])
  return chain._replace(
    initial=initial, off=off, keep=keep, lose=lose, exits=exits
  )


def _rest(parts: Array) -> Array:
  """Computes one minus the sum over the last axis, in twice the precision."""
  ones = np.ones_like(parts[..., :1])
  parts = np.concatenate([ones, -parts], axis=-1)
  return exact_sums.compensated_sum(parts)


def _append(matrix: Array, column: Array) -> Array:
  """Appends a column (..., m) to a matrix (..., m, m)."""
  batch = np.zeros_like(matrix[..., 0]) + np.zeros_like(column)
  wide = matrix + batch[..., None]
  return np.concatenate([wide, (column + batch)[..., None]], axis=-1)


def _append_entry(row: Array, entry: Array) -> Array:
  """Appends an entry (...) to a row (..., m)."""
  batch = np.zeros_like(row[..., 0]) + np.zeros_like(entry)
  wide = row + batch[..., None]
  return np.concatenate([wide, (entry + batch)[..., None]], axis=-1)
