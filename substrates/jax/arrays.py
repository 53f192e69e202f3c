"""Type aliases of arrays, and of arguments that become arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

import jax
import numpy as onp

Array: TypeAlias = jax.Array
Scalar: TypeAlias = jax.Array
Result: TypeAlias = jax.Array
# Lists may mix numbers and arrays, which type checkers cannot express.
ArrayLike: TypeAlias = (
  jax.typing.ArrayLike | onp.typing.ArrayLike | Sequence[Any]
)
# An attribute of a class, given as an ArrayLike and stored as an array.
ArrayField: TypeAlias = Array | Any
# Arguments that are arrays, or nested sequences and mappings of them.
Structure: TypeAlias = ArrayLike | Mapping[str, object] | None


class SciPyMatrix(Protocol):
  """A matrix of `scipy.sparse`."""

  def tocoo(self) -> Any:
    """Returns the nonzero entries with their row and column indices."""


class BCOO(Protocol):
  """A BCOO matrix of JAX, whose module is slow to import."""

  indices: jax.Array
  data: jax.Array


SparseMatrix: TypeAlias = SciPyMatrix | BCOO
# A size or a count.
Integer: TypeAlias = int | onp.integer
# A batch shape, with None for an unknown size.
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None]
# Users pass a `Seed`; `random.sanitize_seed` returns a `SanitizedSeed`.
Seed: TypeAlias = jax.Array | onp.ndarray
SanitizedSeed: TypeAlias = jax.Array
