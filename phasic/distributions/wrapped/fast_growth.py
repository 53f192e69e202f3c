"""Transformed variables g(X), for g that grows like an exponential function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NoReturn

import numpy as np
import numpy as onp

from phasic.distributions.absorption import time_units
from phasic.distributions.base import declared
from phasic.distributions.wrapped import far_times
from phasic.distributions.wrapped import transformed_phase_type
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.moments import generating_functions
from phasic.math.numeric import special
from phasic.math.quadrature import expectations
from phasic.math.quadrature import modes


@structures.register
class MatrixPareto(transformed_phase_type.TransformedPhaseType):
  """The variable Y = c (exp(X) - 1) for a phase-type X.

  With g(x) = c (exp(x) - 1) the survival function is

      P(Y > y) = alpha (1 + y / c)^S 1 = alpha exp(S log(1 + y / c)) 1,

  that of a Lomax distribution where X has one phase. Tails are regularly
  varying: the index is the decay rate of X, up to which there are moments,

      E (Y / c + 1)^k = E exp(k X).

  Mean and variance are not differences of these, but sums without minus signs;
  E Y^k is a quadrature, and inf from the index on.

  Example:

    >>> from phasic.distributions import Erlang, MatrixPareto
    >>> dist = MatrixPareto(Erlang(2, 3.0), 1.0)
    >>> print(f"{float(dist.prob(1.0)):.6f}, {float(dist.cdf(1.0)):.6f}")
    0.389895, 0.615070

  References:
    H. Albrecher, M. Bladt, Inhomogeneous phase-type distributions and heavy
      tails, J. Appl. Probab. 56, 2019.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {"distribution": 0, "scale": 1}

  scale: declared.Required = declared.array(
    0, "positive", "c, (...), > 0, in the unit of Y."
  )

  def _mean(self) -> Array:
    scale, statistics = self._ratio_statistics()
    return scale * statistics[..., 0]

  def _variance(self) -> Array:
    scale, statistics = self._ratio_statistics()
    # In this order the product does not underflow if the result is
    # representable.
    return scale * (scale * statistics[..., 1])

  def _stddev(self) -> Array:
    scale, statistics = self._ratio_statistics()
    return scale * statistics[..., 2]

  def _ratio_statistics(self) -> tuple[Array, Array]:
    """Returns c, and mean, variance and stddev of Y / c, (..., 3)."""
    scale = self._own()["scale"]
    initial_probs, matrix, exits, prob_zero = self.distribution._model()
    statistics = generating_functions.excess_statistics(
      np.ones_like(scale), initial_probs, matrix, exits, prob_zero
    )
    return scale, statistics

  def _nodes_of_moment(self, k: int) -> expectations.MomentQuadrature:
    model = self._batch_model()
    growth = np.zeros_like(self._own()["scale"]) + float(k)
    return expectations.tilted(model, growth)

  def _log_ratio(self, x: Array) -> Array:
    return x + special.log1mexp(0.0 - x)

  def _scale(self) -> Array:
    return self._own()["scale"]

  def _forward(self, x: Array) -> Array:
    return self._own()["scale"] * np.expm1(x)

  def _log_growth(self, x: Array) -> Array:
    return np.log(self._own()["scale"]) + x

  def _inverse(self, y: Array) -> Array:
    scale = self._own()["scale"]
    log = far_times.log_quotient(np.where(y > 0, y, scale), scale)
    # The quotient y / c may overflow, so large ones use its logarithm.
    large = log > 40.0
    return np.where(large, log, np.log1p(np.where(large, 0.0, y) / scale))

  def _log_inverse(self, y: Array) -> Array:
    scale = self._own()["scale"]
    log = far_times.log_quotient(y, scale)
    early = log < -40.0
    log_time = np.log(self._inverse(np.where(early, scale, y)))
    return np.where(early, log, log_time)

  def _log_slope(self, y: Array) -> Array:
    return -np.log(self._own()["scale"] + y)

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    # The density of Y is f(x) / g'(x) with g'(x) = c exp(x). As a function of x
    # it is proportional to the Erlang density with `count` stages, each of the
    # rate `rate + 1`.
    return self._forwarded((count - 1.0) / (rate + 1.0))

  def _speeds_up(self) -> Array:
    return self._own()["scale"] <= 0


@structures.register
class MatrixLogNormal(transformed_phase_type.TransformedPhaseType):
  """The variable Y = exp(X^(1/k)) - 1 for a phase-type X.

  With g(x) = exp(x^(1/k)) - 1 the survival function is

      P(Y > y) = alpha exp(S log(1 + y)^k) 1.

  Its tail decays like that of a lognormal distribution for a concentration of
  k = 2: faster than any power, slower than any exponential of one.

  Example:

    >>> from phasic.distributions import Erlang, MatrixLogNormal
    >>> dist = MatrixLogNormal(Erlang(2, 1.0), 2.0)
    >>> print(f"{float(dist.prob(1.0)):.6f}, {float(dist.cdf(1.0)):.6f}")
    0.205977, 0.084335

  All moments are finite for k > 1, and none for k < 1. Those for k = 1, which
  are `MatrixPareto`'s, are NaN here.

  References:
    H. Albrecher, M. Bladt, Inhomogeneous phase-type distributions and heavy
      tails, J. Appl. Probab. 56, 2019.
    H. Albrecher, M. Bladt, J. Yslas, Fitting inhomogeneous phase-type
      distributions to data, Scand. J. Statist. 49, 2022.
  """

  concentration: declared.Required = declared.array(
    0, "positive", "k, (...), > 0."
  )

  def _scaled(self, factor: Array) -> NoReturn:
    del factor
    time_units.refuse(
      self,
      "the family has one unit of time, in which Y + 1 is exp(X^(1/k)); "
      "MatrixLogLogistic and MatrixPareto have a scale, or evaluate methods at "
      "value / factor",
    )

  def _forward(self, x: Array) -> Array:
    k = self._own()["concentration"]
    return np.expm1(far_times.root(x, k))

  def _log_growth(self, x: Array) -> Array:
    power = 1.0 / self._own()["concentration"]
    return np.log(power) + (power - 1.0) * np.log(x) + x**power

  def _inverse(self, y: Array) -> Array:
    k = self._own()["concentration"]
    zero = y <= 0
    log = np.log1p(np.where(zero, 1.0, y))
    power = far_times.power(log, k)
    return np.where(zero, self._inverse_at_zero(y), power)

  def _log_inverse(self, y: Array) -> Array:
    return self._own()["concentration"] * np.log(np.log1p(y))

  def _exponent(self) -> Array:
    return self._own()["concentration"]

  def _log_slope(self, y: Array) -> Array:
    k = self._own()["concentration"]
    log = np.log1p(y)
    power = far_times.log_power(log, k - 1.0)
    return np.log(k) + power - log

  def _nodes_of_moment(self, k: int) -> expectations.MomentQuadrature:
    power = self._own()["concentration"]
    return expectations.slow(self._batch_model(), float(k), power)

  def _log_ratio(self, x: Array) -> Array:
    power = 1.0 / self._own()["concentration"]
    root = far_times.power(x, power)
    return root + special.log1mexp(0.0 - root)

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    k = self._own()["concentration"]
    with onp.errstate(over="ignore"):
      return np.expm1(modes.log_normal_mode(count, rate, k))

  def _speeds_up(self) -> Array:
    return self._own()["concentration"] > 1


# For larger x, logarithms are used. Up to this x, exp(x) is finite in float32.
_LATE = 64.0


@structures.register
class MatrixLogLogistic(transformed_phase_type.TransformedPhaseType):
  """The variable Y = c (exp(X) - 1)^(1/k) for a phase-type X.

  With g(x) = c (exp(x) - 1)^(1/k) the survival function is

      P(Y > y) = alpha exp(S log(1 + (y / c)^k)) 1,

  that of a loglogistic distribution where X is exponential of rate one. Tails
  are regularly varying: the index is k times the decay rate of X, up to which
  there are moments.

  Example:

    >>> from phasic.distributions import Erlang, MatrixLogLogistic
    >>> dist = MatrixLogLogistic(Erlang(2, 1.0), 1.0, 2.0)
    >>> print(f"{float(dist.prob(1.0)):.6f}, {float(dist.cdf(1.0)):.6f}")
    0.346574, 0.153426

  References:
    H. Albrecher, M. Bladt, Inhomogeneous phase-type distributions and heavy
      tails, J. Appl. Probab. 56, 2019.
    H. Albrecher, M. Bladt, J. Yslas, Fitting inhomogeneous phase-type
      distributions to data, Scand. J. Statist. 49, 2022.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "distribution": 0,
    "scale": 1,
    "concentration": 0,
  }

  scale: declared.Required = declared.array(
    0, "positive", "c, (...), > 0, in the unit of Y."
  )
  concentration: declared.Required = declared.array(
    0, "positive", "k, (...), > 0."
  )

  def _forward(self, x: Array) -> Array:
    parameters = self._own()
    late = x > _LATE
    odds = np.expm1(np.where(late, 1.0, x))
    early = far_times.root(odds, parameters["concentration"])
    log = np.where(late, x, 1.0)
    log = (log + special.log1mexp(-log)) / parameters["concentration"]
    return parameters["scale"] * np.where(late, np.exp(log), early)

  def _log_growth(self, x: Array) -> Array:
    parameters = self._own()
    power = 1.0 / parameters["concentration"]
    # log g' = log(c / k) + x + (1 / k - 1) log(exp(x) - 1).
    scale = np.log(parameters["scale"]) + np.log(power)
    return scale + power * x + (power - 1.0) * special.log1mexp(-x)

  def _inverse(self, y: Array) -> Array:
    parameters = self._own()
    zero = y <= 0
    log_odds = self._log_odds(np.where(zero, 1.0, y))
    first = self._inverse_at_zero(y / parameters["scale"])
    return np.where(zero, first, _softplus(log_odds))

  def _log_inverse(self, y: Array) -> Array:
    log_odds = self._log_odds(y)
    early = log_odds < -40.0
    log_time = np.log(_softplus(np.where(early, 0.0, log_odds)))
    return np.where(early, log_odds, log_time)

  def _exponent(self) -> Array:
    return self._own()["concentration"]

  def _log_slope(self, y: Array) -> Array:
    parameters = self._own()
    scale, k = parameters["scale"], parameters["concentration"]
    zero = y <= 0
    some = np.where(zero, scale, y)
    log = far_times.log_quotient(some, scale)
    power = far_times.log_power(y, k - 1.0)
    power = np.where(zero, power, (k - 1.0) * log)
    log_odds = k * log
    total = np.where(zero, 0.0, _softplus(log_odds))
    return np.log(k) - np.log(scale) + power - total

  def _nodes_of_moment(self, k: int) -> expectations.MomentQuadrature:
    growth = float(k) / self._own()["concentration"]
    growth = growth + np.zeros_like(self._own()["scale"])
    return expectations.tilted(self._batch_model(), growth)

  def _log_ratio(self, x: Array) -> Array:
    return (x + special.log1mexp(0.0 - x)) / self._own()["concentration"]

  def _scale(self) -> Array:
    return self._own()["scale"]

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    k = self._own()["concentration"]
    return self._forwarded(modes.log_logistic_mode(count, rate, k))

  def _speeds_up(self) -> Array:
    return self._own()["concentration"] > 1

  def _log_odds(self, y: Array) -> Array:
    """Computes log((y / c)^k)."""
    parameters = self._own()
    log = far_times.log_quotient(y, parameters["scale"])
    return parameters["concentration"] * log


def _softplus(x: Array) -> Array:
  """Computes log(1 + exp(x)), accurately for all x."""
  return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))
