"""Forward-mode and reverse-mode differentiation by TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from phasic.substrates.tf.internal import structures
from phasic.substrates.tf.internal.arrays import Array, ArrayLike, Tree


def flatten(
  tree: object,
) -> tuple[list[Tree], Callable[[Sequence[object]], Tree]]:
  """Returns the leaves of a pytree, and a function that rebuilds it."""
  return structures.flatten(tree), lambda leaves: structures.pack(tree, leaves)


def leaves_like(tree: object, like: object) -> list[Tree]:
  """Returns the subtree of `tree` at each leaf of the pytree `like`."""
  return structures.flatten_up_to(like, tree)


def reverse(
  f: Callable[..., Sequence[ArrayLike]], arrays: Sequence[ArrayLike]
) -> tuple[tuple[Array, ...], Callable[[Sequence[ArrayLike]], Sequence[Array]]]:
  """Returns the tuple of results of `f`, and the pullback of `f` (vjp)."""
  # Copy each array, so that the same array in two arguments has two gradients.
  inputs = [tf.identity(x) for x in arrays]
  # The tape is persistent, as the pullback may be called more than once.
  with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(inputs)
    values = tuple(tf.convert_to_tensor(x) for x in f(*inputs))

  def pullback(cotangents: Sequence[ArrayLike]) -> Sequence[Array]:
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
  f: Callable[..., Sequence[ArrayLike]],
  arrays: Sequence[ArrayLike],
  tangents: Sequence[Array],
) -> tuple[Sequence[Array], Sequence[Array]]:
  """Returns the results of `f`, a tuple, and their tangents (jvp)."""
  inputs = [tf.identity(x) for x in arrays]
  with tf.autodiff.ForwardAccumulator(inputs, list(tangents)) as accumulator:
    values = tuple(tf.convert_to_tensor(x) for x in f(*inputs))
  moved = [
    accumulator.jvp(x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    for x in values
  ]
  return values, moved


def stop_gradient(x: ArrayLike) -> Array:
  """Returns `x` as a constant for differentiation."""
  return tf.stop_gradient(x)
