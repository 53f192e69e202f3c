"""Derivatives of functions of arrays, by JAX's autodiff."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp


def value_and_gradient(f: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
  """Returns `f(*args)` and the gradient of the sum of its entries.

  Args:
    f: a function of arrays that returns one array.
    *args: where to evaluate it.

  Returns:
    The value, and the gradient with respect to the argument, or a tuple of
    gradients if there are several arguments.

  Raises:
    NotImplementedError: `f` has no reverse-mode rule.
  """
  value, pullback = vjp(f, *args)
  gradient = pullback(jnp.ones_like(value))
  return value, gradient[0] if len(args) == 1 else gradient


def vjp(
  f: Callable[..., Any], *args: Any
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
  """Returns `f(*args)` and the function cotangent -> tuple of cotangents.

  Raises:
    NotImplementedError: `f` has no reverse-mode rule.
  """
  free = _free(f, args)
  value, pull = jax.vjp(_of_free(f, args), *[args[i] for i in free])

  def pullback(cotangent: Any) -> tuple[Any, ...]:
    found = dict(zip(free, pull(cotangent), strict=True))
    return tuple(found.get(i) for i in range(len(args)))

  return value, pullback


def jvp(
  f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
  """Returns `f(*primals)` and its derivative along `tangents`.

  Raises:
    NotImplementedError: `f` has no forward-mode rule.
  """
  free = _free(f, primals)
  at, along = (tuple(x[i] for i in free) for x in (primals, tangents))
  return jax.jvp(_of_free(f, primals), at, along)


def stop_gradient(x: Any) -> Any:
  """Returns `x`, taken as a constant by every derivative."""
  return jax.lax.stop_gradient(x)


def _free(f: Callable[..., Any], args: Sequence[Any]) -> list[int]:
  """Positions of the arguments that are differentiated."""
  rules = getattr(f, "rules", None)
  fixed = () if rules is None else rules.nondiff_argnums
  return [i for i in range(len(args)) if i not in fixed]


def _of_free(f: Callable[..., Any], args: Sequence[Any]) -> Any:
  """`f` as a function of its differentiated arguments."""
  free = _free(f, args)

  def of_free(*values: Any) -> Any:
    full = list(args)
    for i, value in zip(free, values, strict=True):
      full[i] = value
    return f(*full)

  return of_free
