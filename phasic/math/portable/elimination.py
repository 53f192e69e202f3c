"""The portable path of `elimination_ops`: GTH elimination of dense matrices.

References:
  W. Grassmann, M. Taksar, D. Heyman, Regenerative analysis and steady state
    distributions for Markov chains, Oper. Res. 33, 1985.
  C. O'Cinneide, Entrywise perturbation theory and error analysis for Markov
    chains, Numer. Math. 65, 1993.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array

# The largest number of entries of a mask, which is edges times phases, or of an
# array of differences.
MAX_ELEMENTS = 2**26


class Elimination(NamedTuple):
  """The record of the elimination of all phases, from the last to the first.

  Attributes:
    units: host matrix (p, p), row j the indicator of the j-th phase removed.
    columns: (p, ..., p), weights into the removed phase, over its pivot.
    rows: (p, ..., p), weights from the removed phase to those that remain.
    exits: (p, ...), weights from the removed phase to absorption.
  """

  units: Array
  columns: Array
  rows: Array
  exits: Array


def eliminate(
  indices: Array,
  weights: Array,
  per_phase: Array,
  per_edge: Array | None,
  transposed: bool = False,
  gives_edges: bool = False,
) -> Array | tuple[Array, Array]:
  """Solves linear systems by elimination, see `elimination_ops.eliminate`."""
  dtype = static.dtype_name(weights)
  wide = static.wide_float()
  p = static.shape(per_phase)[-2]
  m = static.shape(weights)[-1]
  if max(m, p * static.shape(per_phase)[-1]) * p > MAX_ELEMENTS:
    raise ValueError(
      f"the model has {m} edges and {p} phases: on the portable path the "
      f"product of both must be at most {MAX_ELEMENTS}; use the native kernel"
    )
  weights = structures.cast(weights, wide)
  # Right-hand sides become a batch dimension: (..., r, p).
  rest = np.moveaxis(structures.cast(per_phase, wide), -1, -2)
  leave, enter, weights = _masks(indices, weights, p)
  if per_edge is not None:
    at_edges = np.moveaxis(structures.cast(per_edge, wide), -1, -2)
    change = leave - enter[..., :p] if transposed else leave
    rest = rest + np.matmul(at_edges, change)
  weighted = leave * weights[..., None]
  dense = np.matmul(np.moveaxis(weighted, -1, -2), enter)[..., None, :, :]
  recorded = _record(dense[..., :p], dense[..., p])
  edges: Array | None = None
  if transposed:
    x = _solve_transposed(recorded, rest)
    edges = np.matmul(x, np.moveaxis(leave, -1, -2)) if gives_edges else None
  else:
    x, edges = _solve(recorded, rest, gives_edges)
    if edges is not None:
      source_rows = np.matmul(leave[..., None, :, :], edges)  # (..., r, m, p)
      to_phase = np.sum(source_rows * enter[..., None, :, :p], axis=-1)
      edges = (
        to_phase
        + np.matmul(x, np.moveaxis(leave, -1, -2)) * (enter[..., None, :, p])
      )
  x = structures.cast(np.moveaxis(x, -1, -2), dtype)
  if edges is None:
    return x
  return x, structures.cast(np.moveaxis(edges, -1, -2), dtype)


def _masks(
  indices: Array, weights: Array, p: int
) -> tuple[Array, Array, Array]:
  """Computes one-hot sources (..., m, p) and targets (..., m, p + 1) of edges.

  The weights are returned too: invalid ones as NaN, and weights from a phase to
  itself as zero.
  """
  sources, targets = indices[..., 0, :], indices[..., 1, :]
  lost = (sources < 0) | (sources >= p) | (targets < 0) | (targets > p)
  lost = lost | np.logical_not(weights >= 0.0) | (weights == math.inf)
  is_loop = sources == targets
  weights = np.where(is_loop, 0.0, np.where(lost, math.nan, weights))
  return (
    one_hot(np.where(lost, 0, sources), p, weights.dtype),
    one_hot(np.where(lost, p, targets), p + 1, weights.dtype),
    weights,
  )


def one_hot(indices: Array, size: int, dtype: onp.typing.DTypeLike) -> Array:
  """Computes one-hot rows (..., m, size) of the indices."""
  positions = structures.cast(np.arange(size), indices.dtype)
  return structures.cast(indices[..., None] == positions, dtype)


def _record(off: Array, exits: Array) -> Elimination:
  """Eliminates all phases, and records the steps.

  Args:
    off: weights between phases (..., p, p); the diagonal is not read.
    exits: weights to absorption (..., p).
  """
  p = static.shape(exits)[-1]
  order = onp.arange(p)[::-1]
  units = structures.cast(onp.eye(p)[order], exits.dtype)
  remain = onp.tril(onp.ones((p, p)), -1)[order]

  def remove(
    carry: tuple[Array, Array], masks: tuple[Array, Array]
  ) -> tuple[tuple[Array, Array], tuple[Array, Array, Array]]:
    off, exits = carry
    unit, remain = masks
    row = np.sum(off * unit[:, None], axis=-2) * remain
    column = np.sum(off * unit, axis=-1) * remain
    out = np.sum(exits * unit, axis=-1)
    pivot = np.sum(row, axis=-1) + out
    # A trap has pivot zero: no weight passes through it, and the edges into it
    # count as exits.
    share = np.where(
      column > 0.0, column / np.where(pivot > 0.0, pivot, 1.0)[..., None], 0.0
    )
    trapped = np.where(pivot > 0.0, 0.0, 1.0)[..., None] * column
    off = off + share[..., :, None] * row[..., None, :]
    exits = exits + share * out[..., None] + trapped
    return (off, exits), (share, row, out)

  _, (columns, rows, outs) = control_flow.scan(
    remove, (off, exits), (units, structures.cast(remain, exits.dtype))
  )
  return Elimination(units, columns, rows, outs)


def _quotient(x: Array, pivot: Array) -> Array:
  """Divides by the pivot; in a trap 0/0 is 0 and anything else is inf."""
  in_trap = np.where(x > 0.0, math.inf, np.where(x == 0.0, 0.0, math.nan))
  return np.where(pivot > 0.0, x / np.where(pivot > 0.0, pivot, 1.0), in_trap)


def _times(weight: Array, x: Array) -> Array:
  """Multiplies by a weight; a weight of zero times inf is zero."""
  return weight * np.where((weight == 0.0) & (x == math.inf), 0.0, x)


def _solve(
  recorded: Elimination, rest: Array, gives_differences: bool
) -> tuple[Array, Array | None]:
  """Returns the solution x (..., r, p), and all x_i - x_j (..., r, p, p).

  The differences are None unless `gives_differences`.
  """

  def forward(rest: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
    unit, column = step
    side = np.sum(rest * unit, axis=-1)
    return rest + column * side[..., None], side

  def backward(
    carry: tuple[Array, Array], step: tuple[Array, Array, Array, Array]
  ) -> tuple[tuple[Array, Array], None]:
    x, differences = carry
    unit, row, out, side = step
    pivot = np.sum(row, axis=-1) + out
    value = _quotient(side + np.sum(_times(row, x), axis=-1), pivot)
    solved = x + _times(unit, value[..., None])
    if not gives_differences:
      return (solved, differences), None
    between = np.sum(row[..., :, None] * differences, axis=-2)
    change = side[..., None] - _times(out[..., None], x) + between
    done = structures.cast(onp.tril(onp.ones((p, p)), -1), x.dtype)
    later = np.sum(done * unit[:, None], axis=-2)
    change = _quotient_signed(change, pivot[..., None]) * later
    differences = differences + unit[:, None] * change[..., None, :]
    differences = differences - unit * change[..., :, None]
    return (solved, differences), None

  units, columns, rows, outs = recorded
  p = static.shape(units)[0]
  batch = np.zeros_like(columns[0])
  _, sides = control_flow.scan(forward, rest + batch, (units, columns))
  flipped = (
    np.flip(units, axis=0),
    np.flip(rows, axis=0),
    np.flip(outs, axis=0),
    np.flip(sides, axis=0),
  )
  x = np.zeros_like(rest + batch)
  square = x[..., None] * np.zeros_like(units) if gives_differences else x
  (x, differences), _ = control_flow.scan(backward, (x, square), flipped)
  return x, differences if gives_differences else None


def _quotient_signed(x: Array, pivot: Array) -> Array:
  lost = np.where(x == 0.0, 0.0, math.nan)
  return np.where(pivot > 0.0, x / np.where(pivot > 0.0, pivot, 1.0), lost)


def _solve_transposed(recorded: Elimination, rest: Array) -> Array:
  """Returns the solution y (..., r, p) of the transposed linear system."""

  def forward(
    rest: Array, step: tuple[Array, Array, Array]
  ) -> tuple[Array, Array]:
    unit, row, out = step
    pivot = np.sum(row, axis=-1) + out
    side = _quotient(np.sum(rest * unit, axis=-1), pivot)
    return rest + _times(row, side[..., None]), side

  def backward(
    y: Array, step: tuple[Array, Array, Array, Array, Array]
  ) -> tuple[Array, None]:
    unit, column, row, out, side = step
    # Mass that enters a trap stays there forever, so the time there is inf.
    leaves = np.where(np.sum(row, axis=-1) + out > 0.0, 1.0, 0.0)
    value = side + _quotient(np.sum(_times(column, y), axis=-1), leaves)
    return y + _times(unit, value[..., None]), None

  units, columns, rows, outs = recorded
  rest = rest + np.zeros_like(columns[0])
  _, sides = control_flow.scan(forward, rest, (units, rows, outs))
  flipped = (
    np.flip(units, axis=0),
    np.flip(columns, axis=0),
    np.flip(rows, axis=0),
    np.flip(outs, axis=0),
    np.flip(sides, axis=0),
  )
  y, _ = control_flow.scan(backward, np.zeros_like(rest), flipped)
  return y
