"""Dtypes of arguments before conversion to arrays of the backend."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import raw_arguments

_HALVES = (onp.dtype(onp.float16), onp.dtype(jnp.bfloat16))


def of(x: object, name: str) -> onp.dtype:
  """Returns the dtype that `x` has, or would have as an array.

  Half precision counts as float32.
  """
  try:
    own = getattr(x, "dtype", None)
    dtype = jnp.asarray(x).dtype if own is None else own
  except OverflowError:
    dtype = onp.asarray(x).dtype  # JAX rejects integers this large.
  except TypeError:
    raw_arguments.refuse_objects(onp.asarray(x).dtype, name)
    raise TypeError(
      f"{name} is {type(x).__name__}: it must be an array"
    ) from None
  if isinstance(dtype, onp.dtype) and dtype in _HALVES:
    return onp.dtype(onp.float32)
  is_number = isinstance(dtype, onp.dtype) and dtype.kind in "iuf"
  return jax.dtypes.canonicalize_dtype(dtype) if is_number else dtype


def is_weak(x: object) -> bool:
  """Returns whether `x`, e.g. a number, takes the dtype of other arguments.

  A list with JAX arrays has the dtype of these.
  """
  if hasattr(x, "dtype"):
    return isinstance(x, jax.Array) and jax.typeof(x).weak_type
  arrays = [leaf for leaf in jax.tree.leaves(x) if isinstance(leaf, jax.Array)]
  return all(is_weak(array) for array in arrays)
