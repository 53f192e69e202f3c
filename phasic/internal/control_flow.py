"""Conditionals and loops over arrays and nested tuples of arrays."""

from collections.abc import Callable
import functools
import operator
from typing import Any

import numpy as onp

from phasic.internal import static
from phasic.internal.tape import modes


def cond(
  pred: Any,
  true_fn: Callable[..., Any],
  false_fn: Callable[..., Any],
  *operands: Any,
) -> Any:
  """Returns `true_fn(*operands)` or `false_fn(*operands)`."""
  return true_fn(*operands) if modes.constant(pred) else false_fn(*operands)


def while_loop(
  cond_fn: Callable[[Any], Any], body_fn: Callable[[Any], Any], init: Any
) -> Any:
  """Applies `body_fn` to the carry, from `init`, while `cond_fn(carry)`.

  The carry is an array or a tuple of arrays (a seed of `random` counts as
  one); its shapes and dtypes stay the same.
  """
  carry = init
  while modes.constant(cond_fn(carry)):
    carry = body_fn(carry)
  return carry


def scan(
  f: Callable[[Any, Any], tuple[Any, Any]],
  init: Any,
  xs: Any,
  length: int | None = None,
) -> tuple[Any, Any]:
  """Loops over the leading axis: `carry, y = f(carry, x)`.

  Args:
    f: takes the carry and a slice of `xs`, returns the next carry and an
      output; carry, slice and output are arrays, tuples of arrays or None.
    init: the first carry.
    xs: an array, a tuple of arrays with equal leading sizes, or None.
    length: the number of steps, needed where `xs` is None.

  Returns:
    The last carry, and the outputs stacked along a new leading axis.
  """
  steps = int(length or 0) if xs is None else _leading(xs)
  carry, outputs = init, []
  for i in range(steps):
    carry, y = f(carry, _map(operator.itemgetter(i), xs))
    outputs.append(y)
  return carry, _stack(outputs)


def vmap(f: Callable[..., Any]) -> Callable[..., Any]:
  """Returns `f` mapped over the leading axis of all its arguments."""

  def mapped(*args: Any) -> Any:
    size = _leading(args)
    rows = [_map(operator.itemgetter(i), args) for i in range(size)]
    return _stack([f(*row) for row in rows])

  return mapped


def compiled(
  f: Callable[..., Any], static_argnums: tuple[int, ...] = ()
) -> Callable[..., Any]:
  """Returns `f`, compiled where the backend compiles loops anyway.

  NumPy and TensorFlow run it as it is, NumPy without warnings, which compiled
  code has not; JAX compiles it once for each shape and each value of the static
  arguments, so that its loops are not compiled anew at each call.

  Args:
    f: a function of arrays, defined at the top of a module.
    static_argnums: positions of arguments that are hashable host values.
  """
  del static_argnums

  @functools.wraps(f)
  def quiet(*args: Any) -> Any:
    with onp.errstate(all="ignore"):
      return f(*args)

  return quiet


def _leading(tree: Any) -> int:
  while isinstance(tree, tuple):
    tree = tree[0]
  return static.shape(tree)[0]


def _map(f: Callable[[Any], Any], tree: Any) -> Any:
  if tree is None:
    return None
  if isinstance(tree, tuple):
    return tuple(_map(f, t) for t in tree)
  return f(tree)


def _stack(items: list[Any]) -> Any:
  if not items or items[0] is None:
    return None
  if isinstance(items[0], tuple):
    return tuple(_stack(list(column)) for column in zip(*items, strict=True))
  return onp.stack(items)
