"""Represents a density by weighted observations, to fit distributions to it."""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as onp

from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters.host_values import number
from phasic.internal import raw_arguments
from phasic.internal.arrays import ArrayLike

# The step size of the first quadrature rule, and the largest number of rules
# that are tried. Each further rule halves the step size.
_FIRST_STEP = 0.25
_REFINEMENTS = 7
# A rule keeps the points u with |pi / 2 sinh u| < 230, whose times are between
# 1e-100 and 1e100 times the scale. All these points have |u| < 6.
_FARTHEST = 6.0
# Points with a smaller weight are left out: the rounding error of the total
# mass is larger.
_LEAST = 1e-18


def observations_from_density(
  density: Callable[[onp.ndarray], ArrayLike],
  *,
  scale: float = 1.0,
  tolerance: float = 1e-8,
) -> observations_lib.Observations:
  """Returns weighted observations that represent a density on (0, inf).

  A distribution fitted to them has the least Kullback-Leibler divergence from
  the density: its log likelihood is the integral of f(x) log g(x). They are the
  points of the double exponential rule, t = scale exp(pi / 2 sinh(u)), with step
  sizes that are halved until total mass and mean stay; weights are the weights of the
  rule times the density, and sum to one.

  There is no sample: standard errors of such a fit mean nothing, and `aic` and
  `bic`, which compare a gain with a number of observations, raise ValueError.

  Args:
    density: takes times (m,), returns f there, >= 0.
    scale: a time of about the size of the median.
    tolerance: how far the total mass may be from one.

  Raises:
    TypeError: the density is not a function, or an option is not a number.
    ValueError: an option breaks a rule, the density is negative or not finite
      somewhere, or its mass is not one.

  Example: the exponential distribution that is nearest to a gamma one.

    >>> import numpy as np
    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> gamma = lambda t: t * np.exp(-t)
    >>> data = inference.observations_from_density(gamma)
    >>> fit = inference.fit_mle(Erlang(1, 1.0), data)
    >>> print(f"{float(fit.distribution.rate):.6f}")
    0.500000

  References:
    S. Asmussen, O. Nerman, M. Olsson, Fitting phase-type distributions via the
      EM algorithm, Scand. J. Statist. 23, 1996, sec. 4.2.
    H. Takahasi, M. Mori, Double exponential formulas for numerical integration,
      Publ. RIMS 9, 1974.
  """
  raw_arguments.check_callable("density", density, " of times")
  if not 0.0 < number("scale", scale) < math.inf:
    raise ValueError(f"scale is {scale}: it must be positive and finite")
  if not 0.0 < number("tolerance", tolerance) < 1.0:
    raise ValueError(f"tolerance is {tolerance}: it must be in (0, 1)")
  level, known = 0, (math.inf, math.inf)
  while True:
    times, weights = _rule(density, scale, _FIRST_STEP / 2**level)
    mass = float(onp.sum(weights))
    mean = float(onp.sum(weights * times))
    level += 1
    near = abs(mass - known[0]) <= tolerance * mass
    near = near and abs(mean - known[1]) <= tolerance * abs(mean)
    if near or level == _REFINEMENTS:
      break
    known = (mass, mean)
  if not abs(mass - 1.0) <= 10 * tolerance:
    raise ValueError(
      f"the integral of the density is {mass:.9g}: it must be 1; give a "
      "density on (0, inf) that is smooth between jumps, and a scale near its "
      "median"
    )
  kept = weights > _LEAST
  return observations_lib.Observations(
    times[kept], weights=weights[kept] / mass
  )


def _rule(
  density: Callable[[onp.ndarray], ArrayLike], scale: float, step: float
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns the points of a quadrature rule, and weights times the density."""
  u = onp.arange(-_FARTHEST, _FARTHEST + step / 2, step)
  exponents = onp.pi / 2 * onp.sinh(u)
  u, exponents = (
    u[onp.abs(exponents) < 230],
    exponents[onp.abs(exponents) < 230],
  )
  times = scale * onp.exp(exponents)
  with onp.errstate(all="ignore"):
    values = onp.asarray(density(times), onp.float64)
  if onp.shape(values) != onp.shape(times):
    raise ValueError(
      f"density returned shape {onp.shape(values)} for times of shape "
      f"{onp.shape(times)}: it must return one value for each time"
    )
  bad = onp.logical_not((values >= 0) & (values < math.inf))
  if onp.any(bad):
    i = int(onp.argmax(bad))
    raise ValueError(
      f"the density at {times[i]:g} is {values[i]}: it must be finite and >= 0"
    )
  return times, step * onp.pi / 2 * onp.cosh(u) * times * values
