"""Fits to resamples, in this process or by an executor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent import futures
import dataclasses
from typing import Generic

import numpy as onp

from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import observations as observations_lib
from phasic.inference.mle import mle
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import limits
from phasic.inference.resampling import resamples
from phasic.inference.results import fits

# An entry that is zero in the fit starts at this fraction of its scale. There
# its logarithm hardly changes the likelihood, so that no step is spent on it;
# then `fit_mle` sets it to zero, or frees it if the likelihood rises.
_SMALL = 1e-12


@dataclasses.dataclass(frozen=True, eq=False)
class Plan(Generic[DistributionT]):
  """What tasks need to make and fit resamples; it can be pickled.

  Attributes:
    fit: the fit.
    method: how its observations are resampled.
    seed: the seed of all resamples.
    clusters: what `resamples.check` returned.
    dtype: the dtype of the fit, which a process may lack.
  """

  fit: fits.Fit[DistributionT]
  method: str
  seed: int
  clusters: onp.ndarray | None
  dtype: str


def coordinates(
  fit: fits.Fit[DistributionT],
) -> coordinates_lib.Coordinates[DistributionT]:
  """Returns the entries that a fit has fitted."""
  return coordinates_lib.Coordinates(
    fit.structure, fit.fixed, fit.tied, fit.free
  )


def estimates(fit: fits.Fit, other: fits.Fit | None = None) -> onp.ndarray:
  """Returns the fitted entries of a fit, or those of a fit to a resample."""
  distribution = (fit if other is None else other).distribution
  return coordinates_lib.entries_at(coordinates(fit), distribution)


def distribution_at(
  fit: fits.Fit[DistributionT], entries: onp.ndarray
) -> DistributionT:
  """Returns the distribution whose fitted entries have the given values."""
  return coordinates(fit).distribution_at(entries)


def refit(
  fit: fits.Fit[DistributionT], observations: observations_lib.Observations
) -> fits.Fit[DistributionT]:
  """Fits the distribution of a fit to other observations, from there."""
  where = coordinates(fit)
  entries = estimates(fit)
  # An entry that is zero at the start stays so.
  small = _SMALL * limits.scales(where, entries)
  inside = onp.where(entries > 0, entries, small)
  start = where.distribution_at(where.balanced(inside))
  return mle.fit_mle(
    start,
    observations,
    fixed=fit.fixed,
    tied=fit.tied,
    free=fit.free,
    bounds=fit.bounds,
    starts=(),
  )


def refits(
  plan: Plan, numbers: Sequence[int]
) -> tuple[onp.ndarray, dict[int, str]]:
  """Makes and fits some resamples.

  Args:
    plan: how.
    numbers: which resamples.

  Returns:
    The fitted entries, a row for each resample, NaN without a fit; and reasons
    why there is none, by number of the resample.

  Raises:
    RuntimeError: arrays have lost digits on their way to this process.
  """
  dtype = plan.fit.distribution.dtype
  if dtype != plan.dtype:
    raise RuntimeError(
      f"the fit is {plan.dtype}, and {dtype} in a process of the executor: both "
      "must be the same; set JAX_ENABLE_X64=1 in os.environ before the "
      "processes start"
    )
  rows: list[onp.ndarray] = []
  messages: dict[int, str] = {}
  lost = onp.full(len(coordinates(plan.fit).names), onp.nan)
  for i in numbers:
    sequence = onp.random.SeedSequence(plan.seed, spawn_key=(i,))
    random = onp.random.default_rng(sequence)
    row = lost
    try:
      other = refit(
        plan.fit,
        resamples.resample(plan.fit, plan.method, random, plan.clusters),
      )
      if other.record.converged:
        row = estimates(plan.fit, other)
      else:
        messages[i] = other.record.message
    except (ArithmeticError, ValueError) as error:
      messages[i] = str(error)
    rows.append(row)
  return onp.stack(rows), messages


def results(
  plan: Plan, parts: Sequence[Sequence[int]], executor: futures.Executor | None
) -> Iterator[tuple[onp.ndarray, dict[int, str]]]:
  """Yields what `refits` returns for each part, in the order of the parts."""
  if executor is None:
    for numbers in parts:
      yield refits(plan, numbers)
    return
  pending = [executor.submit(refits, plan, numbers) for numbers in parts]
  try:
    for future in pending:
      yield future.result()
  except BaseException:
    # An executor that closes waits for all tasks that are not canceled.
    for future in pending:
      future.cancel()
    raise
