"""Random keys that are derived only when they are used."""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as onp


@functools.partial(
  jax.tree_util.register_dataclass,
  data_fields=["key"],
  meta_fields=["path"],
)
@dataclasses.dataclass(frozen=True)
class FoldedKey:
  """A key into which integers are folded before its use, in their order.

  Native code folds them in without a compilation.
  """

  key: jax.Array
  path: tuple[int, ...]


def folded(seed: jax.Array | FoldedKey, data: int) -> FoldedKey:
  """Returns a seed into which one more integer is folded."""
  if isinstance(seed, FoldedKey):
    return FoldedKey(seed.key, (*seed.path, data))
  return FoldedKey(seed, (data,))


def key(seed: jax.Array | FoldedKey) -> jax.Array:
  """Returns the key of a seed."""
  if not isinstance(seed, FoldedKey):
    return seed
  folded_key = seed.key
  for data in seed.path:
    # Convert to uint32: if 64-bit numbers are switched off, JAX refuses Python
    # integers that do not fit into int32.
    folded_key = jax.random.fold_in(folded_key, onp.uint32(data))
  return folded_key
