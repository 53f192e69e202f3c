"""Stateless random numbers: the same seed gives the same numbers.

A seed is an int, a `numpy.random.SeedSequence` or a `numpy.random.Generator`. A
generator gives one integer at each use, and so a new seed.
"""

from __future__ import annotations

import numpy as onp

from phasic.internal import static
from phasic.internal.arrays import Array, SanitizedSeed

_FOLD = 0x666F6C64  # Keeps fold_in's seeds distinct from split_seed's.
# A seed can be derived from another seed this many times in a row. Then a hash
# of 256 bits replaces it: the cost of using a seed grows with its keys, and
# loops derive a new seed from the last one at each step.
_MOST_KEYS = 16


def sanitize_seed(seed: object, salt: str | None = None) -> SanitizedSeed:
  """Converts the user's seed to the form that this module's functions take.

  Args:
    seed: the user's seed.
    salt: a name that changes the seed, so that different functions can use the
      same user's seed.

  Raises:
    TypeError: the seed is None or of a wrong type.
  """
  if isinstance(seed, onp.random.Generator):
    seed = int(seed.integers(2**63))
  if isinstance(seed, (int, onp.integer)) and not isinstance(seed, bool):
    seed = onp.random.SeedSequence(int(seed) % 2**64)
  if not isinstance(seed, onp.random.SeedSequence):
    raise TypeError(
      f"seed is {type(seed).__name__}: it must be an int, a "
      "numpy.random.SeedSequence or a numpy.random.Generator, as sampling is "
      "stateless"
    )
  if salt is not None:
    import hashlib  # A slow import that only a salt needs.

    digest = hashlib.sha256(salt.encode()).digest()
    seed = fold_in(seed, int.from_bytes(digest[:4], "little"))
  return seed


def split_seed(seed: SanitizedSeed, n: int = 2) -> tuple[SanitizedSeed, ...]:
  """Splits a seed into `n` independent seeds."""
  return tuple(_child(seed, i) for i in range(n))


def fold_in(seed: SanitizedSeed, data: int) -> SanitizedSeed:
  """Derives a new seed from a seed and a concrete integer."""
  return _child(seed, (data % 2**32) ^ _FOLD)


def uniform(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
  """Draws uniform random numbers from [0, 1)."""
  return _generator(seed).random(shape, dtype=onp.dtype(dtype))


def exponential(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
  """Draws exponential random numbers of rate one."""
  numbers = _generator(seed).standard_exponential(shape)
  return onp.asarray(numbers, dtype=dtype)


def _child(seed: SanitizedSeed, key: int) -> SanitizedSeed:
  """Returns a child of `seed`; `spawn` would also change `seed` itself."""
  if len(seed.spawn_key) >= _MOST_KEYS:
    seed = onp.random.SeedSequence(seed.generate_state(8).tolist())
  return onp.random.SeedSequence(
    entropy=seed.entropy, spawn_key=(*seed.spawn_key, key)
  )


def _generator(seed: SanitizedSeed) -> onp.random.Generator:
  return onp.random.Generator(onp.random.PCG64(seed))
