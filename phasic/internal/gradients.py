"""Derivatives of functions of arrays.

NumPy has no autodiff: only functions decorated with `custom_gradient` have
derivatives here.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp


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
  gradient = pullback(onp.ones_like(value))
  return value, gradient[0] if len(args) == 1 else gradient


def vjp(
  f: Callable[..., Any], *args: Any
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
  """Returns `f(*args)` and the function cotangent -> tuple of cotangents.

  Raises:
    NotImplementedError: `f` has no reverse-mode rule.
  """
  rules = _rules(f)
  if rules is None or rules.vjp_fwd is None:
    raise NotImplementedError(_missing(f, "vjp_fwd and vjp_bwd"))
  fixed, _ = _split(args, rules.nondiff_argnums)
  value, residuals = rules.vjp_fwd(*args)

  def pullback(cotangent: Any) -> tuple[Any, ...]:
    free = iter(rules.vjp_bwd(*fixed, residuals, cotangent))
    return tuple(
      None if i in rules.nondiff_argnums else next(free)
      for i in range(len(args))
    )

  return value, pullback


def jvp(
  f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
  """Returns `f(*primals)` and its derivative along `tangents`.

  Raises:
    NotImplementedError: `f` has no forward-mode rule.
  """
  rules = _rules(f)
  if rules is None or rules.jvp_fn is None:
    raise NotImplementedError(_missing(f, "jvp_fn"))
  fixed, free = _split(primals, rules.nondiff_argnums)
  _, directions = _split(tangents, rules.nondiff_argnums)
  return rules.jvp_fn(*fixed, free, directions)


def stop_gradient(x: Any) -> Any:
  """Returns `x`, taken as a constant by every derivative."""
  return x


def _rules(f: Callable[..., Any]) -> Any:
  return getattr(f, "rules", None)


def _split(
  args: Sequence[Any], nondiff_argnums: tuple[int, ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
  """Splits arguments into the fixed and the differentiable ones."""
  fixed = tuple(args[i] for i in nondiff_argnums)
  free = tuple(a for i, a in enumerate(args) if i not in nondiff_argnums)
  return fixed, free


def _missing(f: Callable[..., Any], rule: str) -> str:
  name = getattr(f, "__name__", repr(f))
  return (
    f"{name} has no {rule}: NumPy has no autodiff, so only functions that "
    "bring the rule with custom_gradient can be differentiated"
  )
