"""Judges by exact derivatives whether a search ended at a maximum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

from phasic.inference.mle import optimizer as optimizer_lib
from phasic.inference.parameters import numbers as numbers_lib
from phasic.inference.results import assessment
from phasic.inference.results import directions
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import static

RISES = "not a maximum (the log likelihood bends up)"
UNKNOWN = "unknown (the search did not end)"
UNBENT = "unknown (derivatives are not finite)"
_GOOD = (
  uncertainty_lib.IDENTIFIED,
  uncertainty_lib.ZERO,
  uncertainty_lib.BOUND,
)

# A direction of logarithms and log odds is flat if the second derivative of the
# log likelihood along it is smaller than `_BEND`: a standard error would exceed
# 30. Real numbers have no such scale. In the units of `Optimizer.in_units`, the
# limit for them is the machine epsilon to the power `_REAL_BEND`.
_BEND, _REAL_BEND = 1e-3, 0.6
# A number is not identified if the projection of its axis onto the flat
# directions is longer than this. It is not at a maximum if the same holds for
# the directions in which the log likelihood bends up.
_SHARE = 0.1
# A Newton step of a real number is long if it exceeds this, in the unit of the
# number. Long steps along flat directions show that the log likelihood rises
# without end.
_REAL_STEP = 0.01
# A search is near a maximum if the next Newton step is shorter than `_NEAR`, or
# if its gain is hidden by rounding. If the rounding error of the log likelihood is
# above `_MOST_ROUNDING`, only the length of the step counts.
_NEAR = 1e-5
_MOST_ROUNDING = 0.01
# A search that is not at a maximum has not ended if a slope exceeds this, in
# the unit of the free parameter.
_SLOPE = 0.01
# There is no maximum if a logarithm or log odds has moved farther than this
# from the start, and its slope has still not vanished.
_RAN = 100.0


class Verdict(NamedTuple):
  """The statuses and standard errors of all numbers where a search ended.

  Attributes:
    uncertainty: statuses, covariance and standard errors of the numbers.
    converged: whether the search ended at a maximum.
    message: why it ended.
  """

  uncertainty: uncertainty_lib.Uncertainty
  converged: bool
  message: str


def judge(
  optimizer: optimizer_lib.Optimizer[numbers_lib.Numbers],
  best: optimizer_lib.Optimum,
) -> Verdict:
  """Judges by second derivatives whether a search ended at a maximum."""
  form = optimizer.where
  inner = optimizer.in_units(optimizer.inner(best.entries))
  eps = static.finfo_eps(form.dtype)
  rounding = optimizer.value_rounding(best.log_likelihood)
  _, slopes = optimizer.evaluated(inner, inner.entries)
  information = -optimizer.hessian(inner, inner.entries)
  is_known = bool(onp.all(onp.isfinite(information)))
  information = onp.where(is_known, information, 0.0)
  is_real = inner.is_real[inner.has_free]
  bends = directions.split(
    information, onp.where(is_real, eps**_REAL_BEND, _BEND)
  )
  is_flat, is_up = (
    onp.linalg.norm(x, axis=-1) > _SHARE for x in (bends.level, bends.up)
  )
  step = onp.matmul(bends.spread, slopes)
  gain = float(onp.sum(step * slopes))
  is_hidden = rounding < _MOST_ROUNDING and gain <= 2.0 * rounding
  is_near = is_hidden or float(onp.max(onp.abs(step), initial=0.0)) < _NEAR
  slope = float(onp.max(onp.abs(slopes), initial=0.0))
  is_peak = is_near and not onp.any(is_flat | is_up)
  has_ended = (best.is_over and slope <= _SLOPE) or is_peak
  longest = onp.where(is_real, _REAL_STEP, directions.LONG_STEP)
  runs = directions.rises_on(slopes, information, rounding, longest)
  is_far = onp.abs(step) > directions.LONG_STEP
  ran = _ran(optimizer, inner) & (onp.abs(slopes) > _SLOPE)
  free = onp.full(len(step), uncertainty_lib.IDENTIFIED, dtype=object)
  # The status of a number is the last one in this list whose condition holds.
  for holds, status in (
    (is_far & (not is_hidden), uncertainty_lib.ENDLESS),
    (is_flat, uncertainty_lib.FLAT),
    (is_flat & runs, uncertainty_lib.ENDLESS),
    (is_up, RISES),
    (not is_known, UNBENT),
    (not has_ended, UNKNOWN),
    (ran & (not has_ended), uncertainty_lib.ENDLESS),
  ):
    free = onp.where(holds, status, free)
  rows = onp.flatnonzero(inner.has_free)
  numbers = form.owners[inner.indices[rows]]
  statuses = onp.full(len(form.number_names), UNKNOWN, dtype=object)
  statuses[numbers] = free
  at_edges = _at_edges(optimizer, best.entries)
  statuses[list(at_edges)] = list(at_edges.values())
  by_status: dict[str, list[str]] = {}
  for name, status in zip(form.number_names, statuses, strict=True):
    by_status.setdefault(status, []).append(name)
  converged = has_ended and is_near and by_status.keys() <= set(_GOOD)
  message = _message(converged, slope, best.message, by_status)
  known = directions.Known(
    onp.ones(len(step)),
    onp.hstack([bends.level, bends.up]),
    bends.spread,
    information,
  )
  by_name = dict(zip(form.number_names, map(str, statuses), strict=True))
  return Verdict(
    assessment.judged(optimizer.likelihood, inner, by_name, known),
    converged,
    message,
  )


def _message(
  converged: bool, slope: float, ended: str, by_status: dict[str, list[str]]
) -> str:
  """Says why a search ended."""
  left = f"a slope of {slope:.2g} in a free coordinate is left ({ended})"

  def shown(*statuses: str) -> str:
    names = [name for x in statuses for name in by_status.get(x, [])]
    return ", ".join(names[:5])

  if converged:
    edges = shown(uncertainty_lib.ZERO, uncertainty_lib.BOUND)
    return (
      f"slopes in free coordinates are at most {slope:.2g}, and the log "
      "likelihood bends down in all directions"
    ) + (f"; it falls away from the bounds of {edges}" if edges else "")
  if rising := shown(RISES):
    return (
      f"the log likelihood bends up in {rising}: the search ended at a saddle or a "
      "minimum; start elsewhere"
    )
  if lost := shown(uncertainty_lib.FLAT, uncertainty_lib.ENDLESS):
    return (
      "the search ended where the log likelihood is flat, or rises without end, "
      f"in {lost}: this is a plateau or an edge and no maximum; start elsewhere, "
      "or from several starts"
    )
  if UNKNOWN in by_status:
    return (
      f"{left}: raise max_steps, lower the tolerance, or start from better numbers; "
      "if the log likelihood rises without end, see its sign"
    )
  if UNBENT in by_status:
    return (
      "derivatives of the log likelihood are not finite where the search ended, "
      "so that it is not known whether this is a maximum"
    )
  return f"{left}: start from where the search ended"


def _ran(
  optimizer: optimizer_lib.Optimizer[numbers_lib.Numbers],
  inner: numbers_lib.Numbers,
) -> onp.ndarray:
  """Returns which logarithms and log odds are far from the start, (d,)."""
  start = optimizer.where.entries[inner.indices]
  moved = inner.to_unconstrained(inner.entries) - inner.to_unconstrained(start)
  return (onp.abs(moved) > _RAN) & onp.logical_not(
    inner.is_real[inner.has_free]
  )


def _at_edges(
  optimizer: optimizer_lib.Optimizer[numbers_lib.Numbers],
  entries: onp.ndarray,
) -> dict[int, str]:
  """Returns the statuses of numbers at a bound, by index."""
  form, likelihood = optimizer.where, optimizer.likelihood
  edges = onp.flatnonzero(onp.logical_not(form.is_inside(entries)))
  if not len(edges):
    return {}
  slopes = optimizer.slopes(entries)
  falls = directions.falls_away(
    slopes, likelihood.scales(entries), likelihood.total
  )
  statuses: dict[int, str] = {}
  for j in edges:
    i = int(form.owners[j])
    bound = form.bounds[0 if form.places[0][i] == j else 1][i]
    at_edge = uncertainty_lib.ZERO if bound == 0.0 else uncertainty_lib.BOUND
    statuses[i] = at_edge if falls[j] else uncertainty_lib.FLAT
    if onp.isnan(slopes[j]):
      statuses[i] = UNBENT
  return statuses
