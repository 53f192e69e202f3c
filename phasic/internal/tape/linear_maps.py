"""Registration of derivative rules, and rules of linear maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from phasic.internal.tape import traced

Array = traced.Array
_Rule = TypeVar("_Rule", bound=Callable[..., object])


def registered(*functions: object) -> Callable[[_Rule], _Rule]:
  def register(rule: _Rule) -> _Rule:
    for function in functions:
      traced.FUNCTIONS[function] = rule
    return rule

  return register


def linear(
  call: Callable[[Array], Array],
  transpose: Callable[[Array], Array],
  x: Array,
) -> Array:
  """Applies a linear map whose derivative rule uses its transpose."""
  return traced.apply(
    traced.Pairs(call, lambda i, result, x: (call, transpose)), x
  )
