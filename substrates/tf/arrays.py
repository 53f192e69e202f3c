"""Type aliases of arrays, and of arguments that become arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

import numpy as onp
import tensorflow as tf

Array: TypeAlias = tf.Tensor
Scalar: TypeAlias = tf.Tensor
Result: TypeAlias = tf.Tensor
# Lists have entries of type `Any`: they may mix numbers and arrays, and no
# static type expresses this.
ArrayLike: TypeAlias = (
  tf.Tensor | tf.Variable | onp.typing.ArrayLike | Sequence[Any]
)
# An attribute of a class, given as an ArrayLike and stored as an array.
ArrayField: TypeAlias = Array | Any
# Arguments that are arrays, or nested sequences and mappings of them.
Structure: TypeAlias = ArrayLike | Mapping[str, object] | None
# A nested structure of arrays. Its type is `Any`, as only the caller knows its
# form.
Tree: TypeAlias = Any


class SciPyMatrix(Protocol):
  """A matrix of `scipy.sparse`."""

  def tocoo(self) -> object:
    """Returns the nonzero entries with their row and column indices."""


SparseMatrix: TypeAlias = SciPyMatrix | tf.SparseTensor
# A size or a count.
Integer: TypeAlias = int | onp.integer
# A dtype as `tf.as_dtype` takes it.
DTypeLike: TypeAlias = str | type | onp.dtype | tf.DType
# A batch shape, with None for an unknown size.
ShapeLike: TypeAlias = (
  SupportsIndex | Sequence[SupportsIndex | None] | tf.TensorShape | tf.Tensor
)
# Users pass a `Seed`; `random.sanitize_seed` returns a `SanitizedSeed`.
Seed: TypeAlias = int | onp.integer | ArrayLike
SanitizedSeed: TypeAlias = tf.Tensor
