"""Evaluation of a phase-type function and its derivatives in a ring.

The formulas here hold in both rings: in balls they are exact, in magnitudes
every difference has become a sum.
"""

from typing import Any, NamedTuple

import numpy as onp

from tests.oracle import jets
from tests.oracle import parameters
from tests.oracle import rings


class Gradient(NamedTuple):
  """Derivatives (or their scales) with respect to each operand, flat.

  Attributes:
    initial_probs: p numbers.
    subgenerator: p^2 numbers, row by row.
    exit_rates: p numbers, or [] where the exits are derived.
    prob_zero: one number, or [] where the atom is derived.
    time: one number.
  """

  initial_probs: list[Any]
  subgenerator: list[Any]
  exit_rates: list[Any]
  prob_zero: list[Any]
  time: list[Any]


_recent: dict[Any, "Sweep"] = {}


def sweep(
  ring: Any,
  kind: str,
  operands: parameters.Operands,
  directions: tuple[parameters.Operands, ...],
  with_gradient: bool,
) -> "Sweep":
  """Returns a cached sweep, as a log shares the sweep of its base."""
  base = kind.removeprefix("log_")
  numbers = [x for group in (operands, *directions) for x in group]
  key = (type(ring), getattr(ring, "prec", 0), base, with_gradient) + tuple(
    None if x is None else onp.asarray(x).tobytes() for x in numbers
  )
  if key not in _recent:
    while len(_recent) >= 8:
      del _recent[next(iter(_recent))]
    _recent[key] = Sweep(ring, base, operands, directions, with_gradient)
  return _recent[key]


class Sweep:
  """One evaluation, in balls or in sizes."""

  def __init__(self, ring, base, operands, directions, with_gradient):
    self.ring = ring
    self.sizes = isinstance(ring, rings.MagnitudeRing)
    self.sign = 1.0 if self.sizes else -1.0
    self.base = base
    self.operands = operands
    chain = parameters.derive(operands)
    chains = [chain] + [
      parameters.derive_direction(operands, v, self.sizes) for v in directions
    ]
    self.p = len(chain.alpha)
    self.rate = max(-chain.matrix[i][i] for i in range(self.p))
    self.generators = len(directions)
    self._assemble(chains, with_gradient)

  def value(self, log: bool) -> list[Any]:
    """Returns the parts of F, or of log F."""
    total = self.total
    if log:
      total = jets.logarithm(self.ring, total, self.sign)
    zero = self.ring.scalar(0.0)
    return [zero if part is None else part[0, 0] for part in total]

  def gradient(self, log: bool) -> Gradient:
    """Returns the part of the gradient that has all directions."""
    p, operands = self.p, self.operands
    inner = self._top(log, jets.transpose(self.ring, self.integral))
    start = self._top(
      log, jets.multiply(self.ring, self.transition, self.right)
    )
    outflow = self._top(log, jets.multiply(self.ring, self.left, self.outflow))
    left = self._top(log, self.left)
    zero, minus = self.ring.scalar(0.0), self.ring.scalar(self.sign)
    # Derivatives with respect to the exits alone, the diagonal held.
    if self.base == "cdf":
      exits = [inner[i, p] for i in range(p)]
    elif self.base == "density":
      exits = [left[0, i] for i in range(p)]
    else:
      exits = [zero] * p
    if operands.exit_rates is None:
      rates = [
        inner[i, j] + minus * exits[i] for i in range(p) for j in range(p)
      ]
      exits = []
    else:
      rates = [
        zero if i == j else inner[i, j] + minus * inner[i, i]
        for i in range(p)
        for j in range(p)
      ]
      exits = [exits[i] + minus * inner[i, i] for i in range(p)]
    atom = start[p, 0] if self.base == "cdf" else zero
    alphas = [start[i, 0] for i in range(p)]
    if operands.prob_zero is None and self.base == "cdf":
      alphas = [x + minus * atom for x in alphas]
    atoms = [] if operands.prob_zero is None else [atom]
    return Gradient(alphas, rates, exits, atoms, [outflow[0, 0]])

  def _top(self, log: bool, jet: jets.Jet) -> Any:
    """Returns the part that has all directions, divided by F for logs."""
    if log:
      inverse = jets.reciprocal(self.ring, self.total, self.sign)
      jet = jets.multiply_scalar(self.ring, inverse, jet)
    if jet[-1] is None:
      return self.ring.zeros(*self.ring.shape(jet[0]))
    return jet[-1]

  def _linear(self, parts: list[Any]) -> jets.Jet:
    """Returns the jet of data that are linear in the directions."""
    jet = jets.constant(self.ring.matrix(parts[0]), self.generators)
    for i, part in enumerate(parts[1:]):
      jet[1 << i] = self.ring.matrix(part)
    return jet

  def _assemble(self, chains: list[parameters.Chain], with_gradient) -> None:
    """The sweep: transition = exp(M t), left = alpha exp(M t), and F."""
    ring, rate = self.ring, self.rate
    cdf = self.base == "cdf"
    size = self.p + 1 if cdf else self.p
    matrices, alphas, rights, exits = [], [], [], []
    for order, chain in enumerate(chains):
      rows = [row + [s] * cdf for row, s in zip(chain.matrix, chain.exits)]
      matrices.append(rows + [[0] * size] * cdf)
      alphas.append([chain.alpha + [chain.atom] * cdf])
      exits.append([[s] for s in chain.exits + [0] * cdf])
      if cdf:
        rights.append([[int(order == 0 and i == self.p)] for i in range(size)])
      elif self.base == "survival":
        rights.append([[int(order == 0)]] * size)
      else:
        rights.append([[s] for s in chain.exits])
    matrices[0] = [
      [x + rate * (i == j) for j, x in enumerate(row)]
      for i, row in enumerate(matrices[0])
    ]
    self.alpha, self.right = self._linear(alphas), self._linear(rights)
    time = self._linear([[[c.time]] for c in chains])
    flow = self._linear(matrices)  # M + q has the tangents of M.
    unit = [[int(i == j) for j in range(size)] for i in range(size)]
    minus_rate = ring.scale(ring.matrix([[rate]]), ring.scalar(self.sign))
    decay = ring.scale(ring.matrix(unit), minus_rate[0, 0])
    # exp(M t) = exp(-q t) exp((M + q) t); the first factor moves with t too.
    argument = jets.multiply_scalar(ring, time, flow)
    decays = jets.multiply_scalar(
      ring, time, jets.constant(decay, self.generators)
    )
    argument = [argument[0]] + jets.add(argument[1:], decays[1:])
    if with_gradient:
      # exp([[M, s alpha], [0, M]] t) holds int exp(M (t - u)) s alpha exp(M u).
      argument = argument + jets.multiply_scalar(
        ring, time, jets.multiply(ring, self.right, self.alpha)
      )
    shift = ring.matrix([[rate * chains[0].time]])[0, 0]
    result = jets.exponential(ring, argument, shift)
    count = 2**self.generators
    self.transition, self.integral = result[:count], result[count:]
    self.left = jets.multiply(ring, self.alpha, self.transition)
    self.total = jets.multiply(ring, self.left, self.right)
    if self.base == "density":
      flow[0] = flow[0] + decay
      self.outflow = jets.multiply(ring, flow, self.right)
    else:
      direction = self.sign if self.base == "survival" else 1.0
      self.outflow = jets.scale(
        ring, self._linear(exits), ring.scalar(direction)
      )
