"""Native linear solves and moments of Markov chains, for tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import array_functions
from phasic.substrates.tf.internal import elimination_op
from phasic.substrates.tf.internal import moments_op
from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal.arrays import Array
from phasic.substrates.tf.internal.arrays import ArrayLike


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
  results = elimination_op.eliminate(
    indices,
    full[0],
    full[1],
    None if per_edge is None else full[2],
    transposed,
    gives_edges,
  )
  return tuple(results) if gives_edges else results[0]


def moments(
  fallback: Callable[..., tuple[Array, ...]],
  operands: Sequence[ArrayLike],
  options: Mapping[str, Any],
) -> tuple[Array, ...]:
  """Computes moments of the absorption time by the native kernel."""
  initial = operands[moments_op.INITIAL]
  rank = static.rank(initial) - 1
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
  return moments_op.moments(fallback, [indices, *arrays], **options)


def moments_of_edges(
  weights_of: Callable[..., Array],
  initial: object,
  edges: tuple[object, ...],
  atom: object,
  options: Mapping[str, Any],
) -> tuple[Array, ...] | None:
  """Returns None: the conversion of arrays costs little compared to a call."""
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
