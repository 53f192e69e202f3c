"""What arrays, and arguments that become arrays, are called in signatures."""

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import jax
import numpy as onp

Array: TypeAlias = jax.Array
Scalar: TypeAlias = jax.Array
Result: TypeAlias = jax.Array
# In lists numbers and arrays may be mixed, which type checkers lose track of.
ArrayLike: TypeAlias = (
  jax.typing.ArrayLike | onp.typing.ArrayLike | Sequence[Any]
)
# What a size or a count may be.
Integer: TypeAlias = int | onp.integer
# A batch shape has None for a size that is not known.
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None]
Seed: TypeAlias = jax.Array | onp.ndarray
