"""Native ops of libraries as TensorFlow's.

Each op has a registered gradient, which finds in its attribute `bound` how it
was bound. TensorFlow transposes registered gradients for forward mode.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal.native import native_calls
from phasic.substrates.tf.internal.native import native_declarations
from phasic.substrates.tf.internal.native import native_gradients
from phasic.substrates.tf.internal.native import native_shapes


def load(function: native_declarations.NativeFunction) -> None:
  """Loads an op's library, so that all there is to refuse is refused now.

  Raises:
    NotImplementedError: the op is not for this substrate.
    OSError: the library cannot be loaded.
    ValueError: the library lacks the op, or another has one of its name.
  """
  if function.handler:
    raise NotImplementedError(
      f"op {function.declaration.name} is a handler of XLA's: it is there for "
      "JAX. TensorFlow has ops that PHASIC_OP has made"
    )
  for own in (function.declaration, *function.forward, *function.adjoint):
    native_calls.op_function(function.tf_library, own)
  native_gradients.register(function)


def make(
  function: native_declarations.NativeFunction, options: Mapping[str, Any]
) -> Callable[..., Any]:
  """Returns the op as a function of its operands, with all its derivatives.

  Operands are arrays of the declared dtypes, whose batch dimensions are as many
  in each; results are a tuple.

  Args:
    function: the op.
    options: its options, numbers and strings.
  """
  declaration = function.declaration
  text = native_declarations.options_text(declaration, options)
  key = native_gradients.register(function)

  def call(*operands: Any) -> tuple[Any, ...]:
    arrays = [tf.convert_to_tensor(x) for x in operands]
    if function.forward or function.adjoint:
      arrays = _broadcast(declaration, arrays)
    return tuple(
      native_gradients.call(function, key, declaration, arrays, text)
    )

  call.__name__ = declaration.name
  return call


def jvp(
  function: native_declarations.NativeFunction,
  call: Callable[..., Any],
  operands: Sequence[Any],
  tangents: Sequence[Any],
) -> tuple[Any, ...]:
  """Returns the outputs' tangents, None for those of integers.

  Args:
    function: the op.
    call: what `make` returned.
    operands: its operands.
    tangents: theirs; None for those of integers.

  Raises:
    NotImplementedError: there is no rule.
  """
  free = [i for i, t in enumerate(tangents) if t is not None]
  primals = [tf.convert_to_tensor(operands[i]) for i in free]
  along = [
    tf.broadcast_to(tf.convert_to_tensor(tangents[i]), tf.shape(x))
    for i, x in zip(free, primals, strict=True)
  ]
  with tf.autodiff.ForwardAccumulator(primals, along) as accumulator:
    chosen = dict(zip(free, primals, strict=True))
    results = call(*[chosen.get(i, x) for i, x in enumerate(operands)])
  outputs = function.declaration.outputs
  zero = tf.UnconnectedGradients.ZERO
  return tuple(
    accumulator.jvp(x, unconnected_gradients=zero) if own.is_inexact else None
    for x, own in zip(results, outputs, strict=True)
  )


def vjp(
  function: native_declarations.NativeFunction,
  call: Callable[..., Any],
  operands: Sequence[Any],
  cotangents: Sequence[Any],
) -> tuple[Any, ...]:
  """Returns the operands' cotangents, None for those of integers.

  Args:
    function: the op.
    call: what `make` returned.
    operands: its operands.
    cotangents: those of the outputs; None for those of integers.

  Raises:
    NotImplementedError: there is no rule.
  """
  declaration = function.declaration
  free = [i for i, x in enumerate(declaration.inputs) if x.is_inexact]
  arrays = [tf.convert_to_tensor(x) for x in operands]
  with tf.GradientTape() as tape:
    for i in free:
      tape.watch(arrays[i])
    results = call(*arrays)
  # TensorFlow's cotangents of complex numbers are the conjugates of ours.
  pairs = [
    (x, tf.math.conj(_direction(declaration, own, ct, x)))
    for x, ct, own in zip(results, cotangents, declaration.outputs, strict=True)
    if own.is_inexact
  ]
  found = tape.gradient(
    [x for x, _ in pairs],
    [arrays[i] for i in free],
    output_gradients=[ct for _, ct in pairs],
    unconnected_gradients=tf.UnconnectedGradients.ZERO,
  )
  by_position = dict(zip(free, map(tf.math.conj, found), strict=True))
  return tuple(by_position.get(i) for i in range(len(arrays)))


def _direction(
  declaration: native_declarations.Declaration,
  operand: native_declarations.Operand,
  cotangent: Any,
  like: tf.Tensor,
) -> tf.Tensor:
  """A cotangent of an output as an array like it."""
  if not tf.is_tensor(cotangent):
    cotangent = onp.asarray(cotangent)
  cotangent = tf.convert_to_tensor(cotangent)
  native_shapes.check_direction(
    declaration,
    f"the cotangent of {operand.name}",
    *[
      (native_calls.known_shape(x), x.dtype.as_numpy_dtype)
      for x in (cotangent, like)
    ],
  )
  return tf.broadcast_to(tf.cast(cotangent, like.dtype), tf.shape(like))


def shape(x: Any) -> tuple[Any, ...]:
  """Returns the shape of an array, None where a size is not known."""
  if x.shape.rank is None:
    raise ValueError(
      "an argument's number of dimensions is unknown: give its TensorSpec a "
      "shape, [None] for one dimension of any size"
    )
  return tuple(x.shape.as_list())


def with_rank(x: Any, rank: int) -> Any:
  """Returns an array with ones in front, so that it has `rank` dimensions."""
  for _ in range(rank - x.shape.rank):
    x = tf.expand_dims(x, 0)
  return x


def _broadcast(
  declaration: native_declarations.Declaration, arrays: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
  """All arrays with the full batch, as derivatives of ops have them."""
  pairs = list(zip(declaration.inputs, arrays, strict=True))
  rank = arrays[0].shape.rank - len(declaration.inputs[0].dims)
  batch = tf.ones([rank], tf.int32)
  for _, x in pairs:
    batch = tf.broadcast_dynamic_shape(batch, tf.shape(x)[:rank])
  known = native_shapes.batch_shape(declaration, [shape(x) for x in arrays])
  full = []
  for x in arrays:
    own = tf.broadcast_to(x, tf.concat([batch, tf.shape(x)[rank:]], axis=0))
    own.set_shape([*known, *x.shape[rank:]])
    full.append(own)
  return full
