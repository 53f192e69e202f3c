"""Fits by the EM algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import dataclasses

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import em
from phasic.inference.em import em_steps
from phasic.inference.mle import mle
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.results import fits
from phasic.inference.starts import starts
from phasic.internal import progress_bars
from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.internal.arrays import Integer

# The standard deviation of perturbed starts in unconstrained parameters.
_SPREAD = 1.0


def fit_em(
  dist: DistributionT,
  observations: observations_lib.Observations,
  *,
  tolerance: float = 1e-7,
  max_steps: Integer = 300,
  num_starts: Integer = 1,
  seed: Integer = 0,
  second_order: bool = True,
  progress: bool | Callable[[int, float], object] = False,
) -> fits.Fit[DistributionT]:
  """Fits a distribution by the EM algorithm.

  Each step is an `em_step`: the log likelihood never falls, zeros stay zero,
  and no step leaves the domain. Near a maximum the steps become short;
  `fit_mle` continues from there, and also finds which entries are zero. As in
  `fit_mle`, a start that is far off is first brought to the units of the data.

  Args:
    dist: the start, without a batch, of a family that `em_step` accepts.
    observations: the data, of any kind.
    tolerance: EM ends when the gain that is left, as Aitken's formula estimates
      it from the last three log likelihoods, is below this per observation.
    max_steps: the largest number of EM steps from one start.
    num_starts: the number of starts: this one, and random ones near it.
    seed: the seed of the random starts.
    second_order: whether `fit_mle` continues from where EM ends.
    progress: True for a progress bar over the steps, which needs tqdm; or a
      function of the number of steps and the log likelihood.

  Returns:
    A `Fit`. Its record has the log likelihoods of all steps from the best
    start: first the steps of EM, then the steps of `fit_mle`.

  Raises:
    ImportError: SciPy is missing, which `second_order` needs.
    NotImplementedError: the native kernel does not run.
    TypeError: the family of the distribution has no M-step, or an option is not
      a number.
    ValueError: `dist` has a batch, an option breaks a rule, the likelihood is
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
  em.check_arguments(dist, observations)
  starts.check_options(num_starts, seed, max_steps, tolerance)
  where = coordinates_lib.Coordinates(dist)
  starts.check_data(dist, observations, where.num_free)
  observations = observations_lib.in_dtype_of(observations, dist)
  where.entries = starts.in_units_of(where, observations)
  starts.check_start(where, where.entries, observations)
  step = em_steps.step_of(where.distribution, observations)
  runs: list[em_steps.EmRun[DistributionT]] = []
  with progress_bars.fitting(progress, max_steps * num_starts) as report:
    for start in _starts(where, num_starts, seed):
      run = em_steps.run(
        start, step, observations, tolerance, max_steps, _after(runs, report)
      )
      if run.log_likelihoods:
        runs.append(run)
  best = max(runs, key=lambda run: run.log_likelihoods[-1])
  fit = fits.Fit(
    distribution=best.distribution.copy(validate_args=dist.validate_args),
    log_likelihood=best.log_likelihoods[-1],
    observations=observations,
    record=fits.Record(
      method="EM",
      converged=best.converged,
      message=best.message,
      log_likelihoods=best.log_likelihoods,
      num_evaluations=sum(len(run.log_likelihoods) for run in runs),
      reached=tuple(run.log_likelihoods[-1] for run in runs),
    ),
    structure=_structure(dist),
    fixed=inferring.m_step_fixed(dist),
  )
  return _refined(fit) if second_order else fit


def _structure(dist: DistributionT) -> DistributionT:
  """Returns a distribution with exactly the zeros that EM preserves.

  Equal increasing rates become different in a step of EM, so their differences
  of zero are not structure.
  """
  increasing = entry_blocks.increasing(dist)
  if not increasing:
    return dist
  explicit, blocks = entry_blocks.of(dist)
  arrays = {
    path: onp.reshape(
      onp.where(blocks[path].values > 0, blocks[path].values, 1.0),
      blocks[path].sizes,
    )
    for path in increasing
  }
  return entry_blocks.rebuilt(
    explicit,
    {
      path: structures.as_array(onp.asarray(x, dist.dtype), dist.dtype, path)
      for path, x in arrays.items()
    },
  )


def _starts(
  where: coordinates_lib.Coordinates[DistributionT],
  num_starts: Integer,
  seed: Integer,
) -> Iterator[DistributionT]:
  """Yields the start, followed by random perturbations of it."""
  random, dtype = onp.random.default_rng(seed), where.distribution.dtype
  free = where.to_unconstrained(where.entries)
  for i in range(num_starts):
    entries = where.entries
    if i > 0:
      moved = free + _SPREAD * random.standard_normal(len(free))
      entries = where.to_constrained(moved)
    yield where.of(structures.as_array(onp.asarray(entries, dtype), dtype))


def _after(
  runs: list[em_steps.EmRun], report: Callable[[int, float], object] | None
) -> Callable[[int, float], object] | None:
  """Returns a progress function that adds the steps of earlier runs."""
  if report is None:
    return None
  before = sum(len(run.log_likelihoods) for run in runs)
  return lambda count, log_likelihood: report(before + count, log_likelihood)


def _refined(fit: fits.Fit[DistributionT]) -> fits.Fit[DistributionT]:
  """Continues an EM fit by `fit_mle` if there are free parameters."""
  record = fit.record
  if not coordinates_lib.Coordinates(fit.distribution).num_free:
    # Nothing can be fitted: all entries are zero, or probabilities of one.
    return fit
  refined = mle.fit_mle(fit.distribution, fit.observations)
  if not refined.log_likelihood >= fit.log_likelihood:
    return fit
  return dataclasses.replace(
    fit,
    distribution=refined.distribution,
    log_likelihood=refined.log_likelihood,
    fixed=(),
    record=refined.record._replace(
      method=f"EM, then {refined.record.method}",
      log_likelihoods=(
        *record.log_likelihoods,
        *refined.record.log_likelihoods,
      ),
      num_evaluations=record.num_evaluations + refined.record.num_evaluations,
      reached=record.reached,
    ),
  )
