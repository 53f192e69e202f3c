"""EM fits of models that are not distributions."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as onp

from phasic.inference.data import model_likelihoods
from phasic.inference.data import models
from phasic.inference.mle import em_runs
from phasic.inference.mle import ends
from phasic.inference.mle import model_fitting
from phasic.inference.mle import suggestions
from phasic.inference.mle.options import FitOptions
from phasic.inference.parameters import parameter_sets
from phasic.inference.results import model_fits
from phasic.inference.starts import starts as starts_lib
from phasic.internal.arrays import ArrayLike

Parameters = parameter_sets.Parameters


def fit_model(
  model: models.LikelihoodModel,
  data: Any,
  options: FitOptions,
  second_order: bool,
) -> model_fits.ModelFit:
  """Fits a model by its EM steps, see `fit_em`.

  Raises:
    TypeError: the model has no EM step.
    ValueError: names are fixed, or there are bounds.
  """
  if type(model).em_step is models.LikelihoodModel.em_step:
    raise TypeError(
      f"dist is {type(model).__name__}: it must be a distribution, or a model with "
      "a method em_step(parameters, data); fit_mle fits it"
    )
  for name in ("fixed", "bounds"):
    if options[name]:  # type: ignore[literal-required]
      raise ValueError(
        f"{name} is given, and dist is {type(model).__name__}: the EM steps of a "
        f"model change all its parameters; fit_mle takes {name}"
      )
  num_starts, seed = options["num_starts"], options["seed"]
  max_steps, tolerance = options["max_steps"], options["tolerance"]
  starts_lib.check_options(
    options["starts"], num_starts, seed, max_steps, tolerance
  )
  model, data = model.with_data(data, None)
  where = models.parameter_set(model, (), (), (), {})
  likelihood = model_likelihoods.ModelLikelihood(model, where, data)
  if not where.names:
    value = likelihood.unpenalized(where, where.entries)
    none = ends.nothing_fitted(value)
    return _fit(model, data, likelihood, em_runs.Ends({}, [], value, none))

  def step(at: Parameters) -> tuple[Parameters, ArrayLike]:
    entries = where.entries_at(at, closed=True)
    value = likelihood.unpenalized(where, entries)
    if not onp.isfinite(value):
      return at, value
    updated = where.entries_at(model.em_step(at, data), closed=True)
    return where.value_at(where.array(updated)), value

  tried: list[tuple[str, onp.ndarray]] = model_fitting.starts(
    model, data, where, options
  )
  if not onp.isfinite(likelihood.unpenalized(where, tried[0][1])):
    raise model_fitting.not_finite(likelihood, where, tried[0][1])
  near = [
    (f"near the start, {i}", x)
    for i, x in enumerate(
      suggestions.perturbed(
        where, tried[0][1], num_starts - 1, seed, (where.low, where.high)
      ),
      1,
    )
  ]
  begun: list[tuple[str, Parameters]] = [
    (name, where.value_at(where.array(x))) for name, x in [*tried, *near]
  ]
  known = em_runs.ends_of(
    begun,
    step,
    likelihood.total,
    where.dtype,
    em_runs.Options(tolerance, max_steps, options["progress"]),
  )
  fit = _fit(model, data, likelihood, known)
  if not second_order:
    return fit
  start = where.entries_at(fit.parameters, closed=True)
  refined = model_fitting.fit_from(fit, where, start, data, fit.weights)
  if not refined.log_likelihood >= fit.log_likelihood:
    return fit
  record = em_runs.continued(fit.record, refined.record)
  return dataclasses.replace(refined, record=record)


def _fit(
  model: models.LikelihoodModel,
  data: Any,
  likelihood: model_likelihoods.ModelLikelihood,
  known: em_runs.Ends[Parameters],
) -> model_fits.ModelFit:
  """Returns the fit where EM ended."""
  return model_fits.ModelFit(
    model=model,
    parameters=known.best or model.parameters,
    log_likelihood=known.log_likelihood,
    data=data,
    weights=likelihood.weights,
    record=known.record,
  )
