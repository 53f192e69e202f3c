"""Matrix-loglogistic distributions."""

from __future__ import annotations

import numpy as np

from phasic.distributions.base import declared
from phasic.distributions.wrapped import powers
from phasic.distributions.wrapped import transformed_phase_type
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.numeric import special
from phasic.math.quadrature import heavy_moments
from phasic.math.quadrature import transformed_modes

# For larger x, logarithms are used: up to here exp(x) is finite in float32.
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

  scale: declared.Required = declared.array(
    0, "positive", "c, (...), > 0, in the unit of Y."
  )
  concentration: declared.Required = declared.array(
    0, "positive", "k, (...), > 0."
  )

  def _forward(self, x: Array) -> Array:
    found = self._own()
    late = x > _LATE
    odds = np.expm1(np.where(late, 1.0, x))
    early = powers.root(odds, found["concentration"])
    log = np.where(late, x, 1.0)
    log = (log + special.log1mexp(-log)) / found["concentration"]
    return found["scale"] * np.where(late, np.exp(log), early)

  def _log_growth(self, x: Array) -> Array:
    found = self._own()
    power = 1.0 / found["concentration"]
    # log g' = log(c / k) + x + (1 / k - 1) log(exp(x) - 1).
    scale = np.log(found["scale"]) + np.log(power)
    return scale + power * x + (power - 1.0) * special.log1mexp(-x)

  def _inverse(self, y: Array) -> Array:
    found = self._own()
    zero = y <= 0
    log_odds = self._log_odds(np.where(zero, 1.0, y))
    first = self._inverse_at_zero(y / found["scale"])
    return np.where(zero, first, _softplus(log_odds))

  def _log_inverse(self, y: Array) -> Array:
    log_odds = self._log_odds(y)
    early = log_odds < -40.0
    found = np.log(_softplus(np.where(early, 0.0, log_odds)))
    return np.where(early, log_odds, found)

  def _exponent(self) -> Array:
    return self._own()["concentration"]

  def _log_slope(self, y: Array) -> Array:
    found = self._own()
    scale, k = found["scale"], found["concentration"]
    zero = y <= 0
    some = np.where(zero, scale, y)
    log = powers.log_quotient(some, scale)
    power = powers.log_power(y, k - 1.0)
    power = np.where(zero, power, (k - 1.0) * log)
    log_odds = k * log
    total = np.where(zero, 0.0, _softplus(log_odds))
    return np.log(k) - np.log(scale) + power - total

  def _nodes_of_moment(self, k: int) -> heavy_moments.MomentQuadrature:
    growth = float(k) / self._own()["concentration"]
    growth = growth + np.zeros_like(self._own()["scale"])
    return heavy_moments.tilted(self._batch_model(), growth)

  def _log_ratio(self, x: Array) -> Array:
    return (x + special.log1mexp(0.0 - x)) / self._own()["concentration"]

  def _scale(self) -> Array:
    return self._own()["scale"]

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    k = self._own()["concentration"]
    return self._forwarded(transformed_modes.log_logistic_mode(count, rate, k))

  def _speeds_up(self) -> Array:
    return self._own()["concentration"] > 1

  def _log_odds(self, y: Array) -> Array:
    """Computes log((y / c)^k)."""
    found = self._own()
    log = powers.log_quotient(y, found["scale"])
    return found["concentration"] * log


def _softplus(x: Array) -> Array:
  """Computes log(1 + exp(x)), accurately for all x."""
  return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))
