"""Checks of array values, also under tracing."""

from __future__ import annotations

from typing import TypeVar

import numpy as onp

from phasic.internal.tape import modes

_T = TypeVar("_T")


def check(
  condition: onp.typing.ArrayLike, message: str, x: _T, what: object = None
) -> _T:
  """Returns `x` after checking that a condition is true everywhere.

  Args:
    condition: a boolean array; under tracing its shape must broadcast to that
      of `x`.
    message: names the argument and the rule.
    x: the array that depends on the condition.
    what: the values that the condition tests. A message that is formatted
      while tracing cannot contain them. They broadcast with the condition.

  Raises:
    ValueError: the condition fails. Under tracing JAX cannot raise, and sets
      the entries of `x` to NaN; TensorFlow raises InvalidArgumentError when the
      function runs.
  """
  if not onp.all(modes.constant(condition)):
    raise ValueError(message)
  return x
