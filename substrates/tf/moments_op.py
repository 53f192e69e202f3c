"""The native op for moments of the absorption time, and its gradient.

The op returns gradients along with moments. The gradients are differentiated by
the portable function, which uses the op of `elimination_op`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from phasic.substrates.tf.internal import kernel_calls
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal import xla_calls

# The portable function. The first call stores it here, as a registered gradient
# receives only the op.
_fallbacks: list[Callable[..., Sequence[tf.Tensor]]] = []


# Positions of operands: initial, and all that are differentiable: weights,
# exits and initial.
INITIAL = 3
_FREE = (1, 2, INITIAL)


def moments(
  fallback: Callable[..., Sequence[tf.Tensor]],
  operands: Sequence[tf.Tensor],
  gives_variance: bool,
  **options: float,
) -> tuple[tf.Tensor, ...]:
  """Computes the mean and optionally the variance of the absorption time.

  Args:
    fallback: as in `elimination_ops.moments`.
    operands: as in `elimination_ops.moments`, with the full batch shape;
      indices have batch dimensions of one.
    gives_variance: whether to return the variance.
    **options: further options of `elimination_ops.moments`.
  """
  if fallback not in _fallbacks:
    _fallbacks.append(fallback)
  return tuple(_call(operands, gives_variance, False, options))


def _call(
  operands: Sequence[tf.Tensor],
  gives_variance: bool,
  gives_gradients: bool,
  options: dict[str, float],
) -> list[tf.Tensor]:
  """Computes moments, optionally with gradients for the free operands."""
  if phase_type_op.in_xla():
    return kernel_calls.moments(
      operands, _FREE, gives_variance, gives_gradients, options
    )
  names = ("indices", "weights", "exits", "initial", "atom", "stay")
  count = 2 if gives_variance else 1
  mean, variance, gradients = phase_type_op.native_ops().phasic_moments(
    **dict(zip(names, operands, strict=True)),
    V=count - 1,
    G=len(_FREE) * count if gives_gradients else 0,
    **options,
  )
  if not tf.executing_eagerly():
    free = [operands[i] for i in _FREE]
    for x in (mean, *variance):
      x.set_shape(operands[INITIAL].shape[:-1])
    for x, operand in zip(gradients, free * count, strict=False):
      x.set_shape(operand.shape)
  return [mean, *variance, *gradients]


@xla_calls.register_gradient("PhasicMoments")
def _gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  operands = list(op.inputs)
  count = 1 + op.get_attr("V")
  options = {
    name: op.get_attr(name) for name in ("discrete", "gives_root", "epsilon")
  }
  cotangents = [
    tf.zeros_like(x) if ct is None else tf.convert_to_tensor(ct)
    for x, ct in zip(op.outputs, upstream, strict=True)
  ]
  for ct in cotangents[:count]:
    # Forward mode in a graph gives cotangents of unknown shape.
    ct.set_shape(operands[INITIAL].shape[:-1])
  gradients: list[tf.Tensor | None] = [None] * len(operands)
  if len(cotangents) > count:
    free = _gradient_cotangents(operands, count, cotangents, options)
  else:
    results = _call(operands, count == 2, True, options)
    free = [0.0] * len(_FREE)
    for i, ct in enumerate(cotangents):
      if upstream[i] is None:
        continue
      for j in range(len(_FREE)):
        gradient = results[count + len(_FREE) * i + j]
        event = [1] * (gradient.shape.rank - ct.shape.rank)
        unit = tf.reshape(ct, tf.stack([*static.shape(ct), *event]))
        # Moments that are not used have zeros as cotangents, and gradients that
        # may be out of range.
        free[j] += tf.math.multiply_no_nan(gradient, unit)
  for i, x in zip(_FREE, free, strict=True):
    gradients[i] = x
  return gradients


def _gradient_cotangents(
  operands: Sequence[tf.Tensor],
  count: int,
  cotangents: Sequence[tf.Tensor],
  options: dict[str, float],
) -> list[tf.Tensor]:
  """Computes the free operands' cotangents for an op with gradients."""
  if not _fallbacks:
    raise NotImplementedError(
      "second derivatives of moments are not stored in a SavedModel: call any "
      "moment in this process first, e.g. PhaseType.mean"
    )
  indices, *rest = operands
  arguments = [tf.reshape(indices, tf.shape(indices)[-2:]), *rest]
  free = [operands[i] for i in _FREE]
  zero = tf.UnconnectedGradients.ZERO
  with tf.GradientTape() as outer:
    outer.watch(free)
    with tf.GradientTape(persistent=True) as inner:
      inner.watch(free)
      values = _fallbacks[0](*arguments, gives_variance=count == 2, **options)
    results = list(values)
    for x in values:
      results += inner.gradient(x, free, unconnected_gradients=zero)
  return outer.gradient(
    results,
    free,
    output_gradients=list(cotangents),
    unconnected_gradients=zero,
  )
