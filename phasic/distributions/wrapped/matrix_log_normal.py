"""Matrix-lognormal distributions."""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.wrapped import powers
from phasic.distributions.wrapped import transformed_phase_type
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.numeric import special
from phasic.math.quadrature import heavy_moments
from phasic.math.quadrature import transformed_modes


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

  def _forward(self, x: Array) -> Array:
    k = self._own()["concentration"]
    return np.expm1(powers.root(x, k))

  def _log_growth(self, x: Array) -> Array:
    power = 1.0 / self._own()["concentration"]
    return np.log(power) + (power - 1.0) * np.log(x) + x**power

  def _inverse(self, y: Array) -> Array:
    k = self._own()["concentration"]
    zero = y <= 0
    log = np.log1p(np.where(zero, 1.0, y))
    power = powers.power(log, k)
    return np.where(zero, self._inverse_at_zero(y), power)

  def _log_inverse(self, y: Array) -> Array:
    return self._own()["concentration"] * np.log(np.log1p(y))

  def _exponent(self) -> Array:
    return self._own()["concentration"]

  def _log_slope(self, y: Array) -> Array:
    k = self._own()["concentration"]
    log = np.log1p(y)
    power = powers.log_power(log, k - 1.0)
    return np.log(k) + power - log

  def _nodes_of_moment(self, k: int) -> heavy_moments.MomentQuadrature:
    power = self._own()["concentration"]
    return heavy_moments.slow(self._batch_model(), float(k), power)

  def _log_ratio(self, x: Array) -> Array:
    power = 1.0 / self._own()["concentration"]
    root = powers.power(x, power)
    return root + special.log1mexp(0.0 - root)

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    k = self._own()["concentration"]
    with onp.errstate(over="ignore"):
      return np.expm1(transformed_modes.log_normal_mode(count, rate, k))

  def _speeds_up(self) -> Array:
    return self._own()["concentration"] > 1
