"""Shapes, dtypes and known values of arrays, also while tracing.

An argument has the dtype that its array will have. In a `tf.function` a
dimension may be unknown while tracing; it is then a scalar int32 tensor.
Functions here accept both such tensors and Python ints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import raw_arguments
from phasic.substrates.tf.internal.arrays import ArrayLike

# The size of a dimension.
Size: TypeAlias = int | tf.Tensor
Shape: TypeAlias = tuple[Size, ...]


def is_variable(x: object) -> bool:
  """Returns whether `x` is a variable, or an array computed from variables.

  The latter is a module with a shape and a dtype, a `tfp.util.DeferredTensor`
  for instance. Its value is computed at each conversion to a tensor.
  """
  if isinstance(x, tf.Module):
    return hasattr(x, "shape") and hasattr(x, "dtype")
  return isinstance(x, tf.Variable)


def shape(x: ArrayLike) -> Shape:
  """Returns the shape of `x`, a tuple with one entry per dimension.

  Entries are ints, or scalar int32 tensors where they are unknown.
  """
  static_shape = getattr(x, "shape", None)
  if static_shape is None:
    return tuple(onp.shape(x))
  if not isinstance(static_shape, tf.TensorShape):
    return tuple(int(d) for d in static_shape)
  if static_shape.rank is None:
    raise ValueError(
      "an argument's number of dimensions is unknown: give its TensorSpec a "
      "shape, [None] for one dimension of any size"
    )
  known = tuple(static_shape.as_list())
  if None not in known:
    return known
  dynamic = tf.shape(x)
  return tuple(dynamic[i] if d is None else d for i, d in enumerate(known))


def rank(x: ArrayLike) -> int:
  """Returns the number of dimensions of `x`."""
  return len(x.shape) if hasattr(x, "shape") else onp.ndim(x)


def broadcast_shapes(*shapes: Shape) -> Shape:
  """Returns the shape to which arrays of these shapes broadcast."""
  length = max((len(s) for s in shapes), default=0)
  padded = [(1,) * (length - len(s)) + tuple(s) for s in shapes]
  try:
    common = tuple(_broadcast(column) for column in zip(*padded, strict=True))
  except ValueError:
    listed = " and ".join(str(tuple(s)) for s in shapes)
    raise ValueError(f"shapes {listed} do not broadcast") from None
  return raw_arguments.checked_size(common, shapes)


def _broadcast(sizes: Shape) -> Size:
  known = {s for s in sizes if isinstance(s, (int, onp.integer)) and s != 1}
  if len(known) > 1:
    raise ValueError
  if known:
    return int(known.pop())
  result: Size = 1
  for size in sizes:
    if not isinstance(size, (int, onp.integer)):
      first = isinstance(result, int)
      result = size if first else tf.where(tf.equal(result, 1), size, result)
  return result


def concrete(x: object) -> onp.ndarray | None:
  """Returns the values of `x` on the host, or None while it is traced."""
  if is_variable(x):
    x = tf.convert_to_tensor(x)
  if not tf.is_tensor(x):
    return onp.asarray(x)
  value = tf.get_static_value(x)
  return None if value is None else onp.asarray(value)


def at_hand(x: object) -> onp.ndarray | None:
  """Returns the values of `x` if they are known and on this host, else None.

  The result is None if `x` is traced, or is on an accelerator or in another
  process.
  """
  if not tf.executing_eagerly():
    return None
  if is_variable(x):
    x = tf.convert_to_tensor(x)
  if not tf.is_tensor(x):
    return onp.asarray(x)
  tensor: tf.Tensor = x
  if not hasattr(tensor, "numpy") or "CPU" not in tensor.device:
    return None
  return onp.asarray(tensor.numpy())


def dtype_name(x: object) -> str:
  """Returns the name of a dtype, or of an array's dtype."""
  if isinstance(x, (str, type, onp.dtype, tf.DType)):
    return tf.as_dtype(x).name
  if hasattr(x, "dtype"):
    return tf.as_dtype(x.dtype).name
  return onp.asarray(x).dtype.name


def finfo_eps(dtype: object) -> float:
  """Returns the machine epsilon of a floating dtype."""
  return float(onp.finfo(dtype_name(dtype)).eps)


def wide_float() -> str:
  """Returns the widest available floating dtype, "float64" or "float32"."""
  return "float64"


def given_dtype(x: object, name: str) -> onp.dtype | None:
  """Returns the dtype that `x` has, or would have as an array."""
  if isinstance(x, (tf.RaggedTensor, tf.SparseTensor)):
    raise TypeError(f"{name} is {type(x).__name__}: it must be a dense tensor")
  if tf.is_tensor(x) or isinstance(x, tf.Variable):
    # Convert the dtype: variables of Keras have a string as their dtype.
    tensor: tf.Tensor = x
    return onp.dtype(tf.as_dtype(tensor.dtype).as_numpy_dtype)
  return None if holds_arrays(x) else onp.asarray(x).dtype


def is_weak(x: object) -> bool:
  """Returns whether `x` takes the dtype of others, as Python numbers do."""
  return not hasattr(x, "dtype") and not holds_arrays(x)


def holds_arrays(x: object) -> TypeGuard[Sequence[ArrayLike]]:
  """Returns whether `x` is a list that contains tensors."""
  return isinstance(x, (list, tuple)) and any(
    tf.is_tensor(y) or isinstance(y, tf.Variable) or holds_arrays(y) for y in x
  )
