"""Statistics of a distribution."""

from __future__ import annotations

from phasic.distributions.base import methods
from phasic.internal.arrays import Array
from phasic.internal.arrays import Integer
from phasic.internal.arrays import Result
from phasic.math.elimination import chain_calls


class SummaryStatistics(methods.Methods):
  """Methods without a value. NaN raises ValueError with allow_nan_stats=False.

  Under jit in JAX it cannot, and stays NaN; in TensorFlow it is
  tf.errors.InvalidArgumentError.
  """

  def mean(self) -> Result:
    """Returns the mean, of the batch and the event shape."""
    return self._statistic("mean", self._mean())

  def variance(self) -> Result:
    """Returns the variance, of the batch and the event shape."""
    return self._statistic("variance", self._variance())

  def stddev(self) -> Result:
    """Returns the standard deviation, of the batch and the event shape."""
    return self._statistic("stddev", self._stddev())

  def covariance(self) -> Result:
    """Returns the covariances of a vector's entries, (..., R, R).

    Raises:
      NotImplementedError: a value is one number, whose `variance` there is.
    """
    return self._statistic("covariance", self._covariance())

  def moment(self, k: Integer) -> Result:
    """Returns the raw moment E[X^k], of the batch shape.

    It is inf where absorption may never come. In continuous time E[X^k] = k!
    alpha (-S)^-k 1.

    Args:
      k: a positive integer, at most 170.

    Raises:
      NotImplementedError: there is no such formula for the family.
      ValueError: k is something else.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> print(f"{float(PhaseType([1.0], [[-2.0]]).moment(3)):.6f}")
      0.750000
    """
    k = chain_calls.checked_order(k, "k")
    return self._statistic(f"moment({k})", self._moment(k))

  def mode(self) -> Result:
    """Returns the mode, of the batch shape.

    Raises:
      NotImplementedError: it is not known that the density has one top.
    """
    return self._statistic("mode", self._mode())

  def entropy(self) -> Result:
    """Returns the entropy -E log p(X), of the batch shape, in nats.

    With a density f on (0, inf) and an atom z at zero it is -z log(z) -
    integral of f(t) log f(t) dt, and in discrete time -sum p(k) log p(k). The
    error is at most 1e-9 (float32: 1e-4) of the integral of |f log f|, or the
    result is NaN; mostly it is near rounding. See `math.phase_type.entropy`.

    Raises:
      NotImplementedError: there is no such formula for the family.

    Example: an exponential time has 1 - log(rate).

      >>> from phasic.distributions import PhaseType
      >>> print(f"{float(PhaseType([1.0], [[-2.0]]).entropy()):.6f}")
      0.306853
    """
    return self._statistic("entropy", self._entropy())

  def _mean(self) -> Array:
    self._missing("mean")

  def _variance(self) -> Array:
    self._missing("variance")

  def _stddev(self) -> Array:
    self._missing("stddev")

  def _covariance(self) -> Array:
    self._missing(
      "covariance", "a value is one number, whose variance() there is"
    )

  def _moment(self, k: int) -> Array:
    self._missing(f"moment({k})")

  def _mode(self) -> Array:
    self._missing(
      "mode", "it is not known that densities of this family have one top"
    )

  def _entropy(self) -> Array:
    self._missing(
      "entropy", "a quadrature needs to know where the mass of the family is"
    )
