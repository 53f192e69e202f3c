"""The protocol of models that `fit_mle` fits besides distributions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import parameter_names
from phasic.inference.parameters import parameter_sets
from phasic.internal.arrays import Array, ArrayLike, Tree
from phasic.internal.tables import TableLike

_T = TypeVar("_T")
Parameters = parameter_sets.Parameters


class LikelihoodModel:
  """A model of data: parameters with constraints, and a log likelihood.

  A subclass has `parameters` and `log_likelihood_terms`, and what else of the
  below is not as it should be. `fit_mle` fits it, with exact derivatives that
  the substrate takes, and `ModelFit` has intervals, a summary and a bootstrap,
  as those of a distribution. The model itself never changes.

  Attributes:
    bounds: pairs (low, high) of numbers or arrays, by name of an array of
      `parameters`. Numbers without bounds are positive; (-inf, inf) is for
      real ones. Parameters of distributions have the constraints that
      distributions know.
    labels: names of the numbers of an array, by name of the array; "slope[age]"
      is the number "age" of "slope". Without them numbers have indices.
    scales: typical sizes of real numbers, by name of an array and in its shape;
      the optimizer searches in these units.

  Example: rates that differ by group, of exponential times.

    >>> import math
    >>> import numpy as np
    >>> from phasic import inference
    >>> class Groups(inference.LikelihoodModel):
    ...   parameters = {"rate": 1.0, "log_ratio": 0.0}
    ...   bounds = {"log_ratio": (-math.inf, math.inf)}
    ...   def log_likelihood_terms(self, parameters, data):
    ...     log_rate = np.log(parameters["rate"])
    ...     log_rate = log_rate + parameters["log_ratio"] * data["group"]
    ...     return log_rate - np.exp(log_rate) * data["time"]
    >>> data = {
    ...   "time": np.asarray([1.0, 3.0, 0.2, 0.8]),
    ...   "group": np.asarray([0.0, 0.0, 1.0, 1.0]),
    ... }
    >>> fit = inference.fit_mle(Groups(), data)
    >>> print(f"{float(fit.parameters['rate']):.4f}")
    0.5000
    >>> print(f"{float(fit.parameters['log_ratio']):.4f}")  # log(4)
    1.3863
  """

  bounds: Mapping[str, Sequence[ArrayLike]] = {}
  labels: Mapping[str, Sequence[str]] = {}
  scales: Mapping[str, onp.ndarray] = {}

  @property
  def parameters(self) -> Parameters:
    """The values at which a fit starts: arrays or distributions, by name."""
    raise NotImplementedError

  def log_likelihood_terms(self, parameters: Parameters, data: Tree) -> Array:
    """Computes the log likelihood of each of n observations, (n,).

    Args:
      parameters: in the form of `self.parameters`, as arrays.
      data: what `fit_mle` was given, a structure of arrays.
    """
    raise NotImplementedError

  def em_step(self, parameters: Parameters, data: Tree) -> Parameters:
    """Makes a step of the EM algorithm, for `fit_em`.

    Args:
      parameters: in the form of `self.parameters`, known values.
      data: as in `log_likelihood_terms`.

    Returns:
      Parameters of which the log likelihood, with the weights of the data and
      without a penalty, is not less.

    Raises:
      NotImplementedError: the model has no such step.
    """
    raise NotImplementedError(
      f"{type(self).__name__} has no EM step: fit it by fit_mle, or give it a "
      "method em_step(parameters, data)"
    )

  def penalty(self, parameters: Parameters) -> ArrayLike:
    """Computes what a fit subtracts from the mean log likelihood, a scalar."""
    del parameters
    return 0.0

  def weights(self, data: Tree) -> ArrayLike | None:
    """Returns the weights of the observations, (n,), or None for ones."""
    return getattr(data, "weights", None)

  def observations(self, data: Tree) -> observations_lib.Observations | None:
    """Returns the observed times in the data, if there are any."""
    is_plain = isinstance(data, observations_lib.Observations)
    return data if is_plain else None

  def contains(self, smaller: LikelihoodModel) -> bool | None:
    """Returns whether another model of the same data is a special case.

    Likelihood ratio tests ask it. None means that it is not known; then it is
    one if its parameters have names of this model's.

    Args:
      smaller: the other model.
    """
    del smaller
    return None

  def distributions(self, parameters: Parameters, data: Tree) -> Distribution:
    """Returns a batch with the distribution of each of n observed times.

    Parametric bootstraps draw from them.
    """
    raise NotImplementedError(
      f"{type(self).__name__} does not say from which distributions its data "
      "are: give it a method distributions(parameters, data)"
    )

  def with_observations(
    self, data: Tree, observations: observations_lib.Observations
  ) -> Tree:
    """Returns the same data with other observed times."""
    raise NotImplementedError(
      f"{type(self).__name__} does not say how its times are replaced: give it a "
      "method with_observations(data, observations)"
    )

  def with_data(
    self, data: Tree, covariates: TableLike | None
  ) -> tuple[Self, Tree]:
    """Returns the model and its data as the other methods take them.

    Args:
      data: what `fit_mle` was given.
      covariates: a table with a row for each observation, or None.

    Raises:
      TypeError: the model takes no covariates.
    """
    if covariates is not None:
      raise TypeError(
        f"covariates are given, but {type(self).__name__} takes none: leave "
        "them out, or fit a regression"
      )
    return self, data

  def start(self, data: Tree, options: Mapping[str, object]) -> Parameters:
    """Returns the parameters from which a fit starts.

    Args:
      data: the data.
      options: the options of `fit_mle`.
    """
    del data, options
    return self.parameters

  def predict(
    self, parameters: Parameters, covariates: TableLike | None
  ) -> Distribution:
    """Returns what the model predicts: a batch of distributions.

    Args:
      parameters: in the form of `self.parameters`.
      covariates: a table with a row for each subject, or None.
    """
    dist = parameters.get(parameter_names.PLAIN)
    if covariates is not None or not isinstance(dist, Distribution):
      raise NotImplementedError(
        f"{type(self).__name__} does not say what it predicts: give it a method "
        "predict(parameters, covariates)"
      )
    return dist

  def __getstate__(self) -> dict[str, Any]:
    """Returns the attributes without compiled functions."""
    state = dict(self.__dict__)
    state.pop("_kept", None)
    return state


def parameter_set(
  model: LikelihoodModel,
  fixed: Sequence[str],
  tied: Sequence[Sequence[str]],
  free: Sequence[str],
  bounds: Mapping[str, Sequence[ArrayLike]],
) -> parameter_sets.ParameterSet:
  """Returns the map of the entries of a model that are fitted."""
  return parameter_sets.ParameterSet(
    model.parameters,
    {**model.bounds, **bounds},
    model.labels,
    model.scales,
    fixed,
    tied,
    free,
  )


def kept(model: LikelihoodModel, key: Hashable, make: Callable[[], _T]) -> _T:
  """Makes a result once for each key, and keeps it with the model."""
  results: dict[Hashable, _T] = model.__dict__.setdefault("_kept", {})
  if key not in results:
    results[key] = make()
  return results[key]
