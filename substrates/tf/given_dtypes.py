"""Dtypes of arguments before conversion to arrays of the backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal.arrays import ArrayLike


def of(x: object, name: str) -> onp.dtype | None:
  """Returns the dtype that `x` has, or would have as an array."""
  if isinstance(x, (tf.RaggedTensor, tf.SparseTensor)):
    raise TypeError(f"{name} is {type(x).__name__}: it must be a dense tensor")
  if tf.is_tensor(x) or isinstance(x, tf.Variable):
    # Keras's variables are tensors whose dtype is a name.
    tensor: tf.Tensor = x
    return onp.dtype(tf.as_dtype(tensor.dtype).as_numpy_dtype)
  return None if holds_arrays(x) else onp.asarray(x).dtype


def is_weak(x: object) -> bool:
  """Returns whether `x`, e.g. a number, takes the dtype of other arguments."""
  return not hasattr(x, "dtype") and not holds_arrays(x)


def holds_arrays(x: object) -> TypeGuard[Sequence[ArrayLike]]:
  """Returns whether `x` is a list that contains tensors."""
  return isinstance(x, (list, tuple)) and any(
    tf.is_tensor(y) or isinstance(y, tf.Variable) or holds_arrays(y) for y in x
  )
