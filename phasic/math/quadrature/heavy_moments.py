"""Moments of increasing functions that grow as exponentials do.

E exp(v(X)) for a phase-type X and v with v(x) - q x bounded is known to be
infinite from the decay rate on, as E exp(q X) is. Below it exp(q x) f(x) is in
proportion to the density of a chain with tilted rates, which tells how late
times matter: a sum over nodes sees all of them, and must have the sum E exp(q X)
that is known.

Where v grows slower than x there are all moments, and a bound of the survival
function says how late times matter.
"""

from __future__ import annotations

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
from phasic.math.quadrature import numerical_distributions
from phasic.math.quadrature import quadrature

# A sum leaves out at most exp(-61) of what is expected, see `laws`.
_LONGEST = 170.0
_LOG_LEFT = 62.0


class MomentQuadrature:
  """Where sums over X are taken, and its density there.

  Attributes:
    law: X's.
    rule: the rule.
    times: the nodes, (n, ...), in the law's dtype.
    logs: the log density, (n, ...).
    undefined: what is added to results: zero, or NaN, or inf, (...).
  """

  def __init__(
    self,
    distribution: numerical_distributions.NumericalDistribution,
    last: Array,
    undefined: Array,
  ) -> None:
    """Takes X's law, the last time that matters and `undefined`."""
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
    """Returns E exp(v(X)), v(0) = -inf, from v at the nodes."""
    log_value = _wide(log_value)
    with onp.errstate(all="ignore"):  # Where it is inf.
      terms = quadrature.masses(self.logs, self.rule.log_weights + log_value)
      return self._given(quadrature.total(self.rule, terms))

  def variance(self, log_value: Array, mean: Array) -> Array:
    """Returns the variance of exp(v(X)) from its mean."""
    log_value, mean = _wide(log_value), _wide(mean)
    log_mean = np.log(mean)
    early = log_value < log_mean
    some = np.where(early, log_value - log_mean, log_mean - log_value)
    part = np.square(np.expm1(np.minimum(some, 0.0)))
    weights = self.rule.log_weights + 2.0 * np.maximum(log_value, log_mean)
    with onp.errstate(all="ignore"):  # Where it is inf.
      terms = quadrature.masses(self.logs, weights) * part
      atom = np.exp(self.distribution.log_atom()) * np.square(mean)
      return self._given(quadrature.total(self.rule, terms) + atom)

  def _given(self, found: Array) -> Array:
    endless = self.undefined == math.inf
    found = np.where(endless, 0.0, found) + self.undefined
    return structures.cast(found, self.distribution.dtype)


def tilted(model: Model, growth: Array) -> MomentQuadrature:
  """Returns nodes for v with v(x) - q x bounded.

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
  names = list(operands.names(False))
  names[2] = "s"
  longest = chain_calls.value(
    exponential_tilting.longest_time, None, values, tuple(names), (0,)
  )
  total = generating_functions.moment_generating_function(growth, *model)
  total = _wide(autodiff.stop_gradient(total))
  finite = total < math.inf
  longest = np.where(finite, _wide(longest), 1.0)
  points = MomentQuadrature(
    distribution, _LONGEST * longest, np.where(finite, 0.0, total)
  )
  # All of what is expected must be seen.
  weights = points.rule.log_weights + _wide(growth) * points.rule.points
  with onp.errstate(all="ignore"):  # Where it is infinite.
    seen = np.sum(quadrature.masses(points.logs, weights), axis=0)
    missing = np.abs(seen + np.exp(distribution.log_atom()) - total)
  lost = finite & np.logical_not(
    autodiff.stop_gradient(missing) <= points.rule.tolerance * total
  )
  return _with(points, np.where(lost, math.nan, 0.0))


def slow(model: Model, factor: float, power: Array) -> MomentQuadrature:
  """Returns nodes for v(x) = m x^(1/k) or less, k > 1.

  As P(X > t) <= exp(1 - t / (e M)) with M the longest mean, nothing is left of
  exp(v(x)) P(X > x) where x / (e M) is above twice v(x), and twice what a number
  has digits. For k < 1 expectations are infinite, for k = 1 NaN is returned.

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
  # Where absorption may never come they are infinite too.
  endless = (power < 1.0) | (mean == math.inf)
  undefined = np.where(some, 0.0, math.nan)
  undefined = np.where(endless, math.inf, undefined)
  return MomentQuadrature(distribution, np.where(endless, 1.0, last), undefined)


def _with(points: MomentQuadrature, more: Array) -> MomentQuadrature:
  points.undefined = points.undefined + more
  return points


def _wide(x: Array) -> Array:
  return structures.cast(x, static.wide_float())
