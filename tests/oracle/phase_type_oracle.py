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

from typing import Any

import flint

from tests.oracle import parameters
from tests.oracle import rings
from tests.oracle import sweeps

KINDS = (
  "log_density",
  "density",
  "log_survival",
  "survival",
  "log_cdf",
  "cdf",
)

Operands = parameters.Operands
Gradient = sweeps.Gradient

_START_BITS = 256
_MAX_BITS = 12000
_SIGNIFICANT = 2.0**-66


def directional(
  kind: str, operands: Operands, directions: tuple[Operands, ...] = ()
) -> tuple[flint.arb, float]:
  """Computes D^k F(x)[v_1, ..., v_k], k = len(directions).

  Args:
    kind: one of `KINDS`.
    operands: x, with a positive and finite time.
    directions: tangents of the operands, None where there is no operand.

  Returns:
    The exact result as a ball, and its error scale.
  """
  log = kind.startswith("log_")
  sizes = sweeps.sweep(rings.MagnitudeRing(), kind, operands, directions, False)
  c = float(sizes.value(log)[-1])

  def attempt(ring):
    return [
      sweeps.sweep(ring, kind, operands, directions, False).value(log)[-1]
    ]

  if not directions:
    # The log of one is zero: a log's size is one at least.
    scale = 1.0 if kind in ("log_survival", "log_cdf") else None
    return refine(attempt, [scale])[0], 0.0
  return refine(attempt, [c])[0], c


def gradient(
  kind: str, operands: Operands, directions: tuple[Operands, ...] = ()
) -> tuple[Gradient, Gradient]:
  """Computes D^k F(x)[v_1, ..., v_{k-1}, .], k - 1 = len(directions).

  Args:
    kind: one of `KINDS`.
    operands: x, with a positive and finite time.
    directions: k - 1 tangents of the operands.

  Returns:
    The exact entries as balls, and their error scales as floats.
  """
  log = kind.startswith("log_")
  sizes = sweeps.sweep(rings.MagnitudeRing(), kind, operands, directions, True)
  scales = Gradient(*([float(x) for x in part] for part in sizes.gradient(log)))
  flat = [x for part in scales for x in part]

  def attempt(ring):
    parts = sweeps.sweep(ring, kind, operands, directions, True).gradient(log)
    return [x for part in parts for x in part]

  entries = iter(refine(attempt, flat))
  return Gradient(*([next(entries) for _ in part] for part in scales)), scales


def exact(x: float) -> flint.arb:
  """Converts a float to a ball without radius."""
  return flint.arb(float(x))


def error(actual: float, truth: flint.arb) -> float:
  """Computes an upper bound of |actual - truth|, inf if actual is not finite."""
  actual = float(actual)
  if actual != actual or actual in (float("inf"), float("-inf")):
    return float("inf")
  with flint.ctx.workprec(_START_BITS):
    return float(abs(flint.arb(actual) - truth).upper())


def refine(attempt: Any, scales: list[float | None]) -> list[flint.arb]:
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
