"""The fit of a distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import functools
from typing import Any, Generic, Self

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import likelihoods
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import limits
from phasic.inference.results import estimates
from phasic.inference.results import quantities
from phasic.inference.results import records
from phasic.internal.tables import TableLike
from phasic.saving import saved
from phasic.saving import texts


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fit(estimates.Estimates, saved.Saved, Generic[DistributionT]):
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
  record: records.Record
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
    number = records.number(parts["log_likelihood"], "log_likelihood")
    parts["log_likelihood"] = number
    for name, kind in _OF_FIT.items():
      records.check_type(parts[name], name, kind)
    for name in ("fixed", "free", "at_bounds"):
      parts[name] = tuple(texts.check_strings(parts[name], name))
    parts["tied"] = tuple(
      tuple(texts.check_strings(names, f"tied[{i}]"))
      for i, names in enumerate(texts.check_list(parts["tied"], "tied"))
    )
    parts["bounds"] = {
      name: records.numbers(ends, f"bounds[{name!r}]")
      for name, ends in parts["bounds"].items()
    }
    fit = cls(**parts)
    limits.limits(fit._form, fit.bounds)
    fit.observations.check_fits(fit.distribution)
    return fit

  _NOT_PICKLED = estimates.COMPUTED

  @property
  def _counted(self) -> observations_lib.Observations:
    return self.observations

  def _function(
    self, f: quantities.Function, covariates: TableLike | None
  ) -> quantities.Function:
    if covariates is not None:
      raise TypeError(
        "covariates are given, but the fit is of a distribution, without "
        "covariates: leave them out, or fit a regression"
      )
    return f

  @functools.cached_property
  def _form(self) -> coordinates_lib.Coordinates[DistributionT]:
    """The entries that were fitted."""
    return coordinates_lib.Coordinates(
      self.structure, self.fixed, self.tied, self.free
    )

  @functools.cached_property
  def _entries(self) -> onp.ndarray:
    """The values of the entries that were fitted."""
    return coordinates_lib.entries_at(self._form, self.distribution)

  @functools.cached_property
  def _likelihood(self) -> likelihoods.DataLikelihood:
    """The log likelihood as a function of the entries."""
    return likelihoods.DataLikelihood(self._form, self.observations)


# The types of the parts of saved fits; others are checked as lists.
_OF_FIT = {
  "distribution": Distribution,
  "observations": observations_lib.Observations,
  "record": records.Record,
  "structure": Distribution,
  "bounds": Mapping,
}
