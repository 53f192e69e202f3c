"""The Kullback-Leibler divergence, and the registry of its rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from phasic.distributions.base import hooks
from phasic.distributions.base import nan_reasons
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.math.numeric import array_utils

_Rule = TypeVar("_Rule", bound=Callable[..., ArrayLike])
_RULES: dict[tuple[type, type], Callable[..., ArrayLike]] = {}


def register_kl(first: type, second: type) -> Callable[[_Rule], _Rule]:
  """Returns a decorator that registers `kl_divergence` of two classes.

  The rule is called with both distributions. Subclasses have it too, unless
  there is a rule for classes that are nearer.

  Args:
    first: the class of p.
    second: the class of q.

  Raises:
    TypeError: one is not a class.
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
  for name, kind in (("first", first), ("second", second)):
    if not isinstance(kind, type):
      raise TypeError(
        f"{name} is {raw_arguments.shown(kind)}: it must be a class of "
        "distributions"
      )

  def decorate(rule: _Rule) -> _Rule:
    if (first, second) in _RULES:
      raise ValueError(
        f"kl_divergence of {first.__name__} and {second.__name__} is "
        "registered: each pair of classes must be registered only once"
      )
    _RULES[first, second] = rule
    return rule

  return decorate


def kl_divergence(p: hooks.Hooks, q: object) -> Result:
  """Computes E_p log(p / q), see `Distribution.kl_divergence`.

  Raises:
    TypeError: one is not a distribution, and no rule is registered.
    NotImplementedError: there is no rule for these two classes.

  Example: exponential times of rates two and one, log(2) - 1 / 2.

    >>> from phasic import distributions as pd
    >>> value = pd.kl_divergence(pd.Erlang(1, 2.0), pd.Erlang(1, 1.0))
    >>> print(f"{float(value):.6f}")
    0.193147
  """
  found = divergence(p, q, ("p", "q"))
  if isinstance(p, hooks.Hooks) and array_utils.has_nan(found):
    nan_reasons.warn(p, "kl_divergence", found, q)
  return found


def divergence(p: object, q: object, names: tuple[str, str]) -> Result:
  """Computes a divergence by the nearest rule; errors have the names."""
  ways = [
    (i + j, (first, second))
    for i, first in enumerate(type(p).__mro__)
    for j, second in enumerate(type(q).__mro__)
    if (first, second) in _RULES
  ]
  if not ways:
    for name, x in zip(names, (p, q), strict=True):
      hooks.check_distribution(name, x)
    raise NotImplementedError(
      f"there is no kl_divergence of {type(p).__name__} and "
      f"{type(q).__name__}; register_kl adds one"
    )
  check_batches("kl_divergence", p, q)
  rule = _RULES[min(ways, key=lambda way: way[0])[1]]
  return structures.as_result(rule(p, q))


def check_batches(method: str, p: object, q: object) -> None:
  """Raises ValueError unless the batches of two distributions broadcast."""
  shapes = [getattr(x, "batch_shape", ()) for x in (p, q)]
  known = [tuple(1 if d is None else d for d in shape) for shape in shapes]
  try:
    static.broadcast_shapes(*known)
  except ValueError:
    raise ValueError(
      f"{method}: batch shapes are {shapes[0]} of {type(p).__name__} and "
      f"{shapes[1]} of {type(q).__name__}: they must broadcast"
    ) from None
