"""Runs of the EM algorithm from several starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as onp

from phasic.inference.em import em
from phasic.inference.results import records
from phasic.internal import progress_bars
from phasic.internal.arrays import ArrayLike, Integer

_T = TypeVar("_T")


class Options(NamedTuple):
  """The options of `fit_em` that all runs share."""

  tolerance: float
  max_steps: Integer
  progress: bool | Callable[[int, float], object]


class Ends(NamedTuple, Generic[_T]):
  """Where EM ended.

  Attributes:
    best: the likeliest end.
    others: the ends of the other runs, if their log likelihoods are finite.
    log_likelihood: of the best one.
    record: its record.
  """

  best: _T
  others: list[_T]
  log_likelihood: float
  record: records.Record


def ends_of(
  starts: Sequence[tuple[str, _T]],
  step: Callable[[_T], tuple[_T, ArrayLike]],
  total: float,
  dtype: str,
  options: Options,
) -> Ends[_T]:
  """Makes EM steps from several starts until they converge.

  Args:
    starts: names and starts; the log likelihood of one must be finite.
    step: as in `em.run`.
    total: the sum of the weights of the observations.
    dtype: of the parameters.
    options: the options.
  """
  tolerance, max_steps, progress = options
  runs: list[em.EmRun[_T]] = []
  report: Callable[[int, float], object] | None
  with progress_bars.fitting(progress, max_steps * len(starts)) as report:
    for _, start in starts:
      then = _after(runs, report)
      runs.append(em.run(start, step, total, dtype, tolerance, max_steps, then))
  known = [run for run in runs if run.log_likelihoods]
  best = max(known, key=lambda run: run.log_likelihoods[-1])
  record = records.Record(
    method="EM",
    converged=best.converged,
    message=best.message,
    log_likelihoods=best.log_likelihoods,
    num_evaluations=sum(len(run.log_likelihoods) for run in runs),
    reached=tuple(
      run.log_likelihoods[-1] if run.log_likelihoods else onp.nan
      for run in runs
    ),
    tried=tuple(name for name, _ in starts),
  )
  others = [run.last for run in known if run is not best]
  return Ends(best.last, others, best.log_likelihoods[-1], record)


def continued(
  record: records.Record, refined: records.Record
) -> records.Record:
  """Returns the record of EM and of the fit that went on from its end."""
  return refined._replace(
    method=f"EM, then {refined.method}",
    log_likelihoods=(*record.log_likelihoods, *refined.log_likelihoods),
    num_evaluations=record.num_evaluations + refined.num_evaluations,
    reached=record.reached,
    tried=record.tried,
  )


def _after(
  runs: list[em.EmRun[_T]], report: Callable[[int, float], object] | None
) -> Callable[[int, float], object] | None:
  """Returns a progress function that adds the steps of earlier runs."""
  if report is None:
    return None
  before = sum(len(run.log_likelihoods) for run in runs)
  return lambda count, log_likelihood: report(before + count, log_likelihood)
