"""Distributions of rewards in rational numbers.

Models are float arrays, taken for the rational numbers that they are:
initial_probs, off-diagonals (the diagonal is not read) and exits.
"""

from collections.abc import Sequence
from typing import Any

import flint
import numpy as onp


def rational(x: float) -> flint.fmpq:
  """Converts a float to its exact rational number."""
  return flint.fmpq(*float(x).as_integer_ratio())


def matrix(x: onp.ndarray) -> flint.fmpq_mat:
  """Converts to a matrix of rational numbers; a vector becomes a column."""
  x = onp.asarray(x, onp.float64)
  rows = x if x.ndim == 2 else x[:, None]
  entries = [rational(v) for v in onp.ravel(rows)]
  return flint.fmpq_mat(*rows.shape, entries)


def floats(x: flint.fmpq_mat) -> onp.ndarray:
  """Rounds a matrix to the nearest floats."""
  entries = [float(flint.arb(v)) for v in x.entries()]
  return onp.reshape(onp.asarray(entries), (x.nrows(), x.ncols()))


def diagonal(x: onp.ndarray) -> flint.fmpq_mat:
  """Returns the diagonal matrix of a vector."""
  return matrix(onp.diag(onp.asarray(x, onp.float64)))


def green(
  off: onp.ndarray, exits: onp.ndarray, killing: flint.fmpq_mat | None = None
) -> flint.fmpq_mat:
  """Computes (Delta - S)^-1, with Delta the killing rates."""
  p = len(exits)
  off = onp.asarray(off) * (1 - onp.eye(p))
  a = -matrix(off)
  for i in range(p):
    a[i, i] = sum((rational(v) for v in off[i]), rational(exits[i]))
  return (a if killing is None else a + killing).inv()


def moment(
  alpha: onp.ndarray,
  off: onp.ndarray,
  exits: onp.ndarray,
  rewards: Sequence[onp.ndarray],
) -> flint.fmpq:
  """Computes E of a product, a sum over orders of alpha U D(r_1) U D(r_2) ... 1."""
  u = green(off, exits)

  def chains(row: flint.fmpq_mat, left: tuple[int, ...]) -> Any:
    if not left:
      return sum(row.entries())
    total = flint.fmpq(0)
    for k in left:
      rest = tuple(i for i in left if i != k)
      total += chains(row * u * diagonal(rewards[k]), rest)
    return total

  return chains(matrix(alpha).transpose(), tuple(range(len(rewards))))


def laplace(
  alpha: onp.ndarray,
  off: onp.ndarray,
  exits: onp.ndarray,
  rewards: onp.ndarray,
  arguments: onp.ndarray,
) -> flint.fmpq:
  """Computes alpha (Delta(R u) - S)^-1 s, rewards (p, R)."""
  rates = matrix(rewards) * matrix(arguments)
  p = len(exits)
  killing = flint.fmpq_mat(p, p)
  for i in range(p):
    killing[i, i] = rates[i, 0]
  x = green(off, exits, killing) * matrix(exits)
  return (matrix(alpha).transpose() * x)[0, 0]


def transform(
  alpha: onp.ndarray,
  off: onp.ndarray,
  exits: onp.ndarray,
  rewards: onp.ndarray,
  prob_zero: float,
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray, float]:
  """Eliminates phases without reward; returns masses, rates, exits and atom.

  Those of phases of positive reward only, in their order. Rates are divided by
  rewards.
  """
  rewards = onp.asarray(rewards)
  plus, zero = onp.flatnonzero(rewards > 0), onp.flatnonzero(rewards == 0)
  off = onp.asarray(off) * (1 - onp.eye(len(rewards)))
  start = matrix(onp.asarray(alpha)[plus]).transpose()
  inside = matrix(off[plus][:, plus])
  leave = matrix(exits[plus])
  atom = rational(prob_zero)
  if len(zero):
    total = flint.fmpq_mat(len(zero), len(zero))
    for k, i in enumerate(zero):
      total[k, k] = sum((rational(v) for v in off[i][plus]), flint.fmpq(0))
    n = green(off[zero][:, zero], exits[zero], total)
    first = matrix(onp.asarray(alpha)[zero]).transpose() * n
    into = matrix(off[plus][:, zero])
    start = start + first * matrix(off[zero][:, plus])
    inside = inside + into * n * matrix(off[zero][:, plus])
    leave = leave + into * n * matrix(exits[zero])
    atom += (first * matrix(exits[zero]))[0, 0]
  units = diagonal(rewards[plus]).inv()
  between = floats(units * inside)
  return (
    floats(start)[0],
    between * (1 - onp.eye(len(plus))),
    floats(units * leave)[:, 0],
    float(flint.arb(atom)),
  )
