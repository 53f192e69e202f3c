"""Expected sufficient statistics of paths, for the EM algorithm.

In continuous time statistics are entries of the integral of exp(M u)' alpha e'
exp(M (t - u))' over u, a block of the exponential of a matrix of twice the size
(C. Van Loan, Computing integrals involving the matrix exponential, 1978), in
ball arithmetic. In discrete time they are sums over the steps, in rational
numbers. What is never seen, for truncation, are whole paths that end too early.
"""

from fractions import Fraction
from typing import Any

import flint
import numpy as onp

_BITS = 300


def expected(alpha, matrix, exits, atom, data, discrete=False):
  """Computes starts, visits, jumps, exits and atom, summed over observations.

  Args:
    alpha: masses of the phases.
    matrix: rates between phases, the diagonal of no use; in discrete time
      probabilities of steps, the diagonal among them.
    exits: of absorption.
    atom: the mass at zero.
    data: rows of lower, upper, weight, entry (below zero for none).
    discrete: whether time is discrete.

  Returns:
    float64 arrays (p,), (p,), (p, p), (p,) and ().
  """
  joint = _OfSteps if discrete else _OfTime
  with flint.ctx.workprec(_BITS):
    chain = joint(alpha, matrix, exits, atom)
    total: Any = None
    for lower, upper, weight, entry in data:
      if lower != upper and entry >= 0:
        lower = max(lower, entry)
      found = _observed(chain, lower, upper)
      terms = [x / found[0] for x in found[1:]]
      if entry >= 0:
        alive = chain.joint("survival", entry)[0]
        unseen = chain.joint("cdf", entry)
        terms = [x + y / alive for x, y in zip(terms, unseen[1:], strict=True)]
      terms = [x * chain.number(weight) for x in terms]
      if total is not None:
        terms = [x + y for x, y in zip(total, terms, strict=True)]
      total = terms
    p = len(alpha)
    flat = onp.asarray([float(x) for x in total])
  ends = onp.cumsum([p, p, p * p, p])
  starts, visits, jumps, left, zero = onp.split(flat, ends)
  return starts, visits, onp.reshape(jumps, (p, p)), left, zero[0]


def _observed(chain, lower, upper):
  """Computes P(O), and statistics times P(O)."""
  if lower == upper:
    return chain.joint("density", lower)
  if upper == onp.inf:
    return chain.joint("survival", lower)
  if lower < 0:
    return chain.joint("cdf", upper)
  later, before = chain.joint("cdf", upper), chain.joint("cdf", lower)
  return [x - y for x, y in zip(later, before, strict=True)]


class _OfTime:
  """A chain in continuous time."""

  def __init__(self, alpha, matrix, exits, atom):
    self.alpha = [self.number(x) for x in alpha]
    self.exits = [self.number(x) for x in exits]
    self.atom = self.number(atom)
    p = len(alpha)
    rows = [[self.number(x) for x in row] for row in matrix]
    for i in range(p):
      rows[i][i] = flint.arb(0)
      rows[i][i] = -sum(rows[i], self.exits[i])
    self.rows = [[*row, s] for row, s in zip(rows, self.exits, strict=True)]

  def number(self, x):
    return flint.arb(flint.fmpq(*float(x).as_integer_ratio()))

  def joint(self, base, t):
    p, zero, one = len(self.alpha), flint.arb(0), flint.arb(1)
    if base == "density" and t == 0 and self.atom > 0:
      return [self.atom, *[zero] * (3 * p + p * p), self.atom]
    n = p + 1
    ends = {
      "density": [*self.exits, zero],
      "survival": [*[one] * p, zero],
      "cdf": [*[zero] * p, one],
    }[base]
    block = flint.arb_mat(2 * n, 2 * n)
    for i in range(p):
      for j in range(n):
        block[i, j] = block[n + i, n + j] = self.rows[i][j]
    for i in range(n):
      for j in range(p):
        block[i, n + j] = ends[i] * self.alpha[j]
    power = (block * self.number(t)).exp()
    reach = [
      sum((self.alpha[i] * power[i, j] for i in range(p)), zero)
      for j in range(n)
    ]
    after = [
      sum((power[i, j] * ends[j] for j in range(n)), zero) for i in range(p)
    ]
    # This is the integral of P(i at u) P(end | j at u).
    passing = [[power[j, n + i] for j in range(n)] for i in range(p)]
    atom = self.atom if base == "cdf" else zero
    left = {
      "density": [reach[i] * self.exits[i] for i in range(p)],
      "survival": [zero] * p,
      "cdf": [self.exits[i] * passing[i][p] for i in range(p)],
    }[base]
    return [
      sum((x * y for x, y in zip(reach, ends, strict=True)), atom),
      *(x * y for x, y in zip(self.alpha, after, strict=True)),
      *(passing[i][i] for i in range(p)),
      *(
        zero if i == j else self.rows[i][j] * passing[i][j]
        for i in range(p)
        for j in range(p)
      ),
      *left,
      atom,
    ]


class _OfSteps:
  """A chain in discrete time; visits are steps made."""

  def __init__(self, alpha, matrix, exits, atom):
    self.alpha = [self.number(x) for x in alpha]
    self.rows = [[self.number(x) for x in row] for row in matrix]
    self.exits = [self.number(x) for x in exits]
    self.atom = self.number(atom)

  def number(self, x):
    return Fraction(float(x))

  def joint(self, base, count):
    if base == "cdf":
      parts = [self.joint("density", k) for k in range(int(count) + 1)]
      return [sum(each) for each in zip(*parts, strict=True)]
    p = len(self.alpha)
    jumps = [[Fraction(0)] * p for _ in range(p)]
    left, atom = [Fraction(0)] * p, Fraction(0)
    k, ends = int(count), [Fraction(1)] * p
    if base == "density":
      if k == 0:
        zeros = [Fraction(0)] * (3 * p + p * p)
        return [self.atom, *zeros, self.atom]
      k, ends = k - 1, self.exits
    # afters[j] has the probability of the end from each phase, j steps before.
    afters = [ends]
    for _ in range(k):
      afters.append(
        [sum(x * y for x, y in zip(r, afters[-1])) for r in self.rows]
      )
    at = self.alpha
    for step in range(k):
      after = afters[k - 1 - step]
      for i in range(p):
        for j in range(p):
          jumps[i][j] += at[i] * self.rows[i][j] * after[j]
      at = [sum(at[i] * self.rows[i][j] for i in range(p)) for j in range(p)]
    if base == "density":
      left = [x * y for x, y in zip(at, self.exits, strict=True)]
    starts = [x * y for x, y in zip(self.alpha, afters[k], strict=True)]
    visits = [sum(row) + x for row, x in zip(jumps, left, strict=True)]
    flat = [x for row in jumps for x in row]
    return [sum(starts), *starts, *visits, *flat, *left, atom]
