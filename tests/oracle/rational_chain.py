"""Moments of chains and their derivatives in rational arithmetic.

Quantities are polynomials c_0 + c_1 e + c_2 e^2 in a direction e, cut off after
the square: c_1 is the first derivative along it and 2 c_2 the second. With
`absolute` every difference is a sum: what errors are measured against.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import flint

Number = flint.fmpq
Poly = list  # of three numbers
_ORDERS = range(3)


def exact(x: float) -> Number:
  """Converts a float to a rational number."""
  return flint.fmpq(*float(x).as_integer_ratio())


def poly(value: float, slope: float = 0.0, absolute: bool = False) -> Poly:
  """Returns a number with its derivative along the direction."""
  slope = abs(slope) if absolute else slope
  return [exact(value), exact(slope), flint.fmpq(0)]


def times(x: Poly, y: Poly) -> Poly:
  """Multiplies polynomials."""
  result = [flint.fmpq(0)] * 3
  for i in _ORDERS:
    for j in range(3 - i):
      result[i + j] += x[i] * y[j]
  return result


def plus(*terms: Poly) -> Poly:
  """Adds polynomials."""
  return [sum((t[i] for t in terms), flint.fmpq(0)) for i in _ORDERS]


def scaled(factor: int, x: Poly) -> Poly:
  """Multiplies a polynomial by a number."""
  return [factor * c for c in x]


def power(x: Poly, k: int) -> Poly:
  """Computes a power."""
  result = poly(1.0)
  for _ in range(k):
    result = times(result, x)
  return result


class Chain:
  """Phases 0 to p - 1 and edges between them; target p is absorption."""

  def __init__(
    self,
    phases: int,
    edges: Sequence[tuple[int, int]],
    weights: Sequence[float | Poly],
    directions: Sequence[float] | None = None,
    absolute: bool = False,
    killing: Poly | None = None,
  ):
    self.phases = phases
    self.edges = [tuple(map(int, e)) for e in edges]
    self.absolute = absolute
    slopes = directions if directions is not None else [0.0] * len(self.edges)
    self.weights = [
      w if isinstance(w, list) else poly(w, v, absolute)
      for w, v in zip(weights, slopes, strict=True)
    ]
    self.killing = killing
    self._constant = flint.fmpq_mat(phases, phases)
    for (i, j), w in zip(self.edges, self.weights, strict=True):
      if i == j:
        continue
      self._constant[i, i] += w[0]
      if j < phases:
        self._constant[i, j] -= w[0]
    if killing is not None:
      for i in range(phases):
        self._constant[i, i] += killing[0]
    self._inverse = self._constant.inv()

  def _change(self, x: Sequence[Number], order: int) -> list[Number]:
    """Computes minus the matrix's coefficient of e^order, times x."""
    sign = 1 if self.absolute else -1
    result = [flint.fmpq(0)] * self.phases
    for (i, j), w in zip(self.edges, self.weights, strict=True):
      if i == j or not w[order]:
        continue
      result[i] += sign * w[order] * x[i]
      if j < self.phases:
        result[i] += w[order] * x[j]
    if self.killing is not None:
      for i in range(self.phases):
        result[i] += sign * self.killing[order] * x[i]
    return result

  def _apply(self, b: Sequence[Number], transposed: bool) -> list[Number]:
    p = self.phases
    column = flint.fmpq_mat(p, 1, list(b))
    matrix = self._inverse.transpose() if transposed else self._inverse
    return (matrix * column).entries()

  def solve(self, b: Sequence[Poly]) -> list[Poly]:
    """Computes U b."""
    found: list[list[Number]] = []
    for order in _ORDERS:
      rest = [x[order] for x in b]
      for before in range(order):
        moved = self._change(found[before], order - before)
        rest = [x + y for x, y in zip(rest, moved, strict=True)]
      found.append(self._apply(rest, False))
    return [[found[k][i] for k in _ORDERS] for i in range(self.phases)]

  def step(self, x: Sequence[Poly]) -> list[Poly]:
    """Computes T x, with one minus the leaving probabilities as diagonal."""
    result = []
    for i in range(self.phases):
      total = x[i]
      for (source, j), w in zip(self.edges, self.weights, strict=True):
        if source != i or j == i:
          continue
        # Values are exact; only derivatives differ from their scales.
        sign = -1
        kept = [sign * w[0], w[1] if self.absolute else -w[1], -w[2]]
        total = plus(total, times(kept, x[i]))
        if j < self.phases:
          total = plus(total, times(w, x[j]))
      result.append(total)
    return result


def raw_moments(
  chain: Chain,
  alpha: Sequence[Poly],
  rewards: Sequence[Poly],
  order: int,
  discrete: bool = False,
) -> list[Poly]:
  """Computes E[Y^k] for k = 1, ..., order."""
  p = chain.phases
  found: list[list[Poly]] = []
  for k in range(1, order + 1):
    if not discrete:
      before = found[-1] if found else [poly(1.0)] * p
      b = [scaled(k, times(r, x)) for r, x in zip(rewards, before, strict=True)]
    else:
      b = [power(r, k) for r in rewards]
      for j, before in enumerate(found, start=1):
        b = [
          plus(total, scaled(math.comb(k, j), times(power(r, k - j), later)))
          for total, r, later in zip(
            b, rewards, chain.step(before), strict=True
          )
        ]
    found.append(chain.solve(b))
  return [
    plus(*(times(a, x) for a, x in zip(alpha, m, strict=True))) for m in found
  ]


def variance(moments: Sequence[Poly], absolute: bool = False) -> Poly:
  """Computes E[Y^2] - E[Y]^2."""
  square = times(moments[0], moments[0])
  value = moments[1][0] - square[0]
  sign = 1 if absolute else -1
  return [value] + [moments[1][k] + sign * square[k] for k in (1, 2)]


def error(actual: float, truth: Number, scale: Number | None = None) -> float:
  """Computes |actual - truth| over |truth|, or over the scale."""
  if not math.isfinite(actual):
    return math.inf
  size = abs(truth) if scale is None else abs(scale)
  missed = abs(exact(actual) - truth)
  if size == 0:
    return 0.0 if missed == 0 else math.inf
  ratio = missed / size
  return int(ratio.p) / int(ratio.q)
