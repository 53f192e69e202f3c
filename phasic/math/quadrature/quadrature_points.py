"""Entropies and divergences, by quadrature with points of one distribution.

`information` compares two chains on a rule that is fine enough for both. Here
one distribution has its mass on the quadrature points, and the other one needs
only a log density: so distributions of all kinds can be compared. The sums are
of p log p and p log(p / q), whose terms have both signs. The error is below
1e-9 (float32: 1e-4) of the sum of absolute values, or the result is NaN. It is
NaN if log(p / q) grows so fast that times beyond the last quadrature point
matter.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.quadrature import numerical_distributions
from phasic.math.quadrature import quadrature

# P(X > last) is at most this, for `last` of `NumericalDistribution`.
_LEFT = math.exp(-61.0)


class QuadraturePoints(NamedTuple):
  """The values, masses and log densities of a distribution at a rule's points.

  Attributes:
    rule: the rule.
    values: values of the distribution, (n, ...), in its dtype.
    masses: probabilities, (n, ...).
    log_prob: the log density at the values, (n, ...).
    log_atom: log of a mass at zero that is not among the points, (...).
  """

  rule: quadrature.QuadratureRule
  values: Array
  masses: Array
  log_prob: Array
  log_atom: Array


def model_points(
  model: numerical_distributions.ModelLike, discrete: bool
) -> QuadraturePoints:
  """Builds the quadrature points of a phase-type distribution."""
  distribution = numerical_distributions.NumericalDistribution(
    numerical_distributions.convert(model, discrete), discrete
  )
  rule = numerical_distributions.common_rule(distribution, distribution)
  logs = distribution.log_density(rule)
  return _points(distribution, rule, rule.points, logs, 0.0)


def increasing_points(
  model: numerical_distributions.ModelLike,
  forward: Callable[[Array], Array],
  log_growth: Callable[[Array], Array],
) -> QuadraturePoints:
  """Builds the quadrature points of g(X), for an increasing g.

  Args:
    model: the model of X, in continuous time.
    forward: g, a function of arrays in the model's dtype, the batch last.
    log_growth: log g', a function of the same arrays.
  """
  distribution = numerical_distributions.NumericalDistribution(
    numerical_distributions.convert(model, False), False
  )
  rule = numerical_distributions.common_rule(distribution, distribution)
  logs = distribution.log_density(rule)
  # Limit the times: g may overflow beyond the last relevant time.
  times = structures.cast(
    np.minimum(rule.points, distribution.last), distribution.dtype
  )
  growth = structures.cast(log_growth(times), static.wide_float())
  return _points(distribution, rule, forward(times), logs, growth)


def interval_points(
  model: numerical_distributions.ModelLike,
  discrete: bool,
  low: Array,
  high: Array,
  log_prob: Callable[[Array], Array],
) -> QuadraturePoints:
  """Builds the quadrature points of a time X given low <= X <= high.

  Args:
    model: the model of the time.
    discrete: whether time is discrete.
    low: the first value, (...), an integer in discrete time.
    high: the last value, (...).
    log_prob: the log density, a function of arrays in the model's dtype.
  """
  distribution = numerical_distributions.NumericalDistribution(
    numerical_distributions.convert(model, discrete), discrete
  )
  wide = static.wide_float()
  low, high = (structures.cast(x, wide) for x in (low, high))
  length = np.minimum(high - low, distribution.longest)
  if discrete:
    rule = quadrature.counts(
      np.floor(length), distribution.phases, distribution.dtype
    )
    values = low + rule.points
  else:
    length = np.where(length > 0, length, math.nan)
    rule = quadrature.interval(
      distribution.log_rate, length, distribution.phases, distribution.dtype
    )
    values = low + rule.points
  values = structures.cast(values, distribution.dtype)
  logs = structures.cast(log_prob(values), wide)
  points = _points(distribution, rule, values, logs, 0.0)
  if discrete:
    return points
  # An interval that begins after zero excludes the atom.
  atom = structures.cast(log_prob(np.zeros_like(values[0])), wide)
  atom = np.where(low > 0, -math.inf, atom)
  some = distribution.log_atom() > -math.inf
  return points._replace(log_atom=np.where(some, atom, -math.inf))


def expected(points: QuadraturePoints, factor: Array, at_zero: Array) -> Array:
  """Computes -E[factor], e.g. a cross entropy; NaN if it is inaccurate.

  Args:
    points: the distribution.
    factor: the factor at the points, (n, ...); -inf makes the result inf.
    at_zero: the factor at the atom, (...).
  """
  some = points.masses > 0
  none = some & (factor == -math.inf)
  finite = np.where(some & np.logical_not(none), factor, 0.0)
  terms = 0.0 - points.masses * finite
  expectation = quadrature.total(points.rule, terms)
  size = np.sum(np.abs(terms), axis=0)
  most = np.max(np.abs(finite), axis=0)
  expectation = np.where(most * _LEFT <= 1e-10 * size, expectation, math.nan)
  expectation = expectation + _product(points.log_atom, at_zero)
  expectation = np.where(np.any(none, axis=0), math.inf, expectation)
  return expectation * _complete(points)


def _points(
  distribution: numerical_distributions.NumericalDistribution,
  rule: quadrature.QuadratureRule,
  values: Array,
  logs: Array,
  growth: Array | float,
) -> QuadraturePoints:
  """Builds quadrature points of g(X); `growth` is log g' at the points."""
  atom = (
    np.zeros_like(distribution.last) - math.inf
    if distribution.discrete
    else distribution.log_atom()
  )
  return QuadraturePoints(
    rule,
    structures.cast(values, distribution.dtype),
    quadrature.masses(logs, rule.log_weights),
    logs - growth,
    atom,
  )


def _product(log_mass: Array, log_q: Array) -> Array:
  """Computes the atom's term -p log q of a cross entropy."""
  some, none = log_mass > -math.inf, log_q == -math.inf
  mass = quadrature.masses(log_mass, 0.0)
  finite = 0.0 - mass * np.where(some & np.logical_not(none), log_q, 0.0)
  return np.where(none & some, math.inf, finite)


def _complete(points: QuadraturePoints) -> Array:
  """Returns an array (...) of ones, with NaN where masses do not sum to one."""
  fixed = autodiff.stop_gradient
  total_mass = np.sum(fixed(points.masses), axis=0)
  total_mass = total_mass + quadrature.masses(fixed(points.log_atom), 0.0)
  good = np.abs(total_mass - 1.0) <= points.rule.tolerance
  return np.where(good, 1.0, math.nan)
