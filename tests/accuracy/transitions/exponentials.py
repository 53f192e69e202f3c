"""The exponential of a subgenerator in ball arithmetic, by squaring.

exp(S t) = exp((S + q I) t / 2^n)^(2^n) exp(-q t), with q the largest rate at
which a phase is left. All matrices on the right are nonnegative, so every entry
has a small relative radius, whatever its size.
"""

import math

import flint
import numpy as onp

from tests.oracle import phase_type_oracle

_BITS = 512
_TERMS = 120


def reachable(rates: onp.ndarray) -> onp.ndarray:
  """Returns whether phases are reached from phases, those themselves too."""
  p = len(rates)
  linked = (rates > 0) | onp.eye(p, dtype=bool)
  for _ in range(p.bit_length()):
    linked = (linked.astype(int) @ linked.astype(int)) > 0
  return linked


def exponential(
  rates: onp.ndarray, exits: onp.ndarray, time: float
) -> flint.arb_mat:
  """Computes exp(S t).

  Args:
    rates: rates between phases, (p, p); the diagonal is not read.
    exits: exit rates, (p,).
    time: t >= 0.

  Returns:
    A matrix of balls, with exact zeros where no path leads.
  """
  with flint.ctx.workprec(_BITS):
    p = len(rates)
    exact = phase_type_oracle.exact
    off = [[exact(rates[i, j]) * (i != j) for j in range(p)] for i in range(p)]
    leaving = [sum(off[i], exact(exits[i])) for i in range(p)]
    q = max(leaving, key=float)
    x = float(q) * time
    halvings = max(0, math.ceil(math.log2(x)) + 1) if x > 0.0 else 0
    step = exact(time) / flint.arb(2) ** halvings
    entries = [
      (off[i][j] + (q - leaving[i] if i == j else 0)) * step
      for i in range(p)
      for j in range(p)
    ]
    matrix = flint.arb_mat(p, p, entries)
    # The norm is below 0.6: the rest of the series is far below 2^-600.
    rest = flint.arb(0, 2.0**-600)
    linked = reachable(rates)
    bounds = [rest if linked[i, j] else 0 for i in range(p) for j in range(p)]
    one = flint.arb_mat(p, p, [int(i == j) for i in range(p) for j in range(p)])
    total = one
    for k in range(_TERMS, 0, -1):
      total = one + matrix * total * (1 / flint.arb(k))
    total = (total + flint.arb_mat(p, p, bounds)) * (-q * step).exp()
    for _ in range(halvings):
      total = total * total
    return total
