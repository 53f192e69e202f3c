"""Stateless random numbers: the same seed gives the same numbers.

A seed is an int, or a shape-[2] array of integers as `tf.random.stateless_*`
take it.
"""

from __future__ import annotations

import hashlib

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal.arrays import Array, SanitizedSeed, Seed

_FOLD = 0x666F6C64  # Keeps fold_in's seeds distinct from split_seed's.


def sanitize_seed(seed: object, salt: str | None = None) -> SanitizedSeed:
  """Converts the user's seed to the form that this module's functions take."""
  if isinstance(seed, (int, onp.integer)) and not isinstance(seed, bool):
    bits = int(seed) % 2**64
    halves = onp.array([bits % 2**32, bits // 2**32], onp.uint32)
    seed = tf.constant(halves.view(onp.int32))
  else:
    seed = _pair(seed)
  if salt is not None:
    digest = hashlib.sha256(salt.encode()).digest()
    seed = fold_in(seed, int.from_bytes(digest[:4], "little"))
  return seed


def split_seed(seed: SanitizedSeed, n: int = 2) -> tuple[SanitizedSeed, ...]:
  """Splits a seed into `n` independent seeds."""
  return tuple(tf.unstack(tf.random.split(seed, n)))


def fold_in(seed: SanitizedSeed, data: int) -> SanitizedSeed:
  """Derives a new seed from a seed and a concrete integer."""
  bits = onp.uint32((data % 2**32) ^ _FOLD)
  return tf.random.fold_in(seed, int(bits.view(onp.int32)))


def uniform(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
  """Draws uniform random numbers from [0, 1)."""
  return tf.random.stateless_uniform(_shape(shape), seed, dtype=dtype)


def exponential(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
  """Draws exponential random numbers of rate one."""
  return -tf.math.log1p(-uniform(seed, shape, dtype))


def _shape(shape: static.Shape) -> tf.Tensor:
  return tf.convert_to_tensor(tuple(shape), tf.int32)


def _pair(seed: Seed | None) -> SanitizedSeed:
  message = (
    f"seed is {type(seed).__name__}: it must be an int or a shape-[2] array "
    "of integers, as sampling is stateless"
  )
  if seed is None or isinstance(seed, (bool, str, float)):
    raise TypeError(message)
  try:
    pair = tf.convert_to_tensor(seed)
  except (TypeError, ValueError) as error:
    raise TypeError(message) from error
  if not pair.dtype.is_integer or not pair.shape.is_compatible_with([2]):
    raise TypeError(f"{message}; it has shape {pair.shape}, {pair.dtype.name}")
  return tf.cast(pair, tf.int32)
