"""What arrays, and arguments that become arrays, are called in signatures."""

from collections.abc import Sequence
from typing import SupportsIndex, TypeAlias

import jax
import numpy as onp

Array: TypeAlias = jax.Array
Scalar: TypeAlias = jax.Array
Result: TypeAlias = jax.Array
_Leaf: TypeAlias = jax.typing.ArrayLike | onp.typing.ArrayLike
# In lists numbers and arrays may be mixed.
ArrayLike: TypeAlias = (
  _Leaf | Sequence[_Leaf | Sequence[_Leaf | Sequence[_Leaf]]]
)
# What a size or a count may be.
Integer: TypeAlias = int | onp.integer
# A batch shape has None for a size that is not known.
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None]
Seed: TypeAlias = jax.Array | onp.ndarray
