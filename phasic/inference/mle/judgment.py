"""Judges by exact derivatives whether a search ended at a maximum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

from phasic.inference.mle import numbers as numbers_lib
from phasic.inference.mle import optimizer as optimizer_lib
from phasic.inference.results import uncertainty
from phasic.internal import static

RISES = "not a maximum (the log likelihood bends up)"
UNKNOWN = "unknown (the search did not end)"
UNBENT = "unknown (derivatives are not finite)"
_GOOD = (uncertainty.IDENTIFIED, uncertainty.ZERO, uncertainty.BOUND)

# A direction of logarithms and log odds is flat if the log likelihood bends less
# than this along it: the standard error would exceed 30. Real numbers have no
# such scale: in their units, below, it is flat below this power of the precision.
_BEND, _REAL_BEND = 1e-3, 0.6
# A number is not identified if this share of it lies along flat directions.
_SHARE = 0.1
# A longer Newton step in a unit, from where the search ended, means that this is
# no maximum. Along a flat direction it means that the likelihood rises on.
_STEP, _REAL_STEP = 0.1, 0.01
# At a maximum a Newton step is below this, or what it would gain is below rounding
# errors, if these are small themselves.
_NEAR = 1e-5
_ROUNDING = 100.0
_MOST_ROUNDING = 0.01
# With a larger slope in a unit a search has not ended.
_SLOPE = 0.01
# A logarithm or log odds that changed by more than this, and where a slope is left,
# has no maximum.
_RAN = 100.0
# A number at a bound is known if the log likelihood over `total` falls as it
# leaves the bound, by more than this times its scale.
_FALLS = 1e-8


class Verdict(NamedTuple):
  """The statuses and errors of numbers where a search ended.

  Attributes:
    statuses: of the d numbers.
    standard_errors: of the numbers, (d,); NaN of those that have none.
    converged: whether the search ended at a maximum.
    message: why it ended.
  """

  statuses: list[str]
  standard_errors: onp.ndarray
  converged: bool
  message: str


class _Newton(NamedTuple):
  """A Newton step from the end of a search, and the shape of the likelihood.

  Arrays are of the free parameters, (d,).
  """

  slopes: onp.ndarray
  step: onp.ndarray
  errors: onp.ndarray  # Standard errors.
  is_flat: onp.ndarray
  bends_up: onp.ndarray
  runs: onp.ndarray  # Flat, and the likelihood rises on.
  ran: onp.ndarray  # Far from the start, and the likelihood rises on.
  is_known: bool  # Whether second derivatives are finite.


def judge(
  optimizer: optimizer_lib.Optimizer[numbers_lib.Numbers],
  best: optimizer_lib.Optimum,
) -> Verdict:
  """Judges by second derivatives whether a search ended at a maximum."""
  form = optimizer.where
  inner = optimizer.in_units(optimizer.inner(best.entries))
  eps = static.finfo_eps(form.dtype)
  rounding = _ROUNDING * eps * (1.0 + abs(best.log_likelihood))
  newton = _newton(optimizer, inner, rounding)
  gain = float(onp.sum(newton.step * newton.slopes))
  is_hidden = rounding < _MOST_ROUNDING and gain <= 2.0 * rounding
  longest = float(onp.max(onp.abs(newton.step), initial=0.0))
  is_near = is_hidden or longest < _NEAR
  slope = float(onp.max(onp.abs(newton.slopes), initial=0.0))
  is_peak = is_near and not onp.any(newton.is_flat | newton.bends_up)
  has_ended = (best.is_over and slope <= _SLOPE) or is_peak
  rows = onp.flatnonzero(inner.has_free)
  numbers = form.owners[inner.indices[rows]]
  statuses = onp.full(len(form.number_names), UNKNOWN, dtype=object)
  statuses[numbers] = _of_free(newton, has_ended, is_hidden)
  at_edges = _at_edges(optimizer, best.entries)
  statuses[list(at_edges)] = list(at_edges.values())
  jacobian = onp.diag(inner.jacobian(inner.entries)[rows])
  errors = onp.full(len(statuses), onp.nan)
  errors[numbers] = onp.abs(jacobian) * newton.errors
  errors = onp.where(statuses == uncertainty.IDENTIFIED, errors, onp.nan)
  by_status: dict[str, list[str]] = {}
  for name, status in zip(form.number_names, statuses, strict=True):
    by_status.setdefault(status, []).append(name)
  converged = has_ended and is_near and by_status.keys() <= set(_GOOD)
  message = _message(converged, slope, best.message, by_status)
  return Verdict([str(x) for x in statuses], errors, converged, message)


def _of_free(newton: _Newton, has_ended: bool, is_hidden: bool) -> onp.ndarray:
  """Returns the statuses of numbers that are not at a bound."""
  statuses = onp.full(len(newton.step), uncertainty.IDENTIFIED, dtype=object)
  if not has_ended:
    statuses[:] = UNKNOWN
    statuses[newton.ran] = uncertainty.ENDLESS
  elif not newton.is_known:
    statuses[:] = UNBENT
  else:
    far = (onp.abs(newton.step) > _STEP) & (not is_hidden)
    statuses[far] = uncertainty.ENDLESS
    statuses[newton.is_flat] = uncertainty.FLAT
    statuses[newton.runs] = uncertainty.ENDLESS
    statuses[newton.bends_up] = RISES
  return statuses


def _message(
  converged: bool, slope: float, ended: str, by_status: dict[str, list[str]]
) -> str:
  """Says why a search ended."""
  left = f"a slope of {slope:.2g} in a free coordinate is left ({ended})"

  def shown(*statuses: str) -> str:
    names = [name for x in statuses for name in by_status.get(x, [])]
    return ", ".join(names[:5])

  if converged:
    edges = shown(uncertainty.ZERO, uncertainty.BOUND)
    return (
      f"slopes in free coordinates are at most {slope:.2g}, and the log "
      "likelihood bends down in all directions"
    ) + (f"; it falls away from the bounds of {edges}" if edges else "")
  if rising := shown(RISES):
    return (
      f"the log likelihood bends up in {rising}: the search ended at a saddle or a "
      "minimum; start elsewhere"
    )
  if lost := shown(uncertainty.FLAT, uncertainty.ENDLESS):
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


def _newton(
  optimizer: optimizer_lib.Optimizer[numbers_lib.Numbers],
  inner: numbers_lib.Numbers,
  rounding: float,
) -> _Newton:
  """Makes a Newton step from entries, and finds flat directions."""
  _, slopes = optimizer.evaluated(inner, inner.entries)
  slopes = inner.unconstrained_gradient(inner.entries, slopes)
  information = -optimizer.hessian(inner, inner.entries)
  is_known = bool(onp.all(onp.isfinite(information)))
  information = onp.where(is_known, information, 0.0)
  is_real = inner.is_real[inner.has_free]
  bends, directions = onp.linalg.eigh(information)
  eps = static.finfo_eps(optimizer.likelihood.dtype)
  least = onp.where(is_real, eps**_REAL_BEND, _BEND)
  least = onp.matmul(least, directions**2)
  kept = directions[:, bends >= least]
  spread = onp.matmul(kept / bends[bends >= least], kept.T)
  flat = directions[:, onp.abs(bends) < least]
  is_flat = onp.linalg.norm(flat, axis=-1) > _SHARE
  up = onp.linalg.norm(directions[:, bends <= -least], axis=-1) > _SHARE
  limit = onp.where(is_real, _REAL_STEP, _STEP)
  runs = onp.abs(slopes) > onp.maximum(
    limit * onp.abs(onp.diag(information)), rounding
  )
  start = optimizer.where.entries[inner.indices]
  moved = onp.abs(
    inner.to_unconstrained(inner.entries) - inner.to_unconstrained(start)
  )
  ran = (moved > _RAN) & (onp.abs(slopes) > _SLOPE) & onp.logical_not(is_real)
  return _Newton(
    slopes=slopes,
    step=onp.matmul(spread, slopes),
    errors=onp.sqrt(onp.maximum(onp.diag(spread), 0.0)),
    is_flat=is_flat,
    bends_up=up,
    runs=is_flat & runs,
    ran=ran,
    is_known=is_known,
  )


def _at_edges(
  optimizer: optimizer_lib.Optimizer[numbers_lib.Numbers],
  entries: onp.ndarray,
) -> dict[int, str]:
  """Returns the statuses of numbers at a bound, by index."""
  form = optimizer.where
  edges = onp.flatnonzero(onp.logical_not(form.is_inside(entries)))
  if not len(edges):
    return {}
  slopes = optimizer.slopes(entries) * optimizer.likelihood.scales(entries)
  found: dict[int, str] = {}
  for j in edges:
    i = int(form.owners[j])
    is_low = form.places[0][i] == j
    bound = form.bounds[0 if is_low else 1][i]
    if onp.isnan(slopes[j]):
      found[i] = UNBENT
    elif slopes[j] >= -_FALLS * optimizer.likelihood.total:
      found[i] = uncertainty.FLAT
    else:
      found[i] = uncertainty.ZERO if bound == 0.0 else uncertainty.BOUND
  return found
