"""Type aliases of arrays, and of arguments that become arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

import jax
from jax.interpreters import ad
from jax.interpreters import mlir
import numpy as onp

from phasic.substrates.jax.internal import seeds
from phasic.substrates.jax.internal import static

Array: TypeAlias = jax.Array
Scalar: TypeAlias = jax.Array
Result: TypeAlias = jax.Array
# Lists have entries of type `Any`: they may mix numbers and arrays, and no
# static type expresses this.
ArrayLike: TypeAlias = (
  jax.typing.ArrayLike | onp.typing.ArrayLike | Sequence[Any]
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


class BCOO(Protocol):
  """A protocol for BCOO matrices of JAX, whose module is slow to import."""

  indices: jax.Array
  data: jax.Array
  shape: tuple[int, ...]

  @property
  def n_batch(self) -> int:
    """Returns the number of batch dimensions."""
    ...

  @property
  def n_dense(self) -> int:
    """Returns the number of dense dimensions."""
    ...


SparseMatrix: TypeAlias = SciPyMatrix | BCOO
# A size or a count.
Integer: TypeAlias = int | onp.integer
# A batch shape, with None for an unknown size.
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None]
# Users pass a `Seed`; `random.sanitize_seed` returns a `SanitizedSeed`.
Seed: TypeAlias = jax.Array | onp.ndarray | seeds.FoldedKey
SanitizedSeed: TypeAlias = jax.Array | seeds.FoldedKey

# The types below are for operands and results of a `multilinear.Map`.

# The size of a dimension: an int or, in an export, a symbol. JAX has no public
# type of symbols.
Size: TypeAlias = Any
# The shape and the dtype of a result.
Spec: TypeAlias = tuple[static.Shape, onp.dtype]
# A tangent or a cotangent.
Tangent: TypeAlias = Array | ad.Zero
# The pytree structure of an argument or a result.
TreeDef: TypeAlias = jax.tree_util.PyTreeDef  # pyright: ignore[reportInvalidTypeForm]
# The values of a lowered call, as `mlir.LoweringRule` returns them.
Lowered: TypeAlias = "Sequence[mlir.ir.Value | Sequence[mlir.ir.Value]]"


class Shaped(Protocol):
  """An array, or an abstract value of JAX that stands for an array."""

  @property
  def shape(self) -> static.Shape:
    """Returns the sizes, which may be symbolic."""
    ...

  @property
  def dtype(self) -> onp.dtype:
    """Returns the dtype."""
    ...
