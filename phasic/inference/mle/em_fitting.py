"""Fits by the EM algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
from typing import overload

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import models
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import em
from phasic.inference.mle import em_runs
from phasic.inference.mle import mle
from phasic.inference.mle import model_em_fitting
from phasic.inference.mle import suggestions
from phasic.inference.mle.options import FitOptions
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import limits as limits_lib
from phasic.inference.results import fits
from phasic.inference.results import model_fits
from phasic.inference.starts import starts as starts_lib
from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.internal.arrays import Integer, Tree


@overload
def fit_em(
  dist: DistributionT,
  observations: observations_lib.Observations,
  *,
  fixed: Sequence[str] = ...,
  bounds: Mapping[str, Sequence[float]] | None = ...,
  tolerance: float = ...,
  max_steps: Integer = ...,
  starts: Sequence[DistributionT] | None = ...,
  num_starts: Integer = ...,
  seed: Integer = ...,
  second_order: bool = ...,
  progress: bool | Callable[[int, float], object] = ...,
) -> fits.Fit[DistributionT]: ...
@overload
def fit_em(
  dist: models.LikelihoodModel,
  observations: Tree,
  *,
  tolerance: float = ...,
  max_steps: Integer = ...,
  starts: Sequence[Tree] | None = ...,
  num_starts: Integer = ...,
  seed: Integer = ...,
  second_order: bool = ...,
  progress: bool | Callable[[int, float], object] = ...,
) -> model_fits.ModelFit: ...
def fit_em(
  dist: DistributionT | models.LikelihoodModel,
  observations: observations_lib.Observations | Tree,
  *,
  fixed: Sequence[str] = (),
  bounds: Mapping[str, Sequence[float]] | None = None,
  tolerance: float = 1e-7,
  max_steps: Integer = 300,
  starts: Sequence[Tree] | None = None,
  num_starts: Integer = 1,
  seed: Integer = 0,
  second_order: bool = True,
  progress: bool | Callable[[int, float], object] = False,
) -> fits.Fit[DistributionT] | model_fits.ModelFit:
  """Fits a distribution, or another model of data, by the EM algorithm.

  Each step is an `em_step`: the log likelihood never falls, zeros stay zero,
  and no step leaves the domain. Near a maximum the steps become short;
  `fit_mle` continues from there, and also finds which entries are zero. As in
  `fit_mle`, a start that is far off is first brought to the units of the data.

  A `LikelihoodModel` that has the method `em_step`, such as
  `multistate.MultiState`, is fitted likewise.

  Args:
    dist: the start, without a batch, of a family that `em_step` accepts; or a
      model with EM steps.
    observations: the data, of any kind; or in the form that a model takes.
    fixed: names of parameters or entries to keep, "rates" or "rates[2]".
    bounds: pairs (least, greatest) of parameters or entries, by name, as in
      `fit_mle`. An M-step maximizes each rate by itself, so that one beyond its
      bound is best at the bound. For ties see `fit_mle`.
    tolerance: EM ends when the remaining gain, which Aitken's formula estimates
      from the last three log likelihoods, is below this per observation.
    max_steps: the largest number of EM steps from one start.
    starts: more distributions of the same family and structure to start from,
      or parameters of a model.
      None for up to two that the data suggest, if the family is a form of
      `initial_guess`; () for none.
    num_starts: the number of starts: this one, and random ones near it.
    seed: the seed of the random starts.
    second_order: whether `fit_mle` continues from where EM ends.
    progress: True for a progress bar over the steps, which needs tqdm; or a
      function of the number of steps and the log likelihood.

  Returns:
    A `Fit`, or a `ModelFit` of a model. Its record has the log likelihoods of all steps from the best
    start: first the steps of EM, then the steps of `fit_mle`.

  Raises:
    ImportError: SciPy is missing, which `second_order` needs.
    NotImplementedError: the native kernel does not run.
    TypeError: the family of the distribution has no M-step, the model no EM
      step, or an option is not a number.
    ValueError: `dist` has a batch, or is a model and `fixed` or `bounds` are
      given, an option breaks a rule, the likelihood is
      zero or not finite at the start, or it has no maximum for these data.

  Example: a repair in two stages. The last time is right-censored at three
  hours.

    >>> import math
    >>> from phasic import inference
    >>> from phasic.distributions import Coxian
    >>> data = inference.Observations(
    ...   [0.5, 0.8, 1.0, 1.7, 2.5, 3.0], [0.5, 0.8, 1.0, 1.7, 2.5, math.inf]
    ... )
    >>> fit = inference.fit_em(Coxian([1.0], [0.1, 1.0]), data)
    >>> print(f"{fit.log_likelihood:.4f}")
    -7.4856

  References:
    S. Asmussen, O. Nerman, M. Olsson, Fitting phase-type distributions via the
      EM algorithm, Scand. J. Statist. 23, 1996.
    D. Bohning, E. Dietz, R. Schaub, P. Schlattmann, B. G. Lindsay, The
      distribution of the likelihood ratio for mixtures of densities from the
      one-parameter exponential family, Ann. Inst. Statist. Math. 46, 1994.
  """
  raw_arguments.check_flags(second_order=second_order)
  if isinstance(dist, models.LikelihoodModel):
    options: FitOptions = {
      "fixed": fixed,
      "bounds": bounds,
      "starts": starts,
      "num_starts": num_starts,
      "seed": seed,
      "max_steps": max_steps,
      "tolerance": tolerance,
      "progress": progress,
    }
    return model_em_fitting.fit_model(dist, observations, options, second_order)
  em.check_arguments(dist, observations)
  starts_lib.check_options(starts, num_starts, seed, max_steps, tolerance)
  where = coordinates_lib.Coordinates(dist, fixed)
  limits = limits_lib.limits(where, {} if bounds is None else bounds)
  starts_lib.check_data(dist, observations, where.num_free)
  observations = observations_lib.in_dtype_of(observations, dist)
  if not where.num_free:
    return mle.fit_mle(dist, observations, fixed=fixed)
  entries = onp.clip(starts_lib.in_units_of(where, observations), *limits)
  where.entries = entries
  starts_lib.check_start(where, entries, observations)
  tried = suggestions.named_starts(
    where, entries, observations, starts, num_starts, seed, limits
  )
  step = em.step_of(where.distribution, observations)
  if fixed or bounds:
    step = _within(where, limits, step)
  known = em_runs.ends_of(
    [(name, where.distribution_at(start)) for name, start in tried],
    step,
    observations_lib.total_weight(observations),
    where.distribution.dtype,
    em_runs.Options(tolerance, max_steps, progress),
  )
  fit = fits.Fit(
    distribution=known.best.copy(validate_args=dist.validate_args),
    log_likelihood=known.log_likelihood,
    observations=observations,
    record=known.record,
    structure=_structure(dist),
    fixed=tuple(dict.fromkeys((*fixed, *inferring.m_step_fixed(dist)))),
    bounds={name: tuple(ends) for name, ends in (bounds or {}).items()},
    at_bounds=limits_lib.at_bounds(
      where, coordinates_lib.entries_at(where, known.best), *limits
    ),
  )
  if not second_order:
    return fit
  return _refined(fit, tuple(fixed), known.others)


def _within(
  where: coordinates_lib.Coordinates[DistributionT],
  limits: tuple[onp.ndarray, onp.ndarray],
  step: em.Step[DistributionT],
) -> em.Step[DistributionT]:
  """Returns an EM step that keeps fixed entries, and stays within bounds."""

  def within(at: DistributionT) -> em.EmStep[DistributionT]:
    result = step(at)
    entries = coordinates_lib.entries_at(where, result.distribution)
    entries = onp.clip(where.balanced(entries), *limits)
    return result._replace(distribution=where.distribution_at(entries))

  return within


def _structure(dist: DistributionT) -> DistributionT:
  """Returns a distribution with exactly the zeros that EM preserves.

  Equal increasing rates become different in a step of EM, so their differences
  of zero are not structure.
  """
  increasing = entry_blocks.increasing(dist)
  if not increasing:
    return dist
  explicit, blocks = entry_blocks.explicit_blocks(dist)
  values = {path: blocks[path].values for path in increasing}
  return entry_blocks.rebuilt(
    explicit,
    {
      path: structures.as_array(onp.where(x > 0, x, 1.0), dist.dtype)
      for path, x in values.items()
    },
  )


def _refined(
  fit: fits.Fit[DistributionT],
  fixed: tuple[str, ...],
  others: Sequence[DistributionT],
) -> fits.Fit[DistributionT]:
  """Continues an EM fit by `fit_mle` if there are free parameters.

  Args:
    fit: the fit.
    fixed: the names that the user fixed.
    others: the ends of EM from the other starts.
  """
  where = coordinates_lib.Coordinates(fit.distribution, fixed)
  if not where.num_free:
    # No entry is left to fit: each one is fixed, zero, or a probability of one.
    return fit
  refined = mle.fit_mle(
    fit.distribution,
    fit.observations,
    fixed=fixed,
    bounds=fit.bounds,
    starts=[x for x in others if suggestions.fits_into(where, x)],
  )
  if not refined.log_likelihood >= fit.log_likelihood:
    return fit
  return dataclasses.replace(
    fit,
    distribution=refined.distribution,
    log_likelihood=refined.log_likelihood,
    fixed=fixed,
    at_bounds=refined.at_bounds,
    record=em_runs.continued(fit.record, refined.record),
  )
