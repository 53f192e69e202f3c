"""Smooth maps from free real numbers onto constrained ones.

Reference: B. Carpenter et al., Stan: a probabilistic programming language, J.
  Stat. Softw. 76, 2017, and its reference manual, ch. 10.
"""

from typing import Any

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.math.numeric import exact_sums


class Bijector:
  """An invertible map y = forward(x) of arrays with any batch dimensions.

  Log determinants are those of the Jacobian matrix of one event, summed over
  its dimensions. At the bounds of the set `inverse` is infinite, outside NaN.
  """

  def __init__(self, event_ndims: int = 0):
    """Takes the number of dimensions of one event, of x and of y."""
    self.event_ndims = event_ndims

  def forward(self, x: Any) -> Any:
    """Returns y."""
    raise NotImplementedError

  def inverse(self, y: Any) -> Any:
    """Returns x."""
    raise NotImplementedError

  def forward_log_det_jacobian(self, x: Any) -> Any:
    """Returns log |det dy/dx|, without event dimensions."""
    raise NotImplementedError

  def inverse_log_det_jacobian(self, y: Any) -> Any:
    """Returns log |det dx/dy|, without event dimensions."""
    return 0.0 - self.forward_log_det_jacobian(self.inverse(y))

  def __repr__(self) -> str:
    return f"{type(self).__name__}(event_ndims={self.event_ndims})"

  def _total(self, x: Any) -> Any:
    """Returns sums over the event dimensions."""
    axes = tuple(range(-self.event_ndims, 0))
    return np.sum(x, axis=axes) if axes else x


class Exp(Bijector):
  """Onto positive numbers: y = exp(x).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> print(f"{float(bijectors.Exp().inverse_log_det_jacobian(2.0)):.6f}")
    -0.693147
  """

  def forward(self, x: Any) -> Any:
    return np.exp(structures.cast(x))

  def inverse(self, y: Any) -> Any:
    return np.log(structures.cast(y))

  def forward_log_det_jacobian(self, x: Any) -> Any:
    return self._total(structures.cast(x))


class Sigmoid(Bijector):
  """Onto probabilities: y = 1 / (1 + exp(-x)).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> print(f"{float(bijectors.Sigmoid().inverse(0.75)):.6f}")
    1.098612
  """

  def forward(self, x: Any) -> Any:
    x = structures.cast(x)
    small = np.exp(0.0 - np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)

  def inverse(self, y: Any) -> Any:
    y = structures.cast(y)
    return np.log(y) - np.log1p(0.0 - y)

  def forward_log_det_jacobian(self, x: Any) -> Any:
    size = np.abs(structures.cast(x))
    return self._total(0.0 - size - 2.0 * np.log1p(np.exp(0.0 - size)))


class Interval(Bijector):
  """Onto intervals: y = low + (high - low) / (1 + exp(-x)).

  Where `high` is inf it is y = low + exp(x).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> print(f"{float(bijectors.Interval(1.0, 3.0).forward(0.0)):.6f}")
    2.000000
  """

  def __init__(self, low: Any, high: Any, event_ndims: int = 0):
    """Takes the bounds, arrays that broadcast with values."""
    super().__init__(event_ndims)
    self.low = structures.cast(low)
    self.high = structures.cast(high)

  def forward(self, x: Any) -> Any:
    x = structures.cast(x)
    bounded, width = self._width()
    # What is not taken must be finite.
    inside = width * Sigmoid().forward(x)
    beyond = np.exp(np.where(bounded, 0.0, x))
    return self.low + np.where(bounded, inside, beyond)

  def inverse(self, y: Any) -> Any:
    y = structures.cast(y)
    bounded, _ = self._width()
    more = np.where(bounded, self.high, y + 1.0) - y
    return np.log(y - self.low) - np.log(more)

  def forward_log_det_jacobian(self, x: Any) -> Any:
    x = structures.cast(x)
    bounded, width = self._width()
    inside = np.log(width) + Sigmoid().forward_log_det_jacobian(x)
    return self._total(np.where(bounded, inside, x))

  def _width(self) -> tuple[Any, Any]:
    """Returns where there is an upper bound, and how far off; else one."""
    bounded = self.high < float("inf")
    return bounded, np.where(bounded, self.high, self.low + 1.0) - self.low


class SoftmaxWithSlack(Bijector):
  """Onto probabilities with a sum below one: y_i = exp(x_i) / (1 + sum exp(x)).

  They are the entries of the last axis: initial probabilities, or rows of a
  matrix.

  Example: what they leave of one is 1 / (1 + sum exp(x)).

    >>> from phasic.distributions.base import bijectors
    >>> y = bijectors.SoftmaxWithSlack(1).forward([0.0, 0.0])
    >>> [f"{float(p):.6f}" for p in y]
    ['0.333333', '0.333333']
  """

  def forward(self, x: Any) -> Any:
    x = structures.cast(x)
    return np.exp(x - _log_total(x)[..., None])

  def inverse(self, y: Any) -> Any:
    y = structures.cast(y)
    parts = np.concatenate([np.ones_like(y[..., :1]), 0.0 - y], axis=-1)
    return np.log(y) - np.log(exact_sums.compensated_sum(parts))[..., None]

  def forward_log_det_jacobian(self, x: Any) -> Any:
    x = structures.cast(x)
    logs = np.sum(x, axis=-1) - (static.shape(x)[-1] + 1) * _log_total(x)
    axes = tuple(range(1 - self.event_ndims, 0))
    return np.sum(logs, axis=axes) if axes else logs


class SoftmaxCentered(SoftmaxWithSlack):
  """Onto probabilities with sum one, the last of them being the slack.

  There is one number less in x than in y. Log determinants are those of y
  without its last entry.

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> y = bijectors.SoftmaxCentered(1).forward([0.0, 0.0])
    >>> [f"{float(p):.6f}" for p in y]
    ['0.333333', '0.333333', '0.333333']
  """

  def forward(self, x: Any) -> Any:
    x = structures.cast(x)
    whole = np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1)
    return np.exp(whole - _log_total(x)[..., None])

  def inverse(self, y: Any) -> Any:
    y = structures.cast(y)
    return np.log(y[..., :-1]) - np.log(y[..., -1:])


class Increasing(Bijector):
  """Onto increasing positive numbers: y_i = exp(x_1) + ... + exp(x_i).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> y = bijectors.Increasing(1).forward([0.0, 0.0])
    >>> [f"{float(rate):.1f}" for rate in y]
    ['1.0', '2.0']
  """

  def forward(self, x: Any) -> Any:
    return np.cumsum(np.exp(structures.cast(x)), axis=-1)

  def inverse(self, y: Any) -> Any:
    y = structures.cast(y)
    before = np.concatenate([np.zeros_like(y[..., :1]), y[..., :-1]], axis=-1)
    return np.log(y - before)

  def forward_log_det_jacobian(self, x: Any) -> Any:
    return self._total(structures.cast(x))


class Subgenerator(Bijector):
  """Onto subgenerators with exits from all phases.

  The off-diagonals are S_ij = exp(x_ij), the exit rates s_i = exp(x_ii), so
  that S_ii = -sum_j exp(x_ij).

  Example:

    >>> from phasic.distributions.base import bijectors
    >>> matrix = bijectors.Subgenerator(2).forward([[0.0, 0.0], [0.0, 0.0]])
    >>> [f"{float(x):.1f}" for x in matrix[0]]
    ['-2.0', '1.0']
  """

  def forward(self, x: Any) -> Any:
    rates = np.exp(structures.cast(x))
    eye = np.eye(static.shape(rates)[-1], dtype=static.dtype_name(rates))
    total = np.sum(rates, axis=-1)[..., None]
    return np.where(eye > 0, 0.0 - total, rates)

  def inverse(self, y: Any) -> Any:
    y = structures.cast(y)
    eye = np.eye(static.shape(y)[-1], dtype=static.dtype_name(y))
    exits = 0.0 - exact_sums.compensated_sum(y)
    return np.log(np.where(eye > 0, exits[..., None], y))

  def forward_log_det_jacobian(self, x: Any) -> Any:
    return self._total(structures.cast(x))


def _log_total(x: Any) -> Any:
  """Returns log(1 + sum exp(x)) over the last axis."""
  top = np.maximum(np.max(x, axis=-1), 0.0)
  return top + np.log(
    np.exp(0.0 - top) + np.sum(np.exp(x - top[..., None]), axis=-1)
  )
