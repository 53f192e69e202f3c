"""What arrays, and arguments that become arrays, are called in signatures."""

from typing import Any, TypeAlias

import numpy as onp

# While a derivative is taken, what stands for one.
Array: TypeAlias = onp.ndarray
# An array without dimensions, or what NumPy makes of it.
Scalar: TypeAlias = Any
ArrayLike: TypeAlias = onp.typing.ArrayLike
# A text: numpy.random takes a while to import.
Seed: TypeAlias = (
  "int | onp.integer | onp.random.SeedSequence | onp.random.Generator"
)
