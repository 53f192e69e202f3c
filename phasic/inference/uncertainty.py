"""What the data know of the parameters of a fit.

There are two ways not to have a standard error. On the boundary, an entry is
zero, and the likelihood falls as it grows: the estimate is known, its
distribution is not normal. Not identified, the data do not tell an entry from
others: the likelihood does not bend along some direction, or to first order the
density of no observation changes along it. In the second case the likelihood
may bend, but by chance: its expectation does not.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
from typing import Any

import numpy as onp

from phasic.inference import coordinates as coordinates_lib
from phasic.inference import derivatives
from phasic.inference import observations as observations_lib
from phasic.inference.host_values import observation_values

IDENTIFIED = "identified"
ZERO = "on the boundary (zero)"
BOUND = "at a bound"
NOT_IDENTIFIED = "not identified"

# A direction whose eigenvalue is below this part of the largest one is flat.
FLAT = 1e-6
# What has more than this share in flat directions is not identified.
SHARE = 0.01


@dataclasses.dataclass(frozen=True, eq=False)
class Uncertainty:
  """What is known of the fitted entries.

  Attributes:
    names: of all that were fitted, k.
    statuses: of each, one of the four above.
    covariance: (k, k), NaN for those that have no standard error.
    standard_errors: arrays of the parameters' shapes, by name.
    num_parameters: how many free numbers were fitted.
    information: "observed", minus the Hessian of the log likelihood; or "outer
      products" of the scores, which is all that NumPy has, and an estimate of
      the same expectation.
    eigenvalues: of the information in the free numbers of those entries that
      are off the boundary, ascending.
    num_flat: how many of these directions are flat.
  """

  names: tuple[str, ...]
  statuses: Mapping[str, str]
  covariance: onp.ndarray
  standard_errors: Mapping[str, onp.ndarray]
  num_parameters: int
  information: str
  eigenvalues: onp.ndarray
  num_flat: int
  _inner: coordinates_lib.Coordinates
  _flat: onp.ndarray
  _known: onp.ndarray

  def standard_error_of(
    self, f: Callable[..., Any] | str, args: tuple[Any, ...]
  ) -> onp.ndarray:
    """Returns the standard error of a function, see `Fit`."""
    inner = self._inner
    slopes = derivatives.jacobian(inner, inner.entries, f, args)
    along = onp.matmul(slopes, inner.jacobian(inner.entries))
    return standard_errors(along, self._flat, self._known)[()]


def assess(
  structure: Any,
  distribution: Any,
  observations: observations_lib.Observations,
  fixed: Sequence[str] = (),
  tied: Sequence[Sequence[str]] = (),
  at_bounds: Sequence[str] = (),
) -> Uncertainty:
  """Says what is known of each entry of a fitted distribution.

  Args:
    structure: a distribution whose entries that are not zero were fitted.
    distribution: the fitted one.
    observations: to which it was.
    fixed: names of what was not fitted.
    tied: names of what is equal.
    at_bounds: names of entries at bounds.
  """
  whole = coordinates_lib.Coordinates(structure, fixed, tied)
  entries = coordinates_lib.entries_at(whole, distribution)
  bound = onp.isin(whole.names, list(at_bounds))
  zero = entries <= 0
  statuses = onp.full(len(entries), IDENTIFIED, dtype=object)
  if onp.any(zero):
    _, slopes = derivatives.value_and_gradient(whole, entries, observations)
    falls = whole.above_mean(entries, slopes) < 0
    statuses[zero] = onp.where(falls[zero], ZERO, NOT_IDENTIFIED)
  statuses[bound] = BOUND
  inner = whole.restricted(entries, onp.logical_not(zero | bound))
  matrix, outer, kind = _information(inner, observations)
  flat, known = directions(matrix, outer)
  jacobian = inner.jacobian(inner.entries)
  errors = standard_errors(jacobian, flat, known)
  place = [whole.names.index(name) for name in inner.names]
  lost = onp.isnan(errors)
  statuses[onp.asarray(place, int)[lost]] = NOT_IDENTIFIED
  covariance = onp.full((len(entries), len(entries)), onp.nan)
  kept = onp.asarray(place, int)[onp.logical_not(lost)]
  own = jacobian[onp.logical_not(lost)]
  covariance[onp.ix_(kept, kept)] = _congruent(known, own)
  return Uncertainty(
    names=whole.names,
    statuses=dict(zip(whole.names, map(str, statuses), strict=True)),
    covariance=covariance,
    standard_errors=_of_parameters(inner, jacobian, flat, known),
    num_parameters=whole.num_free,
    information=kind,
    eigenvalues=onp.linalg.eigvalsh(matrix),
    num_flat=onp.shape(flat)[-1],
    _inner=inner,
    _flat=flat,
    _known=known,
  )


def standard_errors(
  slopes: onp.ndarray, flat: onp.ndarray, known: onp.ndarray
) -> onp.ndarray:
  """Returns standard errors of functions, NaN for those not identified.

  Args:
    slopes: in the free numbers, (..., d).
    flat: an orthonormal basis of the flat directions, (d, m).
    known: the covariance of the free numbers along the others, (d, d).
  """
  size = onp.linalg.norm(slopes, axis=-1)
  loads = onp.linalg.norm(onp.matmul(slopes, flat), axis=-1)
  variance = onp.sum(onp.matmul(slopes, known) * slopes, axis=-1)
  errors = onp.sqrt(onp.maximum(variance, 0.0))
  return onp.where(loads > SHARE * size, onp.nan, errors)


def _information(
  inner: coordinates_lib.Coordinates,
  observations: observations_lib.Observations,
) -> tuple[onp.ndarray, onp.ndarray, str]:
  """Returns the information, the scores' outer products, and what it is."""
  at = inner.entries
  _, _, known = observation_values(observations)
  slopes = derivatives.scores(inner, at, observations)
  slopes = onp.matmul(slopes, inner.jacobian(at))
  weights = known[:, None]
  weighted = onp.where(weights > 0, weights * slopes, 0.0)
  outer = onp.matmul(onp.transpose(weighted), slopes)
  second = derivatives.hessian(inner, at, observations)
  if second is None:
    return outer, outer, "outer products"
  _, gradient = derivatives.value_and_gradient(inner, at, observations)
  return -inner.pull_second(at, gradient, second), outer, "observed"


def directions(
  information: onp.ndarray, outer: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns the flat directions, and the covariance along the others.

  Args:
    information: minus the second derivatives of the log likelihood, (d, d).
    outer: the sum of the scores' outer products, (d, d).
  """
  values, vectors = onp.linalg.eigh(outer)
  bends = values > FLAT * onp.max(values, initial=0.0)
  flat, rest = vectors[:, onp.logical_not(bends)], vectors[:, bends]
  values, turned = onp.linalg.eigh(_congruent(information, onp.transpose(rest)))
  bends = values > FLAT * onp.max(onp.abs(values), initial=0.0)
  flat = onp.hstack([flat, onp.matmul(rest, turned[:, onp.logical_not(bends)])])
  rest = onp.matmul(rest, turned[:, bends])
  return flat, _congruent(onp.diag(1.0 / values[bends]), rest)


def _congruent(matrix: onp.ndarray, basis: onp.ndarray) -> onp.ndarray:
  """Returns B M B', M in the rows of B."""
  return onp.matmul(onp.matmul(basis, matrix), onp.transpose(basis))


def _of_parameters(
  inner: coordinates_lib.Coordinates,
  jacobian: onp.ndarray,
  flat: onp.ndarray,
  known: onp.ndarray,
) -> dict[str, onp.ndarray]:
  """Returns standard errors of the parameters' arrays, by path."""
  found = {}
  # The last row, of what is not fitted, is zero.
  whole = onp.zeros((len(inner.whole) + 1, onp.shape(jacobian)[-1]))
  whole[inner.rows] = jacobian
  fitted = onp.append(onp.isin(onp.arange(len(inner.whole)), inner.rows), False)
  for path, table in inner.tables.items():
    index = onp.asarray(table.index)
    slopes = whole[index]
    if path in inner.increasing:
      slopes = onp.cumsum(slopes, axis=-2)
    errors = standard_errors(slopes, flat, known)
    found[path] = onp.where(fitted[index], errors, onp.nan)
  return found
