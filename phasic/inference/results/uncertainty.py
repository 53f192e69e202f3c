"""Standard errors and identifiability of fitted parameters.

There are two ways not to have a standard error. On the boundary, an entry is
zero, and the likelihood falls as it grows, or it is a probability whose
alternatives are all zero: the estimate is known, its distribution is not
normal. Not identified, the data do not tell an entry from
others: the likelihood does not bend along some direction, or to first order the
density of no observation changes along it. In the second case the likelihood
may bend, but by chance: its expectation does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import likelihood_derivatives
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import limits
from phasic.inference.results import directions
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike
from phasic.math.model import value_rules

IDENTIFIED = "identified"
ZERO = "on the boundary (zero)"
CERTAIN = "on the boundary (certain)"
BOUND = "at a bound"
# The statuses of entries without a standard error: the likelihood is constant
# along a direction (FLAT); the density of each observation is constant to first
# order along a direction (DEPENDENT), but a sum of entries is identified
# (SUMMED); there is no maximum (ENDLESS); or the fit has not ended at a maximum
# (UNKNOWN).
FLAT = "not identified (flat likelihood)"
SUMMED = "not identified (only in a sum: see sums)"
DEPENDENT = "not identified (only together with others)"
ENDLESS = "not identified (no maximum)"
UNKNOWN = "unknown (the fit did not converge)"

# Entries are equal if they differ by less than this fraction.
_EQUAL = 1e-3

# A free parameter tends to plus or minus infinity if the derivative of the mean
# log likelihood with respect to it is small, but the Newton step is long.
_NO_SLOPE = 1e-3

# By method, the open interval of arguments at which a quantile has derivatives
# in the parameters. At its ends the quantile is an end of the support.
_OPEN_RANGES = {
  "quantile": (0.0, 1.0),
  "quantile_log_cdf": (-onp.inf, 0.0),
  "quantile_log_survival": (-onp.inf, 0.0),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Uncertainty:
  """The uncertainty of a fit: standard errors and statuses of the entries.

  Its arrays are read-only.

  Attributes:
    names: the names of the k fitted entries.
    statuses: the status of each entry, one of those above.
    covariance: (k, k), NaN for entries that have no standard error.
    standard_errors: arrays of the parameters' shapes, by name; "params[a]" is
      the name of parameter a of a graph.
    eigenvalues: the eigenvalues of the information, minus the Hessian of the
      log likelihood in the free parameters off the boundary, ascending.
    num_flat: the number of flat directions of the information.
    sums: sums of entries that are not identified by themselves, and their
      standard errors, by the entries' names.

  Example: the variance of an exponential rate r is r^2 / n.

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([1.0, 1.0, 2.0, 4.0])
    >>> uncertainty = inference.fit_mle(Erlang(1, 1.0), data).uncertainty
    >>> uncertainty.names, uncertainty.statuses["rate"]
    (('rate',), 'identified')
    >>> print(f"{float(uncertainty.covariance[0, 0]):.4f}")
    0.0625
  """

  names: tuple[str, ...]
  statuses: Mapping[str, str]
  covariance: onp.ndarray
  standard_errors: Mapping[str, onp.ndarray]
  eigenvalues: onp.ndarray
  num_flat: int
  sums: Mapping[tuple[str, ...], tuple[float, float]]
  _inner: coordinates_lib.Coordinates = dataclasses.field(repr=False)
  _known: directions.Known = dataclasses.field(repr=False)

  def standard_error_of(
    self, f: Callable[..., ArrayLike] | str, args: tuple[object, ...]
  ) -> onp.ndarray:
    """Computes a function's standard error, see `Fit.standard_error_of`."""
    if isinstance(f, str):
      _check_values(f, args)
      method = getattr(self._inner.distribution, f, None)
      raw_arguments.check_callable(f"f = {f!r}", method, " or a method's name")
    else:
      raw_arguments.check_callable("f", f, " or the name of a method")
    inner = self._inner
    if not inner.names:
      # All parameters are on the boundary, or fixed: no standard errors exist.
      dist = inner.distribution
      value = getattr(dist, f)(*args) if isinstance(f, str) else f(dist, *args)
      shape = onp.shape(onp.asarray(static.concrete(value)))
      return onp.full(shape, onp.nan)[()]
    slopes = likelihood_derivatives.jacobian(inner, inner.entries, f, args)
    along = onp.matmul(slopes, inner.jacobian(inner.entries))
    return self._known.standard_errors(along)[()]


def _check_values(f: str, args: tuple[object, ...]) -> None:
  """Raises ValueError for arguments at which a method has no derivative.

  The quantiles of 0 and 1 are the ends of the support, for all parameters.
  """
  for x in args:
    value = static.concrete(x)
    if value is None or value.dtype.kind not in "biuf":
      continue
    value_rules.check("value", value, value == value, "it must be a number")
    if f in _OPEN_RANGES:
      low, high = _OPEN_RANGES[f]
      good = onp.asarray((value > low) & (value < high))
      rule = f"{f} has a standard error between {low:g} and {high:g} only"
      value_rules.check("value", value, good, rule)


def assess(
  structure: Distribution,
  distribution: Distribution,
  observations: observations_lib.Observations,
  fixed: Sequence[str] = (),
  tied: Sequence[Sequence[str]] = (),
  at_bounds: Sequence[str] = (),
  free: Sequence[str] = (),
  converged: bool = True,
) -> Uncertainty:
  """Computes the uncertainty of each entry of a fitted distribution.

  Args:
    structure: a distribution whose entries that are not zero were fitted.
    distribution: the fitted distribution.
    observations: the data.
    fixed: names of parameters or entries that were not fitted.
    tied: groups of names of equal entries.
    at_bounds: names of entries at bounds.
    free: names of known values that were fitted.
    converged: whether the fit ended at a maximum.
  """
  where = coordinates_lib.Coordinates(structure, fixed, tied, free)
  if not where.names:
    return _none_fitted(where)
  entries = coordinates_lib.entries_at(where, distribution)
  bound = onp.isin(where.names, list(at_bounds))
  zero = entries <= 0
  total = observations_lib.total_weight(observations)
  statuses = onp.full(len(entries), IDENTIFIED, dtype=object)
  if onp.any(zero):
    _, slopes = likelihood_derivatives.value_and_gradient(
      where, entries, observations
    )
    falls = directions.falls_away(
      where.projected_gradient(entries, slopes),
      limits.scales(where, entries),
      total,
    )
    statuses[zero] = onp.where(falls[zero], ZERO, FLAT)
  statuses[bound] = BOUND
  inner = where.restricted(entries, onp.logical_not(zero | bound))
  certain = onp.logical_not(zero | bound | onp.isin(where.names, inner.names))
  statuses[certain] = CERTAIN
  slopes, matrix = _slopes_and_information(inner, observations)
  outer = outer_products(inner, observations)
  rounding = static.finfo_eps(inner.distribution.dtype) * total
  runs = directions.rises_on(slopes, matrix, rounding)
  runs = runs & (onp.abs(slopes) <= _NO_SLOPE * total)
  is_plain = onp.all(onp.abs(matrix) <= precision(inner) * total, axis=-1)
  known = directions.find(matrix, outer, precision(inner), runs | is_plain)
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
    statuses[place] = UNKNOWN
  sums = _sums(inner, statuses[place], jacobian, known)
  together = [name for names in sums for name in names]
  statuses[onp.isin(where.names, together)] = SUMMED
  covariance = onp.full((len(entries), len(entries)), onp.nan)
  kept = onp.asarray(place, int)[onp.logical_not(lost)]
  slopes_kept = jacobian[onp.logical_not(lost)]
  covariance[onp.ix_(kept, kept)] = known.covariance(slopes_kept)
  standard_errors = _parameter_errors(inner, jacobian, known)
  eigenvalues = onp.linalg.eigvalsh(matrix)
  # The arrays become read-only, because a fit caches them and returns them to
  # the user.
  for array in (covariance, eigenvalues, *standard_errors.values()):
    _freeze(array)
  return Uncertainty(
    names=where.names,
    statuses=dict(zip(where.names, map(str, statuses), strict=True)),
    covariance=covariance,
    standard_errors=standard_errors,
    eigenvalues=eigenvalues,
    num_flat=known.num_flat,
    sums=sums,
    _inner=inner,
    _known=known,
  )


def _freeze(array: onp.ndarray) -> None:
  """Makes an array of the host read-only; numbers are so already."""
  if isinstance(array, onp.ndarray):
    array.setflags(write=False)


def _none_fitted(where: coordinates_lib.Coordinates) -> Uncertainty:
  """Returns the uncertainty of a fit in which nothing was free."""
  none = onp.zeros((0, 0))
  return Uncertainty(
    names=(),
    statuses={},
    covariance=none,
    standard_errors={},
    eigenvalues=onp.zeros(0),
    num_flat=0,
    sums={},
    _inner=where,
    _known=directions.Known(onp.zeros(0), none, none, none),
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
  reasons = onp.where(is_flat, FLAT, DEPENDENT).astype(object)
  reasons[ends] = ENDLESS
  return reasons


def _sums(
  inner: coordinates_lib.Coordinates,
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

  left = [i for i, status in enumerate(statuses) if status == DEPENDENT]
  values, rest = inner.entries, []
  while left:
    value = values[left[0]]
    same = [i for i in left if abs(values[i] - value) <= _EQUAL * value]
    left = [i for i in left if i not in same]
    rest += [] if is_kept(same) else same
  is_kept(sorted(rest))
  return sums


def outer_products(
  inner: coordinates_lib.Coordinates,
  observations: observations_lib.Observations,
) -> onp.ndarray:
  """Computes the weighted sum of outer products of the scores, (d, d)."""
  _, _, known = observations_lib.host_arrays(observations)
  slopes = likelihood_derivatives.scores(inner, inner.entries, observations)
  slopes = onp.matmul(slopes, inner.jacobian(inner.entries))
  weights = known[:, None]
  weighted = onp.where(weights > 0, weights * slopes, 0.0)
  slopes = onp.where(weights > 0, slopes, 0.0)
  return onp.matmul(onp.transpose(weighted), slopes)


def precision(inner: coordinates_lib.Coordinates) -> float:
  """Returns a score's rounding error, relative to the largest score."""
  return 1e3 * static.finfo_eps(inner.distribution.dtype)


def _slopes_and_information(
  inner: coordinates_lib.Coordinates,
  observations: observations_lib.Observations,
) -> tuple[onp.ndarray, onp.ndarray]:
  """Computes the gradient (d,) and minus the Hessian (d, d).

  Both are in the free parameters.
  """
  at = inner.entries
  second = likelihood_derivatives.hessian(inner, at, observations)
  _, gradient = likelihood_derivatives.value_and_gradient(
    inner, at, observations
  )
  slopes = inner.unconstrained_gradient(at, gradient)
  return slopes, -inner.unconstrained_hessian(at, gradient, second)


def _parameter_errors(
  inner: coordinates_lib.Coordinates,
  jacobian: onp.ndarray,
  known: directions.Known,
) -> dict[str, onp.ndarray]:
  """Returns standard errors in the shapes of the parameters, by path."""
  by_path: dict[str, onp.ndarray] = {}
  # Entries that are not fitted have the index -1, which selects the last row:
  # its slopes are zero.
  padded = onp.zeros((len(inner.all_entries) + 1, onp.shape(jacobian)[-1]))
  padded[inner.indices] = jacobian
  fitted = onp.append(
    onp.isin(onp.arange(len(inner.all_entries)), inner.indices), False
  )
  for path, table in inner.tables.items():
    index = onp.asarray(table.index)
    slopes = padded[index]
    is_fitted = fitted[index]
    if path in inner.increasing:
      # Each entry of the parameter is the sum of the differences up to the
      # entry.
      slopes = onp.cumsum(slopes, axis=-2)
      is_fitted = onp.logical_or.accumulate(is_fitted, axis=-1)
    errors = known.standard_errors(slopes)
    by_path[path] = onp.where(is_fitted, errors, onp.nan)
  for path, names in entry_blocks.names_of_mappings(inner.distribution).items():
    errors = by_path.pop(path)
    by_path |= {f"{path}[{n}]": x for n, x in zip(names, errors, strict=True)}
  return by_path
