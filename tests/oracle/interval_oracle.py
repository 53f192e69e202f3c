"""Interval probabilities P(l < X <= u) and derivatives, in ball arithmetic.

With A = [[M, s], [0, 0]], K the projection on the phases and 0 <= l < u:

  P(l < X <= u) = (alpha, p_0) exp(A l) K exp(A (u - l)) (0, ..., 0, 1)'

which is all non-negative: error scales are as in `phase_type_oracle`.
"""

from fractions import Fraction
from typing import Any

import flint

from tests.oracle import jets
from tests.oracle import parameters
from tests.oracle import phase_type_oracle as oracle
from tests.oracle import rings
from tests.oracle import sweeps


class _IntervalSweep(sweeps.Sweep):
  """One evaluation, in balls or in sizes."""

  def __init__(self, ring, operands, upper, directions, with_gradient):
    self._upper = Fraction(float(upper))
    self._upper_moves = [Fraction(float(move)) for _, move in directions]
    moves = tuple(move for move, _ in directions)
    super().__init__(ring, "cdf", operands, moves, with_gradient)

  def gradient(self, log: bool) -> oracle.Gradient:
    """Computes the gradient, with two times."""
    found = super().gradient(log)
    lower = self._top(log, jets.multiply(self.ring, self._start, self._exits))
    upper = self._top(log, jets.multiply(self.ring, self._end, self._exits))
    sign = self.ring.scalar(self.sign)
    return found._replace(time=[sign * lower[0, 0], upper[0, 0]])

  def _assemble(self, chains: list[parameters.Chain], with_gradient) -> None:
    ring, size = self.ring, self.p + 1
    flows = [
      [[*row, s] for row, s in zip(chain.matrix, chain.exits)] + [[0] * size]
      for chain in chains
    ]
    flows[0] = [
      [x + self.rate * (i == j) for j, x in enumerate(row)]
      for i, row in enumerate(flows[0])
    ]
    flow = self._linear(flows)
    alpha = self._linear([[[*c.alpha, c.atom]] for c in chains])
    unit = [[int(i == j) for j in range(size)] for i in range(size)]
    unit[-1][-1] = 0
    phases = jets.constant(ring.matrix(unit), self.generators)
    last = [[int(i == self.p)] for i in range(size)]
    end = jets.constant(ring.matrix(last), self.generators)
    self._exits = self._linear([[[s] for s in [*c.exits, 0]] for c in chains])
    lower = [c.time for c in chains]
    sign = 1 if self.sizes else -1
    moves = [abs(x) if self.sizes else x for x in self._upper_moves]
    width = [self._upper - lower[0]]
    width += [u + sign * x for u, x in zip(moves, lower[1:])]

    def transition(times, right=None, left=None):
      """Computes exp(A t), or int exp(A (t - y)) right left exp(A y)."""
      time = self._linear([[[t]] for t in times])
      argument = jets.multiply_scalar(ring, time, flow)
      decay = [[self.rate * (i == j) for j in range(size)] for i in range(size)]
      decay = ring.scale(ring.matrix(decay), ring.scalar(self.sign))
      decays = jets.constant(decay, self.generators)
      decays = jets.multiply_scalar(ring, time, decays)
      argument = [argument[0], *jets.add(argument[1:], decays[1:])]
      if right is not None:
        argument = argument + jets.multiply_scalar(
          ring, time, jets.multiply(ring, right, left)
        )
      shift = ring.matrix([[self.rate * times[0]]])[0, 0]
      result = jets.exponential(ring, argument, shift)
      count = 2**self.generators
      return result[:count], result[count:]

    self.transition, _ = transition(lower)
    over, _ = transition(width)
    self._start = jets.multiply(ring, alpha, self.transition)
    kept = jets.multiply(ring, self._start, phases)
    self._end = jets.multiply(ring, kept, over)
    self.right = jets.multiply(ring, phases, jets.multiply(ring, over, end))
    self.left = self._start
    self.outflow = self._exits
    self.total = jets.multiply(ring, self._start, self.right)
    self.integral = None
    if with_gradient:
      _, before = transition(lower, self.right, alpha)
      _, within = transition(width, end, kept)
      self.integral = jets.add(before, within)


def log_mass(
  operands: oracle.Operands,
  upper: float,
  directions: tuple[tuple[oracle.Operands, float], ...] = (),
) -> tuple[flint.arb, float]:
  """Computes log P(l < X <= u), or a directional derivative, and its scale.

  Args:
    operands: the model, with the lower end as its time.
    upper: the upper end.
    directions: tangents of the operands and of the upper end.

  Returns:
    The exact result as a ball, and its error scale, 0 for the value.
  """

  def attempt(ring):
    sweep = _IntervalSweep(ring, operands, upper, directions, False)
    return [sweep.value(log=True)[-1]]

  if not directions:
    return oracle.refine(attempt, [None])[0], 0.0
  scale = float(attempt(rings.MagnitudeRing())[0])
  return oracle.refine(attempt, [scale])[0], scale


def gradient(
  operands: oracle.Operands,
  upper: float,
  directions: tuple[tuple[oracle.Operands, float], ...] = (),
) -> tuple[oracle.Gradient, oracle.Gradient]:
  """Computes the gradient of `log_mass` and its scales, at both ends."""

  def parts(ring) -> Any:
    sweep = _IntervalSweep(ring, operands, upper, directions, True)
    return sweep.gradient(log=True)

  sizes = parts(rings.MagnitudeRing())
  scales = oracle.Gradient(*([float(x) for x in part] for part in sizes))
  flat = [x for part in scales for x in part]
  entries = iter(
    oracle.refine(lambda ring: [x for part in parts(ring) for x in part], flat)
  )
  return oracle.Gradient(*([next(entries) for _ in p] for p in scales)), scales
