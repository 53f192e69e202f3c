"""Forward and reverse mode of functions of arrays, by TensorFlow's autodiff."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from phasic.substrates.tf.internal import trees


def flatten(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
  """Returns the leaves of a structure, and what puts such leaves together."""
  return trees.flatten(tree), lambda leaves: trees.pack(tree, leaves)


def leaves_like(tree: Any, like: Any) -> list[Any]:
  """Returns what a structure has in the places of another one's leaves.

  Raises:
    TypeError: the structures differ.
    ValueError: the same.
  """
  return trees.flatten_up_to(like, tree)


def reverse(
  f: Callable[..., Any], arrays: Sequence[Any]
) -> tuple[tuple[Any, ...], Callable[[Sequence[Any]], Sequence[Any]]]:
  """Returns the arrays that `f` gives, a tuple, and their pullback."""
  # Copies, so that an array given twice is two.
  inputs = [tf.identity(x) for x in arrays]
  # Persistent, as the pullback may be called more than once.
  with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(inputs)
    values = tuple(tf.convert_to_tensor(x) for x in f(*inputs))

  def pullback(cotangents: Sequence[Any]) -> Sequence[Any]:
    dtypes = [x.dtype for x in values]
    places = [i for i, t in enumerate(dtypes) if t.is_floating or t.is_complex]
    # TensorFlow's cotangents of complex numbers are the conjugates of ours.
    bars = tape.gradient(
      [values[i] for i in places],
      inputs,
      output_gradients=[tf.math.conj(cotangents[i]) for i in places],
      unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
    return [tf.math.conj(tf.convert_to_tensor(bar)) for bar in bars]

  return values, pullback


def forward(
  f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
  """Returns the arrays that `f` gives, a tuple, and their tangents."""
  inputs = [tf.identity(x) for x in arrays]
  with tf.autodiff.ForwardAccumulator(inputs, list(tangents)) as accumulator:
    values = tuple(tf.convert_to_tensor(x) for x in f(*inputs))
  moved = [
    accumulator.jvp(x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    for x in values
  ]
  return values, moved


def stop_gradient(x: Any) -> Any:
  """Returns `x`, taken as a constant by every derivative."""
  return tf.stop_gradient(x)
