"""Two kinds of matrix arithmetic for the oracle's formulas.

`BallRing` computes with matrices of real balls (midpoint and radius, FLINT's
`arb`): what comes out encloses the exact result. `MagnitudeRing` computes
with non-negative extended-precision floats: sums of sizes, for the error
scales, where a few correct digits are enough but where exact zeros and tiny
entries must survive.

Vectors are matrices with one row or one column; scalars are 1 x 1.
"""

from collections.abc import Sequence
from fractions import Fraction
import math
from typing import Any

import flint
import numpy as onp

Matrix = Any
Rows = Sequence[Sequence[Fraction | int]]


def _ball(x: Fraction | int) -> flint.arb:
  if x == 0:
    return flint.arb(0)
  return flint.arb(flint.fmpq(x.numerator, x.denominator))


def _terms_needed(norm: float, bits: int) -> int:
  """Computes the smallest K with norm^(K+1) / (K+1)! below 2^-bits."""
  log2_term, k = 0.0, 0
  while log2_term > -bits:
    k += 1
    log2_term += math.log2(norm / k) if norm > 0.0 else -math.inf
  return k


class BallRing:
  """Matrices of real balls with `prec` bits."""

  def __init__(self, prec: int):
    self.prec = prec

  def matrix(self, rows: Rows) -> Matrix:
    """Builds a matrix from rows of exact numbers."""
    entries = [_ball(x) for row in rows for x in row]
    return flint.arb_mat(len(rows), len(rows[0]), entries)

  def zeros(self, rows: int, cols: int) -> Matrix:
    return flint.arb_mat(rows, cols)

  def shape(self, a: Matrix) -> tuple[int, int]:
    return a.nrows(), a.ncols()

  def scalar(self, x: float) -> Any:
    """Converts an exact float to a scalar."""
    return flint.arb(x)

  def transpose(self, a: Matrix) -> Matrix:
    return a.transpose()

  def matmul(self, a: Matrix, b: Matrix) -> Matrix:
    return a * b

  def scale(self, a: Matrix, x: Any) -> Matrix:
    return a * x

  def exp(self, x: Any) -> Any:
    return flint.arb(x).exp()

  def log(self, a: Matrix) -> Matrix:
    return flint.arb_mat(1, 1, [a[0, 0].log()])

  def reciprocal(self, a: Matrix) -> Matrix:
    return flint.arb_mat(1, 1, [1 / a[0, 0]])

  def norm(self, a: Matrix) -> float:
    """Computes an upper bound of the largest row sum of sizes."""
    rows, cols = self.shape(a)
    largest = 0.0
    for i in range(rows):
      total = flint.arb(0)
      for j in range(cols):
        total += abs(a[i, j])
      largest = max(largest, float(total.upper()) * (1 + 1e-9))
    return largest

  def squarings(self, norm: float) -> int:
    """Computes the number of halvings before the Taylor series."""
    return max(0, math.ceil(math.log2(norm)) + 9) if norm > 0.0 else 0

  def taylor_terms(self, norm: float, size: int) -> int:
    del size
    return _terms_needed(norm, self.prec)

  def add_remainder(self, a: Matrix, norm: float, terms: int) -> Matrix:
    """Widens each entry by a bound of the Taylor series' remainder."""
    x = flint.arb(norm)
    bound = x ** (terms + 1) / flint.arb(terms + 1).gamma() / (terms + 1)
    bound = 2 * bound  # Covers the geometric tail, as norm is below a half.
    rows, cols = self.shape(a)
    ball = flint.arb(0, bound.upper())
    return a + flint.arb_mat(rows, cols, [ball] * (rows * cols))


class MagnitudeRing:
  """Matrices of non-negative numbers, in the widest float NumPy has."""

  def matrix(self, rows: Rows) -> Matrix:
    return onp.array([[float(x) for x in row] for row in rows], onp.longdouble)

  def zeros(self, rows: int, cols: int) -> Matrix:
    return onp.zeros((rows, cols), onp.longdouble)

  def shape(self, a: Matrix) -> tuple[int, int]:
    return a.shape

  def scalar(self, x: float) -> Any:
    return onp.longdouble(x)

  def transpose(self, a: Matrix) -> Matrix:
    return a.T

  def matmul(self, a: Matrix, b: Matrix) -> Matrix:
    return a @ b

  def scale(self, a: Matrix, x: Any) -> Matrix:
    with onp.errstate(all="ignore"):
      return a * x

  def exp(self, x: Any) -> Any:
    return onp.exp(onp.longdouble(x))

  def log(self, a: Matrix) -> Matrix:
    with onp.errstate(divide="ignore"):
      return onp.abs(onp.log(a))

  def reciprocal(self, a: Matrix) -> Matrix:
    with onp.errstate(divide="ignore"):
      return 1 / a

  def norm(self, a: Matrix) -> float:
    return float(onp.max(onp.sum(onp.abs(a), axis=1)))

  def squarings(self, norm: float) -> int:
    return max(0, math.ceil(math.log2(norm))) if norm > 0.0 else 0

  def taylor_terms(self, norm: float, size: int) -> int:
    # Enough that each entry, however long its shortest path, gets its
    # leading terms.
    del norm
    return 2 * size + 20

  def add_remainder(self, a: Matrix, norm: float, terms: int) -> Matrix:
    del norm, terms
    return a
