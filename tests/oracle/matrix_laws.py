"""Distributions of chains in mpmath, by eigenvalues of their matrices.

They are sums of exponentials or powers. The eigenvalues must be distinct; set
the precision around calls.
"""

from collections.abc import Sequence
from typing import Any

import mpmath

from tests.oracle import family_oracle


class _Modes:
  """Row vectors alpha f(M), for functions f of a matrix M."""

  def __init__(self, alpha: Any, matrix: Any):
    self._values, right = mpmath.eig(matrix)
    left = mpmath.inverse(right)
    start = alpha * right
    self._rows = [start[i] * left[i, :] for i in range(matrix.rows)]

  def row(self, function: Any) -> Any:
    """Computes alpha f(M); imaginary parts are rounding errors."""
    total = self._rows[0] * 0
    for value, row in zip(self._values, self._rows, strict=True):
      total = total + function(value) * row
    return total.apply(mpmath.re)


def _prepared(
  alpha: Sequence[Any], matrix: Any, exits: Any, atom: Any, whole: int
) -> tuple[Any, Any, Any, Any]:
  """Converts the arguments to matrices, and derives missing ones."""
  alpha = mpmath.matrix([list(alpha)])
  matrix = mpmath.matrix([list(row) for row in matrix])
  ones = mpmath.ones(matrix.rows, 1)
  if exits is None:
    exits = whole * ones - matrix * ones
  else:
    exits = mpmath.matrix(list(exits))
  left = 1 - mpmath.fsum(alpha)
  return alpha, matrix, exits, left if atom is None else atom


def phase_type(
  alpha: Sequence[Any], matrix: Any, exits: Any = None, atom: Any = None
) -> family_oracle.Law:
  """Returns the distribution of the absorption time, with an atom."""
  alpha, matrix, exits, atom = _prepared(alpha, matrix, exits, atom, 0)
  modes = _Modes(alpha, matrix)
  ones = mpmath.ones(matrix.rows, 1)

  def spent(t: Any) -> Any:
    """Computes expected times in the phases until t."""
    return modes.row(lambda x: mpmath.expm1(x * t) / x)

  inverse = mpmath.inverse(-matrix)
  once = alpha * inverse
  return family_oracle.Law(
    lambda t: (modes.row(lambda x: mpmath.exp(x * t)) * exits)[0],
    lambda t: atom + (spent(t) * exits)[0],
    lambda t: (modes.row(lambda x: mpmath.exp(x * t)) * ones)[0],
    (once * ones)[0] if exits is None else (once * inverse * exits)[0],
    2 * (once * inverse * inverse * exits)[0],
  )


def discrete_phase_type(
  alpha: Sequence[Any], matrix: Any, exits: Any = None, atom: Any = None
) -> family_oracle.Law:
  """Returns the distribution of the number of steps until absorption."""
  alpha, matrix, exits, atom = _prepared(alpha, matrix, exits, atom, 1)
  modes = _Modes(alpha, matrix)
  ones = mpmath.ones(matrix.rows, 1)
  unit = mpmath.eye(matrix.rows)
  inverse = mpmath.inverse(unit - matrix)

  def mass(k: Any) -> Any:
    if k == 0:
      return atom
    return (modes.row(lambda x: x ** (int(k) - 1)) * exits)[0]

  def below(k: Any) -> Any:
    return mpmath.fsum(mass(j) for j in range(int(k) + 1))

  mean = (alpha * inverse**2 * exits)[0]
  return family_oracle.Law(
    mass,
    below,
    lambda k: (modes.row(lambda x: x ** int(k)) * ones)[0],
    mean,
    2 * (alpha * matrix * inverse**3 * exits)[0] + mean,
  )


def two_epochs(
  alpha: Sequence[Any], early: Any, late: Any, boundary: Any
) -> family_oracle.Law:
  """Returns the distribution of a chain whose matrix changes at `boundary`."""
  first = phase_type(alpha, early)
  modes = _Modes(mpmath.matrix([list(alpha)]), mpmath.matrix(early))
  moved = modes.row(lambda x: mpmath.exp(x * boundary))
  second = phase_type(moved, late, None, 0)

  def joined(name: str) -> Any:
    before = getattr(first, name)
    after = getattr(second, name)
    return lambda t: before(t) if t < boundary else after(t - boundary)

  # Integrals of t^(k-1) P(X > t) over the first epoch, and over the others.
  ones = mpmath.ones(moved.cols, 1)
  spent = (modes.row(lambda x: mpmath.expm1(x * boundary) / x) * ones)[0]
  moments = modes.row(
    lambda x: (
      boundary * mpmath.exp(x * boundary) / x
      - mpmath.expm1(x * boundary) / x**2
    )
  )
  mean = spent + second.mean
  twice = 2 * (moments * ones)[0] + 2 * boundary * second.mean + second.second
  later = joined("cdf")
  return family_oracle.Law(
    joined("prob"),
    lambda t: later(t) + (first.cdf(boundary) if t >= boundary else 0),
    joined("sf"),
    mean,
    twice,
  )
