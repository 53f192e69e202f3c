"""Type aliases of arrays, and of arguments that become arrays."""

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

# A traced array, while a derivative is computed.
Array: TypeAlias = onp.ndarray
# An array without dimensions, or NumPy's scalar.
Scalar: TypeAlias = Any
# Results of public methods: an array, or a scalar if there are no dimensions.
# NumPy's own functions have Any, as no type distinguishes the two.
Result: TypeAlias = onp.ndarray | Any
# Lists may mix numbers and arrays, which type checkers cannot express.
ArrayLike: TypeAlias = onp.typing.ArrayLike | Sequence[Any]
# A field that is given as ArrayLike, and is an array after conversion.
ArrayField: TypeAlias = Array | Any
# Arguments that are arrays, or nested sequences and mappings of them.
Structure: TypeAlias = ArrayLike | Mapping[str, object] | None


class SparseMatrix(Protocol):
  """A matrix of `scipy.sparse`."""

  def tocoo(self) -> Any:
    """Returns the entries with their places."""


# A size or a count.
Integer: TypeAlias = int | onp.integer
# A batch shape, with None for an unknown size.
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None]
if TYPE_CHECKING:
  Seed: TypeAlias = (
    int | onp.integer | onp.random.SeedSequence | onp.random.Generator
  )
else:
  # Named as strings, as numpy.random is slow to import.
  Seed = (
    int
    | onp.integer
    | ForwardRef("onp.random.SeedSequence", module=__name__)
    | ForwardRef("onp.random.Generator", module=__name__)
  )
