"""Converts sparse matrices of other libraries to edges."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import chain
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model.edge_rates import Edges

_Matrix = TypeVar("_Matrix")
_Exits = TypeVar("_Exits")


def as_edges(
  name: str, matrix: _Matrix, exits: _Exits, discrete: bool
) -> tuple[_Matrix | Edges, _Exits | None]:
  """Converts a sparse matrix and its exits to edges; leaves other matrices.

  The entries off the diagonal are edges between phases, and each phase has
  an edge to absorption. The exit of a phase is taken from `exits`, or derived
  from the row sum as for a dense matrix.

  Args:
    name: the matrix's name.
    matrix: of `scipy.sparse`, or JAX's BCOO, or TensorFlow's SparseTensor;
      anything else is returned.
    exits: (..., p), or None.
    discrete: whether entries are probabilities of steps.

  Returns:
    The matrix, or `EdgeRates` or `EdgeProbs`; and the exits, or None.

  Raises:
    TypeError: the indices of the entries are traced.
    ValueError: the matrix is not (p, p), or the sum of a row is known and too
      large.
  """
  entries = structures.sparse_entries(matrix, name)
  if entries is None:
    return matrix, exits
  rows, columns, values, shape = entries
  p = shape[-1]
  if len(shape) != 2 or shape[0] != p or p == 0:
    raise ValueError(f"{name} has shape {shape}: it must be (p, p) with p > 0")
  integers = dtypes.numeric(values, name) not in dtypes.FLOATS
  if exits is None:
    exit_weights = _derived(rows, values, p, discrete)
    if not integers:
      exit_weights = _snapped(exit_weights, rows, values, discrete)
    _check_row_sums(name, exit_weights, discrete)
    exit_weights = structures.cast(exit_weights, static.dtype_name(values))
  else:
    if integers:
      values = structures.cast(values, dtypes.common_dtype({"exits": exits}))
    exit_weights = structures.cast(exits, static.dtype_name(values))
  batch = static.shape(exit_weights)[:-1]
  (inner,) = onp.nonzero(rows != columns)
  off = np.broadcast_to(np.take(values, inner, axis=-1), (*batch, len(inner)))
  phases = onp.arange(p)
  family: type[Edges] = (
    edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  )
  edges = family(
    onp.concatenate([rows[inner], phases]),
    onp.concatenate([columns[inner], onp.full_like(phases, p)]),
    np.concatenate([off, exit_weights], axis=-1),
  )
  return edges, None


def _derived(
  rows: onp.ndarray, values: Array, phases: int, discrete: bool
) -> Array:
  """Derives exit rates or probabilities (p,) from the row sums."""
  start = 1 if discrete else 0
  exits = start - array_ops.segment_sum(values, rows, phases)
  known = static.concrete(values)
  if known is None:
    return exits
  # Compute the row sums once more in higher precision, and keep the derivatives
  # of `exits`.
  wide = onp.zeros(phases, onp.longdouble) + start
  onp.subtract.at(wide, rows, known.astype(onp.longdouble))
  exact = structures.cast(wide.astype(known.dtype), static.dtype_name(values))
  return exits + autodiff.stop_gradient(exact - exits)


def _snapped(
  exits: Array, rows: onp.ndarray, values: Array, discrete: bool
) -> Array:
  """Sets exits to zero if they are within 4 p eps, relative to the row."""
  (p,) = static.shape(exits)
  sizes = np.ones_like(exits)
  if not discrete:
    sizes = array_ops.segment_sum(np.abs(values), rows, p)
  return chain.snap(exits, 4 * p * static.finfo_eps(values) * sizes)


def _check_row_sums(name: str, exits: Array, discrete: bool) -> None:
  """Raises ValueError where a derived exit is known and negative."""
  known = static.concrete(exits)
  if known is None or not onp.any(known < 0):
    return
  row = int(onp.argmax(known < 0))
  most, within = (1, "") if discrete else (0, " of the row's largest entry")
  raise ValueError(
    f"row sum of {name}[{row}] = {most - known[row]}: row sums must be <= {most} "
    f"within 4 p eps{within}"
  )
