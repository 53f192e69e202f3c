"""Directions in which the data tell distributions apart, and those in which not.

Information matrices are judged with a unit diagonal: a rate that few of many
observations tell of is known, if less well than others. What is flat is a
direction in which parameters make up for each other.
"""

from typing import NamedTuple

import numpy as onp

# A direction whose eigenvalue is below this part of the largest one is flat.
FLAT = 1e-6
# What has more than this share in flat directions is not identified.
SHARE = 0.01
# A score of less than this part of the largest is none: where two phases have
# become one, that of what goes to either is left over from their distance.
_NO_SCORE = 3e-6


class Known(NamedTuple):
  """What is known of free numbers, in units of their own.

  Attributes:
    units: of the free numbers, (d,).
    flat: an orthonormal basis of the flat directions, (d, m).
    spread: the covariance along the others, (d, d).
    information: minus the second derivatives of the log likelihood, (d, d).
  """

  units: onp.ndarray
  flat: onp.ndarray
  spread: onp.ndarray
  information: onp.ndarray

  @property
  def num_flat(self) -> int:
    """How many directions are flat."""
    return onp.shape(self.flat)[-1]

  def covariance(self, slopes: onp.ndarray) -> onp.ndarray:
    """Returns the covariance of k functions of slopes (k, d)."""
    return _congruent(self.spread, slopes * self.units)

  def standard_errors(self, slopes: onp.ndarray) -> onp.ndarray:
    """Returns standard errors of functions, NaN for those not identified.

    Args:
      slopes: in the free numbers, (..., d).
    """
    slopes = slopes * self.units
    size = onp.linalg.norm(slopes, axis=-1)
    loads = onp.linalg.norm(onp.matmul(slopes, self.flat), axis=-1)
    variance = onp.sum(onp.matmul(slopes, self.spread) * slopes, axis=-1)
    errors = onp.sqrt(onp.maximum(variance, 0.0))
    return onp.where(loads > SHARE * size, onp.nan, errors)

  def bends(self, slopes: onp.ndarray) -> onp.ndarray:
    """Returns whether the likelihood bends along what is flat to first order.

    Args:
      slopes: of k functions that are not identified, (k, d).

    Returns:
      For each function, (k,), of the flat direction that changes it most.
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
  """Returns which directions are flat, and the covariance along the others.

  Args:
    information: minus the second derivatives of the log likelihood, (d, d).
    outer: the sum of the scores' outer products, (d, d).
    precision: what is rounding in a score, next to the largest.
    runs: which free numbers run to infinity, (d,), which are flat; None for
      none.
  """
  if len(information) == 1:
    # Nothing makes up for the only number; of equal observations, at their
    # top, all scores are zero.
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
  # Along the numbers that have no score, and along those of the others.
  whole = onp.eye(len(sizes))
  flat = onp.hstack(
    [
      whole[:, onp.logical_not(is_score)],
      onp.matmul(whole[:, is_score], units[:, None] * vectors[:, same]),
    ]
  )
  # Of numbers without a score curvatures are rounding; they are logarithms, so
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
  """Returns orthonormal bases of what columns span, and of the rest."""
  lengths = onp.linalg.norm(columns, axis=0)
  columns = columns[:, lengths > 0] / lengths[lengths > 0]
  basis, sizes, _ = onp.linalg.svd(columns)
  rank = int(onp.sum(sizes > 1e-9))
  return basis[:, :rank], basis[:, rank:]


def _congruent(matrix: onp.ndarray, basis: onp.ndarray) -> onp.ndarray:
  """Returns B M B', M in the rows of B."""
  return onp.matmul(onp.matmul(basis, matrix), onp.transpose(basis))
