"""Registration of derivative rules, and rules of linear maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from phasic.internal.tape import traced


def registered(*functions: Any) -> Callable[[Any], Any]:
  def register(rule: Any) -> Any:
    for function in functions:
      traced.FUNCTIONS[function] = rule
    return rule

  return register


def linear(
  call: Callable[[Any], Any], transpose: Callable[[Any], Any], x: Any
) -> Any:
  """Applies a linear map whose derivative rule uses its transpose."""
  return traced.apply(
    traced.Pairs(call, lambda i, result, x: (call, transpose)), x
  )
