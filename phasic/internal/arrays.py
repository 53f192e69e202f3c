"""What arrays, and arguments that become arrays, are called in signatures."""

from typing import Any, TypeAlias

import numpy as onp

# While a derivative is taken, what stands for one.
Array: TypeAlias = onp.ndarray
# An array without dimensions, or what NumPy makes of it.
Scalar: TypeAlias = Any
# What public methods return: an array, or a scalar where there are no dimensions.
# NumPy's own functions have Any there, as no type says which it is.
Result: TypeAlias = onp.ndarray | Any
ArrayLike: TypeAlias = onp.typing.ArrayLike
# A text: numpy.random takes a while to import.
Seed: TypeAlias = (
  "int | onp.integer | onp.random.SeedSequence | onp.random.Generator"
)
