"""Moments and entropies of frozen distributions for `interop.scipy`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import inferring
from phasic.internal.arrays import Result
from phasic.interop import scipy_arguments as arguments
from phasic.interop import scipy_expectations as expectations


class Statistics:
  """The methods of frozen distributions without a value.

  Attributes:
    distribution: the wrapped distribution.
  """

  distribution: distribution_lib.Distribution

  def mean(self) -> Result:
    """Returns the mean."""
    return arguments.plain(self.distribution.mean())

  def var(self) -> Result:
    """Returns the variance."""
    return arguments.plain(self.distribution.variance())

  def std(self) -> Result:
    """Returns the standard deviation."""
    return arguments.plain(self.distribution.stddev())

  def moment(self, order: int) -> Result:
    """Computes the raw moment E[X^order]; it is one for order zero."""
    if isinstance(order, int) and order == 0:
      return arguments.plain(onp.ones(inferring.batch_shape(self.distribution)))
    return arguments.plain(self.distribution.moment(order))

  def entropy(self) -> Result:
    """Computes the entropy in nats."""
    return arguments.plain(self.distribution.entropy())

  def stats(self, moments: str = "mv") -> Result | tuple[Result, ...]:
    """Computes mean, variance, skewness or excess kurtosis, by their letters.

    The last two are made of raw moments or, where these would lose their
    digits, by quadrature, to 1e-9 (float32: 1e-4) or they are NaN.

    Args:
      moments: which ones, some of the letters m, v, s, k.

    Returns:
      A tuple in that order; one alone where one is asked for.

    Raises:
      ValueError: there is another letter.
    """
    if not moments or not set(moments) <= set("mvsk"):
      raise ValueError(
        f"moments is {moments!r}: it must have letters among m, v, s and k"
      )
    functions: dict[str, Callable[[], Result]] = {
      "m": self.mean,
      "v": self.var,
      "s": self._skewness,
      "k": self._kurtosis,
    }
    found = tuple(functions[letter]() for letter in "mvsk" if letter in moments)
    return found[0] if len(found) == 1 else found

  def _skewness(self) -> Result:
    mean, second, third = (self.moment(k) for k in (1, 2, 3))
    central = third - mean * (3.0 * second - 2.0 * mean**2)
    size = third + mean * (3.0 * second + 2.0 * mean**2)
    return expectations.standardized(self.distribution, 3, central, size)

  def _kurtosis(self) -> Result:
    mean, second, third, fourth = (self.moment(k) for k in (1, 2, 3, 4))
    inner = 6.0 * second - 3.0 * mean**2
    central = fourth - mean * (4.0 * third - mean * inner)
    size = fourth + mean * (4.0 * third + mean * (6.0 * second + 3.0 * mean**2))
    return expectations.standardized(self.distribution, 4, central, size) - 3.0
