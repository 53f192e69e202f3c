"""Means and variances of functions of a phase-type variable."""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import operands
from phasic.math.model.model_types import Model
from phasic.math.moments import occupancy
from phasic.math.moments import passages
from phasic.math.quadrature import numerical_distributions
from phasic.math.quadrature import quadrature

# The largest error at which a rule reproduces known times in phases.
_EXACT = {"float64": 1e-12, "float32": 3e-6}

# P(X > last) is at most this, for `last` of `NumericalDistribution`.
_LEFT = math.exp(-61.0)


def mean_and_variance(
  model: numerical_distributions.ModelLike, function: Callable[[Array], Array]
) -> tuple[Array, Array]:
  """Computes the mean and variance of g(X), for increasing g with g(0) = 0.

  They are computed by quadrature as in `information.entropy`. The relative
  error is below 1e-9 (float32: 1e-4), or the result is NaN. It is NaN if g
  grows so fast that times beyond the last quadrature point matter.

  Args:
    model: initial_probs, subgenerator, exit_rates and prob_zero, the last two
      of which may be None.
    function: g, of arrays in the model's dtype, the batch last.

  Returns:
    Two arrays with the model's batch shape.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.
  """
  distribution, rule, logs, masses = _points(model)
  values, most = _values(distribution, rule, function)
  atom = np.exp(distribution.log_atom())
  with onp.errstate(over="ignore", invalid="ignore"):  # They may be inf.
    mean = quadrature.total(rule, masses * values)
    variance = quadrature.total(rule, masses * np.square(values - mean))
    variance = variance + atom * np.square(mean)
    seen = most * _LEFT <= 1e-10 * mean
    mean = np.where(seen, distribution.checked(rule, logs, mean), math.nan)
    seen = seen & (np.square(most) * _LEFT <= 1e-10 * variance)
  variance = np.where(
    seen, distribution.checked(rule, logs, variance), math.nan
  )
  dtype = distribution.dtype
  return structures.cast(mean, dtype), structures.cast(variance, dtype)


def raw_moment(
  model: numerical_distributions.ModelLike,
  function: Callable[[Array], Array],
  k: int,
) -> Array:
  """Computes E g(X)^k for increasing g with g(0) = 0.

  Args:
    model: as above.
    function: g.
    k: a positive integer.
  """
  distribution, rule, logs, masses = _points(model)
  # Divide by the largest value of g, so that powers stay in range.
  values, most = _values(distribution, rule, function)
  with onp.errstate(over="ignore", invalid="ignore"):  # g may be inf.
    share = quadrature.total(rule, masses * (values / most) ** float(k))
    moment = share * most ** float(k)
  seen = share * 1e-10 >= _LEFT
  moment = np.where(seen, distribution.checked(rule, logs, moment), math.nan)
  return structures.cast(moment, distribution.dtype)


def sojourn_times(model: Model, log_growth: Callable[[Array], Array]) -> Array:
  """Computes the integrals of g'(x) P(in phase j at x), (..., p).

  They are the expected times in the phases where x is changed to g(x). The rule
  must reproduce their known values for g(x) = x, and agree with its coarser rule.

  Args:
    model: initial_probs, subgenerator or edges, exit_rates and prob_zero, the
      last two of which may be None.
    log_growth: log g', of arrays in the model's dtype, the batch last; g' does
      not grow.

  Returns:
    An array with a relative error of about 1e-12 (float32: 1e-5), or NaN.
  """
  model = numerical_distributions.convert(model, False)
  distribution = numerical_distributions.NumericalDistribution(model, False)
  rule = quadrature.times(
    distribution.log_rate,
    distribution.last,
    distribution.phases,
    distribution.dtype,
  )
  gone = rule.points > distribution.last
  points = np.where(gone, distribution.last, rule.points)
  points = structures.cast(points, distribution.dtype)
  logs = structures.cast(log_growth(points), static.wide_float())
  plain = np.where(gone, 0.0, np.exp(rule.log_weights))
  grown = np.where(gone, 0.0, np.exp(rule.log_weights + logs))

  def integral(weights: Array, chain: Model) -> Array:
    weights = structures.cast(weights, distribution.dtype)
    return occupancy.weighted(chain, points, weights)

  fixed = operands.constants(model)
  exact = passages.expected_sojourn_times(*fixed)
  same = _near(integral(plain, fixed), exact, _EXACT[distribution.dtype])
  sojourns = integral(grown, model)
  coarse = integral(autodiff.stop_gradient(grown * rule.coarse), fixed)
  same = same & _near(coarse, autodiff.stop_gradient(sojourns), rule.tolerance)
  good = structures.cast(np.where(same, 1.0, math.nan), distribution.dtype)
  return sojourns * good


def _near(x: Array, y: Array, tolerance: float) -> Array:
  return np.abs(x - y) <= tolerance * np.abs(y)


def _points(
  model: numerical_distributions.ModelLike,
) -> tuple[
  numerical_distributions.NumericalDistribution,
  quadrature.QuadratureRule,
  Array,
  Array,
]:
  """Builds a quadrature rule for a model.

  Returns the distribution, the rule, and log densities and masses at its
  points.
  """
  distribution = numerical_distributions.NumericalDistribution(
    numerical_distributions.convert(model, False), False
  )
  rule = quadrature.times(
    distribution.log_rate,
    distribution.last,
    distribution.phases,
    distribution.dtype,
  )
  logs = distribution.log_density(rule)
  return distribution, rule, logs, quadrature.masses(logs, rule.log_weights)


def _values(
  distribution: numerical_distributions.NumericalDistribution,
  rule: quadrature.QuadratureRule,
  function: Callable[[Array], Array],
) -> tuple[Array, Array]:
  """Evaluates g at the quadrature points, and at the time `last`."""

  def values(times: Array) -> Array:
    transformed = function(structures.cast(times, distribution.dtype))
    return structures.cast(transformed, static.wide_float())

  # Limit the times: g may overflow beyond the last relevant time.
  return values(np.minimum(rule.points, distribution.last)), values(
    distribution.last
  )
