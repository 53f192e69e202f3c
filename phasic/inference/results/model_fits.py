"""The fit of a model that is not a distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import functools

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import model_likelihoods
from phasic.inference.data import models
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import parameter_sets
from phasic.inference.results import estimates
from phasic.inference.results import quantities
from phasic.inference.results import records
from phasic.internal.arrays import Tree
from phasic.internal.tables import TableLike
from phasic.saving import pickles


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ModelFit(estimates.Estimates, pickles.Versioned):
  """A `LikelihoodModel` that was fitted to data.

  Attributes:
    model: the model, as it knows the data.
    parameters: the fitted arrays and distributions, by name.
    log_likelihood: the log likelihood of all data, without a penalty.
    data: the data as the model takes them.
    weights: the weights of the observations, (n,).
    record: how the fit came to its end.
    fixed: names of parameters that were not fitted.
    tied: groups of names of entries that are equal.
    free: names of known values, such as boundaries, that were fitted.
    bounds: the given bounds, by name.
    at_bounds: names of entries that ended at a bound.

  Example: see `LikelihoodModel`.

    >>> import numpy as np
    >>> from phasic import inference
    >>> class Exponential(inference.LikelihoodModel):
    ...   parameters = {"rate": 1.0}
    ...   def log_likelihood_terms(self, parameters, data):
    ...     return np.log(parameters["rate"]) - parameters["rate"] * data
    >>> fit = inference.fit_mle(Exponential(), np.asarray([1.0, 1.0, 2.0, 4.0]))
    >>> print(f"{float(fit.standard_errors['rate']):.4f}")
    0.2500
  """

  model: models.LikelihoodModel
  parameters: parameter_sets.Parameters
  log_likelihood: float
  data: Tree
  weights: onp.ndarray
  record: records.Record
  fixed: Sequence[str] = ()
  tied: Sequence[Sequence[str]] = ()
  free: Sequence[str] = ()
  bounds: Mapping[str, Sequence[float]] = dataclasses.field(
    default_factory=dict
  )
  at_bounds: Sequence[str] = ()

  _NOT_PICKLED = estimates.COMPUTED

  def __repr__(self) -> str:
    end = "converged" if self.record.converged else "did not converge"
    return (
      f"<ModelFit log_likelihood={self.log_likelihood:.6g}, "
      f"{self.record.method} {end},\n"
      f"  {self.model!r},\n  {dict(self.parameters)!r}>"
    )

  def predict(self, covariates: TableLike | None = None) -> Distribution:
    """Returns what the model predicts, a batch of distributions.

    Args:
      covariates: a table with a row for each subject; None for a model without
        covariates.
    """
    return self.model.predict(self.parameters, covariates)

  @property
  def _counted(self) -> observations_lib.Observations | None:
    observations = self.model.observations(self.data)
    if observations is None:
      return None
    return observations_lib.with_weights(observations, self.weights)

  def _function(
    self, f: quantities.Function, covariates: TableLike | None
  ) -> quantities.Function:
    if covariates is None and callable(f):
      return f
    if isinstance(f, str):
      if covariates is None and self._form.has_name(f):
        return f
      if covariates is None and not f.isidentifier():
        raise ValueError(
          f"quantity is {f!r}: it must be one of the fitted entries "
          f"{', '.join(self._form.names[:20])}; or the name of a method of what is "
          "predicted, with covariates"
        )
      return lambda parameters, *args: getattr(
        self.model.predict(parameters, covariates), f
      )(*args)
    return lambda parameters, *args: f(
      self.model.predict(parameters, covariates), *args
    )

  @functools.cached_property
  def _form(self) -> parameter_sets.ParameterSet:
    return models.parameter_set(
      self.model, self.fixed, self.tied, self.free, self.bounds
    )

  @functools.cached_property
  def _entries(self) -> onp.ndarray:
    return self._form.entries_at(self.parameters, closed=True)

  @functools.cached_property
  def _likelihood(self) -> model_likelihoods.ModelLikelihood:
    return model_likelihoods.ModelLikelihood(
      self.model, self._form, self.data, self.weights
    )
