"""Searches for maxima in unconstrained parameters by SciPy's optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as onp

from phasic.internal import frameworks
from phasic.internal.arrays import Integer

# The status with which SciPy says that a run stopped at its limit of steps or
# of evaluations, and did not end by itself.
_ALL_STEPS = 1
# A Hessian with a larger entry is refused, since products of such entries
# overflow.
_LARGEST = 1e150
# The past steps that a search keeps. After it at most `_SLOPE_STEPS` steps follow
# by slopes alone, each at most `_SHORT` long, until slopes are at most `_FLAT`.
# A slope may double, and values may rise by their rounding, a few epsilons of
# their size.
_KEPT = 50
_SLOPE_STEPS, _SHORT, _FLAT = 40, 1e-3, 1e-13
_ROUNDING = 1e-13


class Objective:
  """A function with its gradient, negated and divided by a given total.

  SciPy minimizes this objective.

  If the function cannot be computed, a step was too long. The value is then a
  penalty that grows with the distance from the last accepted step, so that a
  line search steps back.

  Attributes:
    values: the function's values at the start and after each accepted step.
    best: where the smallest value was computed, and this value, or None.
  """

  def __init__(
    self,
    evaluate: Callable[[onp.ndarray], tuple[float, onp.ndarray]],
    total: float,
    start: onp.ndarray,
  ):
    """Makes the objective from a function with gradient.

    Args:
      evaluate: returns the value and the gradient of the function.
      total: the number by which both are divided.
      start: the free parameters at which the optimizer starts.
    """
    self._evaluate = evaluate
    self._total = total
    self._base = onp.array(start)
    self._value = 0.0
    self._last: tuple[onp.ndarray, float] | None = None
    self.values: list[float] = []
    self.best: tuple[onp.ndarray, float] | None = None

  def __call__(self, free: onp.ndarray) -> tuple[float, onp.ndarray]:
    value, slopes = self._evaluate(free)
    if onp.isfinite(value) and onp.all(onp.isfinite(slopes)):
      mean = -value / self._total
      if self._last is None:
        self._value = mean
        self.values.append(value)
      self._last = (onp.array(free), mean)
      if self.best is None or mean < self.best[1]:
        self.best = self._last
      return mean, -slopes / self._total
    away = free - self._base
    steep = 1.0 + abs(self._value)
    return self._value + steep * (
      1.0 + float(onp.sum(away * away))
    ), 2.0 * steep * away

  def accepted(self, free: onp.ndarray) -> None:
    """Records the value at a step that the optimizer accepted."""
    self._base = onp.array(free)
    if self._last is not None and onp.array_equal(self._last[0], free):
      self._value = self._last[1]
    self.values.append(-self._value * self._total)


class End(NamedTuple):
  """The free parameters at which a run ended, and why it ended.

  Attributes:
    free: the free parameters, (d,).
    message: SciPy's message.
    is_over: whether the run ended by itself, and not after the most steps.
  """

  free: onp.ndarray
  message: str
  is_over: bool


def _minimized(
  objective: Objective, start: onp.ndarray, **options: object
) -> Any:
  """Calls SciPy's `minimize`."""
  with frameworks.needed_by("a fit"):
    from scipy import optimize

  return optimize.minimize(
    objective, start, jac=True, callback=objective.accepted, **options
  )


def quasi_newton(
  objective: Objective,
  start: onp.ndarray,
  low: onp.ndarray,
  high: onp.ndarray,
  max_steps: Integer,
  tolerance: float,
) -> End:
  """Runs L-BFGS-B between bounds; ends at the best point it has visited.

  A line search that fails may return an earlier point.
  """
  result = _minimized(
    objective,
    start,
    method="L-BFGS-B",
    bounds=list(zip(low, high, strict=True)),
    options={
      "maxiter": max_steps,
      "maxfun": 10 * max_steps,
      "maxcor": _KEPT,
      "maxls": 50,
      "ftol": 1e-15,
      "gtol": tolerance,
    },
  )
  free = onp.asarray(result.x, onp.float64)
  if objective.best is not None and objective.best[1] < float(result.fun):
    free = objective.best[0]
  if max_steps and onp.all((free > low) & (free < high)):
    free = _by_slopes(objective, free, result.hess_inv)
  return End(free, str(result.message), result.status != _ALL_STEPS)


def _by_slopes(
  objective: Objective, free: onp.ndarray, inverse: Any
) -> onp.ndarray:
  """Goes on from the end of a search by slopes alone.

  Near a minimum values change by the square of a step, so that rounding hides
  what is left to gain; slopes are known to more digits.

  Args:
    objective: the objective.
    free: the free parameters at the end.
    inverse: SciPy's approximation of the inverse of the second derivatives.
  """
  from scipy import optimize

  best = free
  value, slopes = objective(free)
  least = largest = onp.max(onp.abs(slopes))
  for _ in range(_SLOPE_STEPS):
    step = -inverse.matvec(slopes)
    if not (largest > _FLAT and onp.max(onp.abs(step)) <= _SHORT):
      break
    free = free + step
    new_value, new_slopes = objective(free)
    change, slopes = new_slopes - slopes, new_slopes
    before, largest = largest, onp.max(onp.abs(slopes))
    if not (
      largest <= 2 * before
      and new_value - value <= _ROUNDING * (1 + abs(value))
    ):
      break
    if largest < least:
      best, least = free, largest
    if onp.sum(step * change) > 0:
      steps, changes = (
        onp.concatenate([old, new[None]])[-_KEPT:]
        for old, new in ((inverse.sk, step), (inverse.yk, change))
      )
      inverse = optimize.LbfgsInvHessProduct(steps, changes)
  objective.accepted(best)
  return best


def newton(
  objective: Objective,
  hessian: Callable[[onp.ndarray], onp.ndarray],
  start: onp.ndarray,
  max_steps: Integer,
) -> onp.ndarray | None:
  """Makes Newton steps in a trust region, with exact second derivatives.

  Args:
    objective: the objective.
    hessian: returns its second derivatives, (d, d).
    start: the free parameters at which the steps start.
    max_steps: the most steps, at least one.

  Returns:
    The free parameters, or None where second derivatives are not finite, or so
    large that products of them are not.
  """

  def checked(free: onp.ndarray) -> onp.ndarray:
    second = hessian(free)
    if not onp.all(onp.abs(second) < _LARGEST):
      raise FloatingPointError("the Hessian of the likelihood is not finite")
    return second

  try:
    result = _minimized(
      objective,
      start,
      hess=checked,
      method="trust-exact",
      options={
        "gtol": 1e-12,
        "maxiter": max_steps,
        "initial_trust_radius": 0.1,
        "max_trust_radius": 1e8,
      },
    )
  except FloatingPointError:
    return None
  return onp.asarray(result.x, onp.float64)
