"""What arrays, and arguments that become arrays, are called in signatures."""

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as onp
import tensorflow as tf

Array: TypeAlias = tf.Tensor
Scalar: TypeAlias = tf.Tensor
Result: TypeAlias = tf.Tensor
# In lists numbers and arrays may be mixed, which type checkers lose track of.
ArrayLike: TypeAlias = (
  tf.Tensor | tf.Variable | onp.typing.ArrayLike | Sequence[Any]
)
# What a size or a count may be.
Integer: TypeAlias = int | onp.integer
# A batch shape has None for a size that is not known.
ShapeLike: TypeAlias = (
  SupportsIndex | Sequence[SupportsIndex | None] | tf.TensorShape | tf.Tensor
)
Seed: TypeAlias = int | onp.integer | ArrayLike
