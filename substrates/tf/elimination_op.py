"""The native op for linear systems of chains, and its gradient.

Solutions are linear in the right-hand sides. The transpose is the op with the
other value of `transposed`, and the derivative with respect to the weights uses
the op too. So derivatives of every order exist.
"""

from __future__ import annotations

import tensorflow as tf

from phasic.substrates.tf.internal import kernel_calls
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.internal import xla_calls


def eliminate(
  indices: tf.Tensor,
  weights: tf.Tensor,
  per_phase: tf.Tensor,
  per_edge: tf.Tensor | None,
  transposed: bool,
  gives_edges: bool,
) -> list[tf.Tensor]:
  """Solves linear systems of chains.

  Returns the result per phase and, if requested, per edge.

  All arguments except the indices have the full batch shape.
  """
  if phase_type_op.in_xla():
    inputs = [indices, weights, per_phase]
    inputs += [] if per_edge is None else [per_edge]
    return kernel_calls.eliminate(inputs, transposed, gives_edges)
  results, at_edges = phase_type_op.native_ops().phasic_eliminate(
    indices=indices,
    weights=weights,
    per_phase=per_phase,
    per_edge=[] if per_edge is None else [per_edge],
    transposed=transposed,
    G=1 if gives_edges else 0,
  )
  results.set_shape(per_phase.shape)
  for x in at_edges:
    x.set_shape(weights.shape.concatenate(per_phase.shape[-1:]))
  return [results, *at_edges]


@xla_calls.register_gradient("PhasicEliminate")
def _gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  indices, weights, per_phase, *per_edge = op.inputs
  transposed = op.get_attr("transposed")
  cotangents = [
    tf.zeros_like(x) if ct is None else tf.convert_to_tensor(ct)
    for x, ct in zip(op.outputs, upstream, strict=True)
  ]
  edges_cotangent = cotangents[1] if len(cotangents) > 1 else None
  back, back_edges = eliminate(
    indices, weights, cotangents[0], edges_cotangent, not transposed, True
  )
  if len(op.outputs) > 1:
    at_edges = op.outputs[1]
  else:
    edges = per_edge[0] if per_edge else None
    _, at_edges = eliminate(
      indices, weights, per_phase, edges, transposed, True
    )
  weights_cotangent = -tf.reduce_sum(at_edges * back_edges, axis=-1)
  return [None, weights_cotangent, back, *([back_edges] if per_edge else [])]
