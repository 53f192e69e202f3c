"""Identifiable and flat directions of an information matrix.

Information matrices are scaled to a unit diagonal: a rate that only few of many
observations inform about is identified, if less precisely than others. Along a
flat direction changes of parameters compensate for each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

# A direction whose eigenvalue is below this fraction of the largest one is
# flat.
FLAT = 1e-6
# A function with more than this share in flat directions is not identified.
SHARE = 0.01
# Scores below this fraction of the largest count as zero: where two phases have
# become equal, the score of the split between them is a remainder.
_NO_SCORE = 3e-6


class Known(NamedTuple):
  """The information about free parameters, in scaled units.

  Attributes:
    units: the units of the free parameters, (d,).
    flat: an orthonormal basis of the flat directions, (d, m).
    spread: the covariance along the other directions, (d, d).
    information: minus the second derivatives of the log likelihood, (d, d).
  """

  units: onp.ndarray
  flat: onp.ndarray
  spread: onp.ndarray
  information: onp.ndarray

  @property
  def num_flat(self) -> int:
    """The number of flat directions."""
    return onp.shape(self.flat)[-1]

  def covariance(self, slopes: onp.ndarray) -> onp.ndarray:
    """Computes the covariance of k functions with slopes (k, d)."""
    return _congruent(self.spread, slopes * self.units)

  def standard_errors(self, slopes: onp.ndarray) -> onp.ndarray:
    """Computes standard errors of functions, NaN if not identified.

    Args:
      slopes: slopes in the free parameters, (..., d).
    """
    slopes = slopes * self.units
    size = onp.linalg.norm(slopes, axis=-1)
    loads = onp.linalg.norm(onp.matmul(slopes, self.flat), axis=-1)
    variance = onp.sum(onp.matmul(slopes, self.spread) * slopes, axis=-1)
    errors = onp.sqrt(onp.maximum(variance, 0.0))
    return onp.where(loads > SHARE * size, onp.nan, errors)

  def bends(self, slopes: onp.ndarray) -> onp.ndarray:
    """Returns whether the likelihood has curvature along flat directions.

    Args:
      slopes: slopes of k functions that are not identified, (k, d).

    Returns:
      (k,), for each function along the flat direction that changes it most.
    """
    along = onp.matmul(slopes * self.units, self.flat)
    along = onp.matmul(along, onp.transpose(self.flat))
    size = onp.sum(along**2, axis=-1)
    bend = onp.sum(onp.matmul(along, self.information) * along, axis=-1)
    return bend > FLAT * size * onp.max(onp.abs(self.information), initial=0.0)


def find(
  information: onp.ndarray,
  outer: onp.ndarray,
  precision: float,
  runs: onp.ndarray | None = None,
) -> Known:
  """Finds the flat directions, and the covariance along the others.

  Args:
    information: minus the second derivatives of the log likelihood, (d, d).
    outer: the sum of the scores' outer products, (d, d).
    precision: the rounding error of a score, relative to the largest.
    runs: which free parameters tend to infinity, (d,), and so are flat; None
      for none.
  """
  if len(information) == 1:
    # Nothing compensates for a single parameter; its scores may all be zero, as
    # those of equal observations are at the maximum.
    outer = onp.abs(information)
  sizes = onp.diag(outer)
  least = max(precision, _NO_SCORE) ** 2
  is_score = sizes > least * onp.max(sizes, initial=0.0)
  if runs is not None:
    is_score = is_score & onp.logical_not(runs)
  units = 1.0 / onp.sqrt(sizes[is_score])
  values, vectors = onp.linalg.eigh(
    outer[onp.ix_(is_score, is_score)] * units[:, None] * units
  )
  same = values <= FLAT * onp.max(values, initial=0.0)
  # Along parameters without a score, and along flat directions of the others.
  identity = onp.eye(len(sizes))
  flat = onp.hstack(
    [
      identity[:, onp.logical_not(is_score)],
      onp.matmul(identity[:, is_score], units[:, None] * vectors[:, same]),
    ]
  )
  # Without a score the curvature is rounding; parameters are logarithms, so
  # that one is a large step.
  sizes = onp.maximum(onp.abs(onp.diag(information)), FLAT * sizes)
  units = 1.0 / onp.sqrt(onp.where(is_score, sizes, 1.0))
  flat, rest = _split(flat / units[:, None])
  scaled = information * units[:, None] * units
  values, turned = onp.linalg.eigh(_congruent(scaled, onp.transpose(rest)))
  bends = values > FLAT * onp.max(onp.abs(values), initial=0.0)
  flat = onp.hstack([flat, onp.matmul(rest, turned[:, onp.logical_not(bends)])])
  rest = onp.matmul(rest, turned[:, bends])
  spread = _congruent(onp.diag(1.0 / values[bends]), rest)
  return Known(units, flat, spread, scaled)


def _split(columns: onp.ndarray) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns orthonormal bases of the column space and its complement."""
  lengths = onp.linalg.norm(columns, axis=0)
  columns = columns[:, lengths > 0] / lengths[lengths > 0]
  basis, sizes, _ = onp.linalg.svd(columns)
  rank = int(onp.sum(sizes > 1e-9))
  return basis[:, :rank], basis[:, rank:]


def _congruent(matrix: onp.ndarray, basis: onp.ndarray) -> onp.ndarray:
  """Returns B M B', M in the rows of B."""
  return onp.matmul(onp.matmul(basis, matrix), onp.transpose(basis))
