"""The results of a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import math
from typing import Any, Generic, NamedTuple, Self

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import limits
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import static
from phasic.internal.arrays import ArrayLike
from phasic.saving import saved
from phasic.saving import texts


class Record(NamedTuple):
  """The record of an optimization: convergence, message and counts.

  Attributes:
    method: the name of the method, such as "EM" or "L-BFGS-B".
    converged: whether it ended by itself.
    message: why it ended.
    log_likelihoods: after each step, the start first.
    gradient_norm: the largest slope that is left, of the log likelihood over
      the sum of the weights, in the unconstrained parameters; NaN where it was
      not computed.
    num_evaluations: how often the log likelihood was computed.
    reached: the log likelihoods at which the searches from each start ended.
    tried: what these starts were: "dist", the given one; "data, 1", suggested by
      the data; "starts[0]"; "near dist, 1", drawn at random.

  Example: the log likelihood at the start, -8, and at the end, -4 (log(2) + 1).

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([1.0, 1.0, 2.0, 4.0])
    >>> record = inference.fit_mle(Erlang(1, 1.0), data).record
    >>> record.converged
    True
    >>> [f"{record.log_likelihoods[i]:.4f}" for i in (0, -1)]
    ['-8.0000', '-6.7726']
  """

  method: str
  converged: bool
  message: str
  log_likelihoods: tuple[float, ...]
  gradient_norm: float = math.nan
  num_evaluations: int = 0
  reached: tuple[float, ...] = ()
  tried: tuple[str, ...] = ()

  def _saved_parts(self) -> dict[str, object]:
    return self._asdict()

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, Any]) -> Self:
    texts.check_keys(parts, cls._fields, "parameters")
    for name in ("log_likelihoods", "reached"):
      parts[name] = _numbers(parts[name], name)
    parts["gradient_norm"] = _number(parts["gradient_norm"], "gradient_norm")
    for name, kind in _OF_RECORD.items():
      _check_type(parts[name], name, kind)
    parts["tried"] = tuple(texts.check_strings(parts["tried"], "tried"))
    return cls(**parts)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fit(saved.Saved, Generic[DistributionT]):
  """A distribution that was fitted to observations.

  Attributes:
    distribution: the fitted distribution.
    log_likelihood: the log likelihood of all observations under it.
    observations: the data.
    record: how the fit came to its end.
    structure: a distribution of the fitted family. Its entries that are zero
      were not fitted.
    fixed: names of parameters that were not fitted, see `unconstrained`.
    tied: groups of names of parameters that are equal.
    free: names of known values, such as boundaries, that were fitted.
    bounds: the given least and greatest values, by name.
    at_bounds: names of entries that ended at a bound.

  Example: an exponential rate r, one over the mean, has the standard error
    r / sqrt(n).

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([1.0, 1.0, 2.0, 4.0])
    >>> fit = inference.fit_mle(Erlang(1, 1.0), data)
    >>> print(f"{float(fit.distribution.rate):.4f}")
    0.5000
    >>> print(f"{float(fit.standard_errors['rate']):.4f}")
    0.2500
  """

  distribution: DistributionT
  log_likelihood: float
  observations: observations_lib.Observations
  record: Record
  structure: DistributionT
  fixed: Sequence[str] = ()
  tied: Sequence[Sequence[str]] = ()
  free: Sequence[str] = ()
  bounds: Mapping[str, Sequence[float]] = dataclasses.field(
    default_factory=dict
  )
  at_bounds: Sequence[str] = ()

  def __repr__(self) -> str:
    end = "converged" if self.record.converged else "did not converge"
    return (
      f"<Fit log_likelihood={self.log_likelihood:.6g}, "
      f"{self.record.method} {end},\n"
      f"  {self.distribution!r},\n  {self.observations!r}>"
    )

  def _saved_parts(self) -> dict[str, object]:
    fields = dataclasses.fields(self)
    return {field.name: getattr(self, field.name) for field in fields}

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, Any]) -> Self:
    fields = [field.name for field in dataclasses.fields(cls)]
    texts.check_keys(parts, fields, "parameters")
    number = _number(parts["log_likelihood"], "log_likelihood")
    parts["log_likelihood"] = number
    for name, kind in _OF_FIT.items():
      _check_type(parts[name], name, kind)
    for name in ("fixed", "free", "at_bounds"):
      parts[name] = tuple(texts.check_strings(parts[name], name))
    parts["tied"] = tuple(
      tuple(texts.check_strings(names, f"tied[{i}]"))
      for i, names in enumerate(texts.check_list(parts["tied"], "tied"))
    )
    parts["bounds"] = {
      name: _numbers(ends, f"bounds[{name!r}]")
      for name, ends in parts["bounds"].items()
    }
    fit = cls(**parts)
    where = coordinates_lib.Coordinates(
      fit.structure, fit.fixed, fit.tied, fit.free
    )
    limits.limits(where, fit.bounds)
    fit.observations.check_fits(fit.distribution)
    return fit

  @functools.cached_property
  def uncertainty(self) -> uncertainty_lib.Uncertainty:
    """The uncertainty of the parameters, computed on first use."""
    return uncertainty_lib.assess(
      self.structure,
      self.distribution,
      self.observations,
      self.fixed,
      self.tied,
      self.at_bounds,
      self.free,
      self.record.converged,
    )

  @property
  def standard_errors(self) -> Mapping[str, onp.ndarray]:
    """The standard errors by name of the parameter, as read-only arrays.

    Parameters of a graph that have names are "params[birth]", as in `statuses`.
    They are NaN where no standard error exists: where a parameter is on the boundary, not
    identified, fixed or zero by structure. `statuses` says which.
    """
    return dict(self.uncertainty.standard_errors)

  @property
  def statuses(self) -> Mapping[str, str]:
    """The status of each fitted entry, by name.

    "identified", "on the boundary (zero)", "on the boundary (certain)" of a
    probability whose alternatives are zero, "at a bound", or "not identified"
    and a reason:

      "not identified (flat likelihood)": the likelihood is the same along a
        direction of the parameters that changes the entry;
      "not identified (only together with others)": to first order the density
        of no observation changes along one; there the information may be
        positive definite, but by chance;
      "not identified (only in a sum: see sums)": that is so as entries, such as
        the rates of two stages, are equal; `sums` has the sums that are known;
      "not identified (no maximum)": the likelihood rises as the entry, or its
        inverse, grows without end.

    "unknown (the fit did not converge)" says that nothing is known yet.
    """
    return dict(self.uncertainty.statuses)

  @property
  def sums(self) -> Mapping[tuple[str, ...], tuple[float, float]]:
    """Sums of entries that are identified only as a sum, with standard errors.

    Where two stages in a row have ended with equal rates, these have no standard
    errors of their own: the data do not tell how far apart they are. Half the sum
    is the estimate of a fit in which the two are `tied`. The rate of a stage may
    be a sum itself, of a progression rate and an exit rate.

    Example:

      >>> from phasic import inference
      >>> from phasic.distributions import Hypoexponential
      >>> data = inference.Observations([0.5, 0.8, 1.0, 1.1, 1.3])
      >>> fit = inference.fit_mle(Hypoexponential([1.0, 1.5]), data)
      >>> for names, (value, error) in fit.sums.items():
      ...   print(names, f"{value:.3f}, {error:.3f}")
      ('rates[0]', 'rates[1]') 4.255, 1.346
    """
    return dict(self.uncertainty.sums)

  @property
  def num_parameters(self) -> int:
    """The number of fitted free parameters, including those on the boundary."""
    return coordinates_lib.Coordinates(
      self.structure, self.fixed, self.tied, self.free
    ).num_free

  @property
  def num_observations(self) -> float:
    """The number of observations, the sum of the weights."""
    return observations_lib.total_weight(self.observations)

  @property
  def aic(self) -> float:
    """Akaike's information criterion, 2 k - 2 log L for k parameters.

    Raises:
      ValueError: the observations are not a sample, see
        `observations_from_density`.

    Reference: H. Akaike, A new look at the statistical model identification,
      IEEE Trans. Automat. Contr. 19, 1974.
    """
    self._check_sample("aic")
    return 2.0 * self.num_parameters - 2.0 * self.log_likelihood

  @property
  def bic(self) -> float:
    """Schwarz's Bayesian information criterion, k log n - 2 log L.

    k is the number of parameters, n the sum of the weights.

    Raises:
      ValueError: the observations are not a sample, see
        `observations_from_density`.

    Reference: G. Schwarz, Estimating the dimension of a model, Ann. Statist. 6,
      1978.
    """
    self._check_sample("bic")
    size = math.log(self.num_observations)
    return self.num_parameters * size - 2.0 * self.log_likelihood

  def _check_sample(self, name: str) -> None:
    """Raises ValueError if the weights sum to one, and thus are not counts."""
    total = self.num_observations
    if total < 1.0 + 1e-9 and static.shape(self.observations.lower) != (1,):
      raise ValueError(
        f"{name} needs a sample, but the weights of the observations sum to "
        f"{total:g}: give counts as weights, or compare log_likelihood"
      )

  def covariance(self) -> tuple[tuple[str, ...], onp.ndarray]:
    """Returns the names of the k fitted entries, and their covariance matrix.

    The matrix is read-only. It is NaN in rows and columns of those that have no
    standard error.
    """
    return self.uncertainty.names, self.uncertainty.covariance

  def standard_error_of(
    self, f: Callable[..., ArrayLike] | str, *args: object
  ) -> onp.ndarray:
    """Computes the standard error of a function of the distribution.

    By the delta method, with exact derivatives, it is sqrt(g' C g) for the
    gradient g and the parameters' covariance C. It is NaN where the data do not
    know the function: where it changes in a direction in which the likelihood
    does not. Parameters on the boundary are taken as known.

    Args:
      f: takes the distribution and returns an array; or the name of a method.
      *args: of the method, after the distribution.

    Raises:
      ValueError: a value is NaN, or the level of a quantile is not a
        probability between zero and one, or no logarithm of one.

    Example: the mean, which equals the sample mean for this family.

      >>> from phasic import inference
      >>> from phasic.distributions import Erlang
      >>> data = inference.Observations([0.5, 1.0, 1.5, 3.0])
      >>> fit = inference.fit_mle(Erlang(2, 1.0), data)
      >>> print(f"{float(fit.distribution.mean()):.4f}")
      1.5000
      >>> bool(fit.standard_error_of("mean") > 0)
      True

    Reference: A. W. van der Vaart, Asymptotic statistics, 1998, ch. 3.
    """
    return self.uncertainty.standard_error_of(f, args)


# The types of the parts of saved records and fits; others are checked as lists.
_OF_RECORD = {
  "method": str,
  "converged": bool,
  "message": str,
  "num_evaluations": int,
}
_OF_FIT = {
  "distribution": Distribution,
  "observations": observations_lib.Observations,
  "record": Record,
  "structure": Distribution,
  "bounds": Mapping,
}


def _check_type(x: object, name: str, kind: type) -> None:
  """Raises TypeError unless a part that was read is of a type."""
  if not isinstance(x, kind) or (isinstance(x, bool) and kind is not bool):
    raise TypeError(f"{name} is {type(x).__name__}: it must be {kind.__name__}")


def _numbers(x: object, name: str) -> tuple[float, ...]:
  """Returns a part that must be a list of floats as a tuple."""
  return tuple(
    _number(item, f"{name}[{i}]")
    for i, item in enumerate(texts.check_list(x, name))
  )


def _number(x: object, name: str) -> float:
  if not isinstance(x, (float, int)) or isinstance(x, bool):
    raise TypeError(f"{name} is {type(x).__name__}: it must be a number")
  return float(x)
