"""What arrays, and arguments that become arrays, are called in signatures."""

from typing import TypeAlias

import jax
import numpy as onp

Array: TypeAlias = jax.Array
Scalar: TypeAlias = jax.Array
Result: TypeAlias = jax.Array
ArrayLike: TypeAlias = jax.typing.ArrayLike | onp.typing.ArrayLike
Seed: TypeAlias = jax.Array | onp.ndarray
