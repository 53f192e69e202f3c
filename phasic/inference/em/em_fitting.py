"""Fits by the EM algorithm."""

from collections.abc import Callable, Iterator
import dataclasses

import numpy as onp

from phasic.distributions.base import inferring
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import em
from phasic.inference.em import em_climbing
from phasic.inference.mle import mle
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import time_units
from phasic.inference.parameters.distribution_types import D
from phasic.inference.results import fits
from phasic.inference.starts import starts
from phasic.internal import progress_bars
from phasic.internal import structures

# Of the starts round the first one, in a free number.
_SPREAD = 1.0


def fit_em(
  dist: D,
  observations: observations_lib.Observations,
  *,
  tolerance: float = 1e-7,
  max_steps: int = 300,
  num_starts: int = 1,
  seed: int = 0,
  second_order: bool = True,
  progress: bool | Callable[[int, float], object] = False,
) -> fits.Fit[D]:
  """Returns the distribution that the EM algorithm climbs to.

  Steps are those of `em_step`: the log likelihood never falls, what is zero
  stays zero, and no step can lead out of the domain. Near the top they become
  short; from there `fit_mle` goes on, which also finds where entries are zero.
  As there, a start that is far off is brought to the units of the data.

  Args:
    dist: the start, without a batch, of a family that `em_step` takes.
    observations: the data, of any kind.
    tolerance: EM ends when what it would still gain, as Aitken's formula has it
      from the last three log likelihoods, is below this for each observation.
    max_steps: the most EM steps from a start.
    num_starts: how many starts are tried: this one, and others round it.
    seed: of the others.
    second_order: whether `fit_mle` goes on from where EM ends.
    progress: True for a bar of tqdm over the steps, which is needed only then;
      or a function of the number of steps, and of the log likelihood.

  Returns:
    A `Fit`. Its record has the log likelihoods of all steps from the best
    start, those of `fit_mle` behind those of EM.

  Raises:
    ImportError: there is no SciPy, and `second_order` asks for it.
    NotImplementedError: the native kernel does not run.
    TypeError: there is no M-step for the distribution's family, or an option
      is no number.
    ValueError: there is a batch, an option breaks a rule, the likelihood is
      zero or not known at the start, or it has no maximum for these data.

  Example: two stages of repair, of which one was known only to have taken more
  than three hours.

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
  em.check_arguments(dist, observations)
  starts.check_options(num_starts, seed, max_steps, tolerance)
  where = coordinates_lib.Coordinates(dist)
  starts.check_data(dist, observations, where.num_free)
  where.entries = time_units.in_units_of(where, observations)
  starts.check_start(where, where.entries, observations)
  step = em_climbing.step_of(where.distribution, observations)
  climbs: list[em_climbing.Climb[D]] = []
  with progress_bars.fitting(progress, max_steps * num_starts) as report:
    for start in _starts(where, num_starts, seed):
      climb = em_climbing.climb(
        start, step, observations, tolerance, max_steps, _after(climbs, report)
      )
      if climb.heights:
        climbs.append(climb)
  best = max(climbs, key=lambda climb: climb.heights[-1])
  fit = fits.Fit(
    distribution=best.distribution.copy(validate_args=dist.validate_args),
    log_likelihood=best.heights[-1],
    observations=observations,
    record=fits.Record(
      method="EM",
      converged=best.converged,
      message=best.message,
      log_likelihoods=best.heights,
      num_evaluations=sum(len(climb.heights) for climb in climbs),
      reached=tuple(climb.heights[-1] for climb in climbs),
    ),
    structure=_structure(dist),
    fixed=inferring.held(dist),
  )
  return _polished(fit) if second_order else fit


def _structure(dist: D) -> D:
  """Returns a distribution whose zeros are those that EM keeps.

  Rates that ascend may be equal; in a step of EM they do not stay so.
  """
  increasing = entry_blocks.increasing(dist)
  if not increasing:
    return dist
  told, blocks = entry_blocks.of(dist)
  arrays = {
    path: onp.reshape(
      onp.where(blocks[path].values > 0, blocks[path].values, 1.0),
      blocks[path].sizes,
    )
    for path in increasing
  }
  return entry_blocks.rebuilt(
    told,
    {
      path: structures.as_array(onp.asarray(x, dist.dtype), dist.dtype, path)
      for path, x in arrays.items()
    },
  )


def _starts(
  where: coordinates_lib.Coordinates[D], num_starts: int, seed: int
) -> Iterator[D]:
  """Yields the start, and others round it."""
  random, dtype = onp.random.default_rng(seed), where.distribution.dtype
  free = where.free_of(where.entries)
  for i in range(num_starts):
    entries = where.entries
    if i > 0:
      moved = free + _SPREAD * random.standard_normal(len(free))
      entries = where.entries_of(moved)
    yield where.of(structures.as_array(onp.asarray(entries, dtype), dtype))


def _after(
  climbs: list[em_climbing.Climb], report: Callable[[int, float], object] | None
) -> Callable[[int, float], object] | None:
  """Returns a report that counts the steps of earlier climbs too."""
  if report is None:
    return None
  before = sum(len(climb.heights) for climb in climbs)
  return lambda count, height: report(before + count, height)


def _polished(fit: fits.Fit[D]) -> fits.Fit[D]:
  """Goes on with derivatives of the log likelihood, where that can be."""
  record = fit.record
  if not coordinates_lib.Coordinates(fit.distribution).num_free:
    # What EM has led to zero, or to certainty, stays there.
    return fit
  top = mle.fit_mle(fit.distribution, fit.observations)
  if not top.log_likelihood >= fit.log_likelihood:
    return fit
  return dataclasses.replace(
    fit,
    distribution=top.distribution,
    log_likelihood=top.log_likelihood,
    fixed=(),
    record=top.record._replace(
      method=f"EM, then {top.record.method}",
      log_likelihoods=(*record.log_likelihoods, *top.record.log_likelihoods),
      num_evaluations=record.num_evaluations + top.record.num_evaluations,
      reached=record.reached,
    ),
  )
