"""Checks of the results of native ops' derivative rules.

Shapes that are unknown when a graph is built are checked when it runs. Programs
compiled with `jit_compile=True` have no such checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import NamedTuple

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal.native import native_calls
from phasic.substrates.tf.internal.native import native_declarations
from phasic.substrates.tf.internal.native import native_rules
from phasic.substrates.tf.internal.native import native_shapes


def tangents(
  declaration: native_declarations.Declaration,
  returned: object,
  outputs: Sequence[tf.Tensor],
) -> list[tf.Tensor]:
  """Checks a forward rule's results and broadcasts them to the outputs.

  Raises:
    TypeError: a result has another dtype; Python numbers have any.
    ValueError: its shape is wrong.
  """
  entries = native_rules.check_rule(declaration, "jvp", returned)
  floats = native_declarations.inexact(declaration.outputs, outputs)
  results = []
  for (operand, x), entry in zip(floats, entries, strict=True):
    full_shape = functools.partial(tf.shape, x)
    known = native_calls.known_shape(x)
    like = _Like("jvp", operand, x.dtype, known, full_shape)
    t, full = _checked(declaration, like, entry)
    results.append(tf.broadcast_to(t, full_shape() if full is None else full))
  return results


def cotangents(
  declaration: native_declarations.Declaration,
  returned: object,
  inputs: Sequence[tf.Tensor],
) -> list[tf.Tensor]:
  """Checks a reverse rule's results for the floating inputs.

  Raises:
    TypeError: a result has another dtype; Python numbers have any.
    ValueError: its shape is wrong.
  """
  entries = native_rules.check_rule(declaration, "vjp", returned)
  shapes = native_shapes.cotangent_shapes(
    declaration, [native_calls.known_shape(x) for x in inputs]
  )
  pairs = list(zip(declaration.inputs, inputs, strict=True))

  def full(operand: native_declarations.Operand, x: tf.Tensor) -> tf.Tensor:
    batches = [
      tf.shape(x)[: tf.rank(x) - len(other.dims)] for other, x in pairs
    ]
    batch = functools.reduce(tf.broadcast_dynamic_shape, batches)
    event = tf.shape(x)[tf.rank(x) - len(operand.dims) :]
    return tf.concat([batch, event], axis=0)

  floats = native_declarations.inexact(declaration.inputs, inputs)
  return [
    _checked(
      declaration,
      _Like(
        "vjp", operand, x.dtype, shape, functools.partial(full, operand, x)
      ),
      entry,
    )[0]
    for (operand, x), shape, entry in zip(floats, shapes, entries, strict=True)
  ]


class _Like(NamedTuple):
  """The dtype and shape that a rule's result must have.

  Attributes:
    rule: the rule's name.
    operand: the output or input of the result.
    dtype: its dtype.
    known: its static shape with the full batch.
    full: a function that returns the shape as a tensor, if it is not static.
  """

  rule: str
  operand: native_declarations.Operand
  dtype: tf.DType
  known: native_calls.StaticShape | None
  full: Callable[[], tf.Tensor]


def _checked(
  declaration: native_declarations.Declaration, like: _Like, value: object
) -> tuple[tf.Tensor, tf.Tensor | None]:
  """Checks and converts one result of a rule.

  Also returns the full shape if a later check needs it, else None.
  """
  has_tensors = any(map(tf.is_tensor, tf.nest.flatten(value)))
  x = tf.convert_to_tensor(value if has_tensors else onp.asarray(value))
  native_rules.check_dtype(
    declaration,
    like.rule,
    like.operand,
    x.dtype.as_numpy_dtype,
    like.dtype.as_numpy_dtype,
    native_rules.is_number(value),
  )
  shape = native_calls.known_shape(x)
  native_rules.check_result(
    declaration, like.rule, like.operand, shape, like.known
  )
  x = tf.cast(x, like.dtype)
  if _is_full(shape) and _is_full(like.known):
    return x, None
  full = like.full()
  with tf.control_dependencies([_assertion(declaration, like, x, full)]):
    # The results depend on the assertion, so that it runs before they are used.
    return tf.reshape(x, tf.identity(tf.shape(x))), tf.identity(full)


def _is_full(shape: native_calls.StaticShape | None) -> bool:
  return shape is not None and None not in shape


def _assertion(
  declaration: native_declarations.Declaration,
  like: _Like,
  x: tf.Tensor,
  full: tf.Tensor,
) -> tf.Operation | None:
  """Builds the shape check of `native_rules.check_result` into the graph."""
  x_shape, event = tf.shape(x), len(like.operand.dims)
  rank, missing = tf.size(full), tf.size(full) - tf.size(x_shape)
  padded = tf.concat([tf.ones([tf.maximum(missing, 0)], tf.int32), x_shape], 0)
  is_batch = tf.range(rank) < rank - event
  equal = tf.equal(padded[:rank], full) | (
    is_batch & tf.equal(padded[:rank], 1)
  )
  message = declaration.error(
    f"the rule {like.rule} returned another shape for {like.operand.name} than "
    "it must have, where a size of the batch may be 1"
  )
  return tf.debugging.Assert(
    (missing >= 0) & (tf.size(x_shape) >= event) & tf.reduce_all(equal),
    [message, "returned:", x_shape, "it must be:", full],
  )
