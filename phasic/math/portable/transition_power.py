"""Powers of a transition matrix, with small entrywise relative errors.

A power P^k is stored as off-diagonals, absorbed mass and diagonal.
Off-diagonals and absorbed mass are sums of products of nonnegative numbers
(with O the off-diagonals and E the diagonal)

  O' = O O + O_ij (E_ii + E_jj),   a' = a + O a + E a,

and where most of the mass stays the diagonal is one minus their sum. So a
squared matrix belongs to a chain whose probabilities have small relative
errors, and such errors do not grow with the power. Squaring E_ii = 1 - r/q
instead would double its rounding error each time: an error of 2^-53 in E
becomes 1e-11 in a density after 10^5 steps.

References:
  W. Grassmann, M. Taksar, D. Heyman, Regenerative analysis and steady state
    distributions for Markov chains, 1985.
  J. Xue, Q. Ye, Computing exponentials of essentially non-negative matrices
    entrywise to high relative accuracy, Math. Comp. 82, 2013.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array

# Longer blocks could underflow, as probabilities of staying may be near 1/16.
LONGEST_BLOCK = {"float64": 64, "float32": 16}
_STEP = 2**13  # A loop step costs this many multiplications.


class Power(NamedTuple):
  """A power P^k of a transition matrix, scaled by a diagonal similarity.

  Attributes:
    off: off-diagonals times 2**(scale_i - scale_j) (..., m, m).
    keep: the first part of the diagonal, which is keep - lose (..., m). There
      are two parts where the difference would be rounded.
    lose: the second part of the diagonal (..., m).
    absorbed: mass absorbed from each state times 2**scale_i (..., m).
  """

  off: Array
  keep: Array
  lose: Array
  absorbed: Array


def block_length(steps: int, states: int, dtype: str) -> int:
  """Returns the number of powers that are computed by doubling.

  With blocks of B = 2^l, l squarings give P^B, doubling gives the columns
  P^i end for i < B, and a scan makes steps / B steps of B each. The length
  minimizes l m^3 / 4 + (B + steps / B) (m^2 + 2^13) for m states: a
  multiplication in a matrix product is about four times as fast as in a
  product with a vector, and a step of a loop has an overhead. So few steps of
  a large model are a plain scan, B = 1. Many steps of a small model use
  doubling, with a scan that is up to 64 (in float32 16) times shorter.

  Args:
    steps: the number of powers.
    states: the number of states m.
    dtype: name of the dtype, whose range bounds the length.
  """

  def cost(block: int) -> float:
    squarings = math.log2(block) * states**3 / 4
    return squarings + (block + steps / block) * (states**2 + _STEP)

  blocks = [1]
  while 2 * blocks[-1] <= min(steps, LONGEST_BLOCK[dtype]):
    blocks.append(2 * blocks[-1])
  return min(blocks, key=cost)


def uniformized(totals: Array, rate: Array) -> tuple[Array, Array]:
  """Computes the diagonal of I + S/q in two parts, keep - lose.

  Args:
    totals: rates of leaving the states (..., m).
    rate: the uniformization rate q (...).
  """
  share = totals / rate[..., None]
  fast = share > 0.5
  keep = np.where(fast, (rate[..., None] - totals) / rate[..., None], 1.0)
  return keep, np.where(fast, 0.0, share)


def squared(power: Power, weights: Array) -> Power:
  """Squares P^k to P^2k.

  The weights are 2**scale, an array of shape (..., m). The derivative is that
  of the matrix product, so the diagonal may be an independent variable.
  """
  off, keep, lose, absorbed = power
  stay = keep - lose
  eye = np.eye(static.shape(off)[-1], dtype=off.dtype)
  product = np.matmul(off, off)
  returned = np.sum(product * eye, axis=-1) + stay * stay
  off = product * (1 - eye) + off * (stay[..., :, None] + stay[..., None, :])
  absorbed = absorbed + after(power, absorbed[..., None])[..., 0]
  gone = np.matmul(off, weights[..., None])[..., 0] + absorbed
  gone = gone / weights
  slow = gone < 0.5
  keep = np.where(slow, 1.0, returned)
  fixed = autodiff.stop_gradient
  lose = fixed(gone) - (returned - fixed(returned))
  return Power(off, keep, np.where(slow, lose, 0.0), absorbed)


def after(power: Power, columns: Array) -> Array:
  """Multiplies P^k by columns (..., m, c)."""
  moved = np.matmul(power.off, columns)
  stayed = columns * power.keep[..., None] - columns * power.lose[..., None]
  return stayed + moved


def before(row: Array, power: Power) -> Array:
  """Multiplies a row (..., m) by P^k."""
  moved = np.matmul(row[..., None, :], power.off)[..., 0, :]
  return row * power.keep - row * power.lose + moved
