"""Renewal theory: renewal densities and residual lives."""

from __future__ import annotations

from typing import ClassVar

from phasic.distributions.base import methods
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.math.model import value_rules
from phasic.math.model.model_types import Model
from phasic.math.moments import renewals


class RenewalMethods(methods.Methods):
  """Methods of renewal theory, evaluated at given times.

  Values are finite and >= 0, in discrete time whole, else results are NaN.
  """

  _DISCRETE: ClassVar[bool]

  def renewal_density(self, value: ArrayLike) -> Result:
    """Returns the density of renewals at t, broadcast over value and batch.

    Times distributed as X follow each other from zero on; m(t) dt is the
    probability that one of them ends between t and t + dt, and its integral
    the expected number of such ends. In discrete time it is the probability
    that one ends at step n, and one for n = 0. Times of length zero count for
    nothing, or: X is taken given X > 0, with a = alpha / sum(alpha),

        m(t) = a exp((S + s a) t) s,    u(n) = a (T + t a)^(n-1) t.

    With the atom z, m(t) / (1 - z) counts all that ends, those of length zero
    too. m(t) tends to 1 / E[X | X > 0].

    Args:
      value: t or n, (...).

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit, or the phases in which the chain may end,
        times all phases, are more than 2^24.

    Example: ends of exponential times come at their rate.

      >>> from phasic.distributions import Erlang
      >>> print(f"{float(Erlang(1, 2.0).renewal_density(7.0)):.6f}")
      2.000000
      >>> print(f"{float(Erlang(2, 2.0).renewal_density(0.25)):.6f}")
      0.632121

    References:
      M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec.
        2.4.
    """
    value = self._time(value)
    return structures.as_result(
      renewals.renewal_density(self._model(), value, self._DISCRETE)
    )

  def mean_residual_life(self, value: ArrayLike) -> Result:
    """Returns E[X - t | X > t], broadcast over value and batch.

    It is E[X] P(X_e > t) / P(X > t), where X_e has the `Equilibrium`
    distribution, so that it is right also where P(X > t) is too small for a
    floating-point
    number: to 1e-15 max(10, |log P(X > t)|) or so of itself. It is inf where
    absorption may never come, and NaN where X > t cannot be.

    Args:
      value: t, (...).

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit.

    Example: nothing is left but the last stage.

      >>> from phasic.distributions import Erlang
      >>> dist = Erlang(2, 1.0)
      >>> values = dist.mean_residual_life([0.0, 9.0, 9999.0])
      >>> [f"{float(value):.6f}" for value in values]
      ['2.000000', '1.100000', '1.000100']

    Reference: D. R. Cox, D. Oakes, Analysis of survival data, 1984, ch. 2.
    """
    value = self._time(value)
    return structures.as_result(
      renewals.mean_residual_life(self._model(), value, self._DISCRETE)
    )

  def limited_expected_value(self, value: ArrayLike) -> Result:
    """Returns E[min(X, t)], broadcast over value and batch.

    It is the integral of P(X > u) from 0 to t, in discrete time the sum over u
    < t; also where absorption may never come. As t grows it tends to `mean()`.

    Args:
      value: t, (...).

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit.

    Example: what an insurer pays for losses of up to two.

      >>> from phasic.distributions import Erlang
      >>> print(f"{float(Erlang(1, 0.5).limited_expected_value(2.0)):.6f}")
      1.264241

    Reference: S. A. Klugman, H. H. Panjer, G. E. Willmot, Loss models, 2012,
      sec. 3.1.
    """
    value = self._time(value)
    return structures.as_result(
      renewals.limited_expected_value(self._model(), value, self._DISCRETE)
    )

  def _time(self, value: ArrayLike) -> Array:
    """Converts a time, and warns if it breaks the rule."""
    value = self._value(value)
    rule = value_rules.COUNT if self._DISCRETE else value_rules.TIME
    value_rules.warn("value", value, rule)
    return value

  def _model(self) -> Model:
    """Returns the chain, checked with `validate_args`."""
    raise NotImplementedError
