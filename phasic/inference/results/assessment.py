"""Assesses which entries of a fit are identified, and how well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as onp

from phasic.inference.data import likelihoods
from phasic.inference.parameters import numbers as numbers_lib
from phasic.inference.results import directions
from phasic.inference.results import information
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import static

# Entries are equal if they differ by less than this fraction.
_EQUAL = 1e-3

# A free parameter tends to plus or minus infinity if the derivative of the mean
# log likelihood with respect to it is small, but the Newton step is long.
_NO_SLOPE = 1e-3


def assess(
  likelihood: likelihoods.Likelihood,
  where: uncertainty_lib.Form,
  entries: onp.ndarray,
  at_bounds: Sequence[str] = (),
  converged: bool = True,
) -> uncertainty_lib.Uncertainty:
  """Computes the uncertainty of each entry where a fit ended.

  Args:
    likelihood: the log likelihood.
    where: the entries that were fitted.
    entries: their values at the end.
    at_bounds: names of entries at bounds.
    converged: whether the fit ended at a maximum.
  """
  if not where.names:
    return _none_fitted(likelihood, where)
  bound = onp.isin(where.names, list(at_bounds))
  zero = onp.logical_not(where.is_inside(entries))
  total = likelihood.total
  statuses = onp.full(len(entries), uncertainty_lib.IDENTIFIED, dtype=object)
  if onp.any(zero):
    _, slopes = likelihood.value_and_gradient(where, entries)
    falls = directions.falls_away(
      where.projected_gradient(entries, slopes),
      likelihood.scales(entries),
      total,
    )
    statuses[zero] = onp.where(
      falls[zero], uncertainty_lib.ZERO, uncertainty_lib.FLAT
    )
  statuses[bound] = uncertainty_lib.BOUND
  inner = where.restricted(entries, onp.logical_not(zero | bound))
  certain = onp.logical_not(zero | bound | onp.isin(where.names, inner.names))
  statuses[certain] = uncertainty_lib.CERTAIN
  slopes, matrix = information.slopes_and_information(likelihood, inner)
  outer = information.outer_products(likelihood, inner)
  if onp.sum(likelihood.weights > 0) <= len(outer):
    # Scores sum to zero, so that so few of them leave out a direction. A subject
    # that was seen many times may inform about all of them.
    outer = matrix
  rounding = static.finfo_eps(likelihood.dtype) * total
  runs = directions.rises_on(
    slopes, matrix, rounding, _longest_steps(inner, matrix)
  )
  runs = runs & (onp.abs(slopes) <= _NO_SLOPE * total)
  precision = information.precision(likelihood.dtype)
  is_plain = onp.all(onp.abs(matrix) <= precision * total, axis=-1)
  known = directions.find(matrix, outer, precision, runs | is_plain)
  jacobian = inner.jacobian(inner.entries)
  errors = known.standard_errors(jacobian)
  place = [where.names.index(name) for name in inner.names]
  lost = onp.isnan(errors)
  reasons = _reasons(known, jacobian[lost], runs, is_plain)
  statuses[onp.asarray(place, int)[lost]] = reasons
  if not converged:
    # All directions count as flat.
    known = known._replace(
      flat=onp.eye(len(known.units)), spread=onp.zeros_like(known.spread)
    )
    lost = onp.ones_like(lost)
    statuses[place] = uncertainty_lib.UNKNOWN
  sums = _sums(inner, statuses[place], jacobian, known)
  together = [name for names in sums for name in names]
  statuses[onp.isin(where.names, together)] = uncertainty_lib.SUMMED
  covariance = onp.full((len(entries), len(entries)), onp.nan)
  kept = onp.asarray(place, int)[onp.logical_not(lost)]
  slopes_kept = jacobian[onp.logical_not(lost)]
  covariance[onp.ix_(kept, kept)] = known.covariance(slopes_kept)
  standard_errors = uncertainty_lib.parameter_errors(inner, jacobian, known)
  eigenvalues = onp.linalg.eigvalsh(matrix)
  # The arrays become read-only, because a fit caches them and returns them to
  # the user.
  for array in (covariance, eigenvalues, *standard_errors.values()):
    uncertainty_lib.freeze(array)
  return uncertainty_lib.Uncertainty(
    names=where.names,
    statuses=dict(zip(where.names, map(str, statuses), strict=True)),
    covariance=covariance,
    standard_errors=standard_errors,
    eigenvalues=eigenvalues,
    num_flat=known.num_flat,
    sums=sums,
    inner=inner,
    known=known,
    likelihood=likelihood,
  )


def judged(
  likelihood: likelihoods.Likelihood,
  inner: numbers_lib.Numbers,
  statuses: Mapping[str, str],
  known: directions.Known,
) -> uncertainty_lib.Uncertainty:
  """Returns the uncertainty of numbers whose statuses are known.

  Args:
    likelihood: the log likelihood.
    inner: the map of the entries off their bounds.
    statuses: of all numbers, by name.
    known: their information.
  """
  form, size = inner.root, len(inner.all_entries)
  slopes = onp.zeros((size, len(known.units)))
  slopes[inner.indices] = inner.jacobian(inner.entries)
  rows = form.parameter_rows(slopes, onp.ones(size, bool))
  flat = onp.concatenate(
    [onp.reshape(x, (-1, len(known.units))) for x, _ in rows.values()]
  )
  lost = onp.asarray(
    [x != uncertainty_lib.IDENTIFIED for x in statuses.values()]
  )
  covariance = known.covariance(flat)
  covariance = onp.where(lost | lost[:, None], onp.nan, covariance)
  errors = onp.sqrt(onp.diag(covariance))
  by_name = form.on_host(errors)
  if not isinstance(by_name, Mapping):
    assert isinstance(by_name, onp.ndarray)
    by_name = {"start": by_name}
  for array in (covariance, *by_name.values()):
    uncertainty_lib.freeze(array)
  return uncertainty_lib.Uncertainty(
    names=tuple(statuses),
    statuses=dict(statuses),
    covariance=covariance,
    standard_errors=dict(by_name),
    eigenvalues=onp.linalg.eigvalsh(known.information),
    num_flat=known.num_flat,
    sums={},
    inner=inner,
    known=known,
    likelihood=likelihood,
  )


def _longest_steps(
  inner: uncertainty_lib.Form, matrix: onp.ndarray
) -> onp.ndarray:
  """Returns the Newton steps beyond which there is no maximum, (d,).

  A step of a real number is long if it exceeds the number's own standard error
  and a unit.
  """
  bends = onp.abs(onp.diag(matrix))
  with onp.errstate(divide="ignore"):
    sizes = onp.maximum(1.0, 1.0 / onp.sqrt(bends))
  is_real = inner.is_real[inner.has_free]
  return directions.LONG_STEP * onp.where(is_real & (bends > 0), sizes, 1.0)


def _none_fitted(
  likelihood: likelihoods.Likelihood, where: uncertainty_lib.Form
) -> uncertainty_lib.Uncertainty:
  """Returns the uncertainty of a fit in which nothing was free."""
  none = onp.zeros((0, 0))
  return uncertainty_lib.Uncertainty(
    names=(),
    statuses={},
    covariance=none,
    standard_errors={},
    eigenvalues=onp.zeros(0),
    num_flat=0,
    sums={},
    inner=where,
    known=directions.Known(onp.zeros(0), none, none, none),
    likelihood=likelihood,
  )


def _reasons(
  known: directions.Known,
  slopes: onp.ndarray,
  runs: onp.ndarray,
  is_plain: onp.ndarray,
) -> onp.ndarray:
  """Returns the reason why each entry is not identified, (k,).

  Args:
    known: the information about the free parameters.
    slopes: slopes of the entries in the free parameters, (k, d).
    runs: which free parameters tend to infinity, (d,).
    is_plain: which change nothing, (d,).
  """
  ends = onp.any(slopes[:, runs] != 0, axis=-1)
  plain = onp.any(slopes[:, is_plain] != 0, axis=-1)
  is_flat = plain | onp.logical_not(known.bends(slopes))
  reasons = onp.where(
    is_flat, uncertainty_lib.FLAT, uncertainty_lib.DEPENDENT
  ).astype(object)
  reasons[ends] = uncertainty_lib.ENDLESS
  return reasons


def _sums(
  inner: uncertainty_lib.Form,
  statuses: onp.ndarray,
  jacobian: onp.ndarray,
  known: directions.Known,
) -> dict[tuple[str, ...], tuple[float, float]]:
  """Returns the sums that have standard errors, of entries that have none.

  Equal entries are summed, such as the rates of two phases in a row. Where a phase
  has several rates, the sum of all that are left is tried.

  Args:
    inner: the coordinates.
    statuses: of its entries, (k,).
    jacobian: slopes of the entries in the free parameters, (k, d).
    known: the information about the free parameters.
  """
  sums: dict[tuple[str, ...], tuple[float, float]] = {}

  def is_kept(rows: list[int]) -> bool:
    error = float(known.standard_errors(onp.sum(jacobian[rows], axis=0)))
    if len(rows) < 2 or not onp.isfinite(error):
      return False
    names = tuple(inner.names[i] for i in rows)
    sums[names] = (float(onp.sum(inner.entries[rows])), error)
    return True

  is_left = (statuses == uncertainty_lib.DEPENDENT) & onp.logical_not(
    inner.is_real
  )
  left = [int(i) for i in onp.flatnonzero(is_left)]
  values, rest = inner.entries, []
  while left:
    value = values[left[0]]
    same = [i for i in left if abs(values[i] - value) <= _EQUAL * value]
    left = [i for i in left if i not in same]
    rest += [] if is_kept(same) else same
  is_kept(sorted(rest))
  return sums
