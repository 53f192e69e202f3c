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

from collections.abc import Callable, Mapping
import dataclasses

import numpy as onp

from phasic.inference.data import likelihood_derivatives
from phasic.inference.data import likelihoods
from phasic.inference.results import directions
from phasic.inference.results import information
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike
from phasic.math.model import value_rules

Form = likelihood_derivatives.Form
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
    inner: the map of the entries off the boundary, for functions of this
      package.
    known: their information, likewise.
    likelihood: the log likelihood as a function of entries, likewise.

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
  inner: Form = dataclasses.field(repr=False)
  known: directions.Known = dataclasses.field(repr=False)
  likelihood: likelihoods.Likelihood = dataclasses.field(repr=False)

  def standard_error_of(
    self, f: Callable[..., ArrayLike] | str, args: tuple[object, ...] = ()
  ) -> onp.ndarray:
    """Computes a function's standard error, see `Fit.standard_error_of`."""
    return self.known.standard_errors(self.slopes_of(f, args))[()]

  def slopes_of(
    self, f: Callable[..., ArrayLike] | str, args: tuple[object, ...] = ()
  ) -> onp.ndarray:
    """Computes slopes of f(value, *args) in the d free parameters, (..., d).

    The value is the distribution, or the parameters of a model.
    """
    inner = self.inner
    value = inner.root.value_at(inner.array(inner.all_entries))
    if isinstance(f, str):
      _check_values(f, args)
      method = getattr(value, f, None)
      if not callable(method):
        names = ", ".join(self.names[:20])
        raise ValueError(
          f"f is {f!r}: it must be a function, the name of a method of "
          f"{type(value).__name__}, or one of the fitted entries {names}"
        )
    else:
      raw_arguments.check_callable("f", f, " or the name of a method")
    slopes = likelihood_derivatives.jacobian(inner, inner.entries, f, args)
    return onp.matmul(slopes, inner.jacobian(inner.entries))

  def robust(self, clusters: ArrayLike | None = None) -> Uncertainty:
    """Returns the uncertainty by the sandwich of information and scores.

    Args:
      clusters: (n,), labels of observations that depend on each other; None
        for independent ones.

    Raises:
      NotImplementedError: the log likelihood is no sum over observations.
      ValueError: `clusters` has another shape.

    Reference: P. J. Huber, The behavior of maximum likelihood estimates under
      nonstandard conditions, Proc. 5th Berkeley Symp. 1, 1967.
    """
    inner, known = self.inner, self.known
    if not inner.names:
      return self
    sums = information.cluster_sums(self.likelihood, inner, clusters)
    scaled = sums * known.units
    middle = onp.matmul(onp.transpose(scaled), scaled)
    spread = onp.matmul(onp.matmul(known.spread, middle), known.spread)
    return self._with(known._replace(spread=spread))

  def _with(self, known: directions.Known) -> Uncertainty:
    """Returns the same entries with another covariance."""
    inner = self.inner
    jacobian = inner.jacobian(inner.entries)
    kept = onp.isin(inner.names, onp.asarray(self.names)[self._has_error])
    covariance = onp.full(onp.shape(self.covariance), onp.nan)
    place = onp.flatnonzero(self._has_error)
    covariance[onp.ix_(place, place)] = known.covariance(jacobian[kept])
    errors = parameter_errors(inner, jacobian, known)
    for array in (covariance, *errors.values()):
      freeze(array)
    sums = {
      names: (
        value,
        float(
          known.standard_errors(
            onp.sum(jacobian[onp.isin(inner.names, names)], axis=0)
          )
        ),
      )
      for names, (value, _) in self.sums.items()
    }
    return dataclasses.replace(
      self,
      covariance=covariance,
      standard_errors=errors,
      sums=sums,
      known=known,
    )

  @property
  def _has_error(self) -> onp.ndarray:
    return onp.logical_not(onp.isnan(onp.diag(self.covariance)))


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


def freeze(array: onp.ndarray) -> None:
  """Makes an array of the host read-only; numbers are so already."""
  if isinstance(array, onp.ndarray):
    array.setflags(write=False)


def parameter_errors(
  inner: Form, jacobian: onp.ndarray, known: directions.Known
) -> dict[str, onp.ndarray]:
  """Returns standard errors in the shapes of the parameters, by path."""
  size = len(inner.all_entries)
  slopes = onp.zeros((size, onp.shape(jacobian)[-1]))
  slopes[inner.indices] = jacobian
  parts = inner.root.parameter_rows(
    slopes, onp.isin(onp.arange(size), inner.indices)
  )
  return {
    path: onp.where(is_fitted, known.standard_errors(rows), onp.nan)
    for path, (rows, is_fitted) in parts.items()
  }
