"""Maximum likelihood of models that are not distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
from typing import Any

import numpy as onp

from phasic.inference.data import model_likelihoods
from phasic.inference.data import models
from phasic.inference.mle import ends
from phasic.inference.mle import optimizer as optimizer_lib
from phasic.inference.mle import suggestions
from phasic.inference.mle.options import FitOptions
from phasic.inference.parameters import limits as limits_lib
from phasic.inference.parameters import parameter_sets
from phasic.inference.results import estimates
from phasic.inference.results import model_fits
from phasic.inference.starts import starts as starts_lib
from phasic.internal import progress_bars
from phasic.internal.tables import TableLike

# The options of fits that start from another one: those of `fit_mle`.
_STEPS, _TOLERANCE = 2000, 1e-6
# The reach of a first run from which a search does not leave a hill.
_SHORT = 1.0


def fit_model(
  model: models.LikelihoodModel,
  data: Any,
  covariates: TableLike | None,
  weights: onp.ndarray | None,
  options: FitOptions,
) -> model_fits.ModelFit:
  """Fits a model by maximum likelihood, see `fit_mle`."""
  seed = options["seed"]
  num_starts, max_steps = options["num_starts"], options["max_steps"]
  tolerance, bounds = options["tolerance"], options["bounds"] or {}
  starts_lib.check_options(
    options["starts"], num_starts, seed, max_steps, tolerance
  )
  model, data = model.with_data(data, covariates)
  where = models.parameter_set(
    model, options["fixed"], options["tied"], options["free"], bounds
  )
  likelihood = model_likelihoods.ModelLikelihood(model, where, data, weights)
  fit = model_fits.ModelFit(
    model=model,
    parameters=model.parameters,
    log_likelihood=0.0,
    data=data,
    weights=likelihood.weights,
    record=ends.nothing_fitted(0.0),
    fixed=tuple(options["fixed"]),
    tied=tuple(map(tuple, options["tied"])),
    free=tuple(options["free"]),
    bounds={name: tuple(pair) for name, pair in bounds.items()},
  )
  if not where.names:
    value = likelihood.unpenalized(where, where.entries)
    return dataclasses.replace(
      fit, log_likelihood=value, record=ends.nothing_fitted(value)
    )
  tried = starts(model, data, where, options)
  optimizer = optimizer_lib.Optimizer(
    where, likelihood, where.low, where.high, max_steps, tolerance / 100
  )
  _check_start(optimizer, tried[0][1])
  tried += [
    (f"near the start, {i}", x)
    for i, x in enumerate(
      suggestions.perturbed(
        where, tried[0][1], num_starts - 1, seed, (where.low, where.high)
      ),
      1,
    )
    if optimizer.value(x) > -onp.inf
  ]
  report: Callable[[int, float], object] | None
  with progress_bars.fitting(options["progress"], len(tried)) as report:
    return _searched(fit, optimizer, likelihood, tried, tolerance, report)


def fit_from(
  fit: model_fits.ModelFit,
  where: parameter_sets.ParameterSet,
  start: onp.ndarray,
  data: Any,
  weights: onp.ndarray | None,
) -> model_fits.ModelFit:
  """Fits the model of a fit to other data or weights, from a start.

  Args:
    fit: the fit.
    where: the map of its entries.
    start: the values of the entries.
    data: the data, as the model takes them.
    weights: of the observations, (n,).
  """
  likelihood = model_likelihoods.ModelLikelihood(
    fit.model, where, data, weights
  )
  optimizer = optimizer_lib.Optimizer(
    where, likelihood, where.low, where.high, _STEPS, _TOLERANCE / 100
  )
  other = dataclasses.replace(fit, data=data, weights=likelihood.weights)
  tried = [("start", start)]
  return _searched(other, optimizer, likelihood, tried, _TOLERANCE)


def _searched(
  fit: model_fits.ModelFit,
  optimizer: optimizer_lib.Optimizer[parameter_sets.ParameterSet],
  likelihood: model_likelihoods.ModelLikelihood,
  tried: Sequence[tuple[str, onp.ndarray]],
  tolerance: float,
  report: Callable[[int, float], object] | None = None,
) -> model_fits.ModelFit:
  """Searches from several starts, and returns the fit where the best one ended.

  Args:
    fit: the fit without its parameters.
    optimizer: the optimizer.
    likelihood: the log likelihood that it maximizes.
    tried: names and entries of the starts.
    tolerance: the largest slope of the mean log likelihood at convergence.
    report: takes the number of starts that are done, and the largest value.
  """
  where = optimizer.where
  best, reached = ends.best_of(optimizer, [x for _, x in tried], report)
  if optimizer.is_flat(best.entries):
    # A long first step may have left the only hill: short ones may not.
    start = tried[int(onp.argmax(reached))][1]
    near = optimizer.polish(optimizer.maximize(start, _SHORT))
    best = near if near.log_likelihood > best.log_likelihood else best
  best = ends.with_zeros(optimizer, best)
  names = [name for name, _ in tried]
  found = dataclasses.replace(
    fit,
    parameters=where.value_at(where.array(best.entries)),
    log_likelihood=likelihood.unpenalized(where, best.entries),
    record=ends.record(optimizer, best, tolerance, reached, names),
    at_bounds=limits_lib.at_bounds(where, best.entries, where.low, where.high),
  )
  return estimates.with_likelihood(found, likelihood)


def starts(
  model: models.LikelihoodModel,
  data: Any,
  where: parameter_sets.ParameterSet,
  options: FitOptions,
) -> list[tuple[str, onp.ndarray]]:
  """Returns names and entries of the starts of a fit, within bounds."""
  given: Sequence[Any] = options["starts"] or ()
  tried = [("start", model.start(data, options))]
  tried += [(f"starts[{i}]", x) for i, x in enumerate(given)]
  return [
    (name, onp.clip(where.entries_at(x), where.low, where.high))
    for name, x in tried
  ]


def _check_start(
  optimizer: optimizer_lib.Optimizer[parameter_sets.ParameterSet],
  entries: onp.ndarray,
) -> None:
  """Raises ValueError if the likelihood or a slope is not finite at the start."""
  where = optimizer.where
  inner = where.restricted(entries, where.is_inside(entries))
  value, slopes = optimizer.evaluated(inner, inner.entries)
  if onp.isfinite(value) and onp.all(onp.isfinite(slopes)):
    return
  likelihood = optimizer.likelihood
  assert isinstance(likelihood, model_likelihoods.ModelLikelihood)
  raise not_finite(likelihood, inner, inner.entries)


def not_finite(
  likelihood: model_likelihoods.ModelLikelihood,
  inner: parameter_sets.ParameterSet,
  entries: onp.ndarray,
) -> ValueError:
  """Returns the error for a log likelihood that is not finite at a start."""
  terms = likelihood.terms(inner, entries)
  bad = onp.logical_not(onp.isfinite(terms)) & (likelihood.weights > 0)
  which = f"of observation {int(onp.argmax(bad))} " if onp.any(bad) else ""
  at = dict(zip(inner.names, map(float, entries), strict=True))
  return ValueError(
    f"the log likelihood {which}or a slope of it is not finite at the start, "
    f"{at}: start from other parameters"
  )
