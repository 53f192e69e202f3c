"""The native op of moments by elimination and its registered gradient.

The op gives gradients along with moments. Derivatives of the gradients are those
of the portable function, which goes by the op of `elimination_op`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from phasic.substrates.tf.internal import phase_type_op

# The portable function, once there has been a call: a gradient finds nothing
# but the op.
_fallbacks: list[Callable[..., Any]] = []


def moments(
  fallback: Callable[..., Any],
  indices: tf.Tensor,
  arrays: Sequence[tf.Tensor],
  gives_variance: bool,
  **options: Any,
) -> tuple[tf.Tensor, ...]:
  """Returns the mean and, where wanted, the variance, (...).

  Args:
    fallback: as in `elimination_ops.moments`.
    indices: (2, m).
    arrays: weights, initial, atom and stay, with the full batch shape.
    gives_variance: whether the variance is wanted.
    **options: the others of `elimination_ops.moments`.
  """
  if fallback not in _fallbacks:
    _fallbacks.append(fallback)
  rank = len(arrays[0].shape) - 1
  shape = tf.concat([tf.ones([rank], tf.int32), tf.shape(indices)], axis=0)
  indices = tf.reshape(indices, shape)
  return tuple(_call(indices, arrays, gives_variance, False, options))


def _call(
  indices: tf.Tensor,
  arrays: Sequence[tf.Tensor],
  gives_variance: bool,
  gives_gradients: bool,
  options: dict[str, Any],
) -> list[tf.Tensor]:
  """Returns moments and, where wanted, gradients in weights and initial."""
  weights, initial, atom, stay = arrays
  count = 2 if gives_variance else 1
  mean, variance, gradients = phase_type_op.native_ops().phasic_moments(
    indices=indices,
    weights=weights,
    initial=initial,
    atom=atom,
    stay=stay,
    V=count - 1,
    G=2 * count if gives_gradients else 0,
    **options,
  )
  for x in (mean, *variance):
    x.set_shape(weights.shape[:-1])
  for x, array in zip(gradients, [weights, initial] * count, strict=False):
    x.set_shape(array.shape)
  return [mean, *variance, *gradients]


@tf.RegisterGradient("PhasicMoments")
def _gradient(op: Any, *upstream: Any) -> list[tf.Tensor | None]:
  indices, *arrays = op.inputs
  count = 1 + op.get_attr("V")
  options = {
    name: op.get_attr(name) for name in ("discrete", "gives_root", "epsilon")
  }
  cotangents = [
    tf.zeros_like(x) if ct is None else tf.convert_to_tensor(ct)
    for x, ct in zip(op.outputs, upstream, strict=True)
  ]
  if len(cotangents) > count:
    found = _of_gradients(indices, arrays, count, cotangents, options)
    return [None, *found, None, None]
  results = _call(indices, arrays, count == 2, True, options)
  found = [0.0, 0.0]
  for i, ct in enumerate(cotangents):
    if upstream[i] is None:
      continue
    for j in (0, 1):
      found[j] += ct[..., None] * results[count + 2 * i + j]
  return [None, *found, None, None]


def _of_gradients(
  indices: tf.Tensor,
  arrays: Sequence[tf.Tensor],
  count: int,
  cotangents: Sequence[tf.Tensor],
  options: dict[str, Any],
) -> list[tf.Tensor]:
  """The cotangents of weights and initial, of those of all results."""
  if not _fallbacks:
    raise NotImplementedError(
      "second derivatives of moments: a SavedModel cannot bring array code with "
      "it; call a function of phasic's that has moments first"
    )
  edges = tf.reshape(indices, tf.shape(indices)[-2:])
  weights, initial, *others = arrays
  free = [weights, initial]
  zero = tf.UnconnectedGradients.ZERO
  with tf.GradientTape() as outer:
    outer.watch(free)
    with tf.GradientTape(persistent=True) as inner:
      inner.watch(free)
      found = _fallbacks[0](
        edges, *free, *others, gives_variance=count == 2, **options
      )
    results = list(found)
    for x in found:
      results += inner.gradient(x, free, unconnected_gradients=zero)
  return outer.gradient(
    results,
    free,
    output_gradients=list(cotangents),
    unconnected_gradients=zero,
  )
