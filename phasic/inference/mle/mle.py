"""Maximum likelihood by gradient methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Unpack, overload

import numpy as onp

from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import likelihoods
from phasic.inference.data import models
from phasic.inference.data import observations as observations_lib
from phasic.inference.mle import ends
from phasic.inference.mle import model_fitting
from phasic.inference.mle import optimizer as optimizer_lib
from phasic.inference.mle import suggestions
from phasic.inference.mle.options import FitOptions
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import limits as limits_lib
from phasic.inference.results import estimates
from phasic.inference.results import fits
from phasic.inference.results import model_fits
from phasic.inference.starts import starts as starts_lib
from phasic.internal import progress_bars
from phasic.internal.arrays import Integer, Tree
from phasic.internal.tables import TableLike

Observations = observations_lib.Observations


@overload
def fit_mle(
  dist: DistributionT,
  observations: Observations,
  **options: Unpack[FitOptions],
) -> fits.Fit[DistributionT]: ...
@overload
def fit_mle(
  dist: models.LikelihoodModel,
  observations: Tree,
  *,
  covariates: TableLike | None = None,
  **options: Unpack[FitOptions],
) -> model_fits.ModelFit: ...
def fit_mle(
  dist: DistributionT | models.LikelihoodModel,
  observations: Observations | Tree,
  *,
  covariates: TableLike | None = None,
  fixed: Sequence[str] = (),
  tied: Sequence[Sequence[str]] = (),
  free: Sequence[str] = (),
  bounds: Mapping[str, Sequence[float]] | None = None,
  starts: Sequence[Tree] | None = None,
  num_starts: Integer = 1,
  seed: Integer = 0,
  max_steps: Integer = 2000,
  tolerance: float = 1e-6,
  progress: bool | Callable[[int, float], object] = False,
) -> fits.Fit[DistributionT] | model_fits.ModelFit:
  """Fits a distribution, or another model of data, by maximum likelihood.

  The optimizer starts from the given distribution and keeps its structure: zero
  entries stay zero, and the numbers of phases and the states of a graph stay.
  All other entries are functions of unconstrained parameters, see
  `unconstrained`, in which SciPy's L-BFGS-B maximizes with exact gradients.
  Newton steps in a trust region follow, with exact second derivatives, from where
  the search from each start ended; the best end is returned, and
  `Fit.record.reached` has all. An entry that tends to zero is set to zero if that
  costs nothing, and `Fit.statuses` says so.

  If the mean of the start is more than ten times the mean of the data, or less than
  a tenth, the start is first brought to the units of the data: its rates are
  multiplied by one number. If a step leads to rates so extreme that the
  likelihood cannot be computed, the optimizer steps back.

  A `LikelihoodModel`, such as a regression, is fitted likewise: from its
  parameters, or from the start that it finds in the data.

  Args:
    dist: the start, without a batch; or a model.
    observations: the data, in the form that a model takes.
    covariates: a table with a row for each observation, for a model that takes
      covariates.
    fixed: names of parameters or entries to keep, "rates" or "rates[2]".
    tied: groups of names of rates, or other positive numbers, that are equal;
      the optimizer starts from their geometric mean.
    free: names of values that are kept unless they are named here, such as
      "boundaries" of epochs or the bounds of a truncation.
    bounds: pairs (least, greatest) of parameters or entries, by name; if an
      entry has two pairs, both hold. Probabilities that sum to one cannot have
      bounds.
    starts: more distributions (of a model, parameters) to start from, with parameters of the same shapes,
      the same zeros and the same known values, such as boundaries. What `fixed`
      names is as in `dist`. None for up to two that the data suggest, if the
      family is a form of `initial_guess`; () for none.
    num_starts: the number of starts near this one, including this one.
    seed: the seed of the random starts.
    max_steps: the most steps of one run; as many Newton steps follow, or 50.
    tolerance: the largest slope of the mean log likelihood in a free parameter
      at convergence; in float32 at least about 5e-4, because of rounding.
    progress: True for a progress bar over the starts, which needs tqdm; or a
      function of the number of starts that are done and the largest log
      likelihood so far.

  Raises:
    ImportError: SciPy is missing.
    TypeError: an option is not a number.
    ValueError: `dist` has a batch, a name is unknown, an option breaks a rule,
      the likelihood is zero or not finite at the start, it has no maximum for
      these data, or it jumps: `free` has boundaries, and times are exact.

  Example: the rate of an exponential lifetime; one lifetime is censored at 2.

    >>> import math
    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([0.5, 1.5, 2.0], [0.5, 1.5, math.inf])
    >>> fit = inference.fit_mle(Erlang(1, 1.0), data)
    >>> print(f"{float(fit.distribution.rate):.6f}")
    0.500000
    >>> print(f"{fit.aic:.4f}, {fit.statuses['rate']}")
    8.7726, identified

  References:
    R. H. Byrd, P. Lu, J. Nocedal, C. Zhu, A limited memory algorithm for bound
      constrained optimization, SIAM J. Sci. Comput. 16, 1995.
    A. R. Conn, N. I. M. Gould, P. L. Toint, Trust-region methods, 2000, ch. 7.
  """
  if isinstance(dist, models.LikelihoodModel):
    options: FitOptions = {
      "fixed": fixed,
      "tied": tied,
      "free": free,
      "bounds": bounds,
      "starts": starts,
      "num_starts": num_starts,
      "seed": seed,
      "max_steps": max_steps,
      "tolerance": tolerance,
      "progress": progress,
    }
    return model_fitting.fit_model(
      dist, observations, covariates, None, options
    )
  if covariates is not None:
    raise TypeError(
      f"covariates are given, and dist is {type(dist).__name__}, a distribution: "
      "fit regression.Regression(dist, time=...) to them, or leave them out"
    )
  starts_lib.check_options(starts, num_starts, seed, max_steps, tolerance)
  where = coordinates_lib.Coordinates(dist, fixed, tied, free)
  low, high = limits_lib.limits(where, {} if bounds is None else bounds)
  starts_lib.check_data(dist, observations, where.num_free)
  observations = observations_lib.in_dtype_of(observations, dist)
  starts_lib.check_continuous(where, observations)
  if not where.num_free:
    return _as_it_is(dist, observations, fixed)
  start = starts_lib.in_units_of(where, observations)
  if onp.any((start < low) | (start > high)):
    start = onp.clip(where.entries, low, high)
  starts_lib.check_start(where, start, observations)
  starts_lib.check_slopes(where, start, observations)
  likelihood = likelihoods.DataLikelihood(where, observations)
  optimizer = optimizer_lib.Optimizer(
    where,
    likelihood,
    low,
    high,
    max_steps,
    tolerance / 100,
  )
  tried = suggestions.named_starts(
    where,
    start,
    observations,
    starts,
    num_starts,
    seed,
    (low, high),
    lambda x: optimizer.value(x) > -onp.inf,
  )
  with progress_bars.fitting(progress, len(tried)) as report:
    best, reached = ends.best_of(optimizer, [x for _, x in tried], report)
  best = ends.with_zeros(optimizer, best)
  dist_found = where.distribution_at(best.entries).copy(
    validate_args=dist.validate_args
  )
  fit = fits.Fit(
    distribution=dist_found,
    log_likelihood=best.log_likelihood,
    observations=observations,
    record=ends.record(
      optimizer, best, tolerance, reached, [name for name, _ in tried]
    ),
    structure=dist,
    fixed=tuple(fixed),
    tied=tuple(map(tuple, tied)),
    free=tuple(free),
    bounds={name: tuple(pair) for name, pair in (bounds or {}).items()},
    at_bounds=limits_lib.at_bounds(where, best.entries, low, high),
  )
  return estimates.with_likelihood(fit, likelihood)


def _as_it_is(
  dist: DistributionT, observations: Observations, fixed: Sequence[str]
) -> fits.Fit[DistributionT]:
  """Returns the fit of a distribution of which nothing is free."""
  value = starts_lib.log_likelihood_of(dist, observations)
  return fits.Fit(
    distribution=dist,
    log_likelihood=value,
    observations=observations,
    record=ends.nothing_fitted(value),
    structure=dist,
    fixed=tuple(fixed),
  )
