"""Log density, survival and cdf of chains of any rates, in ball arithmetic.

Everything is a sum of products of non-negative numbers: exp(M t) is e^(-q t)
times a power series in P = I + M / q, for a short time, squared again and again.
So each entry has its own relative accuracy, however far it is below the others,
and deep tails need no more bits than others do.
"""

import math
from typing import Any

import flint
import numpy as onp

_BITS = 400
# The first step is at most 2^-8 jumps long.
_LONGEST = -8


def _exact(x: Any) -> flint.fmpq:
  return flint.fmpq(*float(x).as_integer_ratio())


def _log2(x: flint.fmpq) -> int:
  """Returns the logarithm, rounded up by at most two."""
  return int(x.p).bit_length() - int(x.q).bit_length() + 1


def logs(
  initial: Any, rates: Any, exits: Any, atom: Any, time: Any
) -> dict[str, flint.arb]:
  """Computes log f, log S and log F at a positive time.

  Args:
    initial: the initial probabilities, [p].
    rates: rates from phase to phase, [p, p]; the diagonal is not read.
    exits: rates of absorption, [p].
    atom: the probability of zero.
    time: the time.

  Returns:
    Balls by kind, minus infinity where the function is zero.
  """
  p = len(initial)
  rows = [
    [_exact(rates[i][j]) if i != j else flint.fmpq(0) for j in range(p)]
    + [_exact(exits[i])]
    for i in range(p)
  ]
  leaving = [sum(row, flint.fmpq(0)) for row in rows]
  q = max(max(leaving), flint.fmpq(1, 2**1074))
  jumps = q * _exact(time)
  squarings = max(0, _log2(jumps) - _LONGEST)
  # Squaring doubles relative errors.
  with flint.ctx.workprec(_BITS + 2 * squarings):
    matrix = [
      [(q - leaving[i] if i == j else rows[i][j]) / q for j in range(p + 1)]
      for i in range(p)
    ]
    step = jumps / flint.fmpq(2) ** squarings
    power = _exponential(matrix + [[0] * p + [1]], step)
    for _ in range(squarings):
      power = power * power
    start = flint.arb_mat(1, p + 1, [*map(_ball, initial), _ball(atom)])
    end = (start * power).entries()
    values = {
      "log_density": sum(
        (x * _ball(s) for x, s in zip(end[:p], exits, strict=True)),
        flint.arb(0),
      ),
      "log_survival": sum(end[:p], flint.arb(0)),
      "log_cdf": end[p],
    }
    return {
      kind: flint.arb("-inf") if x == 0 else x.log()
      for kind, x in values.items()
    }


def _ball(x: Any) -> flint.arb:
  return flint.arb(_exact(x))


def _exponential(matrix: list[list[Any]], step: flint.fmpq) -> flint.arb_mat:
  """Computes exp((P - I) step); each entry has its own relative accuracy."""
  size = len(matrix)
  positive = [flint.fmpq(x) for row in matrix for x in row if x != 0]
  # A reachable phase is reached in fewer jumps than there are phases, so that no
  # entry is below the smallest product of as many probabilities.
  jumps = 1 - min(_log2(x) for x in positive) + max(0, 2 - _log2(step))
  needed = flint.ctx.prec + (size + 1) * (jumps + 4)
  probabilities = flint.arb_mat(
    size, size, [flint.arb(flint.fmpq(x)) for row in matrix for x in row]
  )
  term = flint.arb_mat(size, size, onp.eye(size, dtype=int).ravel().tolist())
  total = term
  bits, k = 0.0, 0
  while bits < needed:
    k += 1
    term = term * probabilities * flint.arb(step / k)
    total = total + term
    bits += math.log2(k) - _log2(step)
  return total * (-flint.arb(step)).exp()
