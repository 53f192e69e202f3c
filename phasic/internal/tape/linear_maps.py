"""Registration of derivative rules, and rules of linear maps.

Indexing is one of them: its transpose adds entries to zeros at an index.
"""

from __future__ import annotations

from collections.abc import Callable
import operator
from typing import Any, TypeVar

import numpy as onp

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
  """Applies a linear map; its transpose is its rule for reverse mode."""
  return traced.apply(
    traced.Pairs(call, lambda i, result, x: (call, transpose)), x
  )


def getitem(x: Array, index: object) -> Array:
  """Returns `x[index]`, differentiable in `x`."""
  places = _plain_index(index)
  shape, dtype = onp.shape(x), traced.dtype_of(x)
  return traced.apply(
    traced.Pairs(
      lambda x: x[places],
      lambda i, result, x: (
        lambda tangent: tangent[places],
        lambda cotangent: scatter(cotangent, places, shape, dtype),
      ),
    ),
    x,
  )


def scatter(
  x: Array, index: Any, shape: tuple[int, ...], dtype: onp.dtype
) -> Array:
  """Adds `x` to zeros at an index: the transpose of indexing."""
  if not isinstance(x, traced.Traced):
    result = onp.zeros(shape, dtype)
    if _is_basic(index):
      result[index] = x
    else:
      onp.add.at(result, index, x)
    return result
  return traced.apply(
    traced.Pairs(
      lambda x: scatter(x, index, shape, dtype),
      lambda i, result, x: (
        lambda tangent: scatter(tangent, index, shape, dtype),
        lambda cotangent: cotangent[index],
      ),
    ),
    x,
  )


def _plain_index(index: object) -> Any:
  """Copies an index and replaces traced parts by their values."""
  if isinstance(index, tuple):
    return tuple(_kept(part) for part in index)
  return _kept(index)


def _kept(part: object) -> object:
  """Copies a part of an index, as the caller may write to it later."""
  part = traced.constant(part)
  if isinstance(part, (list, onp.ndarray)):
    return onp.array(part)
  return part


def _is_basic(index: object) -> bool:
  """Returns whether an index is basic, and so selects no entry twice."""
  parts = index if isinstance(index, tuple) else (index,)
  return all(
    part is None or part is Ellipsis or isinstance(part, (int, slice))
    for part in parts
  )


traced.FUNCTIONS[operator.getitem] = getitem
