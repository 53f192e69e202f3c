"""Transforms of a distribution."""

from __future__ import annotations

from phasic.distributions.base import methods
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.math.model import value_rules

_NO_FORMULA = (
  "only chains that start at zero, and whose rates never change, have a formula"
)


class Transforms(methods.Methods):
  """Expectations of exponentials and powers.

  Arguments broadcast with the batch; dtypes that differ raise TypeError, shapes
  that do not fit ValueError.
  """

  def laplace_transform(self, u: ArrayLike) -> Result:
    """Returns E exp(-u X), in continuous time z + alpha (u I - S)^-1 s.

    Nothing is subtracted: it is the probability that X ends before a clock of
    rate u rings.

    Args:
      u: (...), per unit of time; finite and >= 0, else the result is NaN: for u
        < 0 take `moment_generating_function(-u)`.

    Returns:
      An array of the common shape of u and the batch.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> value = PhaseType([1.0], [[-2.0]]).laplace_transform(0.5)
      >>> print(f"{float(value):.6f}")
      0.800000
    """
    return structures.as_result(
      self._laplace_transform(self._checked(u, "u", value_rules.LAPLACE))
    )

  def moment_generating_function(self, s: ArrayLike) -> Result:
    """Computes E exp(s X), inf for s at or above the decay rate.

    In continuous time it is z + alpha (-(S + s I))^-1 exits, in discrete time
    P(N = 0) + alpha (exp(-s) I - T)^-1 exits. Close below the decay rate digits
    are lost as they are in 1 - s / rate; where rounding leaves open on which
    side s is, the result is NaN.

    Args:
      s: (...), per unit of time, finite. For s > 0 a matrix is made, of at most
        4096 phases.

    Returns:
      An array of the common shape of s and the batch.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0], [[-2.0]])
      >>> values = dist.moment_generating_function([-2.0, 1.0, 2.0])
      >>> [f"{float(value):.3f}" for value in values]
      ['0.500', '2.000', 'inf']

    Reference: M. Bladt, B. F. Nielsen, Matrix-exponential distributions in
      applied probability, 2017, ch. 3.
    """
    return structures.as_result(
      self._moment_generating_function(self._argument(s, "s"))
    )

  def probability_generating_function(self, z: ArrayLike) -> Result:
    """Returns E z^N = P(N = 0) + z alpha (I - z T)^-1 t of a number of steps.

    Args:
      z: (...), in [0, 1], else the result is NaN: for z > 1 take
        `moment_generating_function(log(z))`.

    Returns:
      An array of the common shape of z and the batch.

    Raises:
      NotImplementedError: values are not whole numbers; `laplace_transform`,
        where there is one, is E z^X at u = -log(z).

    Example: throws of a die until the first six.

      >>> from phasic.distributions import DiscretePhaseType
      >>> throws = DiscretePhaseType([1.0], [[5 / 6]])
      >>> value = throws.probability_generating_function(0.5)
      >>> print(f"{float(value):.6f}")
      0.142857
    """
    return structures.as_result(
      self._probability_generating_function(
        self._checked(z, "z", value_rules.GENERATING)
      )
    )

  def _laplace_transform(self, u: Array) -> Array:
    del u
    self._missing("laplace_transform", _NO_FORMULA)

  def _moment_generating_function(self, s: Array) -> Array:
    del s
    self._missing("moment_generating_function", _NO_FORMULA)

  def _probability_generating_function(self, z: Array) -> Array:
    del z
    why = "values are not whole numbers"
    if self._counts():
      why = _NO_FORMULA
    self._missing("probability_generating_function", why)
