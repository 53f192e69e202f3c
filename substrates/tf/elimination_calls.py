"""Native linear solves and moments of Markov chains, for tensors.

Solutions are linear in the right-hand sides. The transpose is the op with the
other value of `transposed`, and the derivative with respect to the weights uses
the op too. So derivatives of every order exist.

The op for moments returns gradients along with moments. The gradients are
differentiated by the portable function, which uses the op for solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import array_functions
from phasic.substrates.tf.internal import kernel_calls
from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal import xla_programs
from phasic.substrates.tf.internal.arrays import Array, ArrayLike

# The inputs of the op for moments, followed by the positions of its
# differentiable inputs.
_OPERANDS = ("indices", "weights", "exits", "initial", "atom", "stay")
_INITIAL = 3
_FREE = (1, 2, _INITIAL)
# The portable function for moments. The first call stores it here, as a
# registered gradient receives only the op.
_fallbacks: list[Callable[..., Sequence[tf.Tensor]]] = []


def eliminate(
  fallback: Callable[..., object],
  indices: ArrayLike,
  weights: ArrayLike,
  per_phase: ArrayLike,
  per_edge: ArrayLike | None,
  transposed: bool,
  gives_edges: bool,
) -> Array | tuple[Array, ...]:
  """Solves the linear system of a chain by the native kernel."""
  indices = tf.convert_to_tensor(indices, tf.int32)
  inputs = [weights, per_phase, *([] if per_edge is None else [per_edge])]
  ranks = (1, 2, 2)[: len(inputs)]
  full = _with_one_batch(inputs, ranks, static.shape(indices)[:-2])
  results = _eliminate([indices, *full], transposed, gives_edges)
  return tuple(results) if gives_edges else results[0]


def moments(
  fallback: Callable[..., tuple[Array, ...]],
  operands: Sequence[ArrayLike],
  options: Mapping[str, Any],
) -> tuple[Array, ...]:
  """Computes moments of the absorption time by the native kernel."""
  if fallback not in _fallbacks:
    _fallbacks.append(fallback)
  rank = static.rank(operands[_INITIAL]) - 1
  arrays = _tensors(operands[1:])
  if rank:
    events = [static.rank(x) - rank for x in arrays]
    arrays = _with_one_batch(arrays, events)
  indices = operands[0]
  shape = (*[1] * rank, *static.shape(indices))
  if isinstance(indices, onp.ndarray) and indices.size == 0:
    indices = array_functions.zeros(shape, "int32")
  else:
    indices = tf.convert_to_tensor(indices, tf.int32)
    indices = tf.reshape(indices, tf.stack(shape)) if rank else indices
  return tuple(_moments([indices, *arrays], gives_gradients=False, **options))


def moments_of_edges(
  weights_of: Callable[..., Array],
  initial: object,
  edges: tuple[object, ...],
  atom: object,
  options: Mapping[str, Any],
) -> tuple[Array, ...] | None:
  """Returns None, so that `moments` is called: converting arrays is cheap."""
  return None


def _with_one_batch(
  values: Sequence[ArrayLike],
  event_ranks: Sequence[int],
  *batches: static.Shape,
) -> list[tf.Tensor]:
  """Broadcasts tensors of one dtype to their common batch shape."""
  tensors = _tensors(values)
  shapes = [static.shape(x) for x in tensors]
  ends = [len(s) - rank for s, rank in zip(shapes, event_ranks, strict=True)]
  pairs = list(zip(shapes, ends, strict=True))
  batch_shapes = [s[:end] for s, end in pairs]
  if not any((*batch_shapes, *batches)):
    return tensors
  batch = static.broadcast_shapes(*batch_shapes, *batches)
  return [
    tf.broadcast_to(x, tf.stack([*batch, *s[end:]]))
    for x, (s, end) in zip(tensors, pairs, strict=True)
  ]


def _tensors(values: Sequence[ArrayLike]) -> list[tf.Tensor]:
  """Converts arrays to tensors of one dtype."""
  first = array_functions.asarray(values[0])
  return [first, *(array_functions.asarray(x, first.dtype) for x in values[1:])]


def _eliminate(
  operands: Sequence[tf.Tensor], transposed: bool, gives_edges: bool
) -> list[tf.Tensor]:
  """Solves linear systems of chains.

  Operands are indices, weights, per_phase and perhaps per_edge, all but the
  indices with the full batch shape. Returns the result per phase and, if
  requested, per edge.
  """
  indices, weights, per_phase, *per_edge = operands

  def types(inputs: Sequence[tf.Tensor]) -> list[xla_programs.Result]:
    edges, phases = (xla_programs.dims_of(inputs[i], i) for i in (1, 2))
    shapes = [phases, (*edges, phases[-1])]
    return [
      xla_programs.Result(weights.dtype, dims)
      for dims in shapes[: 1 + gives_edges]
    ]

  return kernel_calls.call(
    "eliminate",
    {
      "indices": indices,
      "weights": weights,
      "per_phase": per_phase,
      "per_edge": per_edge,
    },
    {"transposed": transposed, "G": int(gives_edges)},
    {
      "transposed": transposed,
      "takes_edges": bool(per_edge),
      "gives_edges": gives_edges,
    },
    types,
  )


@xla_calls.register_gradient("PhasicEliminate")
def _eliminate_gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  indices, weights, _, *per_edge = op.inputs
  transposed = op.get_attr("transposed")
  cotangents = xla_calls.cotangents(op, upstream)
  back, back_edges = _eliminate(
    [indices, weights, *cotangents], not transposed, True
  )
  if len(op.outputs) > 1:
    at_edges = op.outputs[1]
  else:
    _, at_edges = _eliminate(op.inputs, transposed, True)
  weights_cotangent = -tf.reduce_sum(at_edges * back_edges, axis=-1)
  return [None, weights_cotangent, back, *([back_edges] if per_edge else [])]


def _moments(
  operands: Sequence[tf.Tensor],
  gives_variance: bool,
  gives_gradients: bool,
  **options: Any,
) -> list[tf.Tensor]:
  """Computes moments, optionally with gradients for the free operands.

  All operands but the indices have the full batch shape.
  """
  count = 2 if gives_variance else 1

  def types(inputs: Sequence[tf.Tensor]) -> list[xla_programs.Result]:
    rank = inputs[_INITIAL].shape.rank - 1
    events = {i: x.shape.rank - rank for i, x in enumerate(inputs)}
    batch = kernel_calls.batch_dims(inputs, events)
    shapes = [batch] * count
    if gives_gradients:
      shapes += [
        (*batch, *xla_programs.dims_of(inputs[i], i)[rank:]) for i in _FREE
      ] * count
    return [xla_programs.Result(inputs[1].dtype, dims) for dims in shapes]

  lengths = {"V": count - 1, "G": len(_FREE) * count * gives_gradients}
  return kernel_calls.call(
    "moments",
    dict(zip(_OPERANDS, operands, strict=True)),
    {**lengths, **options},
    {
      **options,
      "gives_variance": gives_variance,
      "gives_gradients": gives_gradients,
    },
    types,
  )


@xla_calls.register_gradient("PhasicMoments")
def _moments_gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  operands = list(op.inputs)
  count = 1 + op.get_attr("V")
  options = {
    name: op.get_attr(name) for name in ("discrete", "gives_root", "epsilon")
  }
  cotangents = xla_calls.cotangents(op, upstream)
  for ct in cotangents[:count]:
    # Forward mode in a graph gives cotangents of unknown shape.
    ct.set_shape(operands[_INITIAL].shape[:-1])
  gradients: list[tf.Tensor | None] = [None] * len(operands)
  if len(cotangents) > count:
    free = _gradient_cotangents(operands, count, cotangents, options)
  else:
    results = _moments(operands, count == 2, True, **options)
    free = [0.0] * len(_FREE)
    for i, ct in enumerate(cotangents):
      if upstream[i] is None:
        continue
      for j in range(len(_FREE)):
        gradient = results[count + len(_FREE) * i + j]
        event = [1] * (gradient.shape.rank - ct.shape.rank)
        unit = tf.reshape(ct, tf.stack([*static.shape(ct), *event]))
        # The cotangent of a moment that is not used is zero. Then the product
        # must be zero, too, even if the gradient is infinite or NaN.
        free[j] += tf.math.multiply_no_nan(gradient, unit)
  for i, x in zip(_FREE, free, strict=True):
    gradients[i] = x
  return gradients


def _gradient_cotangents(
  operands: Sequence[tf.Tensor],
  count: int,
  cotangents: Sequence[tf.Tensor],
  options: Mapping[str, Any],
) -> list[tf.Tensor]:
  """Computes the free operands' cotangents if the op returns gradients too."""
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
