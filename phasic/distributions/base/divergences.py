"""Divergences between distributions, and their registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from phasic.distributions.base import methods
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result

_Rule = TypeVar("_Rule", bound=Callable[[Any, Any], ArrayLike])
_RULES: dict[tuple[type, type], Callable[[Any, Any], ArrayLike]] = {}


def register_kl(first: type, second: type) -> Callable[[_Rule], _Rule]:
  """Returns a decorator for the rule of `kl_divergence` of two classes.

  The rule is called with both distributions. Subclasses have it too, unless
  there is a rule for classes that are nearer.

  Args:
    first: the class of p.
    second: the class of q.

  Raises:
    ValueError: there is a rule for them.

  Example:

    >>> from phasic import distributions as pd
    >>> class Clock(pd.PhaseType):
    ...   pass
    >>> @pd.register_kl(Clock, Clock)
    ... def same(p, q):
    ...   return 0.0
    >>> pd.kl_divergence(Clock([1.0], [[-1.0]]), Clock([1.0], [[-2.0]]))
    0.0
  """

  def decorate(rule: _Rule) -> _Rule:
    if (first, second) in _RULES:
      raise ValueError(
        f"kl_divergence of {first.__name__} and {second.__name__} is registered"
      )
    _RULES[first, second] = rule
    return rule

  return decorate


def kl_divergence(p: methods.Methods, q: object) -> Result:
  """Returns E_p log(p / q), see `Distribution.kl_divergence`."""
  ways = [
    (i + j, (first, second))
    for i, first in enumerate(type(p).__mro__)
    for j, second in enumerate(type(q).__mro__)
    if (first, second) in _RULES
  ]
  if not ways:
    methods.check_substrate("other", q)
    raise NotImplementedError(
      f"there is no kl_divergence of {type(p).__name__} and "
      f"{type(q).__name__}; register_kl adds one"
    )
  _check_batches("kl_divergence", p, q)
  rule = _RULES[min(ways, key=lambda way: way[0])[1]]
  return structures.as_result(rule(p, q))


class Divergences(methods.Methods):
  """Methods that compare with another distribution."""

  def kl_divergence(self, other: object) -> Result:
    """Returns E log(p(X) / q(X)), broadcast over both batches, in nats.

    X has this distribution, with density p with respect to the base measure,
    and q is the other's. It is inf where q has no mass but p has some: an atom
    at zero, or a number of steps. What is computed is the sum of p log(p / q) -
    p + q, of which no term is negative; the error is at most 1e-9 (float32:
    1e-4) of it and eps, or the result is NaN. See `math.phase_type.kl_divergence`.

    Args:
      other: a distribution of the same kind of time and the same dtype, or of
        any class that `register_kl` knows.

    Raises:
      NotImplementedError: there is no rule for the two classes.
      TypeError: dtypes differ.
      ValueError: batch shapes do not broadcast.

    Example: of exponential times, log(a / b) + b / a - 1.

      >>> from phasic.distributions import PhaseType
      >>> first = PhaseType([1.0], [[-2.0]])
      >>> second = PhaseType([1.0], [[-1.0]])
      >>> print(f"{float(first.kl_divergence(second)):.6f}")
      0.193147

    Reference: S. Kullback, R. Leibler, On information and sufficiency, Ann.
      Math. Stat. 22, 1951.
    """
    return self._statistic("kl_divergence", kl_divergence(self, other))

  def cross_entropy(self, other: methods.Methods) -> Result:
    """Returns -E log q(X), broadcast over both batches, in nats.

    X has this distribution and q is the other's density. Arguments, errors and
    accuracy are as for `kl_divergence`; the error is relative to the integral
    of |p log q|.

    Example: of exponential times, b / a - log(b).

      >>> from phasic.distributions import PhaseType
      >>> first = PhaseType([1.0], [[-2.0]])
      >>> second = PhaseType([1.0], [[-1.0]])
      >>> print(f"{float(first.cross_entropy(second)):.6f}")
      0.500000
    """
    methods.check_substrate("other", other)
    _check_batches("cross_entropy", self, other)
    return self._statistic("cross_entropy", self._cross_entropy(other))

  def _cross_entropy(self, other: methods.Methods) -> Array:
    del other
    self._missing(
      "cross_entropy",
      "a quadrature needs to know where the mass of the family is",
    )


def _check_batches(method: str, p: object, q: object) -> None:
  """Raises ValueError unless the batches of two distributions broadcast."""
  shapes = [getattr(x, "batch_shape", ()) for x in (p, q)]
  known = [tuple(1 if d is None else d for d in shape) for shape in shapes]
  try:
    static.broadcast_shapes(*known)
  except ValueError:
    raise ValueError(
      f"{method} has batch shapes {shapes[0]} of {type(p).__name__} and "
      f"{shapes[1]} of {type(q).__name__}: they must broadcast"
    ) from None
