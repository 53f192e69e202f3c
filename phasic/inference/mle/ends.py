"""Maximizes from several starts, and sets entries at the end to zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as onp

from phasic.inference.data.likelihoods import MapT
from phasic.inference.mle import optimizer as optimizer_lib
from phasic.inference.results import records

# Two searches have ended at the same optimum if the log likelihoods and the
# entries at their ends differ by less than these fractions.
_SAME_VALUE, _SAME_ENTRIES = 1e-7, 1e-2


def best_of(
  optimizer: optimizer_lib.Optimizer[MapT],
  starts: Sequence[onp.ndarray],
  report: Callable[[int, float], object] | None = None,
) -> tuple[optimizer_lib.Optimum, list[float]]:
  """Maximizes from several starts, and returns the best end.

  The log likelihoods of all ends are returned, too, in the order of the starts.
  All distinct ends are compared after Newton steps: where the search from one
  start stops short, another end may look better.
  """
  ends: list[optimizer_lib.Optimum] = []
  for i, start in enumerate(starts):
    end = optimizer.maximize(start)
    same = any(_are_near(end, other) for other in ends)
    ends.append(end if same else optimizer.polish(end))
    if report is not None:
      report(i + 1, max(map(_value_of, ends)))
  return max(ends, key=_value_of), [end.log_likelihood for end in ends]


def record(
  optimizer: optimizer_lib.Optimizer[MapT],
  best: optimizer_lib.Optimum,
  tolerance: float,
  reached: Sequence[float],
  tried: Sequence[str],
) -> records.Record:
  """Returns the record of searches.

  Args:
    optimizer: the optimizer.
    best: the best end.
    tolerance: the largest slope of the mean log likelihood at convergence.
    reached: the log likelihoods at which the searches from each start ended.
    tried: what the starts were.
  """
  tolerance = max(tolerance, optimizer.rounding(best.log_likelihood))
  converged = best.gradient_norm <= tolerance
  message = (
    f"slopes of the mean log likelihood are at most {best.gradient_norm:.2g} in "
    "free coordinates"
  )
  if not converged:
    message = (
      f"a slope of {best.gradient_norm:.2g} is left, more than {tolerance:.2g}: "
      f"go on from here, or start nearer the data ({best.message})"
    )
  return records.Record(
    method=best.method,
    converged=converged,
    message=message,
    log_likelihoods=best.log_likelihoods,
    gradient_norm=best.gradient_norm,
    num_evaluations=optimizer.num_evaluations,
    reached=tuple(reached),
    tried=tuple(tried),
  )


def nothing_fitted(value: float) -> records.Record:
  """Returns the record of a fit without free entries."""
  return records.Record(
    method="none",
    converged=True,
    message="nothing is fitted: every parameter is fixed, zero or certain",
    log_likelihoods=(value,),
    num_evaluations=1,
  )


def _are_near(
  first: optimizer_lib.Optimum, second: optimizer_lib.Optimum
) -> bool:
  """Returns whether two ends are the same up to the tolerance of the search."""
  apart = abs(first.log_likelihood - second.log_likelihood)
  if not apart <= _SAME_VALUE * (1.0 + abs(second.log_likelihood)):
    return False
  scale = onp.maximum(onp.abs(second.entries), onp.finfo(float).tiny)
  change = onp.abs(first.entries - second.entries) / scale
  return bool(onp.all(change <= _SAME_ENTRIES))


def _value_of(optimum: optimizer_lib.Optimum) -> float:
  """Returns an optimum's log likelihood, or -inf if it is not finite."""
  known = optimum.log_likelihood
  return known if onp.isfinite(known) else -onp.inf


# The largest loss of log likelihood for which an entry is set to zero.
_ZERO_COST = 1e-6
# Only an entry below this fraction of its scale is tried at zero. The scale is
# the largest entry of the same parameter or, for probabilities, the sum that
# the entry is part of.
_SMALL = 1e-3
# An entry at zero becomes positive again if the derivative of the mean log
# likelihood with respect to this entry, times its scale, exceeds this.
_RISES = 1e-6
# The largest number of rounds. In each of them entries are set to zero, and
# some of the zeros are set back.
_ROUNDS = 5


def with_zeros(
  optimizer: optimizer_lib.Optimizer[MapT],
  optimum: optimizer_lib.Optimum,
) -> optimizer_lib.Optimum:
  """Sets entries to zero where this costs hardly any likelihood.

  After each change the likelihood is maximized again.
  """
  where, likelihood = optimizer.where, optimizer.likelihood
  never = onp.logical_not(where.may_be_zero) | (optimizer.low > 0)
  for _ in range(_ROUNDS):
    scale = likelihood.scales(optimum.entries)
    entries, value = optimum.entries, optimum.log_likelihood
    small = where.is_inside(entries) & (entries < _SMALL * scale)
    small = small & onp.logical_not(never)
    ascending = onp.argsort(entries / scale)
    for i in ascending[small[ascending]]:
      trial = where.balanced(onp.where(where.indices == i, 0.0, entries))
      there = optimizer.value(trial)
      if there >= value - _ZERO_COST and likelihood.is_possible(trial):
        entries, value = trial, there
    changed = entries is not optimum.entries
    before = optimum
    if changed:
      optimum = optimizer.polish(optimizer.maximize(entries))
    zero = onp.logical_not(where.is_inside(optimum.entries))
    if not onp.any(zero):
      return optimum
    slopes = optimizer.slopes(optimum.entries) * scale
    rises = slopes > _RISES * likelihood.total
    back = zero & rises & where.is_inside(where.entries)
    if not onp.any(back):
      return optimum
    # The likelihood increases if these entries leave zero: they become positive
    # again, and are not tried at zero any more. They restart where their
    # logarithms have slopes, which they lack if the search began next to zero.
    never = never | back
    again = onp.maximum(before.entries, _SMALL * scale)
    again = where.balanced(onp.where(back, again, optimum.entries))
    risen = optimizer.polish(optimizer.maximize(again))
    if not risen.log_likelihood >= optimum.log_likelihood:
      return optimum
    optimum = risen
  return optimum
