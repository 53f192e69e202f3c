"""Derivative rules that are written in the backend's array code."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
from typing import Generic, ParamSpec, TypeVar

from phasic.internal import raw_arguments

_P = ParamSpec("_P")
_R = TypeVar("_R")


def array_code(rule: Callable[_P, _R]) -> ArrayCode[_P, _R]:
  """Marks a derivative rule as array code: it calls the backend's functions.

  Such a rule is traced with the program that asks for the derivative, is called
  with the backend's arrays, and is differentiated in its turn. It may call
  bound functions, also the one whose rule it is: then there are derivatives of
  every order. Each mode needs a rule, as without the mark.

  Args:
    rule: a rule as `bind` takes it as `jvp` or `vjp`, for arrays of the
      backend.

  Raises:
    TypeError: it is not a function.

  Example:

    >>> import numpy as np
    >>> from phasic import binding
    >>> cube = binding.bind(
    ...   lambda x: x**3,
    ...   jvp=binding.array_code(lambda args, ts: 3.0 * args[0] ** 2 * ts[0]),
    ... )
    >>> print(f"{float(cube.jvp((np.asarray(1.0),), (np.asarray(2.0),))):.1f}")
    6.0
  """
  raw_arguments.check_callable("rule", rule)
  return ArrayCode(rule)


@dataclasses.dataclass(frozen=True)
class ArrayCode(Generic[_P, _R]):
  """A derivative rule in the backend's array code, see `array_code`.

  Attributes:
    rule: the rule.

  Example: the jvp of the cube, 3 x^2 v at x = 2.

    >>> from phasic import binding
    >>> rule = binding.array_code(lambda args, ts: 3.0 * args[0] ** 2 * ts[0])
    >>> isinstance(rule, binding.ArrayCode), rule((2.0,), (1.0,))
    (True, 12.0)
  """

  rule: Callable[_P, _R]

  def __call__(self, /, *args: _P.args, **options: _P.kwargs) -> _R:
    """Calls the rule with the given arguments."""
    return self.rule(*args, **options)
