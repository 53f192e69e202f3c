"""Functions with custom derivative rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import TypeVar

import jax
import jax.core
import jax.numpy as jnp

from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import rule_maps
from phasic.substrates.jax.internal import rules as rules_lib

_T = TypeVar("_T")


def custom_gradient(
  vjp_fwd: Callable[..., tuple[object, object]] | None = None,
  vjp_bwd: Callable[..., object] | None = None,
  jvp_fn: Callable[..., tuple[object, object]] | None = None,
  nondiff_argnums: Sequence[int] = (),
  eager: bool = False,
) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
  """Returns a decorator that gives a function custom derivative rules.

  Args:
    vjp_fwd: `vjp_fwd(*args) -> (out, residuals)`.
    vjp_bwd: `vjp_bwd(*nondiff_args, residuals, cotangent) -> tuple`, one
      entry for each differentiable argument, in their order.
    jvp_fn: `jvp_fn(*nondiff_args, primals, tangents) -> (out, tangent_out)`,
      where primals and tangents are tuples over the differentiable arguments.
    nondiff_argnums: positions of the arguments that are not differentiated.
      Here they must be hashable, not arrays.
    eager: whether eager calls run the function uncompiled, for functions that
      call the host; else a backend may compile it.

  Derivatives whose rule is missing raise NotImplementedError with the names of
  the function and the rule. Higher-order derivatives differentiate the rules.
  Arguments, results and residuals are arrays or pytrees of arrays. Arrays that
  are differentiated must be arguments: rules must not close over them. Integer
  leaves have float0 tangents, as in `jax.jvp`.

  Example:
    >>> from phasic.substrates.jax.internal import autodiff, custom_gradient
    >>> @custom_gradient.custom_gradient(
    ...   vjp_fwd=lambda x: (x * x, x), vjp_bwd=lambda x, ct: (2 * x * ct,)
    ... )
    ... def square(x):
    ...   return x * x
    >>> _, pullback = autodiff.reverse(lambda x: (square(x),), [3.0])
    >>> float(pullback([1.0])[0])
    6.0
  """
  if (vjp_fwd is None) != (vjp_bwd is None):
    raise ValueError("vjp_fwd and vjp_bwd must be given together")
  nondiff = tuple(nondiff_argnums)

  def decorate(f: Callable[..., _T]) -> Callable[..., _T]:
    rules = rules_lib.Rules(f, vjp_fwd, vjp_bwd, jvp_fn, nondiff, eager)

    @functools.wraps(f)
    def wrapped(*args: object) -> _T:
      fixed, free = rules.split(args)
      leaves, in_tree = jax.tree.flatten(free)
      is_traced = any(isinstance(x, jax.core.Tracer) for x in leaves)
      if not leaves or (eager and not is_traced):
        return f(*args)
      leaves = [jnp.asarray(x) for x in leaves]
      op = rule_maps.Call(rules, _hashable(rules, fixed), in_tree)
      out_tree = op.out_tree(leaves)
      return jax.tree.unflatten(out_tree, multilinear.bind(op, leaves))

    wrapped.rules = rules  # type: ignore[attr-defined]
    return wrapped

  return decorate


def _hashable(rules: rules_lib.Rules, fixed: tuple[_T, ...]) -> tuple[_T, ...]:
  for position, value in zip(rules.nondiff_argnums, fixed, strict=True):
    try:
      hash(value)
    except TypeError:
      raise TypeError(
        f"{rules.name}: argument {position} is in nondiff_argnums and must be"
        f" hashable, not {type(value).__name__}; pass arrays as differentiable"
        " arguments and give them a zero cotangent"
      ) from None
  return fixed
