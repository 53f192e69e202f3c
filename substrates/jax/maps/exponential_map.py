"""Exponential random numbers as a map that `multilinear` binds.

XLA compiles JAX's generator for most of a second. On the CPU the map is a
native call that draws the same numbers, up to the rounding of the logarithm.
"""

from __future__ import annotations

import dataclasses
import math

import jax
from jax.interpreters import mlir
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import phase_type_calls
from phasic.substrates.jax.internal import seeds
from phasic.substrates.jax.internal import static
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.arrays import Lowered
from phasic.substrates.jax.internal.arrays import SanitizedSeed
from phasic.substrates.jax.internal.arrays import Shaped
from phasic.substrates.jax.internal.arrays import Spec


@dataclasses.dataclass(frozen=True)
class Exponential(multilinear.Broadcasting):
  """The map from Threefry keys (..., 2) to random numbers (..., n).

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
    return jax.ffi.ffi_lowering(ffi_targets.EXPONENTIAL)(
      ctx, *operands, path=path
    )


def draw(seed: SanitizedSeed, shape: static.Shape, dtype: str) -> Array:
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
