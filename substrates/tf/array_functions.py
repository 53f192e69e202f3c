"""The `np.` names that the source uses, with NumPy's meaning, on TensorFlow.

Exactly those names, no more; each is tested against NumPy for values, dtypes
and shapes. Dtypes are promoted as NumPy 2 does: Python numbers adopt the dtype
of the arrays, and numbers alone become int64 or float64. Shapes may have
scalar tensors in them where a dimension is unknown.
"""

from collections.abc import Sequence
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import given_dtypes

Axis = int | Sequence[int] | None


# ---- Making arrays --------------------------------------------------------


def asarray(x: Any, dtype: Any = None) -> tf.Tensor:
  """Converts to an array, or to one of another dtype."""
  if tf.is_tensor(x) or isinstance(x, tf.Variable):
    x = tf.convert_to_tensor(x)
    return x if dtype is None else tf.cast(x, dtype)
  if given_dtypes.holds_arrays(x):
    x = stack([asarray(item) for item in x])
    return x if dtype is None else tf.cast(x, dtype)
  name = None if dtype is None else tf.as_dtype(dtype).as_numpy_dtype
  return tf.constant(onp.asarray(x, dtype=name))


def arange(stop: Any) -> tf.Tensor:
  """The integers 0, ..., stop - 1, as int64."""
  return tf.range(tf.cast(stop, tf.int64))


def eye(n: Any, dtype: Any = "float64") -> tf.Tensor:
  """The identity matrix."""
  return tf.eye(n, dtype=dtype)


def zeros(shape: Any, dtype: Any = "float64") -> tf.Tensor:
  """An array of zeros."""
  return tf.zeros(_shape(shape), dtype)


def zeros_like(x: Any) -> tf.Tensor:
  """Zeros with the shape and dtype of `x`."""
  return tf.zeros_like(asarray(x))


def ones_like(x: Any) -> tf.Tensor:
  """Ones with the shape and dtype of `x`."""
  return tf.ones_like(asarray(x))


# ---- Entry by entry -------------------------------------------------------


def abs(x: Any) -> tf.Tensor:
  """Absolute value."""
  return tf.abs(asarray(x))


def exp(x: Any) -> tf.Tensor:
  """Exponential."""
  return tf.exp(_floating(x))


def expm1(x: Any) -> tf.Tensor:
  """exp(x) - 1."""
  return tf.math.expm1(_floating(x))


def floor(x: Any) -> tf.Tensor:
  """Largest integer that is not above `x`."""
  x = asarray(x)
  return x if x.dtype.is_integer else tf.floor(x)


def isfinite(x: Any) -> tf.Tensor:
  """Whether neither infinite nor NaN."""
  return tf.math.is_finite(_floating(x))


def isnan(x: Any) -> tf.Tensor:
  """Whether NaN."""
  return tf.math.is_nan(_floating(x))


def log(x: Any) -> tf.Tensor:
  """Natural logarithm."""
  return tf.math.log(_floating(x))


def log1p(x: Any) -> tf.Tensor:
  """log(1 + x)."""
  return tf.math.log1p(_floating(x))


def logical_not(x: Any) -> tf.Tensor:
  """Whether false.

  Not by TensorFlow's operation: its graph optimizer makes x < y of not
  (x >= y), which is wrong of NaN.
  """
  return tf.where(asarray(x), False, True)


def maximum(x: Any, y: Any) -> tf.Tensor:
  """The larger of two; NaN if one is."""
  return tf.maximum(*_promote(x, y))


def minimum(x: Any, y: Any) -> tf.Tensor:
  """The smaller of two; NaN if one is."""
  return tf.minimum(*_promote(x, y))


def sqrt(x: Any) -> tf.Tensor:
  """Square root."""
  return tf.sqrt(_floating(x))


def square(x: Any) -> tf.Tensor:
  """x times x."""
  return tf.square(asarray(x))


def where(condition: Any, x: Any, y: Any) -> tf.Tensor:
  """`x` where the condition holds, else `y`; all three broadcast."""
  return tf.where(tf.cast(asarray(condition), tf.bool), *_promote(x, y))


# ---- Reductions and products ----------------------------------------------


def all(x: Any, axis: Axis = None) -> tf.Tensor:
  """Whether all entries are true."""
  return tf.reduce_all(tf.cast(asarray(x), tf.bool), axis)


def any(x: Any, axis: Axis = None) -> tf.Tensor:
  """Whether some entry is true."""
  return tf.reduce_any(tf.cast(asarray(x), tf.bool), axis)


def argsort(x: Any) -> tf.Tensor:
  """Positions along the last axis, in the order of the entries; as int64."""
  return tf.cast(tf.argsort(asarray(x), stable=True), tf.int64)


def cumsum(x: Any, axis: int) -> tf.Tensor:
  """Sums of the entries up to each."""
  return tf.cumsum(_summable(x), axis)


def matmul(x: Any, y: Any) -> tf.Tensor:
  """Product of matrices (..., m, k) and (..., k, n)."""
  return tf.linalg.matmul(*_promote(x, y))


def max(x: Any, axis: Axis = None) -> tf.Tensor:
  """The largest entry; NaN if one is."""
  return tf.reduce_max(asarray(x), axis)


def sum(x: Any, axis: Axis = None) -> tf.Tensor:
  """The sum of the entries; int64 for bools and int32."""
  return tf.reduce_sum(_summable(x), axis)


# ---- Shapes ---------------------------------------------------------------


def broadcast_to(x: Any, shape: Any) -> tf.Tensor:
  """`x` repeated to a shape."""
  return tf.broadcast_to(asarray(x), _shape(shape))


def concatenate(arrays: Sequence[Any], axis: int = 0) -> tf.Tensor:
  """Arrays joined along an axis."""
  return tf.concat(_promote(*arrays), axis)


def flip(x: Any, axis: Axis = None) -> tf.Tensor:
  """The entries in reverse order."""
  x = asarray(x)
  if axis is None:
    axis = range(len(x.shape))
  axes = [axis] if isinstance(axis, int) else list(axis)
  return tf.reverse(x, axes) if axes else x


def moveaxis(x: Any, source: int, destination: int) -> tf.Tensor:
  """One axis moved to another place, the others kept in order."""
  x = asarray(x)
  rank = len(x.shape)
  order = [i for i in range(rank) if i != source % rank]
  order.insert(destination % rank, source % rank)
  return tf.transpose(x, order)


def reshape(x: Any, shape: Any) -> tf.Tensor:
  """The entries in another shape; one size may be -1."""
  return tf.reshape(asarray(x), _shape(shape))


def shape(x: Any) -> tuple[Any, ...]:
  """The shape; scalar tensors where a dimension is unknown."""
  x = asarray(x)
  dynamic = tf.shape(x)
  return tuple(dynamic[i] if d is None else d for i, d in enumerate(x.shape))


def stack(arrays: Sequence[Any], axis: int = 0) -> tf.Tensor:
  """Arrays of one shape along a new axis."""
  return tf.stack(_promote(*arrays), axis)


def take(x: Any, indices: Any, axis: int) -> tf.Tensor:
  """Slices of `x` along an axis; the indices must be in range."""
  return tf.gather(asarray(x), asarray(indices), axis=axis)


def transpose(x: Any, axes: Sequence[int] | None = None) -> tf.Tensor:
  """The axes in another order, reversed if none is given."""
  return tf.transpose(asarray(x), None if axes is None else list(axes))


# ---- Dtypes ---------------------------------------------------------------


def _promote(*values: Any) -> list[tf.Tensor]:
  """As arrays of the dtype that NumPy would choose."""
  kinds = [_kind(x) for x in values]
  dtype = onp.result_type(*kinds)
  return [asarray(x, dtype) for x in values]


def _kind(x: Any) -> Any:
  """What `numpy.result_type` needs to know: a dtype, or a Python number."""
  if isinstance(x, (bool, int, float)):
    return x
  if hasattr(x, "dtype"):
    return tf.as_dtype(x.dtype).as_numpy_dtype
  return asarray(x).dtype.as_numpy_dtype


def _floating(x: Any) -> tf.Tensor:
  x = asarray(x)
  return x if x.dtype.is_floating else tf.cast(x, tf.float64)


def _summable(x: Any) -> tf.Tensor:
  x = asarray(x)
  return tf.cast(x, tf.int64) if x.dtype in (tf.bool, tf.int32) else x


def _shape(shape: Any) -> tf.Tensor:
  sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
  return tf.convert_to_tensor(sizes, tf.int32)
