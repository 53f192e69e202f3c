"""Stateless random numbers: the same seed gives the same numbers.

A seed is a JAX key: a typed one (`jax.random.key`) or a raw one
(`jax.random.PRNGKey`).
"""

from __future__ import annotations

import hashlib
from typing import TypeGuard

import jax
import jax.numpy as jnp

from phasic.substrates.jax.internal import seeds
from phasic.substrates.jax.internal import static
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.arrays import SanitizedSeed
from phasic.substrates.jax.internal.maps import exponential_map

# Keeps the seeds of `fold_in` distinct from those of `split_seed`: JAX splits by
# folding in 0, 1, ...
_FOLD = 0x666F6C64


def sanitize_seed(seed: object, salt: str | None = None) -> SanitizedSeed:
  """Converts the user's seed to the form that this module's functions take."""
  if _is_raw(seed):
    seed = jax.random.wrap_key_data(seed)
  if isinstance(seed, seeds.FoldedKey):
    sanitized: SanitizedSeed = seed
  elif _is_typed(seed) and seed.ndim == 0:
    sanitized = seed
  else:
    dtype, shape = getattr(seed, "dtype", None), getattr(seed, "shape", ())
    what = type(seed).__name__ if dtype is None else f"{dtype}{shape}"
    raise TypeError(
      f"seed is {what}: it must be a key, e.g. jax.random.key(0), as sampling"
      " is stateless"
    )
  if salt is not None:
    digest = hashlib.sha256(salt.encode()).digest()
    sanitized = fold_in(sanitized, int.from_bytes(digest[:4], "little"))
  return sanitized


def _is_raw(seed: object) -> TypeGuard[jax.Array]:
  dtype = getattr(seed, "dtype", None)
  return dtype == jnp.uint32 and getattr(seed, "ndim", None) == 1


def _is_typed(seed: object) -> TypeGuard[jax.Array]:
  dtype = getattr(seed, "dtype", None)
  return dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key)


def split_seed(seed: SanitizedSeed, n: int = 2) -> tuple[SanitizedSeed, ...]:
  """Splits a seed into `n` independent seeds."""
  return tuple(jax.random.split(seeds.key(seed), n))


def fold_in(seed: SanitizedSeed, data: int) -> SanitizedSeed:
  """Derives a new seed from a seed and an integer, which is not traced."""
  return seeds.folded(seed, (data % 2**32) ^ _FOLD)


def uniform(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
  """Draws uniform random numbers from [0, 1)."""
  return jax.random.uniform(seeds.key(seed), shape, dtype)


def exponential(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
  """Draws exponential random numbers of rate one."""
  return exponential_map.draw(seed, shape, dtype)
