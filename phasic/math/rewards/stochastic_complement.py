"""Stochastic complement: elimination of phases without reward.

The result is the chain watched only in phases with reward. All results are sums
of products of nonnegative numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phasic.internal import autodiff
from phasic.internal import custom_gradient
from phasic.internal import elimination_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_solves
from phasic.math.numeric import semirings
from phasic.math.portable import elimination


class StochasticComplement(NamedTuple):
  """The chain watched only while it is in phases with reward.

  Weights are rates or probabilities. The rows and columns of phases without
  reward are zero.

  Attributes:
    initial: masses of the first phase with reward (..., p).
    off: weights of the next phase with reward (..., p, p); the diagonal has
      returns to the same phase.
    exits: weights of absorption before another phase with reward (..., p).
    atom: mass of paths without phases with reward (...).
  """

  initial: Array
  off: Array
  exits: Array
  atom: Array


def complement(
  initial: Array, off: Array, exits: Array, atom: Array, idle: Array
) -> StochasticComplement:
  """Computes the stochastic complement by eliminating phases without reward.

  With + for phases with reward, 0 for phases without, and N the expected
  sojourn times (or visits) (-S_00)^-1, the results are alpha_+ + alpha_0 N
  S_0+, S_++ + S_+0 N S_0+, s_+ + S_+0 N s_0 and z + alpha_0 N s_0. A class of
  phases 0 that is never left counts as absorption.

  Args:
    initial: alpha (..., p).
    off: weights between phases (..., p, p); the diagonal is read only for
      phases with reward.
    exits: weights of absorption (..., p).
    atom: z (...).
    idle: boolean, whether phases have no reward (..., p).
  """
  p = static.shape(exits)[-1]
  to_idle = idle[..., None, :]
  off = off + np.zeros_like(exits)[..., None]
  from_idle = np.where(idle[..., None], off, 0.0)
  inside = np.where(to_idle, from_idle, 0.0)
  outside = np.where(to_idle, 0.0, from_idle)
  ends = np.where(idle, exits, 0.0)
  leaving = np.sum(outside, axis=-1) + ends
  fixed = autodiff.stop_gradient
  leaves = semirings.can_reach(
    fixed(inside) > 0, (fixed(leaving) > 0) | np.logical_not(idle)
  )
  trapped = np.where(leaves, 0.0, 1.0)
  # Phases with reward get an exit of one to keep the system nonsingular.
  extra = trapped + np.where(idle, 0.0, 1.0)
  ends = ends + trapped
  # The shape of first is (..., p, p + 1). For a phase i without reward,
  # first[i, j] is the probability that j is the first phase with reward on a
  # path from i; j = p is absorption.
  first = solution(
    inside,
    leaving + extra,
    np.concatenate([outside, ends[..., None]], axis=-1),
  )
  kept = np.where(idle[..., None], 0.0, off)
  through = np.matmul(np.where(to_idle, kept, 0.0), first)
  before = np.matmul(np.where(idle, initial, 0.0)[..., None, :], first)
  before = before[..., 0, :]
  return StochasticComplement(
    np.where(idle, 0.0, initial) + before[..., :p],
    np.where(to_idle, 0.0, kept) + through[..., :p],
    np.where(idle, 0.0, exits) + through[..., p],
    atom + before[..., p],
  )


def solution(off: Array, exits: Array, b: Array) -> Array:
  """Solves (-S) x = b for x (..., p, r), given off-diagonals and exits."""
  p = static.shape(exits)[-1]
  indices = structures.cast(chain_solves.all_indices(p), "int32")
  batch = static.shape(exits)[:-1]
  rates = np.reshape(off, (*batch, p * p))
  return elimination_ops.eliminate(
    elimination.eliminate,
    np.reshape(indices, (*(1 for _ in batch), 2, -1)),
    np.concatenate([rates, exits], axis=-1),
    b,
  )


def _forward(rewards: Array) -> tuple[Array, Array]:
  return no_derivative_at_zero(rewards), rewards


def _nan_jvp(
  primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
  lost = _nan_at_zero(*primals)
  return lost, lost + 0.0 * tangents[1][..., None]


def _nan_forward(
  rewards: Array, like: Array
) -> tuple[Array, tuple[Array, Array]]:
  return _nan_at_zero(rewards, like), (rewards, like)


def _nan_vjp(
  residuals: tuple[Array, Array], cotangent: Array
) -> tuple[Array, Array]:
  rewards, like = residuals
  lost = np.where((rewards == 0) & (cotangent != 0), math.nan, 0.0)
  return np.zeros_like(rewards), np.sum(lost, axis=-1) + np.zeros_like(like)


@custom_gradient.custom_gradient(
  vjp_fwd=_nan_forward, vjp_bwd=_nan_vjp, jvp_fn=_nan_jvp
)
def _nan_at_zero(rewards: Array, like: Array) -> Array:
  """Returns NaN for rewards (..., p) of zero, and zeros otherwise.

  TensorFlow derives forward mode as the transpose of reverse mode, in `like`
  (...): it is NaN if a reward of zero has a tangent.
  """
  return np.where(rewards == 0, math.nan, 0.0) + 0.0 * like[..., None]


def _vjp(rewards: Array, cotangent: Array) -> tuple[Array]:
  # The added zeros make second derivatives at zero rewards NaN as well.
  again = no_derivative_at_zero(rewards) + 0.0 * cotangent
  return (_nan_at_zero(rewards, cotangent) + again[..., None],)


def _jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
  (rewards,), (tangent,) = primals, tangents
  lost = np.where((rewards == 0) & (tangent != 0), math.nan, 0.0)
  again = no_derivative_at_zero(rewards)
  return again, np.sum(lost, axis=-1) + again


@custom_gradient.custom_gradient(vjp_fwd=_forward, vjp_bwd=_vjp, jvp_fn=_jvp)
def no_derivative_at_zero(rewards: Array) -> Array:
  """Returns zeros of shape (...), whose derivatives in zero rewards are NaN.

  A reward of zero gives a mass where a small reward gives a density: the arrays
  of the model are not differentiable there.
  """
  return np.sum(np.zeros_like(rewards), axis=-1)
