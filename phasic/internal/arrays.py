"""Type aliases for arrays, and for arguments that become arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import (
  TYPE_CHECKING,
  Any,
  ForwardRef,
  Protocol,
  SupportsIndex,
  TypeAlias,
)

import numpy as onp

# An array. While a derivative is computed, the value may also be a traced
# array, which behaves like an array of NumPy.
Array: TypeAlias = onp.ndarray
# An array without dimensions, or a NumPy scalar.
Scalar: TypeAlias = Any
# Public methods return an array, or a scalar if there are no dimensions. No
# static type distinguishes the two.
Result: TypeAlias = onp.ndarray | Scalar
# Lists have entries of type `Any`: they may mix numbers and arrays, and no
# static type expresses this.
ArrayLike: TypeAlias = onp.typing.ArrayLike | Sequence[Any]
# An attribute of a class, given as an ArrayLike and stored as an array.
ArrayField: TypeAlias = Array | Any
# Arguments that are arrays, or nested sequences and mappings of them.
Structure: TypeAlias = ArrayLike | Mapping[str, object] | None
# A nested structure of arrays. Its type is `Any`, as only the caller knows its
# form.
Tree: TypeAlias = Any


class SparseMatrix(Protocol):
  """A matrix of `scipy.sparse`."""

  def tocoo(self) -> object:
    """Returns the nonzero entries with their row and column indices."""


# A size or a count.
Integer: TypeAlias = int | onp.integer
# A batch shape, with None for an unknown size.
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None]
# Users pass a `Seed`; `random.sanitize_seed` returns a `SanitizedSeed`.
if TYPE_CHECKING:
  Seed: TypeAlias = (
    int | onp.integer | onp.random.SeedSequence | onp.random.Generator
  )
  SanitizedSeed: TypeAlias = onp.random.SeedSequence
else:
  # Forward references defer the slow import of numpy.random.
  Seed = (
    int
    | onp.integer
    | ForwardRef("onp.random.SeedSequence", module=__name__)
    | ForwardRef("onp.random.Generator", module=__name__)
  )
  SanitizedSeed = ForwardRef("onp.random.SeedSequence", module=__name__)
