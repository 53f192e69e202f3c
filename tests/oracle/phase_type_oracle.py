"""Phase-type densities and their derivatives in ball arithmetic.

The six kinds, for t > 0, with M the subgenerator, s the exits, p_0 the atom:

  density   f(t) = alpha exp(M t) s
  survival  sf(t) = alpha exp(M t) 1
  cdf       F(t) = p_0 + int_0^t f
                 = (alpha, p_0) exp([[M, s], [0, 0]] t) (0, ..., 0, 1)'

and their logs. `parameters.derive` says how M, s and p_0 follow from the
operands. All results are exact up to a proven radius, for the exact values of
the floats given: precision is raised until the radius is small against the
error scale.

The error scale c of a derivative is the same formula with every difference
turned into a sum. Precisely: in

  f = sum_k w_k(q t) alpha P^k s,  w_k(x) = exp(-x) x^k / k!,  P = I + M / q,

with q the largest |M_ii|, held constant, all numbers are non-negative. The
differences come in through the derivatives only, and there

  w_k' = w_{k-1} - w_k                 becomes  w_{k-1} + w_k,
  dM_ii = -(sum_j dM_ij + ds_i)        becomes  sum_j |dM_ij| + |ds_i|,
  ds_i = -sum_j dS_ij (exits None)     becomes  sum_j |dS_ij|,
  dp_0 = -sum_i dalpha_i (atom None)   becomes  sum_i |dalpha_i|,
  d(1/f) = -df / f^2 and d log f       become   their sizes' sums,

and a direction is replaced by its sizes. So, with G_ij = df/dM_ij for free
entries, c(d log f/dS_ij) = (G_ij + G_ii) / f for given exits and
(G_ij + df/ds_i) / f for exits None, and c(df/dt) = alpha exp(M t)(M + 2 q) s.
None of them depends on q but the ones in t. Where all terms have one sign,
c is the size of the derivative itself.
"""

from typing import Any, NamedTuple

import flint
import numpy as onp

from tests.oracle import jets
from tests.oracle import parameters
from tests.oracle import rings

KINDS = (
  "log_density",
  "density",
  "log_survival",
  "survival",
  "log_cdf",
  "cdf",
)

Operands = parameters.Operands

_START_BITS = 256
_MAX_BITS = 12000
_SIGNIFICANT = 2.0**-66


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


def directional(
  kind: str, operands: Operands, directions: tuple[Operands, ...] = ()
) -> tuple[flint.arb, float]:
  """D^k F(x)[v_1, ..., v_k], for k = len(directions); k = 0 is the value.

  Args:
    kind: one of `KINDS`.
    operands: x, with a positive and finite time.
    directions: tangents of the operands, None where there is no operand.

  Returns:
    The exact result as a ball, and its error scale.
  """
  log = kind.startswith("log_")
  sizes = _sweep(rings.MagnitudeRing(), kind, operands, directions, False)
  c = float(sizes.value(log)[-1])

  def attempt(ring):
    return [_sweep(ring, kind, operands, directions, False).value(log)[-1]]

  if not directions:
    # The log of one is zero: a log's size is one at least.
    scale = 1.0 if kind in ("log_survival", "log_cdf") else None
    return _refine(attempt, [scale])[0], 0.0
  return _refine(attempt, [c])[0], c


def gradient(
  kind: str, operands: Operands, directions: tuple[Operands, ...] = ()
) -> tuple[Gradient, Gradient]:
  """D^k F(x)[v_1, ..., v_{k-1}, .], for k - 1 = len(directions).

  Args:
    kind: one of `KINDS`.
    operands: x, with a positive and finite time.
    directions: k - 1 tangents of the operands.

  Returns:
    The exact entries as balls, and their error scales as floats.
  """
  log = kind.startswith("log_")
  sizes = _sweep(rings.MagnitudeRing(), kind, operands, directions, True)
  scales = Gradient(*([float(x) for x in part] for part in sizes.gradient(log)))
  flat = [x for part in scales for x in part]

  def attempt(ring):
    parts = _sweep(ring, kind, operands, directions, True).gradient(log)
    return [x for part in parts for x in part]

  entries = iter(_refine(attempt, flat))
  return Gradient(*([next(entries) for _ in part] for part in scales)), scales


def exact(x: float) -> flint.arb:
  """The float as a ball without radius."""
  return flint.arb(float(x))


def error(actual: float, truth: flint.arb) -> float:
  """An upper bound of |actual - truth|; infinite where actual is not finite."""
  actual = float(actual)
  if actual != actual or actual in (float("inf"), float("-inf")):
    return float("inf")
  with flint.ctx.workprec(_START_BITS):
    return float(abs(flint.arb(actual) - truth).upper())


def _refine(attempt: Any, scales: list[float | None]) -> list[flint.arb]:
  """Raises the precision until each radius is small against its scale.

  Without a scale the result's own size counts, down to 1e-400.
  """
  bits = _START_BITS
  while bits <= _MAX_BITS:
    with flint.ctx.workprec(bits):
      results = attempt(rings.BallRing(bits))
      if all(_precise(x, c) for x, c in zip(results, scales)):
        return results
    bits *= 2
  raise ArithmeticError(f"not precise enough with {_MAX_BITS} bits")


def _precise(x: flint.arb, scale: float | None) -> bool:
  x = flint.arb(x)
  if not x.is_finite():
    return False
  radius = flint.arb(x.rad())
  if scale is None:
    size = abs(flint.arb(x.mid()))
    return bool(radius <= size * _SIGNIFICANT + flint.arb("1e-400"))
  return bool(radius <= flint.arb(scale) * _SIGNIFICANT + flint.arb("1e-400"))


_recent: dict[Any, "_Sweep"] = {}


def _sweep(ring, kind, operands, directions, with_gradient) -> "_Sweep":
  """A sweep; the latest ones are kept, as a log shares that of its base."""
  base = kind.removeprefix("log_")
  numbers = [x for group in (operands, *directions) for x in group]
  key = (type(ring), getattr(ring, "prec", 0), base, with_gradient) + tuple(
    None if x is None else onp.asarray(x).tobytes() for x in numbers
  )
  if key not in _recent:
    while len(_recent) >= 8:
      del _recent[next(iter(_recent))]
    _recent[key] = _Sweep(ring, base, operands, directions, with_gradient)
  return _recent[key]


class _Sweep:
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
    """The parts of F, or of log F."""
    total = self.total
    if log:
      total = jets.logarithm(self.ring, total, self.sign)
    zero = self.ring.scalar(0.0)
    return [zero if part is None else part[0, 0] for part in total]

  def gradient(self, log: bool) -> Gradient:
    """The part of the gradient with all directions in it."""
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
    """The part with all directions in it, divided by F for the logs."""
    if log:
      inverse = jets.reciprocal(self.ring, self.total, self.sign)
      jet = jets.multiply_scalar(self.ring, inverse, jet)
    if jet[-1] is None:
      return self.ring.zeros(*self.ring.shape(jet[0]))
    return jet[-1]

  def _linear(self, parts: list[Any]) -> jets.Jet:
    """The jet of data that move linearly along the directions."""
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
    flow = self._linear(matrices)  # M + q, whose tangents are those of M.
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
