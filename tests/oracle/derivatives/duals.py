"""Matrices of balls with exact derivatives along several directions.

A dual matrix is X + sum_d V_d e_d with e_d e_f = 0. Beside each derivative V_d
goes the sum of the sizes of its terms, in which every difference is a sum: the
scale of the error that floating-point arithmetic may make. Nothing is a finite
difference. Derivatives of exponentials are those of block matrices,

    exp [[X, V], [0, X]] = [[exp X, D exp(X)[V]], [0, exp X]].
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any, NamedTuple, TypeAlias

import flint

Matrix: TypeAlias = Any  # flint.arb_mat


class Dual(NamedTuple):
  """A matrix with derivatives.

  Attributes:
    value: the matrix X.
    slopes: V_d, for each direction d.
    sizes: sums of the sizes of the terms of V_d.
  """

  value: Matrix
  slopes: list[Matrix]
  sizes: list[Matrix]

  @property
  def shape(self) -> tuple[int, int]:
    return self.value.nrows(), self.value.ncols()


def constant(value: Matrix, directions: int) -> Dual:
  none = [flint.arb_mat(value.nrows(), value.ncols())] * directions
  return Dual(value, none, none)


def of_slopes(value: Matrix, slopes: Sequence[Matrix]) -> Dual:
  """Returns a matrix whose derivatives have a term for each entry."""
  return Dual(value, list(slopes), [absolute(x) for x in slopes])


def absolute(x: Matrix) -> Matrix:
  return flint.arb_mat(x.nrows(), x.ncols(), [abs(a) for a in x.entries()])


def add(x: Dual, y: Dual) -> Dual:
  return Dual(
    x.value + y.value, _sums(x.slopes, y.slopes), _sums(x.sizes, y.sizes)
  )


def subtract(x: Dual, y: Dual) -> Dual:
  slopes = [a - b for a, b in zip(x.slopes, y.slopes, strict=True)]
  return Dual(x.value - y.value, slopes, _sums(x.sizes, y.sizes))


def _sums(x: Sequence[Matrix], y: Sequence[Matrix]) -> list[Matrix]:
  return [a + b for a, b in zip(x, y, strict=True)]


def multiply(x: Dual, y: Dual) -> Dual:
  """Multiplies two matrices."""
  left, right = absolute(x.value), absolute(y.value)
  return Dual(
    x.value * y.value,
    [v * y.value + x.value * w for v, w in zip(x.slopes, y.slopes)],
    [v * right + left * w for v, w in zip(x.sizes, y.sizes)],
  )


def times(x: Dual, factor: Dual) -> Dual:
  """Multiplies a matrix by a 1 x 1 matrix."""
  a, size = factor.value[0, 0], absolute(x.value)
  return Dual(
    x.value * a,
    [v * a + x.value * w[0, 0] for v, w in zip(x.slopes, factor.slopes)],
    [v * abs(a) + size * w[0, 0] for v, w in zip(x.sizes, factor.sizes)],
  )


def quotient(x: Dual, y: Dual) -> Dual:
  """Divides two 1 x 1 matrices."""
  a, b = x.value[0, 0], y.value[0, 0]
  pairs = zip(x.slopes, y.slopes, strict=True)
  sizes = zip(x.sizes, y.sizes, strict=True)
  return Dual(
    _one(a / b),
    [_one((v[0, 0] - a / b * w[0, 0]) / b) for v, w in pairs],
    [_one((v[0, 0] + abs(a / b) * w[0, 0]) / abs(b)) for v, w in sizes],
  )


def logarithm(x: Dual) -> Dual:
  """Computes the logarithm of a 1 x 1 matrix."""
  a = x.value[0, 0]
  return Dual(
    _one(a.log()), [v / a for v in x.slopes], [v / a for v in x.sizes]
  )


def square_root(x: Dual) -> Dual:
  """Computes the square root of a 1 x 1 matrix."""
  root = x.value[0, 0].sqrt()
  return Dual(
    _one(root),
    [v / (2 * root) for v in x.slopes],
    [v / (2 * root) for v in x.sizes],
  )


def _one(x: Any) -> Matrix:
  return flint.arb_mat(1, 1, [x])


def inverse_of_negative(x: Dual) -> Dual:
  """Computes U = (-X)^-1 of a subgenerator X, whose entries are >= 0."""
  found = (-x.value).inv()
  return Dual(
    found,
    [found * v * found for v in x.slopes],
    [found * v * found for v in x.sizes],
  )


def exponential(x: Dual, length: Dual) -> Dual:
  """Computes exp(X t) for a 1 x 1 matrix t, by halving, blocks and squaring.

  Off its diagonal X is >= 0, so that the exponential has no negative entries
  and squaring keeps the relative accuracy of each of them. The derivative in t
  is X exp(X t); as it is exp(X t) X too, its terms count in both forms.
  """
  time = length.value[0, 0]
  rows = [sum(map(abs, row), flint.arb(0)) for row in x.value.tolist()]
  norm = max(float((row * time).upper()) for row in rows)
  halvings = max(0, math.ceil(math.log2(norm)) + 1) if norm > 0.0 else 0
  factor = time * flint.arb(2) ** -halvings
  moves = [*x.slopes, *x.sizes]
  found = [_block_exponential(x.value, v, factor) for v in moves]
  slopes, count = [v for _, v in found], len(x.slopes)
  result = Dual(found[0][0], slopes[:count], slopes[count:])
  for _ in range(halvings):
    result = multiply(result, result)
  change, sizes = x.value * result.value, absolute(x.value)
  size = sizes * result.value + result.value * sizes
  later = Dual(
    result.value,
    [change * v[0, 0] for v in length.slopes],
    [size * v[0, 0] for v in length.sizes],
  )
  return later._replace(
    slopes=_sums(result.slopes, later.slopes),
    sizes=_sums(result.sizes, later.sizes),
  )


def _block_exponential(
  x: Matrix, move: Matrix, factor: Any
) -> tuple[Matrix, Matrix]:
  """Computes exp(factor X) and its derivative along factor * move."""
  n = x.nrows()
  block = flint.arb_mat(2 * n, 2 * n)
  for i in range(n):
    for j in range(n):
      block[i, j] = block[n + i, n + j] = x[i, j] * factor
      block[i, n + j] = move[i, j] * factor
  power = block.exp()
  rows = range(n)
  value = [power[i, j] for i in rows for j in rows]
  slope = [power[i, n + j] for i in rows for j in rows]
  return flint.arb_mat(n, n, value), flint.arb_mat(n, n, slope)


def assembled(
  rows: int, cols: int, parts: Sequence[tuple[int, int, Dual]]
) -> Dual:
  """Adds up parts, each at the position of its first entry."""
  count = len(parts[0][2].slopes)
  found = constant(flint.arb_mat(rows, cols), count)
  whole = [found.value, *_copies(found.slopes), *_copies(found.sizes)]
  for i, j, part in parts:
    for to, of in zip(whole, [part.value, *part.slopes, *part.sizes]):
      for a in range(of.nrows()):
        for b in range(of.ncols()):
          to[i + a, j + b] += of[a, b]
  return Dual(whole[0], whole[1 : 1 + count], whole[1 + count :])


def _copies(matrices: Sequence[Matrix]) -> list[Matrix]:
  return [flint.arb_mat(x) for x in matrices]


def columns(x: Dual, first: int, last: int) -> Dual:
  """Returns the columns first, ..., last - 1."""

  def cut(of: Matrix) -> Matrix:
    entries = [x for row in of.tolist() for x in row[first:last]]
    return flint.arb_mat(of.nrows(), last - first, entries)

  return Dual(
    cut(x.value), [cut(v) for v in x.slopes], [cut(v) for v in x.sizes]
  )


def diagonal(x: Dual) -> Dual:
  """Returns the diagonal matrix of a column."""

  def wide(of: Matrix) -> Matrix:
    n = of.nrows()
    found = flint.arb_mat(n, n)
    for i in range(n):
      found[i, i] = of[i, 0]
    return found

  return Dual(
    wide(x.value), [wide(v) for v in x.slopes], [wide(v) for v in x.sizes]
  )
