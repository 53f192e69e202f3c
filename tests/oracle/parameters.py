"""Exact parameters of a phase-type distribution, with directions.

All numbers here are `fractions.Fraction`s: the exact values of the floats that
the library is given, and what follows from them without rounding.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as onp

ZERO = Fraction(0)


class Operands(NamedTuple):
  """The arguments of one density, as the library takes them.

  Attributes:
    initial_probs: [p], alpha.
    subgenerator: [p, p], S.
    exit_rates: [p], s, or None for s = -S 1.
    prob_zero: the atom at zero, or None for 1 - sum(alpha).
    time: a positive, finite time.
  """

  initial_probs: Any
  subgenerator: Any
  exit_rates: Any
  prob_zero: Any
  time: Any


class Chain(NamedTuple):
  """Exact data of the chain, or a direction in which they move.

  Attributes:
    alpha: p numbers.
    matrix: p x p, with the diagonal that belongs to exits and off-diagonals.
    exits: p numbers.
    atom: the probability of zero.
    time: the time.
  """

  alpha: list[Fraction]
  matrix: list[list[Fraction]]
  exits: list[Fraction]
  atom: Fraction
  time: Fraction


def _exact(x: Any) -> Any:
  array = onp.asarray(x)
  if array.ndim == 0:
    return Fraction(float(array))
  return [_exact(row) for row in array]


def _tolerance(operands: Operands) -> Fraction:
  dtype = onp.asarray(operands.subgenerator).dtype
  eps = onp.finfo(dtype).eps if dtype.kind == "f" else onp.finfo(float).eps
  return 4 * len(onp.asarray(operands.initial_probs)) * Fraction(float(eps))


def derive(operands: Operands) -> Chain:
  """Derives exits, diagonal and atom of `operands`, by the library's rules.

  Exits given: the diagonal is minus the sum of the row's off-diagonals and
  its exit. Exits None: s = -S 1, where |s_i| <= 4 p eps times the row's
  largest size counts as zero; the diagonal stays as given. The atom:
  1 - sum(alpha), zero within 4 p eps.

  Args:
    operands: the parameters.

  Returns:
    The chain.
  """
  alpha = _exact(operands.initial_probs)
  matrix = _exact(operands.subgenerator)
  p = len(alpha)
  tolerance = _tolerance(operands)
  if operands.exit_rates is None:
    exits = [-sum(row, ZERO) for row in matrix]
    for i in range(p):
      if abs(exits[i]) <= tolerance * max(abs(x) for x in matrix[i]):
        exits[i] = ZERO
  else:
    exits = _exact(operands.exit_rates)
    for i in range(p):
      others = sum((matrix[i][j] for j in range(p) if j != i), ZERO)
      matrix[i][i] = -(others + exits[i])
  if operands.prob_zero is None:
    atom = 1 - sum(alpha, ZERO)
    atom = ZERO if abs(atom) <= tolerance else atom
  else:
    atom = _exact(operands.prob_zero)
  return Chain(alpha, matrix, exits, atom, _exact(operands.time))


def derive_direction(
  operands: Operands, direction: Operands, sizes: bool
) -> Chain:
  """Computes the derivative of the chain along `direction`, not clamped.

  Args:
    operands: the parameters.
    direction: their tangents; None where there is no such operand.
    sizes: whether each difference becomes a sum of sizes.

  Returns:
    The tangent of `derive(operands)`, or its sizes.
  """
  size = abs if sizes else lambda x: x
  sign = 1 if sizes else -1
  alpha = [size(x) for x in _exact(direction.initial_probs)]
  matrix = [[size(x) for x in row] for row in _exact(direction.subgenerator)]
  p = len(alpha)
  if operands.exit_rates is None:
    exits = [sign * sum(row, ZERO) for row in matrix]
  else:
    exits = [size(x) for x in _exact(direction.exit_rates)]
    for i in range(p):
      others = sum((matrix[i][j] for j in range(p) if j != i), ZERO)
      matrix[i][i] = sign * (others + exits[i])
  if operands.prob_zero is None:
    atom = sign * sum(alpha, ZERO)
  else:
    atom = size(_exact(direction.prob_zero))
  return Chain(alpha, matrix, exits, atom, size(_exact(direction.time)))
