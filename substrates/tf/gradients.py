"""Derivatives of functions of arrays, by TensorFlow's autodiff."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


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
  gradient = pullback(tf.ones_like(value))
  return value, gradient[0] if len(args) == 1 else gradient


def vjp(
  f: Callable[..., Any], *args: Any
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
  """Returns `f(*args)` and the function cotangent -> tuple of cotangents.

  Raises:
    NotImplementedError: `f` has no reverse-mode rule.
  """
  fixed = _nondiff_argnums(f)
  inputs = [x if i in fixed else _tensor(x) for i, x in enumerate(args)]
  free = [x for i, x in enumerate(inputs) if i not in fixed]
  # Persistent, as the pullback may be called more than once.
  with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(free)
    value = f(*inputs)

  def pullback(cotangent: Any) -> tuple[Any, ...]:
    found = iter(
      tape.gradient(
        value,
        free,
        output_gradients=tf.nest.map_structure(
          lambda c, v: tf.convert_to_tensor(c, v.dtype), cotangent, value
        ),
        unconnected_gradients=tf.UnconnectedGradients.ZERO,
      )
    )
    return tuple(
      None if i in fixed else next(found) for i in range(len(inputs))
    )

  return value, pullback


def jvp(
  f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
  """Returns `f(*primals)` and its derivative along `tangents`.

  Raises:
    NotImplementedError: `f` has no forward-mode rule.
  """
  fixed = _nondiff_argnums(f)
  # Copies, so that an array given twice is two primals.
  inputs = [
    x if i in fixed else tf.identity(_tensor(x)) for i, x in enumerate(primals)
  ]
  free = [x for i, x in enumerate(inputs) if i not in fixed]
  directions = [
    tf.convert_to_tensor(t, inputs[i].dtype)
    for i, t in enumerate(tangents)
    if i not in fixed
  ]
  with tf.autodiff.ForwardAccumulator(free, directions) as accumulator:
    value = f(*inputs)
  tangent = accumulator.jvp(
    value, unconnected_gradients=tf.UnconnectedGradients.ZERO
  )
  return value, tangent


def stop_gradient(x: Any) -> Any:
  """Returns `x`, taken as a constant by every derivative."""
  return tf.stop_gradient(x)


def _tensor(x: Any) -> tf.Tensor:
  """As a tensor; Python numbers become float64, as in NumPy."""
  if hasattr(x, "dtype"):
    return tf.convert_to_tensor(x)
  return tf.convert_to_tensor(x, tf.float64)


def _nondiff_argnums(f: Callable[..., Any]) -> tuple[int, ...]:
  """The arguments that `custom_gradient` was told not to differentiate."""
  rules = getattr(f, "rules", None)
  return () if rules is None else rules.nondiff_argnums
