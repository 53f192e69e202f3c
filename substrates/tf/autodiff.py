"""Forward-mode and reverse-mode differentiation by TensorFlow."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from phasic.substrates.tf.internal import trees


def flatten(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
  """Returns the leaves of a pytree, and a function that rebuilds it."""
  return trees.flatten(tree), lambda leaves: trees.pack(tree, leaves)


def leaves_like(tree: Any, like: Any) -> list[Any]:
  """Returns the subtree of `tree` at each leaf of the pytree `like`."""
  return trees.flatten_up_to(like, tree)


def reverse(
  f: Callable[..., Any], arrays: Sequence[Any]
) -> tuple[tuple[Any, ...], Callable[[Sequence[Any]], Sequence[Any]]]:
  """Returns the results of `f`, a tuple, and the pullback of `f` (vjp)."""
  # Copy each array, so that the same array in two arguments has two gradients.
  inputs = [tf.identity(x) for x in arrays]
  # The tape is persistent, as the pullback may be called more than once.
  with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(inputs)
    values = tuple(tf.convert_to_tensor(x) for x in f(*inputs))

  def pullback(cotangents: Sequence[Any]) -> Sequence[Any]:
    dtypes = [x.dtype for x in values]
    places = [i for i, t in enumerate(dtypes) if t.is_floating or t.is_complex]
    # For complex numbers, TensorFlow's cotangents are the complex conjugates of
    # the cotangents in phasic's derivative rules.
    gradients = tape.gradient(
      [values[i] for i in places],
      inputs,
      output_gradients=[tf.math.conj(cotangents[i]) for i in places],
      unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
    return [
      tf.math.conj(tf.convert_to_tensor(gradient)) for gradient in gradients
    ]

  return values, pullback


def forward(
  f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
  """Returns the results of `f`, a tuple, and their tangents (jvp)."""
  inputs = [tf.identity(x) for x in arrays]
  with tf.autodiff.ForwardAccumulator(inputs, list(tangents)) as accumulator:
    values = tuple(tf.convert_to_tensor(x) for x in f(*inputs))
  moved = [
    accumulator.jvp(x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    for x in values
  ]
  return values, moved


def stop_gradient(x: Any) -> Any:
  """Returns `x` as a constant for differentiation."""
  return tf.stop_gradient(x)
