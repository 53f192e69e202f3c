"""Users' native ops in TensorFlow.

Each op has a registered gradient, which looks up the binding by the attribute
`bound`. TensorFlow transposes registered gradients for forward mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import os

import tensorflow as tf

from phasic.substrates.tf.internal import native_files
from phasic.substrates.tf.internal.arrays import ArrayLike
from phasic.substrates.tf.internal.native import native_calls
from phasic.substrates.tf.internal.native import native_declarations
from phasic.substrates.tf.internal.native import native_gradients
from phasic.substrates.tf.internal.native import native_libraries
from phasic.substrates.tf.internal.native import native_shapes


def declaring_library(
  op: str,
  library: str | os.PathLike[str] | None,
  tf_library: str | os.PathLike[str] | None,
) -> str:
  """Loads the library that has an op's declaration; returns its path."""
  if library is not None or tf_library is None:
    return native_libraries.load(op, library)
  path = native_files.whole_path(op, "tf_library", tf_library)
  native_calls.load(path, op)
  return path


def load(function: native_declarations.NativeFunction) -> None:
  """Loads an op's library and checks it, so that errors are raised early."""
  if function.handler:
    raise NotImplementedError(
      f"op {function.declaration.name} is an XLA handler, which only JAX can "
      "call: TensorFlow needs an op made by PHASIC_OP"
    )
  for declaration in (
    function.declaration,
    *function.forward,
    *function.adjoint,
  ):
    native_calls.op_function(function.tf_library, declaration)
  native_gradients.register(function)


def make(
  function: native_declarations.NativeFunction, options: Mapping[str, object]
) -> Callable[..., tuple[tf.Tensor, ...]]:
  """Returns a native op as a differentiable function of its operands."""
  declaration = function.declaration
  text = native_declarations.options_text(declaration, options)
  key = native_gradients.register(function)

  def call(*operands: ArrayLike) -> tuple[tf.Tensor, ...]:
    arrays = [tf.convert_to_tensor(x) for x in operands]
    if function.forward or function.adjoint:
      arrays = _broadcast(declaration, arrays)
    return tuple(native_calls.call(function, key, declaration, arrays, text))

  call.__name__ = declaration.name
  return call


def shape(x: tf.Tensor) -> native_calls.StaticShape:
  """Returns an array's shape, with None for unknown sizes."""
  if x.shape.rank is None:
    raise ValueError(
      "an argument's number of dimensions is unknown: give its TensorSpec a "
      "shape, [None] for one dimension of any size"
    )
  return tuple(x.shape.as_list())


def _broadcast(
  declaration: native_declarations.Declaration, arrays: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
  """Broadcasts all arrays to the full batch shape, which native rules need."""
  pairs = list(zip(declaration.inputs, arrays, strict=True))
  rank = arrays[0].shape.rank - len(declaration.inputs[0].dims)
  batch = tf.ones([rank], tf.int32)
  for _, x in pairs:
    batch = tf.broadcast_dynamic_shape(batch, tf.shape(x)[:rank])
  known = native_shapes.batch_shape(declaration, [shape(x) for x in arrays])
  full = []
  for x in arrays:
    broadcast = tf.broadcast_to(
      x, tf.concat([batch, tf.shape(x)[rank:]], axis=0)
    )
    broadcast.set_shape([*known, *x.shape[rank:]])
    full.append(broadcast)
  return full
