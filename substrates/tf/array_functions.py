"""The `np.` functions that the source uses, implemented with TensorFlow.

There are no other functions. Tests compare each one with NumPy: values, dtypes
and shapes. Dtypes are promoted as in NumPy 2: Python numbers take the dtype of
the arrays; if there are no arrays, they become int64 or float64. Shapes may
contain scalar tensors for unknown dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
from typing import Any, TypeAlias

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal.arrays import ArrayLike, DTypeLike

Axis = int | Sequence[int] | None
# A shape, or the size of an array that has one dimension.
_Shape: TypeAlias = static.Size | Sequence[static.Size]


# ---- Creation of arrays ---------------------------------------------------


def asarray(x: ArrayLike, dtype: DTypeLike | None = None) -> tf.Tensor:
  """Converts `x` to a tensor, optionally of a given dtype."""
  # Skip the conversion of eager tensors, which is slow. Within a graph they
  # must be converted: this captures them.
  if isinstance(x, tf.Tensor) and tf.executing_eagerly():
    return x if dtype is None or x.dtype == dtype else tf.cast(x, dtype)
  # `tf.is_tensor` is slow for numbers.
  is_known = isinstance(x, (int, float, onp.ndarray))
  if not is_known and (tf.is_tensor(x) or static.is_variable(x)):
    x = tf.convert_to_tensor(x)
    return x if dtype is None else tf.cast(x, dtype)
  if static.holds_arrays(x):
    x = stack([asarray(item) for item in x])
    return x if dtype is None else tf.cast(x, dtype)
  name = None if dtype is None else tf.as_dtype(dtype).as_numpy_dtype
  return tf.constant(onp.asarray(x, dtype=name))


def arange(stop: static.Size) -> tf.Tensor:
  """Returns the integers 0, ..., stop - 1, as int64."""
  return tf.range(tf.cast(stop, tf.int64))


def eye(n: static.Size, dtype: DTypeLike = "float64") -> tf.Tensor:
  """Returns the identity matrix."""
  return tf.eye(n, dtype=dtype)


def zeros(shape: _Shape, dtype: DTypeLike = "float64") -> tf.Tensor:
  """Returns an array of zeros."""
  if tf.executing_eagerly() and isinstance(shape, tuple) and 0 in shape:
    return _empty(shape, tf.as_dtype(dtype))
  return tf.zeros(_shape(shape), dtype)


@functools.lru_cache(maxsize=256)
def _empty(shape: tuple[int, ...], dtype: tf.DType) -> tf.Tensor:
  """Returns an eager tensor without entries, the same one at each call."""
  return tf.zeros(shape, dtype)


def zeros_like(x: ArrayLike) -> tf.Tensor:
  """Returns zeros with the shape and dtype of `x`."""
  return tf.zeros_like(asarray(x))


def ones_like(x: ArrayLike) -> tf.Tensor:
  """Returns ones with the shape and dtype of `x`."""
  return tf.ones_like(asarray(x))


# ---- Elementwise functions ------------------------------------------------


def abs(x: ArrayLike) -> tf.Tensor:
  """Computes the absolute value."""
  return tf.abs(asarray(x))


def equal(x: Any, y: Any) -> Any:
  """Returns whether entries are equal; x == y if neither is a tensor.

  In a `tf.Graph` outside of functions, == of tensors is `is`.
  """
  if _has_tensors(x, y):
    return tf.equal(*_promote(x, y))
  return x == y


def not_equal(x: Any, y: Any) -> Any:
  """Returns whether entries differ; x != y if neither is a tensor."""
  if _has_tensors(x, y):
    return tf.not_equal(*_promote(x, y))
  return x != y


def exp(x: ArrayLike) -> tf.Tensor:
  """Computes the exponential."""
  return tf.exp(_floating(x))


def expm1(x: ArrayLike) -> tf.Tensor:
  """Computes exp(x) - 1."""
  return tf.math.expm1(_floating(x))


def floor(x: ArrayLike) -> tf.Tensor:
  """Computes the largest integer that is not above `x`."""
  x = asarray(x)
  return x if x.dtype.is_integer else tf.floor(x)


def isfinite(x: ArrayLike) -> tf.Tensor:
  """Returns whether entries are neither infinite nor NaN."""
  return tf.math.is_finite(_floating(x))


def isnan(x: ArrayLike) -> tf.Tensor:
  """Returns whether entries are NaN."""
  return tf.math.is_nan(_floating(x))


def log(x: ArrayLike) -> tf.Tensor:
  """Computes the natural logarithm."""
  return tf.math.log(_floating(x))


def log1p(x: ArrayLike) -> tf.Tensor:
  """Computes log(1 + x)."""
  return tf.math.log1p(_floating(x))


def logical_not(x: ArrayLike) -> tf.Tensor:
  """Returns whether entries are false.

  TensorFlow's logical_not is not used: its graph optimizer replaces not (x >=
  y) by x < y, which is wrong for NaN.
  """
  return tf.where(asarray(x), False, True)


def maximum(x: ArrayLike, y: ArrayLike) -> tf.Tensor:
  """Computes the larger of two values; NaN if one of them is NaN."""
  return tf.maximum(*_promote(x, y))


def minimum(x: ArrayLike, y: ArrayLike) -> tf.Tensor:
  """Computes the smaller of two values; NaN if one of them is NaN."""
  return tf.minimum(*_promote(x, y))


def sqrt(x: ArrayLike) -> tf.Tensor:
  """Computes the square root."""
  return tf.sqrt(_floating(x))


def square(x: ArrayLike) -> tf.Tensor:
  """Computes x times x."""
  return tf.square(asarray(x))


def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike) -> tf.Tensor:
  """Selects `x` where the condition holds, else `y`; all three broadcast."""
  return tf.where(tf.cast(asarray(condition), tf.bool), *_promote(x, y))


# ---- Reductions and products ----------------------------------------------


def all(x: ArrayLike, axis: Axis = None) -> tf.Tensor:
  """Returns whether all entries are true."""
  return tf.reduce_all(tf.cast(asarray(x), tf.bool), axis)


def any(x: ArrayLike, axis: Axis = None) -> tf.Tensor:
  """Returns whether any entry is true."""
  return tf.reduce_any(tf.cast(asarray(x), tf.bool), axis)


def argsort(x: ArrayLike) -> tf.Tensor:
  """Returns int64 indices that sort the last axis."""
  return tf.cast(tf.argsort(asarray(x), stable=True), tf.int64)


def cumsum(x: ArrayLike, axis: int) -> tf.Tensor:
  """Computes cumulative sums."""
  return tf.cumsum(_summable(x), axis)


def matmul(x: ArrayLike, y: ArrayLike) -> tf.Tensor:
  """Multiplies matrices (..., m, k) and (..., k, n)."""
  return tf.linalg.matmul(*_promote(x, y))


def max(x: ArrayLike, axis: Axis = None) -> tf.Tensor:
  """Computes the largest entry; NaN if any entry is NaN."""
  return tf.reduce_max(asarray(x), axis)


def sum(x: ArrayLike, axis: Axis = None) -> tf.Tensor:
  """Sums the entries; the sum of bools or int32 numbers is int64."""
  return tf.reduce_sum(_summable(x), axis)


# ---- Shapes ---------------------------------------------------------------


def broadcast_to(x: ArrayLike, shape: _Shape) -> tf.Tensor:
  """Broadcasts `x` to a shape."""
  return tf.broadcast_to(asarray(x), _shape(shape))


def concatenate(arrays: Sequence[ArrayLike], axis: int = 0) -> tf.Tensor:
  """Joins arrays along an axis."""
  return tf.concat(_promote(*arrays), axis)


def flip(x: ArrayLike, axis: Axis = None) -> tf.Tensor:
  """Reverses the entries."""
  x = asarray(x)
  if axis is None:
    axis = range(len(x.shape))
  axes = [axis] if isinstance(axis, int) else list(axis)
  return tf.reverse(x, axes) if axes else x


def moveaxis(x: ArrayLike, source: int, destination: int) -> tf.Tensor:
  """Moves one axis to another position; the other axes keep their order."""
  x = asarray(x)
  rank = len(x.shape)
  order = [i for i in range(rank) if i != source % rank]
  order.insert(destination % rank, source % rank)
  return tf.transpose(x, order)


def reshape(x: ArrayLike, shape: _Shape) -> tf.Tensor:
  """Reshapes the entries; one size may be -1."""
  x = asarray(x)
  if tf.executing_eagerly() and tuple(x.shape.as_list()) == shape:
    return x
  return tf.reshape(x, _shape(shape))


def shape(x: ArrayLike) -> static.Shape:
  """Returns the shape, with scalar tensors for unknown dimensions."""
  x = asarray(x)
  dynamic = tf.shape(x)
  return tuple(dynamic[i] if d is None else d for i, d in enumerate(x.shape))


def stack(arrays: Sequence[ArrayLike], axis: int = 0) -> tf.Tensor:
  """Stacks arrays of one shape along a new axis."""
  return tf.stack(_promote(*arrays), axis)


def take(x: ArrayLike, indices: ArrayLike, axis: int) -> tf.Tensor:
  """Takes slices of `x` along an axis; indices must be in range."""
  return tf.gather(asarray(x), asarray(indices), axis=axis)


def transpose(x: ArrayLike, axes: Sequence[int] | None = None) -> tf.Tensor:
  """Permutes the axes; reverses them by default."""
  return tf.transpose(asarray(x), None if axes is None else list(axes))


# ---- Dtypes ---------------------------------------------------------------


def _has_tensors(x: object, y: object) -> bool:
  """Returns whether two values are arrays, and one of them is a tensor."""
  both = x is not None and y is not None
  return both and (isinstance(x, tf.Tensor) or isinstance(y, tf.Tensor))


def _promote(*values: ArrayLike) -> list[tf.Tensor]:
  """Converts values to tensors of the dtype that NumPy promotes them to."""
  kinds = [_kind(x) for x in values]
  dtype = onp.result_type(*kinds)
  return [asarray(x, dtype) for x in values]


def _kind(x: ArrayLike) -> float | type[onp.generic]:
  """Converts `x` to an argument of `numpy.result_type`: a dtype or number."""
  if isinstance(x, (bool, int, float)):
    return x
  if hasattr(x, "dtype"):
    return tf.as_dtype(x.dtype).as_numpy_dtype
  return asarray(x).dtype.as_numpy_dtype


def _floating(x: ArrayLike) -> tf.Tensor:
  x = asarray(x)
  return x if x.dtype.is_floating else tf.cast(x, tf.float64)


def _summable(x: ArrayLike) -> tf.Tensor:
  x = asarray(x)
  return tf.cast(x, tf.int64) if x.dtype in (tf.bool, tf.int32) else x


def _shape(shape: _Shape) -> tf.Tensor:
  sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
  if tf.executing_eagerly() and {*map(type, sizes)} <= {int}:
    return _sizes(sizes)
  return tf.convert_to_tensor(sizes, tf.int32)


@functools.lru_cache(maxsize=1024)
def _sizes(shape: tuple[int, ...]) -> tf.Tensor:
  """Returns a shape as an eager tensor, the same one at each call."""
  return tf.constant(shape, tf.int32, (len(shape),))
