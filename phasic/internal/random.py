"""Stateless random numbers: the same seed gives the same numbers.

A seed is an int, a `numpy.random.SeedSequence` or a `numpy.random.Generator`.
From a generator one integer is drawn, so that it moves on with each use.
"""

from __future__ import annotations

from typing import Any

import numpy as onp

from phasic.internal import static
from phasic.internal.tape import modes

_FOLD = 0x666F6C64  # Keeps folded seeds apart from split ones.


def sanitize_seed(seed: Any, salt: str | None = None) -> Any:
  """Returns the seed in the form that the other functions take.

  Args:
    seed: what the user gave.
    salt: a name that makes the seed a different one, so that two places can
      start from the same user's seed.

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
    import hashlib  # Late, as NumPy's generators: it takes long.

    digest = hashlib.sha256(salt.encode()).digest()
    seed = fold_in(seed, int.from_bytes(digest[:4], "little"))
  return seed


def split_seed(seed: Any, n: int = 2) -> tuple[Any, ...]:
  """Returns `n` seeds whose numbers are independent of each other."""
  return tuple(_child(seed, i) for i in range(n))


def fold_in(seed: Any, data: Any) -> Any:
  """Returns a seed made of a seed and an integer (a counter, say)."""
  return _child(_child(seed, _FOLD), int(data) % 2**32)


def uniform(seed: Any, shape: static.Shape, dtype: str) -> Any:
  """Returns uniform numbers from [0, 1)."""
  return _generator(seed).random(shape, dtype=onp.dtype(dtype))


def exponential(seed: Any, shape: static.Shape, dtype: str) -> Any:
  """Returns exponential numbers of rate one."""
  numbers = _generator(seed).standard_exponential(shape)
  return onp.asarray(numbers, dtype=dtype)


def gamma(
  seed: Any, concentration: Any, shape: static.Shape, dtype: str
) -> Any:
  """Returns gamma numbers of rate one.

  Args:
    seed: a sanitized seed.
    concentration: shape parameters, which broadcast to `shape`.
    shape: the result's shape.
    dtype: the result's dtype.
  """
  numbers = _generator(seed).standard_gamma(concentration, shape)
  return onp.asarray(numbers, dtype=dtype)


def categorical(seed: Any, logits: Any, shape: static.Shape) -> Any:
  """Returns int32 category numbers.

  Args:
    seed: a sanitized seed.
    logits: logarithms of the weights (..., k), -inf for impossible ones; the
      leading dimensions broadcast to `shape`.
    shape: the result's shape.
  """
  logits = onp.asarray(modes.constant(logits))
  full = tuple(shape) + logits.shape[-1:]
  gumbel = _generator(seed).gumbel(size=full)
  return onp.argmax(gumbel + logits, axis=-1).astype(onp.int32)


def _child(seed: Any, key: int) -> Any:
  """A seed below `seed`; unlike `spawn` it leaves `seed` as it is."""
  return onp.random.SeedSequence(
    entropy=seed.entropy, spawn_key=(*seed.spawn_key, key)
  )


def _generator(seed: Any) -> onp.random.Generator:
  return onp.random.Generator(onp.random.PCG64(seed))
