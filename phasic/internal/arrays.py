"""What arrays, and arguments that become arrays, are called in signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import (
  TYPE_CHECKING,
  Any,
  ForwardRef,
  SupportsIndex,
  TypeAlias,
)

import numpy as onp

# While a derivative is taken, what stands for one.
Array: TypeAlias = onp.ndarray
# An array without dimensions, or what NumPy makes of it.
Scalar: TypeAlias = Any
# What public methods return: an array, or a scalar where there are no dimensions.
# NumPy's own functions have Any there, as no type says which it is.
Result: TypeAlias = onp.ndarray | Any
# In lists numbers and arrays may be mixed, which type checkers lose track of.
ArrayLike: TypeAlias = onp.typing.ArrayLike | Sequence[Any]
# What a size or a count may be.
Integer: TypeAlias = int | onp.integer
# A batch shape has None for a size that is not known.
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None]
if TYPE_CHECKING:
  Seed: TypeAlias = (
    int | onp.integer | onp.random.SeedSequence | onp.random.Generator
  )
else:
  # By their names: numpy.random takes a while to import.
  Seed = (
    int
    | onp.integer
    | ForwardRef("onp.random.SeedSequence", module=__name__)
    | ForwardRef("onp.random.Generator", module=__name__)
  )
