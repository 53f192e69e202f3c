"""Profile likelihood intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as onp

from phasic.inference.results import directions
from phasic.inference.results import quantities
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import frameworks

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
# A search has run away if a free parameter, in units of its standard error, has
# moved farther.
_FARTHEST = 1e3


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
    step = along * (onp.sqrt(2.0 * self._drop) / onp.linalg.norm(along))
    number, slack = _last_kept(self._slopes), _last_kept(self._slack)
    with onp.errstate(all="ignore"):
      result = optimize.minimize(
        lambda u: -sign / self._unit * number(u)[0],
        step,
        jac=lambda u: -sign / self._unit * number(u)[1],
        method="SLSQP",
        constraints=[
          {
            "type": "ineq",
            "fun": lambda u: slack(u)[0],
            "jac": lambda u: slack(u)[1],
          }
        ],
        options={"maxiter": _STEPS, "ftol": _TOLERANCE},
      )
      return self._judged(onp.asarray(result.x, onp.float64), sign)

  def _judged(self, u: onp.ndarray, sign: float) -> float:
    """Brings the log likelihood to its bound, and returns the number there."""
    for _ in range(_CORRECTIONS):
      slack, slopes = self._slack(u)
      size = float(onp.sum(slopes * slopes))
      if not (onp.isfinite(slack) and size > 0):
        break
      u = u - slack / size * slopes
    slack, _ = self._slack(u)
    far = float(onp.max(onp.abs(u), initial=0.0))
    if abs(slack) <= _NEAR and far < _FARTHEST:
      return self._slopes(u)[0]
    value, bound = self._quantity.estimate[self._place], onp.inf
    limit = (self._quantity.low, self._quantity.high)[sign > 0]
    if far >= _FARTHEST or slack > _NEAR:
      # The likelihood stays above its bound however far the search goes.
      bound = abs(float(limit[self._place]))
      return (
        float(limit[self._place]) if onp.isfinite(bound) else sign * onp.inf
      )
    return float(onp.nan * value)

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
