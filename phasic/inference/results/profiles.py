"""Profile likelihood intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as onp

from phasic.inference.results import directions
from phasic.inference.results import quantities
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import frameworks
from phasic.internal import user_warnings

_Computed: TypeAlias = Callable[[onp.ndarray], tuple[float, onp.ndarray]]
# The most steps of a search for one end of an interval.
_STEPS = 200
# A search ends where a step changes the number by less, in standard errors. At
# an end it changes by the square of a distance along the bound.
_TOLERANCE = 1e-11
# The end is found if the log likelihood there is off by at most this.
_NEAR = 1e-6
# Steps along the gradient that bring the log likelihood to its bound.
_CORRECTIONS = 8
# Free parameters, in units of their standard errors, move at most twice as far as
# for a quadratic log likelihood. Where a search ends at a side of this box, the
# box is made wider, until it is as wide as `_FARTHEST`.
_WIDER, _FARTHEST = 4.0, 200.0
# A number has not changed from one box to a wider one if it has changed by less,
# in standard errors.
_GAIN = 1e-4
# The likelihood does not fall at all if it has not fallen to its bound at such a
# side, and a wider search fails.
_ENDLESS = 10.0
_SIDE = 1.0 - 1e-6


def ends(
  uncertainty: uncertainty_lib.Uncertainty,
  quantity: quantities.Quantity,
  drop: float,
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns the least and the greatest value of each number of a quantity.

  They are over all parameters whose log likelihood is at most `drop` below its
  maximum. At an end the gradient of the number and of the log likelihood are
  parallel, so that one search with a constraint finds it, and no search for a
  maximum at each of several values is needed. A free parameter of the search
  is in units in which the log likelihood falls by one half.

  Args:
    uncertainty: of the fit.
    quantity: the numbers, (...).
    drop: half the quantile of a chi-square variable with one degree of freedom.

  Returns:
    Two arrays (...): NaN of a number that is not identified, -inf or inf where
    the likelihood does not fall so far.
  """
  shape = onp.shape(quantity.estimate)
  errors = uncertainty.known.standard_errors(quantity.slopes)
  low, high = onp.full(shape, onp.nan), onp.full(shape, onp.nan)
  for place in onp.ndindex(*shape):
    if onp.isfinite(errors[place]) and errors[place] > 0:
      unit = float(errors[place])
      search = _Search(uncertainty, quantity, place, unit, drop)
      low[place], high[place] = search.end(-1.0), search.end(1.0)
      if onp.isnan(low[place]) or onp.isnan(high[place]):
        user_warnings.warn(
          "an end of a profile interval was not found and is NaN: the log "
          "likelihood is too irregular for the search; take method='wald' or "
          "'bootstrap'"
        )
    elif errors[place] == 0:
      low[place] = high[place] = quantity.estimate[place]
  return low, high


class _Search:
  """Searches for the ends of the interval of one number."""

  def __init__(
    self,
    uncertainty: uncertainty_lib.Uncertainty,
    quantity: quantities.Quantity,
    place: tuple[int, ...],
    unit: float,
    drop: float,
  ):
    """Makes the search for a number at a place, in units of its error."""
    self._unit = unit
    self._inner = uncertainty.inner
    self._likelihood = uncertainty.likelihood
    self._quantity = quantity
    self._place = place
    self._drop = drop
    self._start = self._inner.to_unconstrained(self._inner.entries)
    self._basis = _basis(uncertainty.known)
    self._top, _ = self._value(onp.zeros(len(self._start)))

  def end(self, sign: float) -> float:
    """Returns the greatest value, or for a negative sign the least one."""
    with frameworks.needed_by("a profile interval"):
      from scipy import optimize

    along = self._slopes(onp.zeros(len(self._start)))[1] * sign
    u = along * (onp.sqrt(2.0 * self._drop) / onp.linalg.norm(along))
    slack = _last_kept(self._slack)
    objective = _last_kept(lambda u: self._objective(u, sign))
    # Steps stay within a box, since a linear step may lead to rates at which
    # nothing can be computed. Where the search ends at its sides, it goes on in
    # a wider one.
    reach, feasible = 2.0 * onp.sqrt(2.0 * self._drop), 0.0
    gain = before = onp.inf
    with onp.errstate(all="ignore"), user_warnings.searching():
      while True:
        result = optimize.minimize(
          lambda u: objective(u)[0],
          u,
          jac=lambda u: objective(u)[1],
          method="SLSQP",
          bounds=[(-reach, reach)] * len(u),
          constraints=[
            {
              "type": "ineq",
              "fun": lambda u: slack(u)[0],
              "jac": lambda u: slack(u)[1],
            }
          ],
          options={"maxiter": _STEPS, "ftol": _TOLERANCE},
        )
        u = onp.asarray(result.x, onp.float64)
        is_inside = onp.max(onp.abs(u), initial=0.0) < _SIDE * reach
        if is_inside or slack(u)[0] < -_NEAR:
          break
        gain, before = before - objective(u)[0], objective(u)[0]
        feasible = reach
        if reach >= _FARTHEST:
          break
        reach *= _WIDER
      # The search ended at a side of the widest box: the end is beyond, unless
      # another parameter is at the side, of which the number does not depend.
      if feasible >= reach and not gain < _GAIN:
        return self._limit(sign)
      found = self._at_bound(u)
      # A search in a wider box may fail, or end at a lower top.
      is_lower = not objective(u)[0] <= before + _GAIN
      if feasible >= _ENDLESS and (onp.isnan(found) or is_lower):
        return self._limit(sign)
      return found

  def _limit(self, sign: float) -> float:
    """Returns the end of a number along which the likelihood does not fall."""
    limits = self._quantity.high if sign > 0 else self._quantity.low
    return float(limits[self._place])

  def _at_bound(self, u: onp.ndarray) -> float:
    """Brings the log likelihood to its bound, and returns the number there.

    It is NaN if the search did not end near the bound.
    """
    slack, slopes = self._slack(u)
    for _ in range(_CORRECTIONS):
      size = float(onp.sum(slopes * slopes))
      if not (abs(slack) < self._drop and size > 0):
        break
      u = u - slack / size * slopes
      slack, slopes = self._slack(u)
    return self._slopes(u)[0] if abs(slack) <= _NEAR else float(onp.nan)

  def _objective(
    self, u: onp.ndarray, sign: float
  ) -> tuple[float, onp.ndarray]:
    """Computes what the search minimizes, and its slopes.

    It is the number in units of its standard error, on the scale that keeps its
    bounds: there it is nearer to linear.
    """
    number, slopes = self._slopes(u)
    scaled, slope = self._scaled(number)
    _, unit = self._scaled(float(self._quantity.estimate[self._place]))
    factor = -sign / (self._unit * unit)
    return factor * scaled, factor * slope * slopes

  def _scaled(self, number: float) -> tuple[float, float]:
    """Returns the number on the scale that keeps its bounds, and the slope."""
    low = float(self._quantity.low[self._place])
    high = float(self._quantity.high[self._place])
    scaled, slope = number, 1.0
    if onp.isfinite(low) or onp.isfinite(high):
      below, above = number - low, high - number
      scaled = float(
        (onp.log(below) if onp.isfinite(low) else 0.0)
        - (onp.log(above) if onp.isfinite(high) else 0.0)
      )
      slope = float(1.0 / onp.float64(below) + 1.0 / onp.float64(above))
    return scaled, slope

  def _value(self, u: onp.ndarray) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its slopes in scaled parameters."""
    entries = self._inner.to_constrained(self._moved(u))
    if not onp.all(onp.isfinite(entries)):
      return onp.nan, onp.full(len(u), onp.nan)
    value, slopes = self._likelihood.value_and_gradient(self._inner, entries)
    free = self._inner.unconstrained_gradient(entries, slopes)
    return value, onp.matmul(free, self._basis)

  def _slack(self, u: onp.ndarray) -> tuple[float, onp.ndarray]:
    """Computes how far the log likelihood is above its bound, and slopes."""
    value, slopes = self._value(u)
    if not onp.isfinite(value):
      # A step was too long: the search turns back.
      size = 1.0 + float(onp.sum(u * u))
      return -size, -2.0 * u
    return value - self._top + self._drop, slopes

  def _slopes(self, u: onp.ndarray) -> tuple[float, onp.ndarray]:
    """Computes the number and its slopes in scaled parameters."""
    entries = self._inner.to_constrained(self._moved(u))
    number, slopes = self._quantity.number_at(entries, self._place)
    return number, onp.matmul(slopes, self._basis)

  def _moved(self, u: onp.ndarray) -> onp.ndarray:
    return self._start + onp.matmul(self._basis, u)


def _last_kept(f: _Computed) -> _Computed:
  """Returns a function that keeps its last result.

  An optimizer asks for values and slopes at one point one after the other.
  """
  point, result = onp.zeros(0), (onp.nan, onp.zeros(0))

  def kept(u: onp.ndarray) -> tuple[float, onp.ndarray]:
    nonlocal point, result
    if not onp.array_equal(u, point):
      result = f(u)
      point = onp.array(u)
    return result

  return kept


def _basis(known: directions.Known) -> onp.ndarray:
  """Returns steps of the free parameters that are one standard error each.

  They are independent of each other; along flat directions they are units.
  """
  values, vectors = onp.linalg.eigh(known.spread)
  top = onp.max(values, initial=0.0)
  sizes = onp.where(values > 1e-12 * top, values, 1.0)
  return known.units[:, None] * vectors * onp.sqrt(sizes)
