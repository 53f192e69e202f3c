"""Divergences between distributions of phasic and Gamma distributions.

An Erlang distribution is a Gamma distribution: its divergences have a formula.
All others are sums over quadrature points of the first distribution, see
`math.quadrature_points`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import method_results
from phasic.distributions.base import samples
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, Tree
from phasic.math.quadrature import quadrature
from phasic.math.quadrature import quadrature_points

MODE = "numpy"
if MODE == "jax":
  from tensorflow_probability.substrates import jax as tfp
else:
  import tensorflow_probability as tfp

# The least and the largest quadrature point leave a probability below
# exp(-_LOG_LEFT) of a Gamma variable on each side.
_LOG_LEFT = 61.0
_COUNT = 4097


def to_gamma(p: distribution_lib.Distribution, q: Tree) -> Array:
  """Computes KL(p, q) for a distribution p, and q of the class `tfd.Gamma`."""
  second = Gamma(q)
  gamma = _as_gamma(p, second)
  divergence = (
    comparable.compare(p, second)  # type: ignore[arg-type]
    if gamma is None
    else gamma.kl_divergence(second.gamma)
  )
  return structures.cast(divergence, p.dtype)


def from_gamma(p: Tree, q: distribution_lib.Distribution) -> Array:
  """Computes KL(p, q) for p of the class `tfd.Gamma`, and a distribution q."""
  first = Gamma(p)
  gamma = _as_gamma(q, first)
  divergence = (
    comparable.compare(first, q)  # type: ignore[arg-type]
    if gamma is None
    else first.gamma.kl_divergence(gamma)
  )
  return structures.cast(divergence, q.dtype)


def _as_gamma(
  distribution: distribution_lib.Distribution, other: Gamma
) -> Tree:
  """Returns an Erlang distribution as `tfd.Gamma`; None for others."""
  parts = comparable.erlang_parts(distribution)
  if parts is None:
    return None
  comparable.check_same_kind("kl_divergence", distribution, other)  # type: ignore[arg-type]
  method_results.check_batches("kl_divergence", distribution, other)
  count, rate = parts
  rate = structures.cast(rate, static.wide_float())
  return tfp.distributions.Gamma(np.zeros_like(rate) + float(count), rate)


class Gamma:
  """A Gamma distribution with the methods that `comparable` needs.

  Attributes:
    gamma: it as `tfd.Gamma`, in the widest dtype.
    dtype: the name of its own dtype.
    name: its name.
    batch_shape: its batch shape, with None for unknown sizes.
  """

  def __init__(self, gamma: Tree):
    """Converts the parameters to the widest dtype."""
    wide = static.wide_float()
    self.dtype = static.dtype_name(gamma.dtype)
    self.name = gamma.name
    self.batch_shape = tuple(gamma.batch_shape)
    concentration = structures.cast(gamma.concentration, wide)
    rate = (
      np.exp(structures.cast(gamma.log_rate, wide))
      if gamma.rate is None
      else structures.cast(gamma.rate, wide)
    )
    self._arrays = concentration, rate
    self.gamma = tfp.distributions.Gamma(concentration, rate)

  def _batch_shape(self) -> static.Shape:
    return static.broadcast_shapes(*map(static.shape, self._arrays))

  def _support(self) -> samples.Support:
    return samples.Support("nonnegative")

  def _jumps(self) -> None:
    return None

  def _refined(self, other: comparable.Comparable, jumps: Array) -> Gamma:
    raise NotImplementedError(
      f"there is no kl_divergence of {self.name} and {type(other).__name__}: "
      "the second density has jumps, at which the quadrature of the first "
      "distribution is not split"
    )

  def _log_prob(self, value: Array) -> Array:
    return self.gamma.log_prob(structures.cast(value, static.wide_float()))

  def _log_cdf(self, value: Array) -> Array:
    """Returns log P(X <= 0), which is -inf."""
    return np.zeros_like(self._arrays[1]) - math.inf

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    """Returns points that are equidistant in log t, for the trapezoidal rule."""
    shape = np.broadcast_to(self._arrays[0], batch)
    rate = np.broadcast_to(self._arrays[1], batch)
    fixed = autodiff.stop_gradient
    first, last = _log_range(fixed(shape))
    grid = onp.reshape(onp.arange(_COUNT), (-1, *(1 for _ in batch)))
    wide = static.wide_float()
    step = (last - first) / (_COUNT - 1)
    log_times = first + step * structures.cast(grid, wide) - np.log(fixed(rate))
    info = onp.finfo(self.dtype)
    # Times that are not normal numbers are dropped: if they have any mass, the
    # masses do not sum to one, and the result is NaN.
    inside = (log_times > math.log(info.tiny)) & (
      log_times < math.log(info.max)
    )
    log_times = np.where(inside, log_times, 0.0)
    weights = np.where(inside, log_times + np.log(step), -math.inf)
    times = np.exp(log_times)
    rule = quadrature.QuadratureRule(
      times,
      weights,
      structures.cast(2.0 * (grid % 2 == 0), wide),
      max(1e-9, 256.0 * float(info.eps)),
    )
    values = structures.cast(times, self.dtype)
    log_prob = self._log_prob(values)
    masses = quadrature.masses(self._log_prob(times), weights)
    none = np.zeros_like(shape) - math.inf
    return quadrature_points.QuadraturePoints(
      rule, values, masses, log_prob, none
    )


def _log_range(shape: Array) -> tuple[Array, Array]:
  """Returns bounds of log Y for a Gamma variable Y of rate one.

  They are Chernoff's. With y = r a, the probability below y is at most exp(-a g)
  with g = r - 1 - log r, and g >= d^2 / (2 + d) for d = -log r. Above y = a + x it
  is at most exp(-x^2 / (2 y)).

  Args:
    shape: a, (...).
  """
  ratio = _LOG_LEFT / shape
  below = (ratio + np.sqrt(ratio * (ratio + 8.0))) / 2.0
  above = _LOG_LEFT + np.sqrt(_LOG_LEFT * (_LOG_LEFT + 2.0 * shape))
  return np.log(shape) - below, np.log(shape + above)
