"""Transformed variables g(X), for g that grows at most like a power."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import ClassVar, Self

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.wrapped import far_times
from phasic.distributions.wrapped import transformed_phase_type
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.numeric import special
from phasic.math.quadrature import modes


@structures.register
class MatrixWeibull(transformed_phase_type.TransformedPhaseType):
  """The power Y = X^(1/k) of a phase-type variable X.

  With g(x) = x^(1/k) the survival function is

      P(Y > y) = alpha exp(S y^k) 1,

  that of a Weibull distribution where X has one phase. Tails are lighter than
  exponential for concentrations k > 1 and heavier for k < 1.

  Example:

    >>> from phasic.distributions import Erlang, MatrixWeibull
    >>> dist = MatrixWeibull(Erlang(2, 1.0), 2.0)
    >>> print(f"{float(dist.prob(1.0)):.6f}, {float(dist.cdf(1.0)):.6f}")
    0.735759, 0.264241

  References:
    H. Albrecher, M. Bladt, Inhomogeneous phase-type distributions and heavy
      tails, J. Appl. Probab. 56, 2019.
  """

  _GROWS_SLOWLY = True

  concentration: declared.Required = declared.array(
    0, "positive", "k, (...), > 0."
  )

  def _scaled(self, factor: Array) -> Self:
    # The variable c Y is (c^k X)^(1/k).
    power = factor ** self._arrays()["concentration"]
    power = np.where(power < math.inf, power, math.nan)
    return self.copy(distribution=self.distribution._scaled(power))

  def _forward(self, x: Array) -> Array:
    k = self._own()["concentration"]
    return far_times.root(x, k)

  def _log_growth(self, x: Array) -> Array:
    k = self._own()["concentration"]
    return (1.0 / k - 1.0) * np.log(x) - np.log(k)

  def _inverse(self, y: Array) -> Array:
    k = self._own()["concentration"]
    zero = y <= 0
    power = far_times.power(np.where(zero, 1.0, y), k)
    return np.where(zero, self._inverse_at_zero(y), power)

  def _log_inverse(self, y: Array) -> Array:
    return self._own()["concentration"] * np.log(y)

  def _exponent(self) -> Array:
    return self._own()["concentration"]

  def _log_slope(self, y: Array) -> Array:
    k = self._own()["concentration"]
    return np.log(k) + far_times.log_power(y, k - 1.0)

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    k = self._own()["concentration"]
    return self._forwarded(modes.power_mode(count, rate, k))

  def _speeds_up(self) -> Array:
    return self._own()["concentration"] > 1


@structures.register
class MatrixGompertz(transformed_phase_type.TransformedPhaseType):
  """The logarithm Y = log(1 + b X) / b of a phase-type variable X.

  With g(x) = log(1 + b x) / b the survival function is

      P(Y > y) = alpha exp(S (exp(b y) - 1) / b) 1,

  that of a Gompertz distribution where X has one phase: the chain's rates grow
  like exp(b y), as mortality does with age.

  Example:

    >>> from phasic.distributions import Erlang, MatrixGompertz
    >>> dist = MatrixGompertz(Erlang(2, 1.0), 0.5)
    >>> print(f"{float(dist.prob(1.0)):.6f}, {float(dist.cdf(1.0)):.6f}")
    0.584471, 0.372271

  References:
    H. Albrecher, M. Bladt, Inhomogeneous phase-type distributions and heavy
      tails, J. Appl. Probab. 56, 2019.
    H. Albrecher, M. Bladt, J. Yslas, Fitting inhomogeneous phase-type
      distributions to data, Scand. J. Statist. 49, 2022.
  """

  _GROWS_SLOWLY = True

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "distribution": 1,
    "growth_rate": -1,
  }

  growth_rate: declared.Required = declared.array(
    0, "positive", "b, (...), > 0, per unit of Y."
  )

  def _forward(self, x: Array) -> Array:
    b = self._own()["growth_rate"]
    # The product b * x may overflow, so its logarithm is taken first.
    log = np.log(b) + np.log(np.where(x > 0, x, 1.0))
    large = log > 40.0
    x = np.where(large, 1.0 / b, x)
    return np.where(large, log / b, x * special.log1p_quotient(b * x))

  def _log_growth(self, x: Array) -> Array:
    return 0.0 - np.log1p(self._own()["growth_rate"] * x)

  def _inverse(self, y: Array) -> Array:
    b, product = self._own()["growth_rate"], self._log_slope(y)
    large = product > 80.0
    grown = np.exp(np.where(large, product - np.log(b), 0.0))
    plain = y * special.expm1_quotient(np.where(large, 0.0, product))
    return np.where(large, grown, plain)

  def _log_inverse(self, y: Array) -> Array:
    b, product = self._own()["growth_rate"], self._log_slope(y)
    large = product > 80.0
    quotient = special.expm1_quotient(np.where(large, 0.0, product))
    return np.where(large, product - np.log(b), np.log(y) + np.log(quotient))

  def _log_slope(self, y: Array) -> Array:
    with onp.errstate(over="ignore"):  # At last h' is inf.
      return self._own()["growth_rate"] * y

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    b = self._own()["growth_rate"]
    return self._forwarded(modes.logarithm_mode(count, rate, b))

  def _speeds_up(self) -> Array:
    return self._own()["growth_rate"] > 0
