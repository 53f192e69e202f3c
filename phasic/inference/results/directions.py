"""Identified and flat directions of an information matrix.

Information matrices are scaled to a unit diagonal: a rate that only few of many
observations inform about is identified, if less precisely than others. Along a
flat direction changes of parameters compensate for each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

# A direction is flat if its eigenvalue is below this fraction of the largest
# eigenvalue.
FLAT = 1e-6
# A function is not identified if more than this fraction of its gradient's norm
# lies along flat directions.
SHARE = 0.01
# Scores below this fraction of the largest one count as zero. For example, the
# score of a rate between two phases that have become equal is only rounding.
_NO_SCORE = 3e-6
# The log likelihood falls away from an edge if the slope of its mean there,
# times the scale of the number at the edge, is below minus this. Otherwise it
# is flat.
_FALLS = 1e-8
# If a search ended where a Newton step in a logarithm is longer than this,
# there is no maximum near the end.
LONG_STEP = 0.1


class Bends(NamedTuple):
  """Orthogonal directions, grouped by the curvature of the log likelihood.

  Attributes:
    spread: the covariance along those in which it bends down, (d, d).
    level: an orthonormal basis of those in which it does not bend, (d, m).
    up: a basis of those in which it bends up, (d, n).
  """

  spread: onp.ndarray
  level: onp.ndarray
  up: onp.ndarray


class Known(NamedTuple):
  """An information matrix, in scaled free parameters, and its flat directions.

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
    """Computes the covariance of k functions from their gradients.

    Args:
      slopes: slopes in the free parameters, (k, d).
    """
    return _congruent(self.spread, slopes * self.units)

  def standard_errors(self, slopes: onp.ndarray) -> onp.ndarray:
    """Computes standard errors of functions; NaN for those not identified.

    Without free parameters no standard errors exist: all are NaN.

    Args:
      slopes: slopes in the free parameters, (..., d).
    """
    if not len(self.units):
      return onp.full(onp.shape(slopes)[:-1], onp.nan)
    slopes = slopes * self.units
    size = onp.linalg.norm(slopes, axis=-1)
    loads = onp.linalg.norm(onp.matmul(slopes, self.flat), axis=-1)
    variance = onp.sum(onp.matmul(slopes, self.spread) * slopes, axis=-1)
    errors = onp.sqrt(onp.maximum(variance, 0.0))
    return onp.where(loads > SHARE * size, onp.nan, errors)

  def bends(self, slopes: onp.ndarray) -> onp.ndarray:
    """Returns whether the log likelihood is curved along flat directions.

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
  """Finds the flat directions, and the covariance along all other directions.

  Args:
    information: minus the second derivatives of the log likelihood, (d, d).
    outer: the sum of the scores' outer products, (d, d).
    precision: the rounding error of a score, relative to the largest.
    runs: which free parameters are flat, e.g. as they tend to infinity, (d,);
      None for none.
  """
  if len(information) == 1:
    # At the maximum the scores of a single parameter are all zero if the
    # observations are equal. The information takes their place.
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
  # The flat directions are the parameters without a score, and the combinations
  # of other parameters that have small eigenvalues.
  identity = onp.eye(len(sizes))
  flat = onp.hstack(
    [
      identity[:, onp.logical_not(is_score)],
      onp.matmul(identity[:, is_score], units[:, None] * vectors[:, same]),
    ]
  )
  # Parameters without a score have unit scale, since their curvature is only
  # rounding. They are logarithms, so that a unit step is large.
  sizes = onp.maximum(onp.abs(onp.diag(information)), FLAT * sizes)
  units = 1.0 / onp.sqrt(onp.where(is_score, sizes, 1.0))
  flat, rest = _split(flat / units[:, None])
  scaled = information * units[:, None] * units
  bends = split(_congruent(scaled, onp.transpose(rest)))
  others = onp.matmul(rest, onp.hstack([bends.level, bends.up]))
  spread = _congruent(bends.spread, rest)
  return Known(units, onp.hstack([flat, others]), spread, scaled)


def split(information: onp.ndarray, least: onp.ndarray | None = None) -> Bends:
  """Splits all directions by how the log likelihood bends along them.

  Args:
    information: minus the second derivatives of the log likelihood, (d, d).
    least: below this it is flat along each axis, (d,); None for a fraction of
      the largest eigenvalue.
  """
  values, vectors = onp.linalg.eigh(information)
  limits = (
    FLAT * onp.max(onp.abs(values), initial=0.0)
    if least is None
    else onp.matmul(least, vectors**2)
  )
  down = values > limits
  kept = vectors[:, down]
  return Bends(
    onp.matmul(kept / values[down], onp.transpose(kept)),
    vectors[:, onp.abs(values) <= limits],
    vectors[:, values < -limits],
  )


def rises_on(
  slopes: onp.ndarray,
  information: onp.ndarray,
  rounding: float,
  longest: float | onp.ndarray = LONG_STEP,
) -> onp.ndarray:
  """Returns a mask of axes along which the log likelihood rises without end.

  There the slope is more than rounding, and a Newton step too long.
  """
  bends = onp.abs(onp.diag(information))
  return onp.abs(slopes) > onp.maximum(longest * bends, rounding)


def falls_away(
  slopes: onp.ndarray, scales: onp.ndarray, total: float
) -> onp.ndarray:
  """Returns whether the log likelihood falls as each number leaves its edge.

  Args:
    slopes: of the log likelihood in the distances from the edge, (k,).
    scales: of these distances, (k,).
    total: the size of the sample, or of the log likelihood.
  """
  return slopes * scales < -_FALLS * total


def _split(columns: onp.ndarray) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns orthonormal bases of the column space and of its complement."""
  lengths = onp.linalg.norm(columns, axis=0)
  columns = columns[:, lengths > 0] / lengths[lengths > 0]
  basis, sizes, _ = onp.linalg.svd(columns)
  rank = int(onp.sum(sizes > 1e-9))
  return basis[:, :rank], basis[:, rank:]


def _congruent(matrix: onp.ndarray, basis: onp.ndarray) -> onp.ndarray:
  """Computes B M B', for a matrix M and a basis B."""
  return onp.matmul(onp.matmul(basis, matrix), onp.transpose(basis))
