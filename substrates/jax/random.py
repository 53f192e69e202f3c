"""Stateless random numbers: the same seed gives the same numbers.

A seed is a JAX key: a typed one (`jax.random.key`) or a raw one
(`jax.random.PRNGKey`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from typing import TypeGuard

import jax
from jax.interpreters import mlir
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import phase_type_calls
from phasic.substrates.jax.internal import seeds
from phasic.substrates.jax.internal import static
from phasic.substrates.jax.internal.arrays import (
  Array,
  Lowered,
  SanitizedSeed,
  Shaped,
  Spec,
)

# This number keeps the seeds of `fold_in` distinct from the seeds of
# `split_seed`: JAX splits a seed by folding in 0, 1, 2 and so on.
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
  """Derives a new seed from a seed and a concrete integer."""
  return seeds.folded(seed, (data % 2**32) ^ _FOLD)


def uniform(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
  """Draws uniform random numbers from [0, 1)."""
  return jax.random.uniform(seeds.key(seed), shape, dtype)


def exponential(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
  """Draws exponential random numbers of rate one."""
  folded = (
    seed if isinstance(seed, seeds.FoldedKey) else seeds.FoldedKey(seed, ())
  )
  is_known = all(isinstance(d, int) for d in shape)
  if is_known and _is_native(folded.key):
    op = Exponential(math.prod(shape), onp.dtype(dtype).name, folded.path)
    [numbers] = multilinear.bind(op, [jax.random.key_data(folded.key)])
    return jnp.reshape(numbers, shape)
  return jax.random.exponential(seeds.key(seed), shape, dtype)


def _is_native(key: Array) -> bool:
  """Returns whether the native call draws the numbers of a key."""
  return (
    phase_type_calls.KERNEL.path() == "kernel"
    and jax.config.jax_threefry_partitionable  # type: ignore[attr-defined]
    and str(jax.random.key_impl(key)) == "threefry2x32"
  )


@dataclasses.dataclass(frozen=True)
class Exponential(multilinear.Broadcasting):
  """The map from Threefry keys to exponential random numbers.

  Keys have shape (..., 2), and the numbers have shape (..., n).

  XLA compiles JAX's generator for most of a second. On the CPU the map is a
  native call that draws the same numbers, up to the rounding of the logarithm.

  Attributes:
    count: n.
    dtype: the dtype of the numbers.
    path: the integers that are folded into each key first.
  """

  count: int
  dtype: str
  path: tuple[int, ...]

  groups = (1,)

  def abstract(self, *operands: Shaped) -> list[Spec]:
    [keys] = operands
    return [((*keys.shape[:-1], self.count), onp.dtype(self.dtype))]

  def evaluate(self, *operands: Array) -> list[Array]:
    def draw(key: Array) -> Array:
      seed = seeds.FoldedKey(jax.random.wrap_key_data(key), self.path)
      folded = seeds.key(seed)
      return jax.random.exponential(folded, (self.count,), self.dtype)

    for _ in operands[0].shape[:-1]:
      draw = jax.vmap(draw)
    return [draw(*operands)]

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    path = onp.asarray(self.path, onp.int64)
    return jax.ffi.ffi_lowering("phasic_exponential")(ctx, *operands, path=path)
