"""Derivatives of functions of arrays, by `tape`.

Whatever is written in functions of NumPy that have a derivative there has one
here, of any order. An array that would leave them is an error: its derivative
would be lost.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.tape import modes
from phasic.internal.tape import trees


def value_and_gradient(f: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
  """Returns `f(*args)` and the gradient of the sum of its entries.

  Args:
    f: a function of arrays that returns one array.
    *args: where to evaluate it: arrays or nested structures of them.

  Returns:
    The value, and the gradient with respect to the argument, or a tuple of
    gradients if there are several arguments.

  Raises:
    NotImplementedError: `f` uses what has no derivative.
    TypeError: an array leaves the functions of NumPy.
  """
  value, pullback = vjp(f, *args)
  gradient = pullback(onp.ones_like(value))
  return value, gradient[0] if len(args) == 1 else gradient


def vjp(
  f: Callable[..., Any], *args: Any
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
  """Returns `f(*args)` and the function cotangent -> tuple of cotangents.

  Raises:
    NotImplementedError: `f` uses what has no derivative.
    TypeError: an array leaves the functions of NumPy.
  """
  of_free = _OfFree(f, args)
  values, pull = modes.reverse(of_free, of_free.leaves)

  def pullback(cotangent: Any) -> tuple[Any, ...]:
    bars = trees.leaves_like(cotangent, of_free.result(values), "cotangent")
    if not hasattr(f, "rules"):  # They check what they are given.
      bars = [
        _fitting("cotangent", x, value)
        for x, value in zip(bars, values, strict=True)
      ]
    return of_free.spread(pull(bars))

  return of_free.result(values), pullback


def jvp(
  f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
  """Returns `f(*primals)` and its derivative along `tangents`.

  Raises:
    NotImplementedError: `f` uses what has no derivative.
    TypeError: an array leaves the functions of NumPy.
  """
  of_free = _OfFree(f, primals)
  along = trees.leaves_like(
    of_free.free(tangents), of_free.free(primals), "tangent"
  )
  directions = [
    _fitting("tangent", t, x)
    for x, t in zip(of_free.leaves, along, strict=True)
  ]
  values, moved = modes.forward(of_free, of_free.leaves, directions)
  return of_free.result(values), of_free.result(moved)


def stop_gradient(x: Any) -> Any:
  """Returns `x`, taken as a constant by every derivative."""
  return modes.constant(x)


def _fitting(name: str, x: Any, like: Any) -> Any:
  """A tangent or cotangent in the dtype of the array that it belongs to."""
  found = structures.as_array(x, static.dtype_name(like), name)
  if static.shape(found) != static.shape(like):
    raise ValueError(
      f"a {name} has shape {static.shape(found)}: it must be that of the array, "
      f"{static.shape(like)}"
    )
  return found


class _OfFree:
  """A function of the arrays in its differentiated arguments."""

  def __init__(self, f: Callable[..., Any], args: Sequence[Any]):
    self._f = f
    self._args = list(args)
    rules = getattr(f, "rules", None)
    fixed = () if rules is None else rules.nondiff_argnums
    self._free = [i for i in range(len(args)) if i not in fixed]
    leaves, self._make = trees.flatten(self.free(args))
    self.leaves = [
      x if modes.is_traced(x) else structures.as_array(x) for x in leaves
    ]
    self._result: Callable[[Sequence[Any]], Any] | None = None

  def free(self, args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(args[i] for i in self._free)

  def __call__(self, *leaves: Any) -> tuple[Any, ...]:
    args = list(self._args)
    for i, value in zip(self._free, self._make(leaves), strict=True):
      args[i] = value
    results, self._result = trees.flatten(self._f(*args))
    return tuple(results)

  def result(self, values: Sequence[Any]) -> Any:
    """Arrays as the function's result has them."""
    assert self._result is not None
    return self._result(values)

  def spread(self, values: Sequence[Any]) -> tuple[Any, ...]:
    """Arrays as the arguments have them, None for those that are fixed."""
    found = dict(zip(self._free, self._make(values), strict=True))
    return tuple(found.get(i) for i in range(len(self._args)))
