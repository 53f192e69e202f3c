"""Conditionals and loops over arrays and nested tuples of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import jax

from phasic.substrates.jax.internal.arrays import Tree

_T = TypeVar("_T")
_Y = TypeVar("_Y")

# Whether a compiler may merge equal calls of a function. If so, it pays to make
# calls equal that share most of their work.
MERGES_CALLS = True


def cond(
  pred: object,
  true_fn: Callable[..., _T],
  false_fn: Callable[..., _T],
  *operands: object,
) -> _T:
  """Evaluates `true_fn` or `false_fn` on the operands, as `pred` decides."""
  return jax.lax.cond(pred, true_fn, false_fn, *operands)


def while_loop(
  cond_fn: Callable[[_T], object], body_fn: Callable[[_T], _T], init: _T
) -> _T:
  """Applies `body_fn` repeatedly, from `init`, while `cond_fn(carry)` holds.

  The carry is an array or a tuple of arrays (a seed of `random` counts as
  one); its shapes and dtypes stay the same. Only forward mode works.
  """
  return jax.lax.while_loop(cond_fn, body_fn, init)


def scan(
  f: Callable[[_T, Tree], tuple[_T, _Y]],
  init: _T,
  xs: Tree,
  length: int | None = None,
) -> tuple[_T, _Y]:
  """Loops over the leading axis of `xs`: `carry, y = f(carry, x)`."""
  return jax.lax.scan(f, init, xs, length=length)


def compiled(
  f: Callable[..., _T], static_argnums: tuple[int, ...] = ()
) -> Callable[..., _T]:
  """Compiles `f` in JAX; NumPy and TensorFlow run it eagerly.

  JAX compiles `f` once for each shape and each value of the static arguments,
  so that its loops are not compiled again at each call.

  Args:
    f: a function of arrays, defined at the top of a module.
    static_argnums: positions of arguments that are hashable host values.
  """
  return jax.jit(f, static_argnums=static_argnums)
