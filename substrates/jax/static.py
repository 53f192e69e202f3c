"""Shapes, dtypes and known values of arrays, also while tracing.

An argument has the dtype that its array will have.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import raw_arguments

Shape = tuple[Any, ...]
_HALVES = (onp.dtype(onp.float16), onp.dtype(jnp.bfloat16))


def shape(x: Any) -> Shape:
  """Returns the shape of `x`, a tuple with one entry per dimension."""
  return tuple(jnp.shape(x))


def rank(x: Any) -> int:
  """Returns the number of dimensions of `x`."""
  return jnp.ndim(x)


def broadcast_shapes(*shapes: Shape) -> Shape:
  """Returns the shape to which arrays of these shapes broadcast."""
  try:
    common = tuple(jnp.broadcast_shapes(*shapes))
  except ValueError:
    listed = " and ".join(str(tuple(s)) for s in shapes)
    raise ValueError(f"shapes {listed} do not broadcast") from None
  return raw_arguments.checked_size(common, shapes)


def has_tracers(x: object) -> bool:
  """Returns whether `x` is a list or tuple with traced numbers."""
  return isinstance(x, (list, tuple)) and any(
    isinstance(item, jax.core.Tracer) for item in x
  )


def concrete(x: object) -> onp.ndarray | None:
  """Returns the values of `x` on the host, or None while it is traced."""
  if has_tracers(x):
    return None
  if isinstance(x, jax.core.Tracer):
    x = jax.lax.stop_gradient(x)  # Removes tracers of grad, not of jit.
  return None if isinstance(x, jax.core.Tracer) else onp.asarray(x)


def at_hand(x: object) -> onp.ndarray | None:
  """Returns the values of `x` if they are known and on this host, else None.

  The result is None if `x` is traced, or is on an accelerator or in another
  process.
  """
  if isinstance(x, jax.core.Tracer):
    x = jax.lax.stop_gradient(x)  # Removes tracers of grad, not of jit.
    if isinstance(x, jax.core.Tracer):
      return None
  if isinstance(x, jax.Array):
    on_host = all(device.platform == "cpu" for device in x.devices())
    if not on_host or not x.is_fully_addressable:
      return None
  return onp.asarray(x)


def dtype_name(x: object) -> str:
  """Returns the name of a dtype, or of an array's dtype."""
  if isinstance(x, (str, type, onp.dtype)):
    return onp.dtype(x).name
  return jnp.result_type(x).name


def finfo_eps(dtype: object) -> float:
  """Returns the machine epsilon of a floating dtype."""
  return float(onp.finfo(dtype_name(dtype)).eps)


def wide_float() -> str:
  """Returns the widest available floating dtype, "float64" or "float32"."""
  return jax.dtypes.canonicalize_dtype("float64").name


def given_dtype(x: object, name: str) -> onp.dtype:
  """Returns the dtype that `x` has, or would have as an array.

  Half precision counts as float32.
  """
  try:
    x_dtype = getattr(x, "dtype", None)
    dtype = jnp.asarray(x).dtype if x_dtype is None else x_dtype
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
  """Returns whether `x` takes the dtype of others, as Python numbers do.

  A list with JAX arrays has the dtype of these.
  """
  if hasattr(x, "dtype"):
    return isinstance(x, jax.Array) and jax.typeof(x).weak_type
  arrays = [leaf for leaf in jax.tree.leaves(x) if isinstance(leaf, jax.Array)]
  return all(is_weak(array) for array in arrays)
