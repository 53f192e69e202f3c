"""Dtypes of arguments before they are arrays of the backend."""

from typing import Any

import numpy as onp
import tensorflow as tf


def of(x: Any, name: str) -> Any:
  """Returns the dtype that `x` has or would have.

  It is None for a list with arrays in it that have to have a common one, which
  the backend does not look after.

  Args:
    x: an array, a number or nested lists.
    name: the argument's name.

  Raises:
    TypeError: `x` is no array.
    ValueError: `x` is ragged.
  """
  if isinstance(x, (tf.RaggedTensor, tf.SparseTensor)):
    raise TypeError(f"{name} is {type(x).__name__}: it must be a dense tensor")
  if tf.is_tensor(x) or isinstance(x, tf.Variable):
    return onp.dtype(x.dtype.as_numpy_dtype)
  return None if holds_arrays(x) else onp.asarray(x).dtype


def is_weak(x: Any) -> bool:
  """Returns whether `x` has no dtype of its own: a Python number or a list."""
  return not hasattr(x, "dtype") and not holds_arrays(x)


def holds_arrays(x: Any) -> bool:
  """Returns whether `x` is a list with tensors in it."""
  return isinstance(x, (list, tuple)) and any(
    tf.is_tensor(y) or isinstance(y, tf.Variable) or holds_arrays(y) for y in x
  )
