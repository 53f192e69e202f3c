"""Functions with derivative rules of their own.

Ops have registered gradients (see phase_type_op). Rules in array code go
through one level of `tf.custom_gradient`. TensorFlow derives forward mode
from the reverse rule, by transposing it, so `jvp_fn` is used only where there
is no reverse rule, and is then transposed itself: both modes and all orders
work with either rule.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf


class Rules(NamedTuple):
  """The derivative rules of a function, None where there is none."""

  vjp_fwd: Callable[..., Any] | None
  vjp_bwd: Callable[..., Any] | None
  jvp_fn: Callable[..., Any] | None
  nondiff_argnums: tuple[int, ...]


def custom_gradient(
  vjp_fwd: Callable[..., Any] | None = None,
  vjp_bwd: Callable[..., Any] | None = None,
  jvp_fn: Callable[..., Any] | None = None,
  nondiff_argnums: Sequence[int] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
  """Returns a decorator that gives a function its derivative rules.

  Args:
    vjp_fwd: `vjp_fwd(*args) -> (out, residuals)`.
    vjp_bwd: `vjp_bwd(*nondiff_args, residuals, cotangent) -> tuple`, one
      entry for each differentiable argument, in their order.
    jvp_fn: `jvp_fn(*nondiff_args, primals, tangents) -> (out, tangent_out)`,
      where primals and tangents are tuples over the differentiable arguments.
    nondiff_argnums: positions of the arguments that are not differentiated.

  Asking for a derivative whose rule is missing raises NotImplementedError
  with the function's name and the rule's.

  Everything that the function depends on has to be an argument. The rules are
  array code and are differentiated for higher orders; `vjp_fwd` runs when a
  derivative is asked for, and may call the decorated function.

  Example:

    >>> import tensorflow as tf
    >>> from phasic.substrates.tf.internal import custom_gradient, gradients
    >>> @custom_gradient.custom_gradient(
    ...   vjp_fwd=lambda x: (x * x, x), vjp_bwd=lambda x, ct: (2 * x * ct,)
    ... )
    ... def square(x):
    ...   return x * x
    >>> float(gradients.value_and_gradient(square, 3.0)[1])
    6.0
  """
  if (vjp_fwd is None) != (vjp_bwd is None):
    raise ValueError("vjp_fwd and vjp_bwd must be given together")
  rules = Rules(vjp_fwd, vjp_bwd, jvp_fn, tuple(nondiff_argnums))

  def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def wrapped(*args: Any) -> Any:
      fixed = [args[i] for i in rules.nondiff_argnums]
      free = [a for i, a in enumerate(args) if i not in rules.nondiff_argnums]

      def merge(values: Sequence[Any]) -> list[Any]:
        left = iter(values)
        return [
          args[i] if i in rules.nondiff_argnums else next(left)
          for i in range(len(args))
        ]

      @tf.custom_gradient
      def call(*values: Any) -> tuple[Any, Callable[..., Any]]:
        out = f(*merge(values))

        def gradient(*cotangents: Any) -> Any:
          cotangent = tf.nest.pack_sequence_as(out, cotangents)
          if rules.vjp_fwd is not None and rules.vjp_bwd is not None:
            _, residuals = rules.vjp_fwd(*merge(values))
            return tuple(rules.vjp_bwd(*fixed, residuals, cotangent))
          if rules.jvp_fn is not None:
            return _transpose(rules.jvp_fn, fixed, values, cotangent)
          name = getattr(f, "__name__", repr(f))
          raise NotImplementedError(
            f"{name} has neither vjp_fwd and vjp_bwd nor jvp_fn"
          )

        return out, gradient

      return call(*[_tensor(x) for x in free])

    wrapped.rules = rules  # type: ignore[attr-defined]
    return wrapped

  return decorate


def _transpose(
  jvp_fn: Callable[..., Any],
  fixed: Sequence[Any],
  primals: Sequence[tf.Tensor],
  cotangent: Any,
) -> list[tf.Tensor]:
  """The reverse rule of a forward rule, which is linear in its tangents."""
  tangents = [tf.zeros_like(x) for x in primals]
  with tf.GradientTape() as tape:
    tape.watch(tangents)
    _, tangent_out = jvp_fn(*fixed, tuple(primals), tuple(tangents))
  return tape.gradient(
    tangent_out,
    tangents,
    output_gradients=cotangent,
    unconnected_gradients=tf.UnconnectedGradients.ZERO,
  )


def _tensor(x: Any) -> tf.Tensor:
  """As a tensor; Python numbers become float64, as in NumPy."""
  if hasattr(x, "dtype"):
    return tf.convert_to_tensor(x)
  return tf.convert_to_tensor(x, tf.float64)
