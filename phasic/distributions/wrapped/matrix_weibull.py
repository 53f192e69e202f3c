"""Matrix-Weibull distributions."""

from __future__ import annotations

import numpy as np

from phasic.distributions.base import declared
from phasic.distributions.wrapped import powers
from phasic.distributions.wrapped import transformed_phase_type
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.quadrature import transformed_modes


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

  def _forward(self, x: Array) -> Array:
    k = self._own()["concentration"]
    return powers.root(x, k)

  def _log_growth(self, x: Array) -> Array:
    k = self._own()["concentration"]
    return (1.0 / k - 1.0) * np.log(x) - np.log(k)

  def _inverse(self, y: Array) -> Array:
    k = self._own()["concentration"]
    zero = y <= 0
    power = powers.power(np.where(zero, 1.0, y), k)
    return np.where(zero, self._inverse_at_zero(y), power)

  def _log_inverse(self, y: Array) -> Array:
    return self._own()["concentration"] * np.log(y)

  def _exponent(self) -> Array:
    return self._own()["concentration"]

  def _log_slope(self, y: Array) -> Array:
    k = self._own()["concentration"]
    return np.log(k) + powers.log_power(y, k - 1.0)

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    k = self._own()["concentration"]
    return self._forwarded(transformed_modes.power_mode(count, rate, k))

  def _speeds_up(self) -> Array:
    return self._own()["concentration"] > 1
