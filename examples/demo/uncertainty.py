"""Which parameters have a standard error, and what is wrong with the others.

A fit can fail to have standard errors in two ways, which are not the same:

  on the boundary: the rate ran to zero (its logarithm has no end), and the
    log-likelihood falls where the rate grows; or the log-rate grows without
    end. The estimate is known, its distribution is not normal.
  not identified: the data do not tell the parameter from others. Some
    direction of the log-rates is flat, either because the log-likelihood does
    not bend along it (an eigenvalue of the information, minus the Hessian, is
    nothing next to the largest), or because the density of no observation
    changes along it to first order (an eigenvalue of the sum of the outer
    products of the scores is nothing next to its largest). In the second case
    the log-likelihood may bend, but by chance: its expectation does not.
"""

from collections.abc import Sequence
import dataclasses

import numpy as np

IDENTIFIED = "identified"
ZERO = "on the boundary (rate 0)"
DIVERGING = "on the boundary (log-rate diverging)"
NOT_IDENTIFIED = "not identified"

# An eigenvalue below this part of the largest one is flat.
FLAT = 1e-6
# A parameter whose share of a unit vector in the flat directions is larger
# than this is not identified.
SHARE = 0.1


@dataclasses.dataclass(frozen=True)
class Uncertainty:
  """What is known about the parameters of a fit.

  Attributes:
    statuses: one of the words above for each parameter.
    covariance: of all log-rates, (k, k); NaN for those without one.
    eigenvalues: of the information of the log-rates that are not on the
      boundary, ascending.
    num_flat: how many directions of these are flat.
  """

  statuses: Sequence[str]
  covariance: np.ndarray
  eigenvalues: np.ndarray
  num_flat: int

  @property
  def standard_errors(self) -> np.ndarray:
    return np.sqrt(np.diag(self.covariance))


def flat_directions(
  information: np.ndarray, outer_products: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  """Splits the space into directions that are flat and that are not.

  Args:
    information: minus the Hessian of the log-likelihood, (k, k).
    outer_products: the sum of s s^T over the observations' scores s, (k, k).

  Returns:
    Two orthonormal bases, (k, m) and (k, k - m).
  """
  values, vectors = np.linalg.eigh(outer_products)
  bends = values > FLAT * np.max(values, initial=0.0)
  flat, rest = vectors[:, ~bends], vectors[:, bends]
  if rest.shape[1] == 0:
    return flat, rest
  values, vectors = np.linalg.eigh(rest.T @ information @ rest)
  bends = values > FLAT * np.max(np.abs(values))
  return np.hstack([flat, rest @ vectors[:, ~bends]]), rest @ vectors[:, bends]


def assess(
  information: np.ndarray,
  scores: np.ndarray,
  slopes_at_zero: np.ndarray,
  at_zero: np.ndarray,
  at_top: np.ndarray,
) -> Uncertainty:
  """Says of each log-rate what is known about it.

  Args:
    information: minus the Hessian of the log-likelihood in the log-rates,
      (k, k).
    scores: the derivatives of the log densities in the log-rates, (n, k).
    slopes_at_zero: the derivatives of the log-likelihood in the rates
      themselves, (k,), of which those at zero are looked at. One that is not
      negative says that the rate plays no part (its phase is not reached).
    at_zero: which rates are zero, (k,).
    at_top: which log-rates ran to the end of the search, (k,).
  """
  k = len(information)
  statuses = np.full(k, IDENTIFIED, dtype=object)
  statuses[at_zero] = np.where(
    slopes_at_zero[at_zero] < 0, ZERO, NOT_IDENTIFIED
  )
  statuses[at_top] = DIVERGING
  free = np.flatnonzero(~(at_zero | at_top))
  inside = information[np.ix_(free, free)]
  outer_products = scores[:, free].T @ scores[:, free]
  flat, rest = flat_directions(inside, outer_products)
  loads = np.linalg.norm(flat, axis=1) > SHARE
  statuses[free[loads]] = NOT_IDENTIFIED
  covariance = np.full((k, k), np.nan)
  if rest.shape[1]:
    known = rest @ np.linalg.inv(rest.T @ inside @ rest) @ rest.T
    kept = free[~loads]
    covariance[np.ix_(kept, kept)] = known[np.ix_(~loads, ~loads)]
  return Uncertainty(
    statuses=[str(s) for s in statuses],
    covariance=covariance,
    eigenvalues=np.linalg.eigvalsh(inside),
    num_flat=flat.shape[1],
  )
