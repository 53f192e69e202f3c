"""Linear systems of Markov chains by elimination without subtraction.

Solves (-S) x = b for a subgenerator given by its off-diagonals and exit rates.
Pivots are sums of what remains, never differences, so that for b >= 0 each
entry of x is accurate to its own size however ill-conditioned S is.

References:
  W. Grassmann, M. Taksar, D. Heyman, Regenerative analysis and steady state
    distributions for Markov chains, Oper. Res. 33, 1985.
  C. O'Cinneide, Entrywise perturbation theory and error analysis for Markov
    chains, Numer. Math. 65, 1993.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import static


class Elimination(NamedTuple):
  """A recorded elimination, the last state first.

  Attributes:
    units: host matrix (p, p), row j the indicator of the j-th state removed.
    columns: (p, ..., p), rates into the removed state, divided by its pivot.
    rows: (p, ..., p), rates from the removed state to those that remain.
    pivots: (p, ...), total rates from it to those that remain and out.
  """

  units: Any
  columns: Any
  rows: Any
  pivots: Any


def eliminate(off, exits):
  """Returns the elimination of all states.

  Args:
    off: rates between the states, (..., p, p); the diagonal is not read.
    exits: exit rates, (..., p), with the same batch shape. Exits must be
      reachable from every state, else pivots are zero.
  """
  p = static.shape(exits)[-1]
  order = onp.arange(p)[::-1]
  dtype = exits.dtype
  units = np.asarray(onp.eye(p)[order], dtype=dtype)
  remains = np.asarray(onp.tril(onp.ones((p, p)), -1)[order], dtype=dtype)

  def remove(carry, masks):
    off, exits = carry
    unit, remain = masks
    row = np.sum(off * unit[:, None], axis=-2) * remain
    column = np.sum(off * unit, axis=-1) * remain
    out = np.sum(exits * unit, axis=-1)
    pivot = np.sum(row, axis=-1) + out
    share = column / pivot[..., None]
    off = off + share[..., :, None] * row[..., None, :]
    exits = exits + share * out[..., None]
    return (off, exits), (share, row, pivot)

  _, (columns, rows, pivots) = control_flow.scan(
    remove, (off, exits), (units, remains)
  )
  return Elimination(units, columns, rows, pivots)


def solve(elimination, b):
  """Returns x with (-S) x = b, for b (..., p)."""

  def forward(b, step):
    unit, column = step
    mine = np.sum(b * unit, axis=-1)
    return b + column * mine[..., None], mine

  def backward(x, step):
    unit, row, pivot, mine = step
    value = (mine + np.sum(row * x, axis=-1)) / pivot
    return x + unit * value[..., None], None

  units, columns, rows, pivots = elimination
  batch = np.zeros_like(columns[0])
  _, mine = control_flow.scan(forward, b + batch, (units, columns))
  flipped = tuple(np.flip(a, axis=0) for a in (units, rows, pivots, mine))
  x, _ = control_flow.scan(backward, np.zeros_like(b + batch), flipped)
  return x
