"""Functions with custom derivative rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import TypeVar

from phasic.internal.tape import modes
from phasic.internal.tape import rules as tape_rules

_Function = TypeVar("_Function", bound=Callable[..., object])


def custom_gradient(
  vjp_fwd: Callable[..., tuple[object, object]] | None = None,
  vjp_bwd: Callable[..., object] | None = None,
  jvp_fn: Callable[..., tuple[object, object]] | None = None,
  nondiff_argnums: Sequence[int] = (),
  eager: bool = False,
) -> Callable[[_Function], _Function]:
  """Returns a decorator that gives a function custom derivative rules.

  Args:
    vjp_fwd: `vjp_fwd(*args) -> (out, residuals)`.
    vjp_bwd: `vjp_bwd(*nondiff_args, residuals, cotangent) -> tuple`, one
      entry for each differentiable argument, in their order.
    jvp_fn: `jvp_fn(*nondiff_args, primals, tangents) -> (out, tangent_out)`,
      where primals and tangents are tuples over the differentiable arguments.
    nondiff_argnums: positions of the arguments that are not differentiated.
    eager: whether eager calls run the function uncompiled, for functions that
      call the host; else a backend may compile it.

  Derivatives whose rule is missing raise NotImplementedError with the names of
  the function and the rule.

  Example:

    >>> from phasic.internal import autodiff, custom_gradient
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
  del eager  # NumPy never compiles, so the argument has no effect.
  rules = tape_rules.Rules(vjp_fwd, vjp_bwd, jvp_fn, tuple(nondiff_argnums))

  def decorate(f: _Function) -> _Function:
    @functools.wraps(f)
    def wrapped(*args: object) -> object:
      if modes.holds_traced(args):
        return tape_rules.call(f, rules, args)
      return f(*args)

    wrapped.rules = rules  # type: ignore[attr-defined]
    return wrapped  # type: ignore[return-value]

  return decorate
