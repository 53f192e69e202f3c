"""Fits to resamples, in this process or by an executor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent import futures
import dataclasses
from typing import Any

import numpy as onp

from phasic.inference.mle import mle
from phasic.inference.mle import model_fitting
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import parameter_sets
from phasic.inference.resampling import resamples
from phasic.inference.results import estimates
from phasic.inference.results import fits
from phasic.inference.results import model_fits

# An entry that is zero in the fit starts at this fraction of its scale. There
# its logarithm hardly changes the likelihood, so that no step is spent on it;
# then `fit_mle` sets it to zero, or frees it if the likelihood rises.
_SMALL = 1e-12


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
  """The data that a task needs to make and fit resamples; it can be pickled.

  Attributes:
    fit: the fit.
    method: how its observations are resampled.
    seed: the seed of all resamples.
    clusters: what `resamples.check` returned.
    dtype: the dtype of the fit, which a process may lack.
  """

  fit: estimates.Estimates
  method: str
  seed: int
  clusters: onp.ndarray | None
  dtype: str


def value_at(fit: estimates.Estimates, entries: onp.ndarray) -> Any:
  """Returns the distribution, or the parameters of a model, at entries."""
  form = estimates.form_of(fit)
  return form.value_at(form.array(entries))


def refit(fit: estimates.Estimates, sample: resamples.Sample) -> onp.ndarray:
  """Fits the same model to a resample, from where the fit ended.

  Returns:
    The fitted entries.

  Raises:
    ValueError: the fit failed, or did not converge.
  """
  where = estimates.form_of(fit)
  entries = estimates.entries_of(fit)
  # An entry that is zero at the start stays so.
  likelihood = estimates.likelihood_of(fit)
  small = _SMALL * likelihood.scales(entries)
  inside = onp.where(where.is_inside(entries), entries, small)
  start = where.balanced(inside)
  if isinstance(fit, model_fits.ModelFit):
    assert isinstance(where, parameter_sets.ParameterSet)
    again = model_fitting.fit_from(
      fit, where, start, sample.data, sample.weights
    )
    record, found = (
      again.record,
      where.entries_at(again.parameters, closed=True),
    )
  else:
    assert isinstance(fit, fits.Fit)
    assert isinstance(where, coordinates_lib.Coordinates)
    other = mle.fit_mle(
      where.distribution_at(start),
      sample.data,
      fixed=fit.fixed,
      tied=fit.tied,
      free=fit.free,
      bounds=fit.bounds,
      starts=(),
    )
    record = other.record
    found = coordinates_lib.entries_at(where, other.distribution)
  if not record.converged:
    raise ValueError(record.message)
  return found


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
  dtype = estimates.form_of(plan.fit).dtype
  if dtype != plan.dtype:
    raise RuntimeError(
      f"the fit is {plan.dtype}, and {dtype} in a process of the executor: both "
      "must be the same; set JAX_ENABLE_X64=1 in os.environ before the "
      "processes start"
    )
  rows: list[onp.ndarray] = []
  messages: dict[int, str] = {}
  lost = onp.full(len(estimates.form_of(plan.fit).names), onp.nan)
  for i in numbers:
    sequence = onp.random.SeedSequence(plan.seed, spawn_key=(i,))
    random = onp.random.default_rng(sequence)
    row = lost
    try:
      sample = resamples.resample(plan.fit, plan.method, random, plan.clusters)
      row = refit(plan.fit, sample)
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
