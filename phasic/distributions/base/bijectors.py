"""Bijectors: smooth maps from unconstrained to constrained parameters.

Reference: B. Carpenter et al., Stan: a probabilistic programming language, J.
  Stat. Softw. 76, 2017, and its reference manual, ch. 10.
"""

from __future__ import annotations

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Result
from phasic.math.numeric import exact_sums


class Bijector:
  """An invertible map y = forward(x) of arrays with any batch dimensions.

  Log determinants are those of the Jacobian matrix of one event, summed over
  its dimensions. At the bounds of the set `inverse` is infinite, outside NaN.
  """

  def __init__(self, event_ndims: int = 0):
    """Sets the number of event dimensions of x and y."""
    self.event_ndims = event_ndims

  def forward(self, x: ArrayLike) -> Result:
    """Maps x to y."""
    return self._forward(structures.cast(x))

  def inverse(self, y: ArrayLike) -> Result:
    """Maps y to x, the inverse of `forward`."""
    return self._inverse(structures.cast(y))

  def forward_log_det_jacobian(self, x: ArrayLike) -> Result:
    """Computes log |det dy/dx|, an array without the event dimensions of x."""
    return self._log_det(structures.cast(x))

  def inverse_log_det_jacobian(self, y: ArrayLike) -> Result:
    """Computes log |det dx/dy|, an array without the event dimensions of y."""
    return 0.0 - self.forward_log_det_jacobian(self.inverse(y))

  def _forward(self, x: Array) -> Array:
    raise NotImplementedError

  def _inverse(self, y: Array) -> Array:
    raise NotImplementedError

  def _log_det(self, x: Array) -> Array:
    raise NotImplementedError

  def __repr__(self) -> str:
    return f"{type(self).__name__}(event_ndims={self.event_ndims})"

  def _total(self, x: Array) -> Array:
    """Sums over the event dimensions."""
    axes = tuple(range(-self.event_ndims, 0))
    return np.sum(x, axis=axes) if axes else x


class Exp(Bijector):
  """Maps real numbers onto positive numbers: y = exp(x).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> print(f"{float(bijectors.Exp().inverse_log_det_jacobian(2.0)):.6f}")
    -0.693147
  """

  def _forward(self, x: Array) -> Array:
    return np.exp(x)

  def _inverse(self, y: Array) -> Array:
    return np.log(y)

  def _log_det(self, x: Array) -> Array:
    return self._total(x)


class Sigmoid(Bijector):
  """Maps real numbers onto probabilities: y = 1 / (1 + exp(-x)).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> print(f"{float(bijectors.Sigmoid().inverse(0.75)):.6f}")
    1.098612
  """

  def _forward(self, x: Array) -> Array:
    small = np.exp(0.0 - np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)

  def _inverse(self, y: Array) -> Array:
    return np.log(y) - np.log1p(0.0 - y)

  def _log_det(self, x: Array) -> Array:
    size = np.abs(x)
    return self._total(0.0 - size - 2.0 * np.log1p(np.exp(0.0 - size)))


class Interval(Bijector):
  """Maps real numbers onto intervals: y = low + (high - low) / (1 + exp(-x)).

  Where `high` is inf it is y = low + exp(x).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> print(f"{float(bijectors.Interval(1.0, 3.0).forward(0.0)):.6f}")
    2.000000
  """

  def __init__(self, low: ArrayLike, high: ArrayLike, event_ndims: int = 0):
    """Sets the bounds, arrays that broadcast with values."""
    super().__init__(event_ndims)
    self.low: Array = structures.cast(low)
    self.high: Array = structures.cast(high)

  def _forward(self, x: Array) -> Array:
    bounded, width = self._width()
    # Both branches must be finite, so that `where` has finite derivatives.
    inside = width * Sigmoid()._forward(x)
    beyond = np.exp(np.where(bounded, 0.0, x))
    return self.low + np.where(bounded, inside, beyond)

  def _inverse(self, y: Array) -> Array:
    bounded, _ = self._width()
    more = np.where(bounded, self.high, y + 1.0) - y
    return np.log(y - self.low) - np.log(more)

  def _log_det(self, x: Array) -> Array:
    bounded, width = self._width()
    inside = np.log(width) + Sigmoid()._log_det(x)
    return self._total(np.where(bounded, inside, x))

  def _width(self) -> tuple[Array, Array]:
    """Returns whether `high` is finite, and the width high - low, 1 if not."""
    bounded = self.high < float("inf")
    return bounded, np.where(bounded, self.high, self.low + 1.0) - self.low


class SoftmaxWithSlack(Bijector):
  """Maps onto probabilities with sum < 1: y_i = exp(x_i) / (1 + sum exp(x)).

  They are the entries of the last axis: initial probabilities, or rows of a
  matrix.

  Example: the difference of their sum to one is 1 / (1 + sum exp(x)).

    >>> from phasic.distributions.base import bijectors
    >>> y = bijectors.SoftmaxWithSlack(1).forward([0.0, 0.0])
    >>> [f"{float(p):.6f}" for p in y]
    ['0.333333', '0.333333']
  """

  def _forward(self, x: Array) -> Array:
    return np.exp(x - _log_total(x)[..., None])

  def _inverse(self, y: Array) -> Array:
    parts = np.concatenate([np.ones_like(y[..., :1]), 0.0 - y], axis=-1)
    return np.log(y) - np.log(exact_sums.compensated_sum(parts))[..., None]

  def _log_det(self, x: Array) -> Array:
    logs = np.sum(x, axis=-1) - (static.shape(x)[-1] + 1) * _log_total(x)
    axes = tuple(range(1 - self.event_ndims, 0))
    return np.sum(logs, axis=axes) if axes else logs


class SoftmaxCentered(SoftmaxWithSlack):
  """Maps n - 1 numbers onto n probabilities with sum one (softmax of x and 0).

  There is one number less in x than in y. Log determinants are those of y
  without its last entry.

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> y = bijectors.SoftmaxCentered(1).forward([0.0, 0.0])
    >>> [f"{float(p):.6f}" for p in y]
    ['0.333333', '0.333333', '0.333333']
  """

  def _forward(self, x: Array) -> Array:
    whole = np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1)
    return np.exp(whole - _log_total(x)[..., None])

  def _inverse(self, y: Array) -> Array:
    return np.log(y[..., :-1]) - np.log(y[..., -1:])


class Increasing(Exp):
  """Maps onto increasing positive numbers: y_i = exp(x_1) + ... + exp(x_i).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> y = bijectors.Increasing(1).forward([0.0, 0.0])
    >>> [f"{float(rate):.1f}" for rate in y]
    ['1.0', '2.0']
  """

  def _forward(self, x: Array) -> Array:
    return np.cumsum(np.exp(x), axis=-1)

  def _inverse(self, y: Array) -> Array:
    before = np.concatenate([np.zeros_like(y[..., :1]), y[..., :-1]], axis=-1)
    return np.log(y - before)


class Subgenerator(Exp):
  """Maps real matrices onto subgenerators with positive exit rates.

  The off-diagonals are S_ij = exp(x_ij), the exit rates s_i = exp(x_ii), so
  that S_ii = -sum_j exp(x_ij).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> matrix = bijectors.Subgenerator(2).forward([[0.0, 0.0], [0.0, 0.0]])
    >>> [f"{float(x):.1f}" for x in matrix[0]]
    ['-2.0', '1.0']
  """

  def _forward(self, x: Array) -> Array:
    rates = np.exp(x)
    eye = np.eye(static.shape(rates)[-1], dtype=static.dtype_name(rates))
    total = np.sum(rates, axis=-1)[..., None]
    return np.where(eye > 0, 0.0 - total, rates)

  def _inverse(self, y: Array) -> Array:
    eye = np.eye(static.shape(y)[-1], dtype=static.dtype_name(y))
    exits = 0.0 - exact_sums.compensated_sum(y)
    return np.log(np.where(eye > 0, exits[..., None], y))


def _log_total(x: Array) -> Array:
  """Returns log(1 + sum exp(x)) over the last axis."""
  top = np.maximum(np.max(x, axis=-1), 0.0)
  return top + np.log(
    np.exp(0.0 - top) + np.sum(np.exp(x - top[..., None]), axis=-1)
  )
