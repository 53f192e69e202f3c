"""Conditionals and loops over nested tuples of arrays."""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import TypeVar

import numpy as onp

from phasic.internal import static
from phasic.internal.tape import modes
from phasic.internal.tape import trees

_T = TypeVar("_T")
_X = TypeVar("_X")
_Y = TypeVar("_Y")
_Function = TypeVar("_Function", bound=Callable[..., object])


def cond(
  pred: object,
  true_fn: Callable[..., _T],
  false_fn: Callable[..., _T],
  *operands: object,
) -> _T:
  """Evaluates `true_fn` or `false_fn` on the operands, as `pred` decides."""
  return true_fn(*operands) if modes.constant(pred) else false_fn(*operands)


def while_loop(
  cond_fn: Callable[[_T], object], body_fn: Callable[[_T], _T], init: _T
) -> _T:
  """Applies `body_fn` repeatedly, from `init`, while `cond_fn(carry)` holds.

  The carry is an array or a tuple of arrays (a seed of `random` counts as
  one); its shapes and dtypes stay the same.
  """
  carry = init
  while modes.constant(cond_fn(carry)):
    carry = body_fn(carry)
  return carry


def scan(
  f: Callable[[_T, _X], tuple[_T, _Y]],
  init: _T,
  xs: _X,
  length: int | None = None,
) -> tuple[_T, _Y]:
  """Loops over the leading axis of `xs`: `carry, y = f(carry, x)`.

  Args:
    f: takes the carry and a slice of `xs`, returns the next carry and an
      output; carry, slice and output are arrays, tuples of arrays or None.
    init: the first carry.
    xs: an array, a tuple of arrays with equal leading sizes, or None.
    length: the number of steps, required if `xs` is None.

  Returns:
    The last carry, and the outputs stacked along a new leading axis.
  """
  carry, outputs = init, []
  for x in [xs] * (length or 0) if xs is None else _rows(xs):
    carry, y = f(carry, x)
    outputs.append(y)
  return carry, _stack(outputs)


# Whether a compiler may merge equal calls of a function. If so, it pays to make
# calls equal that share most of their work.
MERGES_CALLS = False


def compiled(f: _Function, static_argnums: tuple[int, ...] = ()) -> _Function:
  """Compiles `f` in JAX; NumPy and TensorFlow run it eagerly.

  JAX compiles `f` once for each shape and each value of the static arguments,
  so that its loops are not compiled again at each call. NumPy suppresses
  floating-point warnings, which compiled code does not give.

  Args:
    f: a function of arrays, defined at the top of a module.
    static_argnums: positions of arguments that are hashable host values.
  """

  @functools.wraps(f)
  def quiet(*args: object) -> object:
    with onp.errstate(all="ignore"):
      return f(*args)

  return quiet  # type: ignore[return-value]


def _rows(tree: _T) -> list[_T]:
  """Splits a tree of arrays along the leading axis into a list of trees."""
  leaves, make = trees.flatten(tree)
  size = static.shape(leaves[0])[0]
  return [make([x[i] for x in leaves]) for i in range(size)]


def _stack(items: list[_T]) -> _T:
  """Stacks trees of arrays along a new axis; returns None for no trees."""
  _, make = trees.flatten(items[0] if items else None)
  columns = zip(*(trees.flatten(item)[0] for item in items), strict=True)
  return make([onp.stack(column) for column in columns])
