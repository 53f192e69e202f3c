"""Quantiles of a distribution."""

from __future__ import annotations

from phasic.distributions.base import methods
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.math.model import value_rules


class Quantiles(methods.Methods):
  """Inverses of the distribution functions.

  Arguments broadcast with the batch; shapes and dtypes that do not fit raise as
  in `log_prob`. Values that are not probabilities give NaN, with
  `validate_args` it raises ValueError.
  """

  def quantile(self, value: ArrayLike) -> Result:
    """Returns Q(u) = inf{t: P(X <= t) >= u}, broadcast over u and batch.

    It is 0 up to the mass at zero, and inf at u = 1. For u near one take
    `quantile_log_survival`, which has more digits.

    Args:
      value: probabilities u, (...), in [0, 1].

    Example: the median of an exponential time is log(2) / rate.

      >>> from phasic.distributions import PhaseType
      >>> print(f"{float(PhaseType([1.0], [[-2.0]]).quantile(0.5)):.6f}")
      0.346574
    """
    value = self._checked(value, "value", value_rules.PROBABILITY)
    return structures.as_result(self._quantile(value))

  def median(self) -> Result:
    """Computes the median, the quantile of 1/2, of the batch shape.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> print(f"{float(PhaseType([1.0], [[-2.0]]).median()):.6f}")
      0.346574
    """
    return self.quantile(0.5)

  def quantile_log_survival(self, value: ArrayLike) -> Result:
    """Computes the inverse log survival function (SciPy: isf of exp).

    Args:
      value: log probabilities v, (...), <= 0.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> print(f"{float(dist.quantile_log_survival(-1e4)):.6f}")
      5000.000000
    """
    value = self._checked(value, "value", value_rules.LOG_PROBABILITY)
    return structures.as_result(self._quantile_log_survival(value))

  def quantile_log_cdf(self, value: ArrayLike) -> Result:
    """Computes the inverse log cdf (SciPy: ppf of exp).

    Args:
      value: log probabilities v, (...), <= 0.

    Example: half of exp(-1000).

      >>> import math
      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> value = dist.quantile_log_cdf(-500.0)
      >>> print(f"{math.log(float(value)):.6f}")
      -500.693147
    """
    value = self._checked(value, "value", value_rules.LOG_PROBABILITY)
    return structures.as_result(self._quantile_log_cdf(value))

  def _quantile(self, value: Array) -> Array:
    del value
    self._missing("quantile")

  def _quantile_log_survival(self, value: Array) -> Array:
    del value
    self._missing("quantile_log_survival")

  def _quantile_log_cdf(self, value: Array) -> Array:
    del value
    self._missing("quantile_log_cdf")
