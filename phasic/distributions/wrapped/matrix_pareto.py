"""Matrix-Pareto distributions."""

from __future__ import annotations

import numpy as np

from phasic.distributions.base import declared
from phasic.distributions.wrapped import powers
from phasic.distributions.wrapped import transformed_phase_type
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.moments import generating_functions
from phasic.math.numeric import special
from phasic.math.quadrature import heavy_moments


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

  scale: declared.Required = declared.array(
    0, "positive", "c, (...), > 0, in the unit of Y."
  )

  def _mean(self) -> Array:
    scale, found = self._of_ratio()
    return scale * found[..., 0]

  def _variance(self) -> Array:
    scale, found = self._of_ratio()
    # In this order a product that is representable does not underflow.
    return scale * (scale * found[..., 1])

  def _stddev(self) -> Array:
    scale, found = self._of_ratio()
    return scale * found[..., 2]

  def _of_ratio(self) -> tuple[Array, Array]:
    """Returns c, and mean, variance and stddev of Y / c, (..., 3)."""
    scale = self._own()["scale"]
    initial_probs, matrix, exits, prob_zero = self.distribution._model()
    found = generating_functions.excess_statistics(
      np.ones_like(scale), initial_probs, matrix, exits, prob_zero
    )
    return scale, found

  def _nodes_of_moment(self, k: int) -> heavy_moments.MomentQuadrature:
    model = self._batch_model()
    growth = np.zeros_like(self._own()["scale"]) + float(k)
    return heavy_moments.tilted(model, growth)

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
    log = powers.log_quotient(np.where(y > 0, y, scale), scale)
    # The quotient y / c may overflow, so large ones use its logarithm.
    large = log > 40.0
    return np.where(large, log, np.log1p(np.where(large, 0.0, y) / scale))

  def _log_inverse(self, y: Array) -> Array:
    scale = self._own()["scale"]
    log = powers.log_quotient(y, scale)
    early = log < -40.0
    found = np.log(self._inverse(np.where(early, scale, y)))
    return np.where(early, log, found)

  def _log_slope(self, y: Array) -> Array:
    return -np.log(self._own()["scale"] + y)

  def _mode_of_stages(self, count: int, rate: Array) -> Array:
    # The density of Y is f(x) / g'(x) with g'(x) = c exp(x). As a function of x
    # it is proportional to the Erlang density of `count` stages of rate + 1.
    return self._forwarded((count - 1.0) / (rate + 1.0))

  def _speeds_up(self) -> Array:
    return self._own()["scale"] <= 0
