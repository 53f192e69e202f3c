"""Means, variances and moments of functions of a phase-type variable X.

Some functions grow like exponentials. For v with v(x) - q x bounded, E exp(v(X))
is infinite if and only if E exp(q X) is: for q at or above the decay rate. Below
it, exp(q x) f(x) is proportional to the density of a chain with tilted rates,
whose longest mean bounds the times that matter. The quadrature must reproduce the
known value of E exp(q X).

If v grows slower than x, all moments exist, and a bound of the survival
function bounds the times that matter.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_calls
from phasic.math.elimination import exponential_tilting
from phasic.math.model import operands
from phasic.math.model.model_types import Model
from phasic.math.moments import generating_functions
from phasic.math.moments import occupancy
from phasic.math.moments import passages
from phasic.math.quadrature import numerical_distributions
from phasic.math.quadrature import quadrature

# A rule must reproduce the known times in phases up to this error.
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
  """Computes the integrals of g'(x) P(in phase j at x) over x.

  They are the expected times in the phases where x is changed to g(x). The rule
  must reproduce their known values for g(x) = x, and agree with its coarser rule.

  Args:
    model: initial_probs, subgenerator or edges, exit_rates and prob_zero, the
      last two of which may be None.
    log_growth: log g', of arrays in the model's dtype, the batch last; g' does
      not grow.

  Returns:
    An array (..., p) with a relative error of about 1e-12 (float32: 1e-5), or
    NaN.
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


# Times beyond _LONGEST times the longest mean contribute at most exp(-61) of an
# expectation and are omitted, see `numerical_distributions`.
_LONGEST = 170.0
_LOG_LEFT = 62.0
# A time this many times the first point: what is before that is negligible.
_FAR = math.exp(36.0)


class MomentQuadrature:
  """A quadrature rule for moments, with the density of X at its points.

  Attributes:
    distribution: the distribution of X.
    rule: the rule.
    times: the quadrature points, (n, ...), in the distribution's dtype.
    logs: the log density, (n, ...).
    undefined: a term that is added to results: zero, or NaN, or inf, (...).
  """

  def __init__(
    self,
    distribution: numerical_distributions.NumericalDistribution,
    last: Array,
    undefined: Array,
  ) -> None:
    """Builds a quadrature rule for times up to `last`."""
    self.distribution = distribution
    usable = np.isfinite(last) & (last > 0)
    last = autodiff.stop_gradient(np.where(usable, last, 1.0))
    self.rule = quadrature.times(
      distribution.log_rate, last, distribution.phases, distribution.dtype
    )
    self.times = structures.cast(self.rule.points, distribution.dtype)
    self.logs = distribution.value("log_density", self.times)
    self.undefined = undefined + np.where(usable, 0.0, math.nan)

  def expected(self, log_value: Array) -> Array:
    """Computes E exp(v(X)), v(0) = -inf, from v at the quadrature points."""
    log_value = _wide(log_value)
    with onp.errstate(all="ignore"):  # The expectation may be inf.
      terms = quadrature.masses(self.logs, self.rule.log_weights + log_value)
      return self._result(quadrature.total(self.rule, terms))

  def integral(self, log_growth: Array) -> Array:
    """Computes E[g(X) - g(0)], the integral of g'(x) P(X > x).

    Args:
      log_growth: log g' at the quadrature points, (n, ...); g' must not grow
        near zero, where there are no points.
    """
    logs = self.distribution.value("log_survival", self.times)
    with onp.errstate(all="ignore"):  # The expectation may be inf.
      weights = self.rule.log_weights + _wide(log_growth)
      terms = quadrature.masses(logs, weights)
      return self._result(quadrature.total(self.rule, terms))

  def variance(self, log_value: Array, mean: Array) -> Array:
    """Computes the variance of exp(v(X)), given its mean."""
    log_value, mean = _wide(log_value), _wide(mean)
    log_mean = np.log(mean)
    early = log_value < log_mean
    some = np.where(early, log_value - log_mean, log_mean - log_value)
    part = np.square(np.expm1(np.minimum(some, 0.0)))
    weights = self.rule.log_weights + 2.0 * np.maximum(log_value, log_mean)
    with onp.errstate(all="ignore"):  # The variance may be inf.
      terms = quadrature.masses(self.logs, weights) * part
      atom = np.exp(self.distribution.log_atom()) * np.square(mean)
      return self._result(quadrature.total(self.rule, terms) + atom)

  def is_late(self, time: Array) -> Array:
    """Returns whether a time is far beyond the first quadrature point, (...)."""
    return _wide(time) > self.rule.points[0] * _FAR

  def _result(self, moment: Array) -> Array:
    endless = self.undefined == math.inf
    moment = np.where(endless, 0.0, moment) + self.undefined
    return structures.cast(moment, self.distribution.dtype)


def tilted(model: Model, growth: Array) -> MomentQuadrature:
  """Builds a rule for E exp(v(X)), for any v with bounded v(x) - q x.

  Args:
    model: initial_probs, subgenerator or edges, exit_rates and prob_zero, the
      last two of which may be None.
    growth: q, (...), > 0.
  """
  distribution = numerical_distributions.NumericalDistribution(
    numerical_distributions.convert(model, False), False
  )
  alpha, matrix, exits, atom = model
  values = (alpha, matrix, growth, exits, atom)
  longest = chain_calls.value(
    exponential_tilting.longest_time, values, False, s=0
  )
  total = generating_functions.moment_generating_function(growth, *model)
  total = _wide(autodiff.stop_gradient(total))
  finite = total < math.inf
  longest = np.where(finite, _wide(longest), 1.0)
  points = MomentQuadrature(
    distribution, _LONGEST * longest, np.where(finite, 0.0, total)
  )
  # Check the rule with E exp(q X), which is known in closed form.
  weights = points.rule.log_weights + _wide(growth) * points.rule.points
  with onp.errstate(all="ignore"):  # E exp(q X) may be inf.
    seen = np.sum(quadrature.masses(points.logs, weights), axis=0)
    missing = np.abs(seen + np.exp(distribution.log_atom()) - total)
  lost = finite & np.logical_not(
    autodiff.stop_gradient(missing) <= points.rule.tolerance * total
  )
  points.undefined = points.undefined + np.where(lost, math.nan, 0.0)
  return points


def all_times(model: Model) -> MomentQuadrature:
  """Builds a rule for E g(X), for g that grows at most like a power."""
  distribution = numerical_distributions.NumericalDistribution(
    numerical_distributions.convert(model, False), False
  )
  last = distribution.last
  endless = last == math.inf
  undefined = np.where(endless, math.inf, np.zeros_like(last))
  return MomentQuadrature(distribution, np.where(endless, 1.0, last), undefined)


def limited(
  model: Model,
  limit: Array,
  function: Callable[[Array], Array],
  is_slow: bool,
) -> Array:
  """Computes E[g(X); X <= t] for increasing g with g(0) = 0.

  Args:
    model: as in `tilted`.
    limit: t, (...), > 0, else the result is NaN.
    function: g, of arrays in the model's dtype, the batch last.
    is_slow: whether g grows at most like a power, so that times beyond the last
      relevant one count for nothing.
  """
  distribution = numerical_distributions.NumericalDistribution(
    numerical_distributions.convert(model, False), False
  )
  limit = _wide(limit)
  if is_slow:
    limit = np.where(limit < distribution.last, limit, distribution.last)
  limit = np.where((limit > 0) & (limit < math.inf), limit, math.nan)
  rule = quadrature.interval(
    distribution.log_rate, limit, distribution.phases, distribution.dtype
  )
  times = structures.cast(rule.points, distribution.dtype)
  logs = distribution.value("log_density", times)
  masses = quadrature.masses(logs, rule.log_weights)
  total = quadrature.total(rule, masses * _wide(function(times)))
  return structures.cast(total, distribution.dtype)


def slow(model: Model, factor: float, power: Array) -> MomentQuadrature:
  """Builds a rule for E exp(v(X)), for any v with v(x) <= m x^(1/k), k > 1.

  As P(X > t) <= exp(1 - t / (e M)) with M the longest mean, exp(v(x)) P(X > x)
  is negligible if x / (e M) is above 2 v(x) and twice the log of the precision.
  For k < 1 expectations are infinite, for k = 1 the result is NaN.

  Args:
    model: as in `tilted`.
    factor: m, a number > 0.
    power: k, (...).
  """
  distribution = numerical_distributions.NumericalDistribution(
    numerical_distributions.convert(model, False), False
  )
  mean = distribution.longest / _LONGEST
  power = _wide(power)
  some = power > 1.0
  rest = autodiff.stop_gradient(np.where(some, power, 2.0))
  unit = math.e * mean
  log_last = np.log(2.0 * factor * unit) * (rest / (rest - 1.0))
  late = np.exp(np.minimum(log_last, 600.0))
  late = np.where(log_last > 600.0, math.nan, late)
  last = np.maximum(late, 2.0 * _LOG_LEFT * unit)
  # Expectations are infinite for k < 1, or if absorption is not certain.
  endless = (power < 1.0) | (mean == math.inf)
  undefined = np.where(some, 0.0, math.nan)
  undefined = np.where(endless, math.inf, undefined)
  return MomentQuadrature(distribution, np.where(endless, 1.0, last), undefined)


def _wide(x: Array) -> Array:
  return structures.cast(x, static.wide_float())
